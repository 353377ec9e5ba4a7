"""Differences between answers as changes: their sentence, and whether they widen what somebody may do."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import msgspec

from orgkernel.decisions.access.request import AccessContext
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.diff.answers import AccessAnswer, Difference, Merged
from orgkernel.diff.changes import Change, ChangeEffect
from orgkernel.diff.questions import Task
from orgkernel.diff.sections import ANSWERS

_RANK = {"deny": 0, "ask": 2, "allow": 3}
_MOST_NAMED = 8
_SENTENCES: Mapping[tuple[str, str], str] = {
    ("deny", "allow"): "may now {what}",
    ("allow", "deny"): "may no longer {what}",
    ("ask", "allow"): "may now {what} without approval",
    ("allow", "ask"): "may now {what} only with approval",
    ("deny", "ask"): "may now ask to {what}",
    ("ask", "deny"): "may no longer ask to {what}",
    ("deny", "conditional"): "may now {what} in some circumstances",
    ("conditional", "deny"): "may no longer {what} in any circumstances",
    ("allow", "conditional"): "may now {what} only in some circumstances",
    ("conditional", "allow"): "may now {what} in all circumstances",
    ("ask", "conditional"): "may now {what} in some circumstances without approval",
    ("conditional", "ask"): "may now {what} only with approval",
}
_OBLIGATIONS = {
    "credential": "the credential {}",
    "approval": "an approval of {}",
    "hold_lock": "the lock of {}",
    "resolve_links": "resolved links of {}",
    "without_credential": "no credential {}",
    "consume_grant": "a grant {}",
    "state": "the circumstance {}",
}


def describe_access_change(org_id: str, merged: Merged) -> Change:
    """One change for one fact about access."""
    roles = [each[5:] for each in merged.subjects if each.startswith("role:")]
    role_id = roles[0] if len(merged.subjects) == 1 and roles else None
    before, after = merged.before, merged.after
    return Change(
        org_id=org_id,
        role_id=role_id,
        kind="changed",
        subject=merged.resources[0] if len(merged.resources) == 1 else merged.subjects[0],
        classification=classify(before, after),
        sentence=_write_sentence(merged),
        before=_as_data(before),
        after=_as_data(after),
        subjects=merged.subjects,
        resources=merged.resources,
        question=_build_question(merged),
        causes=merged.causes,
        path=(ANSWERS, *merged.question[:3], _word_context(merged.question.get_full_context())),
    )


def describe_task_change(org_id: str, difference: Difference, causes: tuple[int, ...]) -> Change:
    """One change for a task that goes to another role."""
    task, before, after = difference
    what = quote(task.value) if task.kind != "text" else f"the example {quote(task.value)}"
    noun = "" if task.kind == "text" else f"{task.kind} "
    return Change(
        org_id=org_id,
        role_id=None,
        kind="changed",
        subject=f"{task.kind}:{task.value}",
        classification="neutral",
        sentence=f"{noun}{what} goes to {_name_role(after)} instead of {_name_role(before)}",
        before=before,
        after=after,
        question={task.kind: task.value},
        causes=causes,
        path=(ANSWERS, task.kind, task.value),
    )


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


def _write_sentence(merged: Merged) -> str:
    before, after = merged.before, merged.after
    subjects = name_subjects(merged.subjects)
    where = _word_context(merged.question.get_full_context())
    tail = f" {where}" if where else ""
    what = _name_use(merged)
    if before.outcome != after.outcome:
        sentence = _SENTENCES[before.outcome, after.outcome].format(what=what)
        if after.outcome == "conditional":
            sentence += f" ({_list_conditions(after)})"
        return f"{subjects} {sentence}{tail}"
    if before.outcome == "allow" and before.obligations != after.obligations:
        come = [_word_obligation(each) for each in after.obligations if each not in before.obligations]
        gone = [_word_obligation(each) for each in before.obligations if each not in after.obligations]
        clauses = [
            f"now {verb} {', '.join(words)}"
            for verb, words in (("needs", come), ("no longer needs", gone))
            if words
        ]
        clauses = [each.replace("now no longer", "no longer") for each in clauses]
        return f"{subjects}: to {what} {' and '.join(clauses)}{tail}"
    conditions = _list_conditions(after) or "nothing that has to be stated"
    return f"{subjects}: whether {_verb_phrase(after.outcome)} {what} now depends on {conditions}{tail}"


def _verb_phrase(outcome: str) -> str:
    return "to ask for approval to" if outcome == "ask" else "they may"


def _list_conditions(answer: AccessAnswer) -> str:
    words = [each.removeprefix("state:") for each in answer.conditions]
    return listing(words) if words else ""


def _word_obligation(obligation: str) -> str:
    word, _, rest = obligation.partition(":")
    return _OBLIGATIONS.get(word, f"{word} {{}}").format(quote(rest))


def name_subjects(subjects: tuple[str, ...]) -> str:
    """Roles by their ids, everybody else with their kind."""
    names = [each.removeprefix("role:") for each in subjects]
    if len(names) > _MOST_NAMED:
        return f"{', '.join(names[:_MOST_NAMED])} and {len(names) - _MOST_NAMED} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _name_use(merged: Merged) -> str:
    kind = merged.resources[0].partition(":")[0]
    names = [_name_resource(each) for each in merged.resources]
    if len(names) > _MOST_NAMED:
        names = [*names[: _MOST_NAMED - 1], f"{len(names) - _MOST_NAMED + 1} more {kind}s"]
    what = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    actions = merged.actions
    if kind == "role":
        verbs = " and ".join(
            "escalate to" if each == "escalate" else "hand work to"
            for each in actions or ("handoff", "escalate")
        )
        return f"{verbs} {what}"
    noun = {"credential": "credential ", "data": "data "}.get(kind, "")
    verb = "read" if kind == "data" else "use"
    if not actions or kind != "tool":
        return f"{verb} {noun}{what}"
    return f"use {listing(actions)} of {noun}{what}"


def _name_resource(resource: str) -> str:
    _, _, name = resource.partition(":")
    name, colon, path = name.partition(":")
    return f"{quote(name)} on {quote(path)}" if colon else quote(name)


def _word_context(context: AccessContext) -> str:
    """The circumstances in which an answer differs; empty where they were left out."""
    if context == AccessContext():
        return ""
    words = []
    for field in ("channel", "peer_kind", "account", "guild", "hook_id", "event_type", "alert", "watch"):
        value = getattr(context, field)
        if value and value != "(another)":
            words.append(f"{field.replace('_', ' ')} {quote(value)}")
    text = f"with {' and '.join(words)}" if words else ""
    if context.input:
        text = f"{text} with {quote(next(iter(context.input.values())))}".strip()
    if context.now:
        clock = time.strftime("%A %H:%M", time.gmtime(context.now))
        text = f"{text} at {clock}".strip()
    return text or "in other circumstances"


def _as_data(answer: AccessAnswer) -> dict[str, Any]:
    data: dict[str, Any] = msgspec.to_builtins(answer)
    return data


def _build_question(merged: Merged) -> dict[str, Any]:
    """The question to replay, with the first subject, resource and action."""
    subject, action, resource = merged.question[:3]
    context = merged.question.get_full_context()
    return {
        "subject": subject,
        "action": action,
        "resource": resource,
        "context": msgspec.to_builtins(context),
    }


def get_task(change: Change) -> Task | None:
    """The task that a change is about; None for a change about access."""
    question = change.question or {}
    return next(
        (Task(kind, question[kind]) for kind in ("domain", "intent", "text") if kind in question), None
    )
