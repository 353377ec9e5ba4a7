"""Batches of subtasks: which are worked on together, and which may start now."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from manifest_api.answering import AnswersOfApp
from manifest_api.guards.caller import require_scope
from manifest_api.problems import INVALID_REQUEST, RequestRefused
from manifest_api.questions import KNOWN_PARAMETERS, Org, read_body, read_body_text
from manifest_api.routes.documented import declare_body, declare_responses
from manifest_api.shapes import DiagnosticRow, InvalidValue
from manifest_api.status import build_finding
from orgkernel.decisions.work.batches.assignment import SubtaskAssignment
from orgkernel.decisions.work.batches.plan import BatchPlan
from orgkernel.diagnostics.wording import quote
from orgkernel.kernel.kernel import Kernel

router = APIRouter(tags=["batches"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])
_EXAMPLE = {
    "plan": {"_schema": "orgkernel:subtask_plan", "subtasks": [{"id": "search", "files": ["src/search.py"]}]}
}
SubtaskIds = Annotated[tuple[Annotated[str, msgspec.Meta(max_length=100)], ...], msgspec.Meta(max_length=500)]


class BatchQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How are these subtasks batched, and which may start now?"""

    plan: msgspec.Raw
    """The plan: an object, or a string with YAML or JSON. Places in the findings are relative to its start."""
    done: SubtaskIds = ()
    """Subtasks that are done."""
    running: SubtaskIds = ()
    """Subtasks that are worked on now."""


class BatchAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The batches of a plan, or all of its problems."""

    outcome: Literal["planned", "refused", "cannot_tell"]
    """`refused` if the plan or the running work has a problem. `cannot_tell` if the input is not a plan."""
    plan: BatchPlan | None
    assignments: tuple[SubtaskAssignment, ...] = ()
    """Who takes each subtask that may start and states its domain."""
    findings: tuple[DiagnosticRow, ...]


@router.post(
    "/v1/orgs/{org}/batches/plan",
    responses=declare_responses(BatchAnswer, 400, 404, 409, 415, 503, kept=False, org=True),
    openapi_extra=declare_body(BatchQuestion, _EXAMPLE),
)
async def post_batch_plan(request: Request, answers: AnswersOfApp, org: Org) -> Response:
    """Divide the subtasks of a plan into as few batches as possible, and list which may start now and which wait.

    Nothing is stored. The organization's batch size limits the plan. A subtask that states its `domain` is given to an agent who can
    take it now. Without such an agent, it waits.
    """
    require_scope(request, "read")
    question = await read_body(request, BatchQuestion, '{"plan": {"_schema": "orgkernel:subtask_plan"}}')
    return await answers.respond_once(lambda kernel: _plan(kernel, question, org), org)


def _plan(kernel: Kernel, question: BatchQuestion, org: str) -> BatchAnswer:
    source = read_body_text("plan", question.plan)
    answer = kernel.plan_batches(org, source, question.done, question.running)
    if answer.unknown is not None:
        problem, name, help = answer.unknown
        where = "running" if name in question.running else "done"
        raise RequestRefused(
            INVALID_REQUEST,
            f"subtask {quote(name)} {problem}",
            help or "send ids of the plan",
            [InvalidValue(where=where, message=problem)],
        )
    findings = tuple(map(build_finding, answer.diagnostics))
    return BatchAnswer(
        outcome=answer.outcome, plan=answer.plan, assignments=answer.assignments, findings=findings
    )
