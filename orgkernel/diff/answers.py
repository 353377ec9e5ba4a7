"""The answers of both versions to a question, and those that differ, merged if several subjects share one.

A subject or resource that one version does not declare is a change by itself, so nothing more is asked about it: an added
role is one line, not one for each of its tools.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from orgkernel.decisions.access.arguments import ArgumentTests, describe_tests
from orgkernel.decisions.access.compiled import AccessTables
from orgkernel.decisions.access.decide import ask, decide
from orgkernel.decisions.access.evaluation import evaluate
from orgkernel.decisions.access.listing import find_conditions
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.access.resource import LOCK, Resource
from orgkernel.decisions.access.subject import Subject
from orgkernel.decisions.dispatch.by_domain import decide_dispatch
from orgkernel.decisions.dispatch.by_intent import decide_by_intent
from orgkernel.decisions.evidence.state_view import EMPTY_STATE
from orgkernel.diff.questions import (
    ELSEWHERE,
    AccessPair,
    BothVersions,
    RoutedTask,
    StatedCircumstances,
    list_circumstances,
)
from orgkernel.documents.records import ArgumentTest
from orgkernel.graph.questions import OrgView

MAX_QUESTIONS = 400_000
"""The maximum number of questions. If there are more, the comparison reports that some are left out."""
MAX_PARTS = 12
_KINDS = ("role", "agent", "person")
T = TypeVar("T", bound=Hashable)


class AccessAnswer(msgspec.Struct, frozen=True):
    """What one version answers to an access question."""

    outcome: str
    conditions: tuple[str, ...] = ()
    """What could change the outcome, as `KEY:VALUE`."""
    obligations: tuple[str, ...] = ()


class AccessProbe(NamedTuple):
    """An access question that both versions are asked."""

    subject: str
    action: str
    resource: str
    context: AccessContext
    input: tuple[tuple[str, Any], ...] = ()
    """Arguments of the tool."""
    part: str = ""
    """The part of the tool that a path or an argument stands for, as a policy or a file scope writes it."""
    time: str = ""
    """The window of the moment, as a policy writes it."""

    @property
    def stated(self) -> frozenset[tuple[str, object]]:
        """The circumstances and the part that it names. `ELSEWHERE` stands for any value that no policy names, so it is omitted."""
        fields = msgspec.structs.asdict(self.context).items()
        named = {
            (name, value) for name, value in fields if name != "now" and value not in (None, "", 0, ELSEWHERE)
        }
        named |= {("part", self.part), ("time", self.time)} - {("part", ""), ("time", "")}
        return frozenset(named)

    @property
    def is_plain(self) -> bool:
        """Whether it states no circumstances and no part."""
        return not self.part and self.context == AccessContext()

    def get_full_context(self) -> AccessContext:
        """The circumstances with the arguments."""
        return replace(self.context, input=dict(self.input)) if self.input else self.context


class DifferingAnswer(NamedTuple):
    """A question with the answers of both versions."""

    question: Any
    """`AccessProbe` or `RoutedTask`."""
    before: Any
    after: Any


class AskedPair(NamedTuple):
    """A subject, an action and a resource about which some answer differs."""

    differences: tuple[DifferingAnswer, ...]
    same: tuple[DifferingAnswer, ...]
    """The other questions about them, in other circumstances and about other parts, which are answered alike."""


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
    pairs: Iterable[AccessPair], sides: BothVersions, old_names: OldNames
) -> tuple[list[AskedPair], bool]:
    """The access questions about some pairs that are answered differently, and whether some were left out."""
    old, new = sides.tables
    asked_pairs: list[AskedPair] = []
    count = 0
    for subject_name, group in groupby(sorted(set(pairs)), key=lambda pair: pair.subject):
        before, after = old.find_subject(old_names.translate(subject_name)), new.find_subject(subject_name)
        # Declared in one version only: the subject is a change by itself.
        if before is None or after is None:
            continue
        circumstances = list_circumstances((before, after))
        for pair in group:
            for questions in _list_questions(pair, sides, old_names, (before, after), circumstances):
                count += len(questions)
                if count > MAX_QUESTIONS:
                    return asked_pairs, True
                answers = [
                    DifferingAnswer(
                        each, answer_access(old, _translate(each, old_names)), answer_access(new, each)
                    )
                    for each in questions
                ]
                differing = tuple(each for each in answers if each.before != each.after)
                if differing:
                    same = tuple(each for each in answers if each.before == each.after)
                    asked_pairs.append(AskedPair(differing, same))
    return asked_pairs, False


def _translate(question: AccessProbe, old_names: OldNames) -> AccessProbe:
    if not old_names.by_new_id:
        return question
    return question._replace(
        subject=old_names.translate(question.subject), resource=old_names.translate(question.resource)
    )


def _list_questions(
    pair: AccessPair,
    sides: BothVersions,
    old_names: OldNames,
    subjects: tuple[Subject, Subject],
    circumstances: Iterable[StatedCircumstances],
) -> Iterator[list[AccessProbe]]:
    """For every action of a resource that both versions declare, the circumstances and parts that they tell apart."""
    old, new = sides.tables
    before, after = old.find(old_names.translate(pair.resource))[0], new.find(pair.resource)[0]
    if before.unknown or after.unknown:
        return
    parts = tuple(_list_parts((old, new), (before, after), subjects))
    for action in _choose_actions(before, after):
        yield [
            question
            for stated in circumstances
            for question in (
                AccessProbe(pair.subject, action, pair.resource, stated.context, time=stated.time),
                *(part.ask(pair, action, stated) for part in parts),
            )
        ]


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

    label: str
    path: str = ""
    input: tuple[tuple[str, Any], ...] = ()

    def ask(self, pair: AccessPair, action: str, stated: StatedCircumstances) -> AccessProbe:
        """The question about this part."""
        resource = pair.resource if self.input else f"{pair.resource}:{self.path}"
        return AccessProbe(
            pair.subject, action, resource, stated.context, self.input, self.label, stated.time
        )


_OTHER_VALUE: Final = "https://elsewhere.invalid/other.txt"
"""A value that no list of a policy is likely to name: as a text, a URL and a path."""


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
    tests: dict[str, ArgumentTests] = {}
    for table, resource, subject in zip(tables, resources, subjects, strict=True):
        for policy in subject.policies:
            if policy.has_part_of(resource.kind, resource.id):
                globs.update(dict.fromkeys(policy.paths))
                beginnings.update(dict.fromkeys(policy.commands))
                if policy.input:
                    tests[describe_tests(policy.input)] = policy.input
        if resource.has_file_scope:
            for role_id in subject.identity.roles:
                globs.update(dict.fromkeys(table.view.records.posts[role_id].profile.file_scope))
    if globs:
        yield from (_Part(f"path `{each}`", _make_path(each)) for each in [*globs][:MAX_PARTS])
        # One path that no glob names stands for all of them.
        yield _Part("another path", "elsewhere/other.txt")
    arguments = resources[1].command_arguments or resources[0].command_arguments
    if beginnings and arguments:
        for text in [*beginnings][:MAX_PARTS]:
            yield _Part(f"command `{text}`", input=((arguments[0], text),))
        yield _Part("another command", input=((arguments[0], "other"),))
    for text, each in [*tests.items()][:MAX_PARTS]:
        yield _Part(f"a call in which {text}", input=_make_input(each, passing=True))
        yield _Part(f"a call in which not {text}", input=_make_input(each, passing=False))


def _make_input(tests: ArgumentTests, *, passing: bool) -> tuple[tuple[str, Any], ...]:
    """Arguments that pass the tests, or fail the first one."""
    return tuple(
        (name, _make_argument(test, passing=passing or number > 0))
        for number, (name, test) in enumerate(tests)
    )


def _make_argument(test: ArgumentTest, *, passing: bool) -> Any:
    """A value that passes the first declared check of a test, or fails it."""
    for listed, unlisted, make in (
        (test.one_of, test.none_of, str),
        (test.matches, test.not_matches, lambda pattern: pattern.replace("*", "some")),
        (test.host_in, test.host_not_in, lambda host: f"https://{host.replace('*', 'some')}/"),
        (test.under, test.not_under, _make_path),
    ):
        if listed:
            return make(listed[0]) if passing else _OTHER_VALUE
        if unlisted:
            return _OTHER_VALUE if passing else make(unlisted[0])
    if test.more_than is not None:
        return test.more_than + 1 if passing else test.more_than
    if test.less_than is not None:
        return test.less_than - 1 if passing else test.less_than
    return "x" * ((test.longer_than or 0) + passing)


def _make_path(glob: str) -> str:
    """A path that a glob matches."""
    path = glob.replace("**", "some").replace("*", "some").replace("?", "s")
    return f"{path}some.txt" if path.endswith("/") else path


def answer_access(tables: AccessTables, question: AccessProbe) -> AccessAnswer:
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
    tasks: Iterable[RoutedTask], sides: BothVersions, new_ids: Mapping[str, str]
) -> list[DifferingAnswer]:
    """The tasks that go to another role, or no longer to any. Renamed roles are called by their new ids."""
    differences = []
    for task in tasks:
        before, after = answer_task(sides.old, task), answer_task(sides.new, task)
        # A renamed role keeps its tasks, so the routing does not change.
        if before is not None:
            before = new_ids.get(before, before)
        if before != after:
            differences.append(DifferingAnswer(task, before, after))
    return differences


def answer_task(view: OrgView, task: RoutedTask) -> str | None:
    """The role that takes a task."""
    if task.kind == "domain":
        return decide_dispatch(view, task.value).role_id
    if task.kind == "intent":
        return decide_by_intent(view, task.value).role_id
    from orgkernel.decisions.dispatch.by_text import decide_by_text

    return decide_by_text(view, task.value).role_id


# -- merging -----------------------------------------------------------------------------------------------------------


class AccessFact(NamedTuple):
    """One line of a report about access: the same change of answer, for some subjects and resources."""

    subjects: tuple[str, ...]
    resources: tuple[str, ...]
    actions: tuple[str, ...]
    """The actions. It is empty if the change is about every action of the resource."""
    before: AccessAnswer
    after: AccessAnswer
    within: tuple[AccessProbe, ...]
    """The circumstances and parts to which the change is limited. It is empty if it is not limited."""
    outside: tuple[AccessProbe, ...]
    """Or the circumstances and parts that are not affected, if they are fewer."""
    is_partial: bool
    """Whether the change is also limited by how these circumstances are combined."""
    causes: tuple[int, ...]
    question: AccessProbe
    """One of the questions that are answered so."""


Causes = Mapping[AccessProbe, tuple[int, ...]]


def merge_differences(
    pairs: Iterable[AskedPair],
    causes: Causes,
    list_alike: Callable[[str, str], tuple[str, ...]],
    count_actions: Callable[[str], int],
) -> list[AccessFact]:
    """The differences as facts, as few as possible: circumstances, actions, subjects and resources with one change together.

    `list_alike` returns the actions of a resource that are decided like an action, `count_actions` the number of its actions.
    """
    facts = [fact for pair in pairs for fact in _merge_circumstances(pair, causes)]
    facts = _merge_actions(facts, list_alike, count_actions)
    return _merge_subjects_and_resources(facts)


def _merge_circumstances(pair: AskedPair, causes: Causes) -> Iterator[AccessFact]:
    """One fact for each change of outcome. The answer when nothing is stated follows from what is stated, if that differs."""
    stated: dict[tuple[Any, ...], list[DifferingAnswer]] = defaultdict(list)
    plain = [each for each in pair.differences if each.question.is_plain]
    others = [each for each in (*pair.differences, *pair.same) if not each.question.is_plain]
    for each in others:
        if each.before.outcome != each.after.outcome:
            stated[each.before.outcome, each.after.outcome, causes[each.question]].append(each)
    for group in stated.values():
        yield _build_fact(
            group[0], _choose_limits(group, [each for each in others if each not in group]), causes
        )
    if stated or not plain:
        return
    before, after = plain[0].before, plain[0].after
    is_same = before.outcome == after.outcome and before.obligations == after.obligations
    # That other conditions are named changes nothing where every condition was tried.
    if not (is_same and others):
        yield _build_fact(plain[0], _Limits(), causes)


class _Limits(NamedTuple):
    """The cases to which a change is limited, or those that it spares."""

    within: tuple[AccessProbe, ...] = ()
    outside: tuple[AccessProbe, ...] = ()
    is_partial: bool = False


def _choose_limits(group: Sequence[DifferingAnswer], others: Sequence[DifferingAnswer]) -> _Limits:
    """The shortest way to tell the cases that changed from the others: by their common circumstances, or by the exceptions.

    A case that had the new answer before is not an exception.
    """
    if not others:
        return _Limits()
    outcome = group[0].after.outcome
    exceptions = [each.question for each in others if each.after.outcome != outcome]
    inside = [each.question for each in group]
    here, there = _find_smallest(inside), _find_smallest(exceptions)
    is_here = _is_closed(here, exceptions)
    # What had the new answer before would be told as changed, if only exceptions were named.
    is_there = len(exceptions) == len(others) and _is_closed(there, inside)
    if is_there and (not is_here or len(there) < len(here)):
        return _Limits(outside=there)
    return _Limits(here, is_partial=not is_here)


def _find_smallest(chosen: Sequence[AccessProbe]) -> tuple[AccessProbe, ...]:
    """The questions that state least."""
    return tuple(each for each in chosen if not any(other.stated < each.stated for other in chosen))


def _is_closed(smallest: Iterable[AccessProbe], others: Sequence[AccessProbe]) -> bool:
    """Whether no other question states what one of these states."""
    return not any(each.stated <= other.stated for each in smallest for other in others)


def _build_fact(difference: DifferingAnswer, limits: _Limits, causes: Causes) -> AccessFact:
    question: AccessProbe = difference.question
    resource = (
        question.resource.rpartition(":")[0] if question.part and not question.input else question.resource
    )
    return AccessFact(
        (question.subject,), (resource,), (question.action,), difference.before, difference.after,
        limits.within, limits.outside, limits.is_partial, causes[question], question,
    )  # fmt: skip


def _merge_actions(
    facts: Iterable[AccessFact],
    list_alike: Callable[[str, str], tuple[str, ...]],
    count_actions: Callable[[str], int],
) -> list[AccessFact]:
    groups: dict[tuple[Any, ...], list[AccessFact]] = defaultdict(list)
    for fact in facts:
        groups[fact.subjects, fact.resources, *_get_key(fact)].append(fact)
    locked = {(fact.subjects, fact.resources) for fact in groups_with_lock(groups.values())}
    merged = []
    for group in groups.values():
        first = group[0]
        actions = tuple(
            dict.fromkeys(each for fact in group for each in list_alike(fact.resources[0], fact.actions[0]))
        )
        is_same_outcome = first.before.outcome == first.after.outcome
        if is_same_outcome and (first.subjects, first.resources) in locked and LOCK not in actions:
            continue  # that it depends on the lock follows from being allowed to take the lock
        named = () if len(actions) >= count_actions(first.resources[0]) else actions
        merged.append(first._replace(actions=named))
    return merged


def groups_with_lock(groups: Iterable[list[AccessFact]]) -> Iterator[AccessFact]:
    """The facts about taking a lock."""
    return (fact for group in groups for fact in group if LOCK in fact.actions)


def _merge_subjects_and_resources(facts: Iterable[AccessFact]) -> list[AccessFact]:
    groups: dict[tuple[Any, ...], list[AccessFact]] = defaultdict(list)
    for fact in facts:
        resource = fact.resources[0]
        kind = resource.partition(":")[0]
        groups[
            kind if not fact.actions or kind == "role" else resource, fact.actions, *_get_key(fact)
        ].append(fact)
    return [fact for group in groups.values() for fact in _merge_shortest(group)]


def _merge_shortest(facts: list[AccessFact]) -> list[AccessFact]:
    """Facts that differ in subjects and resources alone: by subject or by resource, whichever takes fewer lines."""
    by_subject = _merge_by(facts, lambda fact: fact.subjects[0], lambda fact: fact.resources[0])
    by_resource = _merge_by(facts, lambda fact: fact.resources[0], lambda fact: fact.subjects[0])
    if len(by_resource) <= len(by_subject):
        return [
            first._replace(subjects=_sort_subjects(those), resources=tuple(each))
            for first, each, those in by_resource
        ]
    return [
        first._replace(subjects=_sort_subjects(each), resources=tuple(sorted(those)))
        for first, each, those in by_subject
    ]


def _merge_by(
    facts: list[AccessFact], get_one: Callable[[AccessFact], str], get_other: Callable[[AccessFact], str]
) -> list[tuple[AccessFact, list[str], tuple[str, ...]]]:
    others: dict[str, list[str]] = defaultdict(list)
    first_by_one: dict[str, AccessFact] = {}
    for fact in facts:
        others[get_one(fact)].append(get_other(fact))
        first_by_one.setdefault(get_one(fact), fact)
    ones: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for one, those in others.items():
        ones[tuple(dict.fromkeys(those))].append(one)
    return [(first_by_one[each[0]], each, those) for those, each in ones.items()]


def _get_key(fact: AccessFact) -> tuple[Any, ...]:
    """What facts that are told in one line have in common, besides subjects, resources and actions."""
    before, after = fact.before, fact.after
    stated = (
        tuple(map(_describe_stated, fact.within)),
        tuple(map(_describe_stated, fact.outside)),
        fact.is_partial,
    )
    if before.outcome != after.outcome:
        conditions = after.conditions if after.outcome == "conditional" else ()
        return before.outcome, after.outcome, conditions, (), stated, fact.causes
    gone = tuple(each for each in _strip(before) if each not in after.obligations)
    come = tuple(each for each in _strip(after) if each not in before.obligations)
    return before.outcome, after.outcome, after.conditions, (gone, come), stated, fact.causes


def _describe_stated(question: AccessProbe) -> tuple[bytes, str]:
    return msgspec.json.encode(question.context), f"{question.part} {question.time}"


def _strip(answer: AccessAnswer) -> tuple[str, ...]:
    """The obligations without the approval, which names the resource and which `ask` always brings."""
    return tuple(each for each in answer.obligations if not each.startswith("approval:"))


def _sort_subjects(subjects: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(subjects, key=_get_subject_order))


def _get_subject_order(subject: str) -> tuple[int, str]:
    kind = subject.partition(":")[0]
    return (_KINDS.index(kind) if kind in _KINDS else len(_KINDS)), subject
