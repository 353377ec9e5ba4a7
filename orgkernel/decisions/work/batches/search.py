"""Find the fewest batches for some subtasks.

Only maximal batches are tried. Moving a subtask from a later batch into an earlier one with space for it breaks no
rule, so some shortest plan consists of maximal batches. The search is breadth-first over the sets of finished subtasks.
Up to `ALWAYS_EXACT` subtasks it always completes. For more, it stops after `MAX_STATES` states, so the answer never
depends on the speed of a machine. Then a good plan and a lower bound are known, and the answer is marked as not minimal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from orgkernel.decisions.ownership.paths import Key
from orgkernel.decisions.work.batches.rules import PlannedSubtask, find_overlapping_files
from orgkernel.diagnostics.wording import quote

ALWAYS_EXACT: Final = 12
MAX_STATES: Final = 4_000
"""The highest number of states, for more than `ALWAYS_EXACT` subtasks."""
MAX_CHOICES: Final = 400
"""The highest number of batches that are tried from one state, for more than `ALWAYS_EXACT` subtasks."""


class Bound(NamedTuple):
    """A lower bound on the number of batches, and its reason."""

    at_least: int
    because: str


class FoundBatches(NamedTuple):
    """Batches, each as the numbers of its subtasks."""

    batches: tuple[tuple[int, ...], ...]
    is_minimal: bool
    bound: Bound


def find_batches(subtasks: Sequence[PlannedSubtask], size: int) -> FoundBatches:
    """The fewest batches for subtasks without cycles. Dependencies on other subtasks count as done."""
    # Terminal subtasks end the work and run alone, so they are not part of the search.
    work = tuple(number for number, each in enumerate(subtasks) if each.kind != "terminal")
    search = BatchSearch([subtasks[number] for number in work], size)
    inner, is_minimal, bound = search.run()
    batches = [tuple(work[number] for number in batch) for batch in inner]
    last = _sort_by_dependency(subtasks, [n for n, each in enumerate(subtasks) if each.kind == "terminal"])
    if last:
        each = f"{len(last)} for {_format_count(len(last), 'terminal subtask')}"
        because = f"{bound.because}, then {each}" if work else each
        bound = Bound(bound.at_least + len(last), because)
    return FoundBatches((*batches, *((number,) for number in last)), is_minimal, bound)


def _sort_by_dependency(subtasks: Sequence[PlannedSubtask], numbers: list[int]) -> list[int]:
    """The numbers in the order of their dependencies, then of the plan."""
    waiting, ordered = list(numbers), []
    while waiting:
        open_ids = {subtasks[number].id for number in waiting}
        following = next(n for n in waiting if open_ids.isdisjoint(subtasks[n].depends_on))
        waiting.remove(following)
        ordered.append(following)
    return ordered


class BatchSearch:
    """Narrow and broad subtasks as bit masks: their dependencies and their conflicts."""

    def __init__(self, subtasks: Sequence[PlannedSubtask], size: int) -> None:
        self._subtasks = subtasks
        self._size = size
        self._count = len(subtasks)
        numbers = {each.id: number for number, each in enumerate(subtasks)}
        # As bit masks, "is everything done that it needs" is one operation. The search asks it millions of times.
        self._needs = [
            sum(1 << numbers[other] for other in {*each.depends_on} if other in numbers) for each in subtasks
        ]
        self._broad = sum(1 << number for number, each in enumerate(subtasks) if each.kind == "broad")

    @cached_property
    def _beside(self) -> list[int]:
        """For each subtask, those that conflict with it."""
        conflicts = [0] * self._count
        for one in range(self._count):
            for other in range(one):
                first, second = self._subtasks[one], self._subtasks[other]
                # A broad subtask can touch any file, so nothing runs next to it.
                if "broad" in (first.kind, second.kind) or find_overlapping_files(first, second):
                    conflicts[one] |= 1 << other
                    conflicts[other] |= 1 << one
        return conflicts

    @cached_property
    def _tails(self) -> list[int]:
        """For each subtask, the length of the longest chain of dependents that starts with it."""
        tails = [0] * self._count
        following: list[list[int]] = [[] for _ in range(self._count)]
        open_needs = [need.bit_count() for need in self._needs]
        for number, need in enumerate(self._needs):
            for other in _iterate_bits(need):
                following[other].append(number)
        order = [number for number in range(self._count) if not open_needs[number]]
        for number in order:
            for other in following[number]:
                open_needs[other] -= 1
                if not open_needs[other]:
                    order.append(other)
        # Dependents first, so their chains are known when those before them are measured.
        for number in reversed(order):
            tails[number] = 1 + max((tails[other] for other in following[number]), default=0)
        return tails

    def run(self) -> FoundBatches:
        """The batches, whether they are minimal, and the lower bound."""
        if not self._count:
            return FoundBatches((), True, Bound(0, "no subtask is left"))
        bound = self._compute_bound()
        # The greedy plan often meets the lower bound. Then it is minimal, and the search is not needed.
        quick = self._plan_greedily()
        if len(quick) == bound.at_least:
            return FoundBatches(quick, True, bound)
        exact = self._plan_by_level(len(quick))
        if exact is None:
            return FoundBatches(quick, False, bound)
        # The search tried every plan with fewer batches, which proves a higher bound than the formulas.
        if len(exact) > bound.at_least:
            bound = Bound(len(exact), f"all ways to put {self._count} subtasks into fewer batches were tried")
        return FoundBatches(exact, True, bound)

    def _find_ready(self, done: int) -> list[int]:
        return [
            number for number, need in enumerate(self._needs) if not done >> number & 1 and not need & ~done
        ]

    def _plan_greedily(self) -> tuple[tuple[int, ...], ...]:
        """A good plan: subtasks with the longest chain first, narrow before broad, then those with the most conflicts."""
        done, batches = 0, []
        while done != (1 << self._count) - 1:
            batch = self.fill(self._find_ready(done))
            batches.append(tuple(sorted(batch)))
            done |= sum(1 << number for number in batch)
        return tuple(batches)

    def fill(self, ready: Sequence[int], beside: int = 0) -> list[int]:
        """Ready subtasks that can be worked on together with each other and with others, as many as fit."""
        batch: list[int] = []

        def compute_urgency(number: int) -> tuple[int, bool, int, int]:
            is_broad = bool(self._broad >> number & 1)
            return (-self._tails[number], is_broad, -self._beside[number].bit_count(), number)

        for number in sorted(ready, key=compute_urgency):
            room = beside.bit_count() + len(batch) < self._size
            # A batch is never empty, or the plan would not end if the size is zero.
            alone = not beside and not batch
            if not self._beside[number] & (beside | sum(1 << each for each in batch)) and (room or alone):
                batch.append(number)
        return batch

    def _plan_by_level(self, most: int) -> tuple[tuple[int, ...], ...] | None:
        """A shortest plan; None if the limit was reached first."""
        is_small = self._count <= ALWAYS_EXACT
        everything = (1 << self._count) - 1
        # The keys are also the visited states: batches in another order can lead to the same set of finished subtasks.
        came_from: dict[int, tuple[int, tuple[int, ...]]] = {0: (0, ())}
        level = [0]
        for _ in range(most):
            following: list[int] = []
            for done in level:
                for tried, batch in enumerate(self._iterate_full_batches(self._find_ready(done))):
                    if not is_small and (tried >= MAX_CHOICES or len(came_from) >= MAX_STATES):
                        return None
                    after = done | sum(1 << number for number in batch)
                    if after in came_from:
                        continue
                    came_from[after] = (done, batch)
                    if after == everything:
                        return _rebuild_way(came_from, after)
                    following.append(after)
            level = following
        raise AssertionError("some plan has so few batches")

    def _iterate_full_batches(self, ready: list[int]) -> Iterator[tuple[int, ...]]:
        """The maximal batches of ready subtasks, in the order of their first subtasks."""
        beside, size = self._beside, self._size
        narrow = [number for number in ready if not self._broad >> number & 1]

        def grow(
            batch: tuple[int, ...], candidates: list[int], others: list[int]
        ) -> Iterator[tuple[int, ...]]:
            if len(batch) == size or not candidates:
                # If a skipped subtask still fits, the larger batch is found in another branch.
                if len(batch) == size or not any(self._fits(each, batch) for each in others):
                    yield batch
                return
            # Each batch is grown in the order of its numbers, so no batch is tried twice.
            for at, number in enumerate(candidates):
                later = [each for each in candidates[at + 1 :] if not beside[number] >> each & 1]
                yield from grow((*batch, number), later, [*others, *candidates[:at]])

        if narrow:
            yield from grow((), narrow, [])
        yield from ((number,) for number in ready if self._broad >> number & 1)

    def _fits(self, number: int, batch: tuple[int, ...]) -> bool:
        return not any(self._beside[number] >> each & 1 for each in batch)

    def _compute_bound(self) -> Bound:
        """The largest of several lower bounds on the number of batches."""
        broad = self._broad.bit_count()
        narrow = self._count - broad
        alone = f", and {broad} for {_format_count(broad, 'broad subtask')}" if broad else ""
        # Division that rounds up.
        by_size = -(-narrow // self._size)
        bounds = [
            Bound(
                by_size + broad,
                f"{by_size} for {_format_count(narrow, 'narrow subtask')}, {self._size} at a time{alone}",
            )
        ]
        shared = self._find_most_shared_file()
        if shared is not None:
            count, file = shared
            bounds.append(Bound(count + broad, f"{count} for subtasks that overlap in {quote(file)}{alone}"))
        longest = max(self._tails)
        bounds.append(Bound(longest, f"{longest} for the longest chain of dependencies"))
        return max(bounds, key=lambda each: each.at_least)

    def _find_most_shared_file(self) -> tuple[int, str] | None:
        """The highest number of subtasks that own one file or a folder above it, and a path of it."""
        owners: dict[Key, set[int]] = {}
        for number, each in enumerate(self._subtasks):
            for key in each.keys:
                owners.setdefault(key, set()).add(number)
        best: tuple[int, str] | None = None
        for each in self._subtasks:
            for file, key in zip(each.files, each.keys, strict=False):
                # Owners of one file or of a folder above it all conflict with each other, so each needs its own batch.
                above = {n for end in range(1, len(key) + 1) for n in owners.get(key[:end], ())}
                if best is None or len(above) > best[0]:
                    best = (len(above), file)
        return best


def _format_count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _iterate_bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _rebuild_way(
    came_from: dict[int, tuple[int, tuple[int, ...]]], state: int
) -> tuple[tuple[int, ...], ...]:
    batches = []
    while state:
        state, batch = came_from[state]
        batches.append(batch)
    return tuple(reversed(batches))
