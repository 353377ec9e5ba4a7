"""Divide a plan of subtasks into batches, and find the subtasks that may start now.

Error policy: fails closed. A plan with any problem gets no batches, and none of its subtasks may start.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType

import msgspec

from orgkernel.decisions.work.batches.rules import (
    AssignmentCode,
    BatchCode,
    BatchProblem,
    PlannedSubtask,
    build_planned_subtask,
    check_batch,
    find_overlapping_files,
)
from orgkernel.decisions.work.batches.search import BatchSearch, find_batches
from orgkernel.decisions.work.contracts.check import check_contract
from orgkernel.decisions.work.contracts.subtask_plans import SubtaskKind
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.documents.records import SubtaskPlan


class Batch(msgspec.Struct, frozen=True):
    """Subtasks that can be worked on at the same time, after the batch before."""

    kind: SubtaskKind
    subtasks: tuple[str, ...]


class Wait(msgspec.Struct, frozen=True):
    """A reason why a subtask has to wait."""

    code: BatchCode | AssignmentCode
    text: str
    held_by: tuple[str, ...]
    """The subtasks that it waits for: all of them, or with BATCH_TOO_LARGE and AGENT_HAS_OTHER_SUBTASK any of them."""
    files: tuple[str, ...] = ()
    """The files that it waits for."""


class WaitingSubtask(msgspec.Struct, frozen=True):
    """A subtask that may not start now."""

    id: str
    waits: tuple[Wait, ...]


class BatchPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The batches of the remaining work, and the subtasks that may start now."""

    batches: tuple[Batch, ...]
    """Subtasks that are neither done nor running, in the fewest batches that were found."""
    is_minimal: bool
    """Whether it is proved that fewer batches are impossible."""
    at_least: int
    """The proved lower bound on the number of batches."""
    because: str
    """The reason for the bound."""
    start: tuple[str, ...]
    """Subtasks that may start now, together with the running ones. No batch has to end first."""
    waiting: tuple[WaitingSubtask, ...]
    """The waiting subtasks, with the reasons and the subtasks that block them."""
    problems: tuple[BatchProblem, ...]
    """Problems with the running work."""


def find_unknown(
    plan: SubtaskPlan, done_ids: Collection[str], running: Collection[str]
) -> tuple[str, str] | None:
    """An invalid reported id, after its problem."""
    known = {each.id for each in plan.subtasks}
    for each in (*done_ids, *running):
        if each not in known:
            return "is not a subtask of the plan", each
    both = [each for each in running if each in done_ids]
    return ("cannot be both done and running", both[0]) if both else None


def plan_batches(
    plan: SubtaskPlan,
    done: Collection[str] = (),
    running: Collection[str] = (),
    held_back: Mapping[str, Wait] = MappingProxyType({}),
) -> BatchPlan:
    """The batches of a valid plan. Subtasks in `held_back` may not start, for the given reason.

    Raises `ValueError` for a plan that is not valid, or for unknown ids.
    """
    unknown = find_unknown(plan, done, running)
    if unknown is not None:
        raise ValueError(f"{unknown[1]} {unknown[0]}")
    if check_contract(plan):
        raise ValueError("the plan is not valid")
    subtasks = [build_planned_subtask(each) for each in plan.subtasks]
    left = [each for each in subtasks if each.id not in done and each.id not in running]
    at_work = [each for each in subtasks if each.id in running]
    schedule = find_batches(left, plan.batch_size)
    batches = tuple(
        Batch(left[batch[0]].kind, tuple(left[number].id for number in batch)) for batch in schedule.batches
    )
    first = [left[number] for number in schedule.batches[0]] if schedule.batches else []
    if at_work or any(each.id in held_back for each in first):
        start = _start_beside(left, at_work, plan.batch_size, held_back)
    else:
        start = first
    started = {each.id for each in start}
    waiting = tuple(
        WaitingSubtask(
            each.id,
            (
                *((held_back[each.id],) if each.id in held_back else ()),
                *_find_waits(each, left, at_work, start, plan.batch_size),
            ),
        )
        for each in left
        if each.id not in started
    )
    return BatchPlan(
        batches=batches,
        is_minimal=schedule.is_minimal,
        at_least=schedule.bound.at_least,
        because=schedule.bound.because,
        start=tuple(each.id for each in start),
        waiting=waiting,
        problems=check_batch(at_work, left, plan.batch_size),
    )


def _start_beside(
    remaining_subtasks: Sequence[PlannedSubtask],
    at_work: Sequence[PlannedSubtask],
    size: int,
    held_back: Collection[str],
) -> list[PlannedSubtask]:
    """As many narrow subtasks as can run together with the running ones."""
    # No other subtask may run at the same time as a broad or terminal one.
    if any(each.kind != "narrow" for each in at_work):
        return []
    unfinished = {each.id for each in (*remaining_subtasks, *at_work)}
    everything = [*(each for each in remaining_subtasks if each.kind != "terminal"), *at_work]
    ready = [
        number
        for number, each in enumerate(everything)
        if each.kind == "narrow"
        and each not in at_work
        and each.id not in held_back
        and unfinished.isdisjoint(each.depends_on)
    ]
    # The search keeps sets of subtasks as bits of a number, in the order of `everything`.
    beside = sum(1 << number for number, each in enumerate(everything) if each in at_work)
    return [everything[number] for number in sorted(BatchSearch(everything, size).fill(ready, beside))]


def _find_waits(
    subtask: PlannedSubtask,
    remaining_subtasks: Sequence[PlannedSubtask],
    at_work: Sequence[PlannedSubtask],
    start: Sequence[PlannedSubtask],
    size: int,
) -> Iterator[Wait]:
    """Every reason why a subtask has to wait."""
    busy = (*at_work, *start)
    unfinished = {each.id for each in (*remaining_subtasks, *at_work)}
    needed = tuple(each for each in dict.fromkeys(subtask.depends_on) if each in unfinished)
    if needed:
        yield Wait("DEPENDENCY_NOT_DONE", f"it depends on {listing(needed)}", needed)
    if subtask.kind == "terminal":
        before = tuple(each.id for each in (*at_work, *remaining_subtasks) if each.kind != "terminal")
        others = tuple(each.id for each in busy if each.kind == "terminal")
        if before or others:
            holders = (*before, *(each for each in others if each not in before))
            yield Wait(
                "TERMINAL_NOT_LAST", f"it must be worked on alone and after {listing(holders)}", holders
            )
        return
    # A broad subtask waits for all others; a narrow one waits only for those that are not narrow.
    alone = tuple(each.id for each in busy if each.kind != "narrow" or subtask.kind == "broad")
    if alone:
        who = "it" if subtask.kind == "broad" else quote(alone[0])
        yield Wait("BROAD_NOT_ALONE", f"{who} must be worked on alone", alone)
        return
    for other in busy:
        files = find_overlapping_files(subtask, other)
        if files:
            yield Wait("BATCH_OVERLAP", f"{quote(other.id)} owns {listing(files)}", (other.id,), files)
    if len(busy) >= size:
        ids = tuple(each.id for each in busy)
        text = f"{len(busy)} subtasks are worked on, and the batch size is {size}"
        yield Wait("BATCH_TOO_LARGE", text, ids)
