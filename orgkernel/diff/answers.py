"""What either version answers to a question, and the answers that differ, merged where several subjects share one.

A subject or resource that one version does not declare is a change by itself, so nothing more is asked about it: an added
role is one line, not one for each of its tools.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from orgkernel.decisions.access.compiled import AccessTables
from orgkernel.decisions.access.decide import ask, decide
from orgkernel.decisions.access.evaluation import evaluate
from orgkernel.decisions.access.listing import find_conditions
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.access.resource import Resource
from orgkernel.decisions.access.subject import Subject
from orgkernel.decisions.dispatch.by_domain import decide_dispatch
from orgkernel.decisions.dispatch.by_intent import decide_by_intent
from orgkernel.decisions.evidence.state_view import EMPTY_STATE
from orgkernel.diff.questions import Pair, Sides, Task, list_contexts
from orgkernel.graph.questions import OrgView

MOST_QUESTIONS = 400_000
"""Pairs and circumstances that are asked about. What is left out is told."""
MOST_PARTS = 12
_KINDS = ("role", "agent", "person")
T = TypeVar("T", bound=Hashable)


class AccessAnswer(msgspec.Struct, frozen=True):
    """What one version answers to an access question."""

    outcome: str
    conditions: tuple[str, ...] = ()
    """What could change the outcome, as `KEY:VALUE`."""
    obligations: tuple[str, ...] = ()


class AccessQuestion(NamedTuple):
    """An access question that both versions are asked."""

    subject: str
    action: str
    resource: str
    context: AccessContext
    input: tuple[tuple[str, str], ...] = ()
    """Arguments of the tool."""

    def get_full_context(self) -> AccessContext:
        """The circumstances with the arguments."""
        return replace(self.context, input=dict(self.input)) if self.input else self.context


class Difference(NamedTuple):
    """A question that the versions answer differently."""

    question: Any
    """`AccessQuestion` or `Task`."""
    before: Any
    after: Any


class OldNames(NamedTuple):
    """How the old version calls roles that were renamed."""

    by_new_id: Mapping[str, str]

    def translate(self, name: str) -> str:
        """A subject or resource as the old version calls it."""
        if not self.by_new_id:
            return name
        kind, _, rest = name.partition(":")
        return f"role:{self.by_new_id.get(rest, rest)}" if kind == "role" else name


def find_access_differences(
    pairs: Iterable[Pair], sides: Sides, old_names: OldNames
) -> tuple[list[Difference], bool]:
    """The access questions about some pairs that are answered differently, and whether some were left out."""
    old, new = sides.tables
    differences: list[Difference] = []
    asked = 0
    for subject_name, group in groupby(sorted(set(pairs)), key=lambda pair: pair.subject):
        before, after = old.subject(old_names.translate(subject_name)), new.subject(subject_name)
        if before is None or after is None:
            continue
        contexts = list_contexts((before, after))
        for pair in group:
            for question in _list_questions(pair, sides, old_names, (before, after), contexts):
                asked += 1
                if asked > MOST_QUESTIONS:
                    return differences, True
                here = answer_access(new, question)
                there = answer_access(old, _translate(question, old_names))
                if here != there:
                    differences.append(Difference(question, there, here))
    return differences, False


def _translate(question: AccessQuestion, old_names: OldNames) -> AccessQuestion:
    if not old_names.by_new_id:
        return question
    return question._replace(
        subject=old_names.translate(question.subject), resource=old_names.translate(question.resource)
    )


def _list_questions(
    pair: Pair,
    sides: Sides,
    old_names: OldNames,
    subjects: tuple[Subject, Subject],
    contexts: Iterable[AccessContext],
) -> Iterator[AccessQuestion]:
    """Every action of a resource that both versions declare, in the circumstances that they tell apart."""
    old, new = sides.tables
    before, after = old.find(old_names.translate(pair.resource))[0], new.find(pair.resource)[0]
    if before.unknown or after.unknown:
        return
    parts = tuple(_list_parts((old, new), (before, after), subjects))
    for action in _choose_actions(before, after):
        for context in contexts:
            yield AccessQuestion(pair.subject, action, pair.resource, context)
            for part in parts:
                yield part.ask(pair, action, context)


def _choose_actions(before: Resource, after: Resource) -> Iterator[str]:
    """One action of each group that both versions decide alike; actions that one version lacks come too."""
    group_of = [
        {action: number for number, group in enumerate(each.action_groups) for action in group}
        for each in (before, after)
    ]
    seen: set[tuple[int | None, int | None]] = set()
    for action in dict.fromkeys((*before.actions, *after.actions)):
        key = group_of[0].get(action), group_of[1].get(action)
        if key not in seen:
            seen.add(key)
            yield action


class _Part(NamedTuple):
    """A part of a tool that is stated: a path within it, or arguments."""

    path: str = ""
    input: tuple[tuple[str, str], ...] = ()

    def ask(self, pair: Pair, action: str, context: AccessContext) -> AccessQuestion:
        """The question about this part."""
        if self.input:
            return AccessQuestion(pair.subject, action, pair.resource, context, self.input)
        return AccessQuestion(pair.subject, action, f"{pair.resource}:{self.path}", context)


def _list_parts(
    tables: tuple[AccessTables, AccessTables],
    resources: tuple[Resource, Resource],
    subjects: tuple[Subject, Subject],
) -> Iterator[_Part]:
    """The parts of a tool that policies and file scopes of either version name, and one outside of all."""
    if resources[1].kind != "tool":
        return
    globs: dict[str, None] = {}
    beginnings: dict[str, None] = {}
    for table, resource, subject in zip(tables, resources, subjects, strict=True):
        for policy in subject.policies:
            if policy.has_part_of(resource.kind, resource.id):
                globs.update(dict.fromkeys(policy.paths))
                beginnings.update(dict.fromkeys(policy.commands))
        if resource.has_file_scope:
            for role_id in subject.identity.roles:
                globs.update(dict.fromkeys(table.view.records.posts[role_id].profile.file_scope))
    if globs:
        yield from (
            _Part(path=each) for each in [*map(_make_path, globs), "elsewhere/other.txt"][:MOST_PARTS]
        )
    arguments = resources[1].command_arguments or resources[0].command_arguments
    if beginnings and arguments:
        for text in [*beginnings, "other"][:MOST_PARTS]:
            yield _Part(input=((arguments[0], text),))


def _make_path(glob: str) -> str:
    """A path that a glob matches."""
    path = glob.replace("**", "some").replace("*", "some").replace("?", "s")
    return f"{path}some.txt" if path.endswith("/") else path


def answer_access(tables: AccessTables, question: AccessQuestion) -> AccessAnswer:
    """What a version answers, and on what that depends."""
    request = AccessRequest(question.subject, question.action, question.resource, question.get_full_context())
    evaluation = evaluate(ask(tables, request, EMPTY_STATE))
    decision = decide(evaluation)
    conditions = () if decision.outcome == "conditional" else find_conditions(evaluation, decision.outcome)
    if decision.outcome == "conditional":
        conditions = decision.obligations
    return AccessAnswer(decision.outcome, conditions, decision.obligations)


# -- who takes a task --------------------------------------------------------------------------------------------------


def find_task_differences(
    tasks: Iterable[Task], sides: Sides, new_ids: Mapping[str, str]
) -> list[Difference]:
    """The tasks that go to another role, or no longer to any. Renamed roles are called by their new ids."""
    differences = []
    for task in tasks:
        before, after = answer_task(sides.old, task), answer_task(sides.new, task)
        if before is not None:
            before = new_ids.get(before, before)
        if before != after:
            differences.append(Difference(task, before, after))
    return differences


def answer_task(view: OrgView, task: Task) -> str | None:
    """The role that takes a task."""
    if task.kind == "domain":
        return decide_dispatch(view, task.value).role_id
    if task.kind == "intent":
        return decide_by_intent(view, task.value).role_id
    from orgkernel.decisions.dispatch.by_text import decide_by_text

    return decide_by_text(view, task.value).role_id


# -- merging -----------------------------------------------------------------------------------------------------------


class Merged(NamedTuple):
    """Access differences that are one fact: the same change of answer, for some subjects and resources."""

    subjects: tuple[str, ...]
    resources: tuple[str, ...]
    actions: tuple[str, ...]
    """The actions. It is empty if the change is about every action of the resource."""
    before: AccessAnswer
    after: AccessAnswer
    causes: tuple[int, ...]
    question: AccessQuestion
    """One of the questions that are merged."""


def merge_differences(
    differences: Iterable[tuple[Difference, tuple[int, ...]]],
    list_alike: Callable[[str, str], tuple[str, ...]],
    count_actions: Callable[[str], int],
) -> list[Merged]:
    """Differences with the same causes and the same change of answer together.

    `list_alike` returns the actions of a resource that are decided like an action, `count_actions` the number of its actions.
    """
    differences = list(differences)
    causes_by_difference = {each.question: causes for each, causes in differences}
    chosen = _drop_repetitions(each for each, _ in differences)
    by_pair: dict[tuple[Any, ...], list[Difference]] = defaultdict(list)
    for each in chosen:
        question = each.question
        causes = causes_by_difference[question]
        by_pair[
            question.subject, question.resource, _freeze(question), each.before, each.after, causes
        ].append(each)
    by_use: dict[tuple[Any, ...], list[tuple[str, AccessQuestion]]] = defaultdict(list)
    for (subject, resource, context, before, after, causes), group in by_pair.items():
        actions = tuple(
            dict.fromkeys(action for each in group for action in list_alike(resource, each.question.action))
        )
        named = () if len(actions) >= count_actions(resource) else actions
        by_use[resource, named, context, before, after, causes].append((subject, group[0].question))
    by_subjects: dict[tuple[Any, ...], list[tuple[str, AccessQuestion]]] = defaultdict(list)
    for (resource, named, context, before, after, causes), those in by_use.items():
        subjects = tuple(sorted((subject for subject, _ in those), key=_get_subject_order))
        kind = resource.partition(":")[0]
        alone = resource if (named and kind != "role") or resource.count(":") > 1 else kind
        by_subjects[subjects, alone, named, context, _strip(before), _strip(after), causes].append(
            (resource, those[0][1])
        )
    return [
        Merged(subjects, tuple(resource for resource, _ in those), named, before, after, causes, those[0][1])
        for (subjects, _alone, named, _context, before, after, causes), those in by_subjects.items()
    ]


def _get_subject_order(subject: str) -> tuple[int, str]:
    kind = subject.partition(":")[0]
    return (_KINDS.index(kind) if kind in _KINDS else len(_KINDS)), subject


def _strip(answer: AccessAnswer) -> AccessAnswer:
    """Without the approval that `ask` always obliges to, which names the resource."""
    kept = tuple(each for each in answer.obligations if not each.startswith("approval:"))
    return replace(answer, obligations=kept)


def _drop_repetitions(differences: Iterable[Difference]) -> list[Difference]:
    """Without those about circumstances or a part that say the same as the one that states nothing."""
    kept: list[Difference] = []
    plain: dict[tuple[str, str, str], set[tuple[str, str]]] = defaultdict(set)
    ordered = sorted(differences, key=lambda each: _is_stated(each.question))
    told: set[tuple[Any, ...]] = set()
    for each in ordered:
        question = each.question
        whole = (
            question.resource if question.resource.count(":") < 2 else question.resource.rpartition(":")[0]
        )
        key = question.subject, question.action, whole
        change = each.before.outcome, each.after.outcome
        if not _is_stated(question):
            plain[key].add(change)
            kept.append(each)
        elif change not in plain[key] and change[0] != change[1]:
            kept.append(each)
            told.add(key)
    # Where concrete circumstances tell it, that the conditions differ needs no line of its own.
    return [
        each
        for each in kept
        if _is_stated(each.question)
        or each.before.outcome != each.after.outcome
        or (each.question.subject, each.question.action, each.question.resource) not in told
    ]


def _is_stated(question: AccessQuestion) -> bool:
    return question.context != AccessContext() or bool(question.input) or question.resource.count(":") > 1


def _freeze(question: AccessQuestion) -> bytes:
    return msgspec.json.encode(question.get_full_context())
