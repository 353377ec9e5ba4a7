"""Requests for a permission: asked with the scope `request`, answered with the scope `approve`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from manifest_api.access_shapes import ApprovalAnswer, Approved, Note, RequestPage
from manifest_api.questions import Cursor, only
from manifest_api.routes.documented import body_of, stored
from manifest_api.store_requests import (
    DEFAULT_ROWS,
    Limit,
    existing_in_store,
    json_response,
    page_from_store,
    write,
)
from orgkernel.decisions.state_records import RequestStatus
from orgkernel.diagnostics.wording import quote
from orgkernel.operations.context import Context
from orgkernel.operations.permissions import RequestDraft, approve, ask, deny

router = APIRouter(tags=["requests"])
RequestId = Annotated[str, Path(description="Id of a request.", examples=["r-0123456789ab"])]


@router.get(
    "/v1/requests",
    response_class=Response,
    responses=stored("RequestPage", 409),
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
    responses=stored("AccessRequest", 404, 409),
    dependencies=[only()],
)
async def get_request(request: Request, request_id: RequestId) -> Response:
    """One request, and what became of it."""
    return json_response(
        await existing_in_store(
            request,
            lambda store: store.requests.get(request_id),
            f"request {quote(request_id)}",
            "/v1/requests",
        )
    )


@router.post(
    "/v1/requests",
    response_class=Response,
    status_code=201,
    responses=stored("AccessRequest", 400, 401, 409, 415, status=201),
    openapi_extra=body_of(
        "RequestDraft", {"resources": ["tool:browser_agent"], "reason": "to read the docs"}
    ),
    dependencies=[only()],
)
async def post_request(request: Request) -> Response:
    """Ask for a permission. The credential of an agent asks for that agent and for nobody else."""
    return await write(
        request, "request", RequestDraft, '{"resources": ["tool:ID"], "reason": "…"}', ask, 201
    )


@router.post(
    "/v1/requests/{request_id}/approve",
    response_class=Response,
    responses=stored("Approved", 400, 401, 404, 409, 415),
    openapi_extra=body_of("ApprovalAnswer", {"approval": "once"}),
    dependencies=[only()],
)
async def post_approval(request: Request, request_id: RequestId) -> Response:
    """Say yes: once, for a day, or always. Never by the agent that asked."""

    def say_yes(context: Context, answer: ApprovalAnswer) -> Approved:
        done, grant = approve(context, request_id, answer.approval, answer.reason)
        return Approved(request=done, grant=grant)

    return await write(request, "approve", ApprovalAnswer, '{"approval": "once"}', say_yes)


@router.post(
    "/v1/requests/{request_id}/deny",
    response_class=Response,
    responses=stored("AccessRequest", 400, 401, 404, 409, 415),
    openapi_extra=body_of("Note", {"reason": "not today"}),
    dependencies=[only()],
)
async def post_denial(request: Request, request_id: RequestId) -> Response:
    """Say no."""
    return await write(
        request,
        "approve",
        Note,
        '{"reason": "…"}',
        lambda context, note: deny(context, request_id, note.reason),
    )
