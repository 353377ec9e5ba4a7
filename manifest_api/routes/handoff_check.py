"""Hand-off permission: may a role or a layer hand work to another? The server only answers; it does not hand work
down.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from manifest_api.answering import AnswersOfApp
from manifest_api.guards.caller import require_scope
from manifest_api.questions import KNOWN_PARAMETERS, AsOf, Org, open_kernel_as_of, read_body
from manifest_api.routes.contracts import read_value
from manifest_api.routes.documented import declare_body, declare_responses
from orgkernel.decisions.handoff.briefs import HandoffBriefs
from orgkernel.decisions.handoff.permission import HandoffPermission, HandoffQuestion
from orgkernel.decisions.work.contracts.reading import ReadContract

router = APIRouter(tags=["handoffs"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])


class HandoffCheckQuestion(HandoffQuestion, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """May the sender hand work to the receiver, with this brief?"""

    brief: dict[str, Any] | str | None = None
    """The brief that is handed down: an object, or a string with YAML or JSON."""
    parent_brief: dict[str, Any] | str | None = None
    """The brief that the sender itself follows, in the same form."""


@router.post(
    "/v1/orgs/{org}/handoffs/check",
    responses=declare_responses(HandoffPermission, 400, 404, 409, 415, 503, kept=False, org=True),
    openapi_extra=declare_body(HandoffCheckQuestion, {"from": "L4", "to": "L5", "depth": 2}),
)
async def post_handoff_check(
    request: Request, answers: AnswersOfApp, org: Org, as_of: AsOf = None
) -> Response:
    """Say whether a role or a layer may hand work to another: every step that fails, and routing hints if none does."""
    require_scope(request, "read")
    question = await read_body(request, HandoffCheckQuestion, '{"from": "L4", "to": "L5"}')
    briefs = HandoffBriefs(_read("brief", question.brief), _read("parent_brief", question.parent_brief))
    return await answers.respond_once(
        lambda kernel: open_kernel_as_of(kernel, as_of).handoff_permission(org, question, briefs), org
    )


def _read(name: str, value: dict[str, Any] | str | None) -> ReadContract | None:
    return None if value is None else read_value(name, value)
