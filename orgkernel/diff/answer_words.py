"""Differences between answers as changes: their sentence, and whether they widen what a subject may do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from orgkernel.decisions.access.circumstances import WEEKENDS
from orgkernel.decisions.access.request import AccessContext
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.diff.answers import AccessAnswer, AccessFact, AccessProbe, DifferingAnswer
from orgkernel.diff.changes import Change, ChangeEffect
from orgkernel.diff.questions import ELSEWHERE, RoutedTask
from orgkernel.diff.sections import ANSWERS
from orgkernel.documents.records import BUILT_IN_ORIGINS

_RANK = {"deny": 0, "ask": 2, "allow": 3}
_MAX_NAMED = 8
_MAX_LIMITS = 5
_MAX_EXAMPLES = 3
_SENTENCES: Mapping[tuple[str, str], str] = {
    ("deny", "allow"): "may now {what}",
    ("allow", "deny"): "may no longer {what}",
    ("ask", "allow"): "may now {what} without approval",
    ("allow", "ask"): "may now {what} only with approval",
    ("deny", "ask"): "may now ask to {what}",
    ("ask", "deny"): "may no longer ask to {what}",
    ("deny", "conditional"): "may now {what} in some circumstances",
    ("conditional", "deny"): "may no longer {what}",
    ("allow", "conditional"): "may now {what} only in some circumstances",
    ("conditional", "allow"): "may now {what}",
    ("ask", "conditional"): "may now {what} in some circumstances without approval",
    ("conditional", "ask"): "may now {what} only with approval",
}
_OBLIGATIONS = {
    "credential": "the credential {}",
    "approval": "an approval of {}",
    "hold_lock": "the lock of {}",
    "resolve_links": "resolved links of {}",
    "without_credential": "to do without the credential {}",
    "consume_grant": "a grant {}",
    "state": "the circumstance {}",
}


def describe_access_change(org_id: str, fact: AccessFact) -> Change:
    """One change for one fact about access."""
    roles = [each[5:] for each in fact.subjects if each.startswith("role:")]
    role_id = roles[0] if len(fact.subjects) == 1 and roles else None
    before, after = fact.before, fact.after
    return Change(
        org_id=org_id,
        role_id=role_id,
        kind="changed",
        subject=fact.resources[0] if len(fact.resources) == 1 else fact.subjects[0],
        classification=classify(before, after),
        sentence=_write_sentence(fact),
        before=_as_data(before),
        after=_as_data(after),
        subjects=fact.subjects,
        resources=fact.resources,
        question=_build_question(fact),
        causes=fact.causes,
        path=(ANSWERS, *fact.question[:3], _word_stated(fact.question)),
    )


def describe_task_changes(
    org_id: str, differences: Iterable[DifferingAnswer], causes: Mapping[RoutedTask, tuple[int, ...]]
) -> list[Change]:
    """One change for all tasks that go from one role to another for the same reason."""
    groups: dict[tuple[str | None, str | None, tuple[int, ...]], list[RoutedTask]] = {}
    for task, before, after in differences:
        groups.setdefault((before, after, causes[task]), []).append(task)
    return [_describe_tasks(org_id, tasks, *key) for key, tasks in groups.items()]


def _describe_tasks(
    org_id: str, tasks: Sequence[RoutedTask], before: str | None, after: str | None, causes: tuple[int, ...]
) -> Change:
    first = tasks[0]
    verb = "goes" if len(tasks) == 1 else "go"
    return Change(
        org_id=org_id,
        role_id=None,
        kind="changed",
        subject=f"{first.kind}:{first.value}",
        classification="neutral",
        sentence=f"{_name_tasks(tasks)} {verb} to {_name_role(after)} instead of {_name_role(before)}",
        before=before,
        after=after,
        question={first.kind: first.value},
        subjects=tuple(f"{task.kind}:{task.value}" for task in tasks),
        causes=causes,
        path=(ANSWERS, first.kind, first.value),
    )


def _name_tasks(tasks: Sequence[RoutedTask]) -> str:
    """The tasks by their kinds; of many examples the first ones."""
    clauses = []
    for kind, noun in (("domain", "domain"), ("intent", "intent"), ("text", "example")):
        names = [quote(task.value) for task in tasks if task.kind == kind]
        most = _MAX_EXAMPLES if kind == "text" else _MAX_NAMED
        shown = names if len(names) <= most else [*names[: most - 1], f"{len(names) - most + 1} more"]
        if names:
            clauses.append(f"{'the ' * (kind == 'text')}{noun}{'s' * (len(names) > 1)} {_join(shown)}")
    return _join(clauses)


def _join(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _name_role(role_id: str | None) -> str:
    return f"role {quote(role_id)}" if role_id else "no role"


def classify(before: AccessAnswer, after: AccessAnswer) -> ChangeEffect:
    """Whether an answer permits more than another one; `unclear` where it depends on circumstances either way."""
    if before.outcome != after.outcome:
        if "conditional" in (before.outcome, after.outcome):
            other = after.outcome if before.outcome == "conditional" else before.outcome
            if other == "ask":
                return "unclear"
            grows = (before.outcome == "conditional") == (other == "allow")
            return "widened" if grows else "narrowed"
        return "widened" if _RANK[after.outcome] > _RANK[before.outcome] else "narrowed"
    gone = set(before.obligations) - set(after.obligations)
    come = set(after.obligations) - set(before.obligations)
    if (gone or come) and after.outcome == "allow":
        if any(each.startswith("without_credential:") for each in (*gone, *come)):
            return "unclear"
        return "narrowed" if come and not gone else "widened" if gone and not come else "unclear"
    return "unclear"


def _write_sentence(fact: AccessFact) -> str:
    before, after = fact.before, fact.after
    subjects = name_subjects(fact.subjects)
    tail = _word_limits(fact)
    what = _name_use(fact)
    if before.outcome != after.outcome:
        sentence = _SENTENCES[before.outcome, after.outcome].format(what=what)
        if after.outcome == "conditional" and not tail:
            sentence += f" ({_list_conditions(after)})"
        if "conditional" in (before.outcome, after.outcome) and tail:
            sentence = sentence.replace(" in some circumstances", "")
        return f"{subjects} {sentence}{tail}"
    if before.outcome == "allow" and before.obligations != after.obligations:
        come = [_word_obligation(each) for each in after.obligations if each not in before.obligations]
        gone = [_word_obligation(each) for each in before.obligations if each not in after.obligations]
        clauses = [f"now needs {', '.join(come)}"] if come else []
        clauses += [f"no longer needs {', '.join(gone)}"] if gone else []
        return f"{subjects}: to {what} {' and '.join(clauses)}{tail}"
    conditions = _list_conditions(after) or "nothing that has to be stated"
    return f"{subjects}: whether {_verb_phrase(after.outcome)} {what} now depends on {conditions}{tail}"


def _word_limits(fact: AccessFact) -> str:
    """The circumstances and parts to which a change is limited, or those that it spares."""
    words = list(dict.fromkeys(map(_word_stated, fact.within or fact.outside)))
    if not words:
        return ""
    if len(words) > _MAX_LIMITS:
        words = [*words[: _MAX_LIMITS - 1], f"in {len(words) - _MAX_LIMITS + 1} more cases"]
    listed = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
    if not fact.within:
        return f", except {listed}"
    return f" {listed}{', but not in every combination of circumstances' if fact.is_partial else ''}"


def _word_stated(question: AccessProbe) -> str:
    words = _word_context(question)
    if question.part:
        preposition = "for" if question.input else "on"
        return f"{preposition} {question.part} {words}".rstrip()
    return words


def _verb_phrase(outcome: str) -> str:
    return "to ask for approval to" if outcome == "ask" else "they may"


def _list_conditions(answer: AccessAnswer) -> str:
    words = [each.removeprefix("state:") for each in answer.conditions]
    return listing(words) if words else ""


def _word_obligation(obligation: str) -> str:
    word, _, rest = obligation.partition(":")
    return _OBLIGATIONS.get(word, f"{word} {{}}").format(quote(rest))


def name_subjects(subjects: tuple[str, ...]) -> str:
    """Roles by their ids, other subjects with their kind."""
    built_in = {f"system:{each}" for each in BUILT_IN_ORIGINS}
    names = [each.removeprefix("role:") for each in subjects]
    if built_in <= set(subjects):
        names = [*(each for each in names if each not in built_in), "every built-in system origin"]
    if len(names) > _MAX_NAMED:
        return f"{', '.join(names[:_MAX_NAMED])} and {len(names) - _MAX_NAMED} more"
    return _join(names)


def _name_use(fact: AccessFact) -> str:
    kind = fact.resources[0].partition(":")[0]
    names = [_name_resource(each) for each in fact.resources]
    if len(names) > _MAX_NAMED:
        names = [*names[: _MAX_NAMED - 1], f"{len(names) - _MAX_NAMED + 1} more {kind}s"]
    what = _join(names)
    actions = fact.actions
    if kind == "role":
        verbs = " and ".join(
            "escalate to" if each == "escalate" else "hand work to"
            for each in actions or ("handoff", "escalate")
        )
        return f"{verbs} {what}"
    noun = {"credential": "credential ", "data": "data "}.get(kind, "")
    if kind == "credential" and len(names) > 1:
        noun = "credentials "
    if actions == ("lock",):
        return f"lock and use {what}"
    verb = "read" if kind == "data" else "use"
    if not actions or kind != "tool":
        return f"{verb} {noun}{what}"
    return f"use {listing(actions)} of {noun}{what}"


def _name_resource(resource: str) -> str:
    _, _, name = resource.partition(":")
    return quote(name)


def _word_context(question: AccessProbe) -> str:
    """The circumstances of a question; empty where they were left out."""
    if question.context == AccessContext():
        return ""
    words = []
    for field in ("channel", "account", "guild", "peer_kind", "hook_id", "event_type", "alert", "watch"):
        value = getattr(question.context, field)
        if value and value != ELSEWHERE:
            words.append(f"{field.replace('_', ' ')} {quote(value)}")
    text = f"with {' and '.join(words)}" if words else ""
    if question.time:
        when = "on weekends" if question.time == WEEKENDS else f"at {quote(question.time)}"
        text = f"{text} {when}".strip()
    return text or "in other circumstances"


def _as_data(answer: AccessAnswer) -> dict[str, Any]:
    data: dict[str, Any] = msgspec.to_builtins(answer)
    return data


def _build_question(fact: AccessFact) -> dict[str, Any]:
    """The question to replay, with the first subject, resource and action."""
    subject, action, resource = fact.question[:3]
    context = fact.question.get_full_context()
    return {
        "subject": subject,
        "action": action,
        "resource": resource,
        "context": msgspec.to_builtins(context),
    }
