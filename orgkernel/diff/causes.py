"""Find the edits that cause a difference.

Each edit is taken back alone, and the question is asked again. If that changes the answer, the edit is a cause. If no edit
does it alone, because two of them are each enough, the old version is tried with one edit at a time. If even that finds
nothing, the edits cause it together.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from orgkernel.diff.edits import DeclaredEdit
from orgkernel.diff.questions import BothVersions
from orgkernel.diff.undo import build_with, can_take
from orgkernel.graph.questions import OrgView

T = TypeVar("T", bound=Hashable)
_MAX_REBUILT_ROLES = 40_000
"""Roles that are put together again for all edits: with more edits than this allows, those of one entry are tried together."""


class TrialVersions:
    """The edits between two versions, and versions for trial: the new one without a group of edits, or the old one with only
    that group.
    """

    def __init__(self, edits: Sequence[DeclaredEdit], sides: BothVersions) -> None:
        self.edits = edits
        self.sides = sides
        self.groups = _group_edits(edits, max(len(sides.new.roles), 1))
        self._without: dict[int, OrgView] = {}
        self._alone: dict[int, OrgView] = {}

    @property
    def is_single(self) -> bool:
        """Whether there is one edit, which then causes everything."""
        return len(self.edits) == 1

    def get_without(self, group: int) -> OrgView | None:
        """The new version without a group of edits; None if it cannot be built."""
        return self._get(self._without, group, forward=False)

    def get_alone(self, group: int) -> OrgView | None:
        """The old version with only a group of edits; None if it cannot be built."""
        return self._get(self._alone, group, forward=True)

    def _get(self, built: dict[int, OrgView], group: int, *, forward: bool) -> OrgView | None:
        edits = [self.edits[number] for number in self.groups[group]]
        if not all(map(can_take, edits)):
            return None
        if group not in built:
            base, other = self.sides.old.records, self.sides.new.records
            if not forward:
                base, other = other, base
            built[group] = build_with(base, other, edits, forward=forward)
        return built[group]


def _group_edits(edits: Sequence[DeclaredEdit], roles: int) -> list[tuple[int, ...]]:
    """The edits to try, each alone; if they are many, those of one entry, or of one section, together."""
    most = max(4, _MAX_REBUILT_ROLES // roles)
    groups: list[tuple[int, ...]] = []
    for key in (lambda each: each.key, lambda each: (each.section, each.id), lambda each: (each.section,)):
        numbers: dict[Any, list[int]] = {}
        for number, edit in enumerate(edits):
            numbers.setdefault(key(edit), []).append(number)
        groups = [tuple(each) for each in numbers.values()]
        if len(groups) <= most:
            break
    return groups


def find_causes(
    questions: Iterable[T],
    trials: TrialVersions,
    touches: Callable[[int, T], bool],
    answer: Callable[[OrgView, T, bool], object],
) -> Mapping[T, tuple[int, ...]]:
    """The edits behind each question, as numbers. `touches` says whether a group of edits can reach a question at all;
    `answer` asks a version, `True` for one that is made from the old one.
    """
    questions = list(dict.fromkeys(questions))
    if trials.is_single:
        return dict.fromkeys(questions, (0,))
    causes: dict[T, list[int]] = {question: [] for question in questions}
    # First each group is left out of the new version: if the answer then differs, the group was necessary. If two groups
    # suffice each, neither is necessary, so each is then tried alone on the old version.
    for forward in (False, True):
        open_questions = [question for question, numbers in causes.items() if not numbers]
        for group in range(len(trials.groups)):
            reached = [question for question in open_questions if touches(group, question)]
            view = (trials.get_alone(group) if forward else trials.get_without(group)) if reached else None
            if view is None:
                continue
            whole = trials.sides.old if forward else trials.sides.new
            for question in reached:
                if answer(view, question, forward) != answer(whole, question, forward):
                    causes[question] += trials.groups[group]
    # Still no cause: the edits work only together, so all that can reach the question are named.
    for question in (each for each, numbers in causes.items() if not numbers):
        reaching = (group for group in range(len(trials.groups)) if touches(group, question))
        causes[question] = [number for group in reaching for number in trials.groups[group]]
    return {question: tuple(sorted(numbers)) for question, numbers in causes.items()}
