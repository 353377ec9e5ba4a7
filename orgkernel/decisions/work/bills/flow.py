"""The flow of a bill: which step leads to which.

Without branches a step leads to its `next`, or to the next one in the list. With branches, it leads only to these. A step with
several incoming ways waits until each of them is taken or skipped, and starts if one is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

from orgkernel.documents.records import Bill, BillStep, Branch

END = "end"
ACTIVATION = "activation"
"""The source name for inputs of the activation, which conditions can use besides the outputs of steps."""
APPROVAL = "captain_approval"
CHIEF = "department_chief"
"""The word for the head of a bill's department, in place of a role."""


class StepLink(NamedTuple):
    """A way from one step to another."""

    source: str
    target: str
    condition: str | None
    branch: int | None
    """The number of the branch; None for the way to the next step."""


class Flow:
    """The steps of a bill by id, and the ways between them."""

    def __init__(self, bill: Bill) -> None:
        self.numbers: dict[str, int] = {}
        for number, step in enumerate(bill.steps):
            # The first step with an id has it. ORG636 reports later ones.
            self.numbers.setdefault(step.id, number)
        self.steps: Mapping[str, BillStep] = {
            step_id: bill.steps[number] for step_id, number in self.numbers.items()
        }
        self.start = bill.steps[0].id if bill.steps else None
        self.ways: dict[str, tuple[StepLink, ...]] = {}
        self.into: dict[str, list[StepLink]] = {step_id: [] for step_id in self.steps}
        self.unknown: list[StepLink] = []
        """Ways to an unknown step."""
        for step_id, number in self.numbers.items():
            ways = tuple(_find_ways(bill, number))
            self.ways[step_id] = ways
            for way in ways:
                if way.target in self.into:
                    self.into[way.target].append(way)
                else:
                    self.unknown.append(way)

    def list_ways(self) -> tuple[tuple[str, str], ...]:
        """The source and target of every way to a step."""
        return tuple((way.source, way.target) for ways in self.into.values() for way in ways)

    def sort_steps(self) -> tuple[str, ...] | None:
        """The steps in topological order; None if they form a cycle."""
        sorter: TopologicalSorter[str] = TopologicalSorter(
            {step_id: [way.source for way in ways] for step_id, ways in self.into.items()}
        )
        try:
            return tuple(sorter.static_order())
        except CycleError:
            return None

    def find_reached(self) -> frozenset[str]:
        """The steps that can be reached from the first one."""
        first = () if self.start is None else (self.start,)
        return _walk(first, lambda each: [way.target for way in self.ways[each] if way.target in self.steps])

    def find_before(self, step_id: str) -> frozenset[str]:
        """The steps that lead to a step, directly or not."""
        first = (way.source for way in self.into.get(step_id, ()))
        return _walk(first, lambda each: [way.source for way in self.into[each]])


def _walk(first: Iterable[str], onward: Callable[[str], Iterable[str]]) -> frozenset[str]:
    """Some steps, and all steps that they lead to."""
    step_ids: set[str] = set()
    pending = [*first]
    while pending:
        step_id = pending.pop()
        if step_id not in step_ids:
            step_ids.add(step_id)
            pending += onward(step_id)
    return frozenset(step_ids)


def _find_ways(bill: Bill, number: int) -> Iterator[StepLink]:
    step = bill.steps[number]
    if step.branches:
        for branch, entry in enumerate(step.branches):
            written = Branch(to=entry) if isinstance(entry, str) else entry
            yield StepLink(step.id, written.to, written.condition, branch)
        return
    following = step.next
    if following is None:
        following = bill.steps[number + 1].id if number + 1 < len(bill.steps) else END
    if following != END:
        yield StepLink(step.id, following, None, None)


def get_bill_roles(step: BillStep) -> tuple[str, ...]:
    """The bill roles that do a step."""
    named = (step.role, *step.roles) if step.role is not None else step.roles
    return tuple(dict.fromkeys(named))


def read_count(count: int | str) -> tuple[int, int] | None:
    """The lowest and highest number of agents of a bill role; None if the text is not a valid count.

    >>> read_count(2), read_count("1"), read_count("1-3"), read_count("3-1"), read_count("some")
    ((2, 2), (1, 1), (1, 3), None, None)
    """
    low, dash, high = str(count).strip().partition("-")
    if not (low.isdecimal() and low.isascii() and len(low) < 5):
        return None
    if dash and not (high.isdecimal() and high.isascii() and len(high) < 5):
        return None
    least, most = int(low), int(high or low)
    return (least, most) if 1 <= least <= most else None
