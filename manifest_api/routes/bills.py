"""Bills: procedures of several roles. The server lists the next steps of a bill; it runs and stores nothing."""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import APIRouter, Request
from msgspec.structs import replace
from starlette.responses import Response

from manifest_api.answering import AnswersOfApp
from manifest_api.guards.caller import require_scope
from manifest_api.problems import INVALID_REQUEST, RequestRefused
from manifest_api.questions import KNOWN_PARAMETERS, AsOf, Org, declare_path_id, open_kernel_as_of, read_body
from manifest_api.routes.documented import declare_body, declare_responses
from manifest_api.shapes import InvalidValue
from orgkernel.decisions.work.bills.instance import BillAssignment, BillInstance, NextSteps
from orgkernel.manifest.bills import BillList, BillPage
from orgkernel.operations.permissions import Name

router = APIRouter(tags=["bills"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])
BillPath = Annotated[str, declare_path_id("a bill", "general_quarters")]
_INSTANCE = {
    "activated_by": "alert:RED",
    "assignments": {"conn": ["number_one"]},
    "steps": {"sound": {"status": "completed", "by": "agent:number_one"}},
}
MAX_LEFT_OUT = 1000


class AssignmentQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who could take the bill roles now?"""

    without: Annotated[tuple[Name, ...], msgspec.Meta(max_length=MAX_LEFT_OUT)] = ()
    """Agents that are not available."""


@router.get("/v1/orgs/{org}/bills", responses=declare_responses(BillList, 404, 409, 503, org=True))
async def get_bills(request: Request, answers: AnswersOfApp, org: Org) -> Response:
    """List the bills that an organization sees."""
    return await answers.respond(request, lambda kernel: kernel.bills(org), org)


@router.get("/v1/orgs/{org}/bills/{bill}", responses=declare_responses(BillPage, 404, 409, 503, org=True))
async def get_bill(request: Request, answers: AnswersOfApp, org: Org, bill: BillPath) -> Response:
    """Get a bill: its bill roles, its steps, who may start it, and its findings."""
    return await answers.respond(request, lambda kernel: kernel.bill(org, bill), org)


@router.post(
    "/v1/orgs/{org}/bills/{bill}/fill",
    responses=declare_responses(BillAssignment, 400, 404, 409, 415, 503, kept=False, org=True),
    openapi_extra=declare_body(AssignmentQuestion, {"without": ["number_one"]}),
)
async def post_bill_fill(
    request: Request, answers: AnswersOfApp, org: Org, bill: BillPath, as_of: AsOf = None
) -> Response:
    """Propose who takes which bill role, from the current crew. This assigns no agent."""
    require_scope(request, "read")
    question = await read_body(request, AssignmentQuestion, "{}")
    return await answers.respond_once(
        lambda kernel: open_kernel_as_of(kernel, as_of).fill_bill(org, bill, without=question.without), org
    )


@router.post(
    "/v1/orgs/{org}/bills/{bill}/next",
    responses=declare_responses(NextSteps, 400, 404, 409, 415, 503, kept=False, org=True),
    openapi_extra=declare_body(BillInstance, _INSTANCE),
)
async def post_bill_next(
    request: Request, answers: AnswersOfApp, org: Org, bill: BillPath, as_of: AsOf = None
) -> Response:
    """List which steps of a running bill may start now, what accompanies them, and what blocks the others."""
    require_scope(request, "read")
    instance = await read_body(
        request, BillInstance, '{"activated_by": "agent:ID", "assignments": {}, "steps": {}}'
    )
    if instance.bill not in ("", bill):
        raise RequestRefused(
            INVALID_REQUEST,
            "the instance belongs to another bill",
            "leave `bill` out, or ask at the path of that bill",
            [InvalidValue(where="body.bill", message=f"expected `{bill}`")],
        )
    told_of = replace(instance, bill=bill)
    return await answers.respond_once(
        lambda kernel: open_kernel_as_of(kernel, as_of).next_steps(org, told_of), org
    )
