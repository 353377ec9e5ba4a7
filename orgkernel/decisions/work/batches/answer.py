"""The batches of a plan in a text, or all its problems."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal

import msgspec

from orgkernel.decisions.work.batches.assignment import AssignedPlan, SubtaskAssignment
from orgkernel.decisions.work.batches.plan import BatchPlan, find_unknown, plan_batches
from orgkernel.decisions.work.contracts.reading import check_read_contract, read_contract
from orgkernel.diagnostics import Diagnostic, Place
from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.documents.records import SubtaskPlan
from orgkernel.loading.files import SourceText


@dataclass(frozen=True, slots=True)
class PlannedText:
    """The answer about a plan."""

    outcome: Literal["planned", "refused", "cannot_tell"]
    """`refused` if the plan or the running work has problems. `cannot_tell` if the text cannot be read as a plan,"""
    plan: BatchPlan | None
    diagnostics: tuple[Diagnostic, ...]
    assignments: tuple[SubtaskAssignment, ...] = ()
    """Who takes the subtasks that may start, as far as they state a domain and an organization was asked."""
    unknown: tuple[str, str, str] | None = None
    """The problem with a reported id, the id, and the remedy."""


def _plan_without_organization(
    plan: SubtaskPlan, done: Collection[str], running: Collection[str]
) -> AssignedPlan:
    return AssignedPlan(plan_batches(plan, done, running))


def plan_text(
    source: SourceText,
    done: Collection[str] = (),
    running: Collection[str] = (),
    most: int | None = None,
    plan_subtasks: Callable[
        [SubtaskPlan, Collection[str], Collection[str]], AssignedPlan
    ] = _plan_without_organization,
) -> PlannedText:
    """The batches of the plan in a text, given what is done and what is running. `most` bounds the batch size of the plan.

    `plan_subtasks` also assigns subtasks, in an organization (`BatchAssigner.plan`).
    """
    read = read_contract(source)
    if read.kind not in (None, "subtask_plan"):
        message = f"a document of kind {quote(read.kind)} is not a plan of subtasks"
        diagnostic = row.UNKNOWN_KIND.at(
            Place(source.name, 1, 1), message, "write `_schema: orgkernel:subtask_plan`"
        )
        return PlannedText("cannot_tell", None, (diagnostic,))
    checked = check_read_contract(read)
    if checked.outcome == "cannot_tell":
        return PlannedText("cannot_tell", None, checked.diagnostics)
    if checked.outcome != "sound" or not isinstance(checked.contract, SubtaskPlan):
        return PlannedText("refused", None, checked.diagnostics)
    unknown = find_unknown(checked.contract, done, running)
    if unknown is not None:
        help = did_you_mean(unknown[1], [each.id for each in checked.contract.subtasks])
        return PlannedText("cannot_tell", None, checked.diagnostics, unknown=(*unknown, help))
    subtasks = checked.contract
    if most is not None and most < subtasks.batch_size:
        subtasks = msgspec.structs.replace(subtasks, batch_size=most)
    assigned = plan_subtasks(subtasks, done, running)
    outcome: Literal["planned", "refused"] = "refused" if assigned.plan.problems else "planned"
    return PlannedText(outcome, assigned.plan, checked.diagnostics, assigned.assignments)
