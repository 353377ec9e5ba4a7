"""Requests for a permission: asked with the scope `request`, answered with the scope `approve`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from manifest_api.access_shapes import ApprovalAnswer, Approved, Note, RequestDraft, RequestPage
from manifest_api.answering import AnswersOfApp
from manifest_api.guards.caller import require_scope
from manifest_api.questions import Cursor, only, read_body
from manifest_api.routes.documented import body_of, remembered
from manifest_api.store_requests import (
    DEFAULT_ROWS,
    Limit,
    existing_in_store,
    json_response,
    own_name,
    page_from_store,
    refuse_giving_too_much,
    with_store,
)
from orgkernel.decisions.state_view import Grant
from orgkernel.diagnostics.wording import quote
from orgkernel.state.records import AccessRequest, RequestStatus
from orgkernel.state.store import Store

router = APIRouter(tags=["requests"])
RequestId = Annotated[str, Path(description="Id of a request.", examples=["r-0123456789ab"])]


@router.get(
    "/v1/requests",
    response_class=Response,
    responses=remembered("RequestPage", 409),
    dependencies=[only("status", "subject", "cursor", "limit")],
)
async def get_requests(
    request: Request,
    status: Annotated[RequestStatus | None, Query(description="Only those in this state.")] = None,
    subject: Annotated[str | None, Query(max_length=200, description="Only those of one requester.")] = None,
    cursor: Cursor = None,
    limit: Limit = DEFAULT_ROWS,
) -> Response:
    """Requests, oldest first."""
    shown, following = await page_from_store(
        request,
        lambda store: store.requests.list(status, subject),
        lambda each: each.request_id,
        cursor,
        limit,
    )
    return json_response(RequestPage(requests=shown, next=following))


@router.get(
    "/v1/requests/{request_id}",
    response_class=Response,
    responses=remembered("AccessRequest", 404, 409),
    dependencies=[only()],
)
async def get_request(request: Request, request_id: RequestId) -> Response:
    """One request, and what became of it."""
    return json_response(await _existing(request, request_id))


@router.post(
    "/v1/requests",
    response_class=Response,
    status_code=201,
    responses=remembered("AccessRequest", 400, 401, 409, 415, status=201),
    openapi_extra=body_of(
        "RequestDraft", {"resources": ["tool:browser_agent"], "reason": "to read the docs"}
    ),
    dependencies=[only()],
)
async def post_request(request: Request) -> Response:
    """Ask for a permission. The credential of an agent asks for that agent and for nobody else."""
    caller = require_scope(request, "request")
    draft = await read_body(request, RequestDraft, '{"resources": ["tool:ID"], "reason": "…"}')
    requester = own_name(caller, draft.requester, "requester")
    created = await with_store(
        request,
        lambda store: store.requests.create(
            requester, draft.resources, kind=draft.kind, level=draft.level, waives=draft.waives, org_id=draft.org_id,
            channel=draft.channel, session=draft.session, reason=draft.reason, summary=draft.summary,
            original_message=draft.original_message, tool_call_id=draft.tool_call_id,
            context={"credential": caller.credential},
        ),
    )  # fmt: skip
    return json_response(created, 201)


@router.post(
    "/v1/requests/{request_id}/approve",
    response_class=Response,
    responses=remembered("Approved", 400, 401, 404, 409, 415),
    openapi_extra=body_of("ApprovalAnswer", {"approval": "once"}),
    dependencies=[only()],
)
async def post_approval(request: Request, answers: AnswersOfApp, request_id: RequestId) -> Response:
    """Say yes: once, for a day, or always. Never by the agent that asked."""
    caller = require_scope(request, "approve")
    answer = await read_body(request, ApprovalAnswer, '{"approval": "once"}')
    asked = await _existing(request, request_id)
    wanted = Grant("", asked.requester, asked.resources, asked.level, asked.waives, asked.org_id)
    await refuse_giving_too_much(caller, answers.kernel, wanted)

    def approve(store: Store) -> Approved:
        done, grant = store.requests.approve(
            request_id, answer.approval, responder=caller.credential, reason=answer.reason
        )
        return Approved(request=done, grant=grant)

    return json_response(await with_store(request, approve))


@router.post(
    "/v1/requests/{request_id}/deny",
    response_class=Response,
    responses=remembered("AccessRequest", 400, 401, 404, 409, 415),
    openapi_extra=body_of("Note", {"reason": "not today"}),
    dependencies=[only()],
)
async def post_denial(request: Request, request_id: RequestId) -> Response:
    """Say no."""
    caller = require_scope(request, "approve")
    note = await read_body(request, Note, '{"reason": "…"}')
    return json_response(
        await with_store(
            request,
            lambda store: store.requests.deny(request_id, responder=caller.credential, reason=note.reason),
        )
    )


async def _existing(request: Request, request_id: str) -> AccessRequest:
    return await existing_in_store(
        request, lambda store: store.requests.get(request_id), f"request {quote(request_id)}", "/v1/requests"
    )
