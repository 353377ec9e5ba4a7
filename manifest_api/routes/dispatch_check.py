"""Dispatch permission: may a role or a layer dispatch another? The server dispatches nothing."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from manifest_api.answering import AnswersOfApp
from manifest_api.guards.caller import require_scope
from manifest_api.questions import KNOWN_PARAMETERS, AsOf, Org, open_kernel_as_of, read_body
from manifest_api.routes.contracts import read_value
from manifest_api.routes.documented import declare_body, declare_responses
from orgkernel.decisions.dispatch.permission.briefs import DispatchBriefs
from orgkernel.decisions.dispatch.permission.permission import DispatchPermission, HandoverQuestion
from orgkernel.decisions.work.contracts.reading import ReadContract

router = APIRouter(tags=["dispatch"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])


class DispatchCheckQuestion(HandoverQuestion, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """May the sender dispatch the receiver, with this brief?"""

    brief: dict[str, Any] | str | None = None
    """The brief that is handed down: an object, or a string with YAML or JSON."""
    parent_brief: dict[str, Any] | str | None = None
    """The brief that the sender itself works by, in the same way."""


@router.post(
    "/v1/orgs/{org}/dispatch/check",
    responses=declare_responses(DispatchPermission, 400, 404, 409, 415, 503, kept=False, org=True),
    openapi_extra=declare_body(DispatchCheckQuestion, {"from": "L4", "to": "L5", "depth": 2}),
)
async def post_dispatch_check(
    request: Request, answers: AnswersOfApp, org: Org, as_of: AsOf = None
) -> Response:
    """Say whether a role or a layer may dispatch another: every step that fails, and routing hints if none does."""
    require_scope(request, "read")
    question = await read_body(request, DispatchCheckQuestion, '{"from": "L4", "to": "L5"}')
    briefs = DispatchBriefs(_read("brief", question.brief), _read("parent_brief", question.parent_brief))
    return await answers.respond_once(
        lambda kernel: open_kernel_as_of(kernel, as_of).dispatch_permission(org, question, briefs), org
    )


def _read(name: str, value: dict[str, Any] | str | None) -> ReadContract | None:
    return None if value is None else read_value(name, value)
