"""Requests for permissions. Making one needs the scope `request`, answering one the scope `approve`."""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from manifest_api.questions import KNOWN_PARAMETERS, Cursor
from manifest_api.routes.documented import change, stored
from manifest_api.store_requests import (
    DEFAULT_ROWS,
    ReasonBody,
    RowLimit,
    json_response,
    page_from_store,
    record_response,
    with_store,
    write,
    write_with_reason,
)
from orgkernel.decisions.evidence.state_records import Approval, RequestStatus
from orgkernel.decisions.evidence.state_records import PermissionRequest as StoredRequest
from orgkernel.decisions.evidence.state_view import Grant
from orgkernel.diagnostics.wording import quote
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.context import Actor, Context
from orgkernel.operations.permissions import (
    RequestDraft,
    RequestInFull,
    Text,
    approve,
    ask,
    deny,
    describe_request,
)

router = APIRouter(tags=["requests"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])
RequestId = Annotated[str, Path(description="Id of a request.", examples=["r-0123456789ab"])]


class RequestPage(msgspec.Struct, frozen=True, kw_only=True):
    """Requests, oldest first."""

    requests: tuple[StoredRequest, ...]
    next: str | None


class ApprovalAnswer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An approval: once, for a day, or always."""

    approval: Approval = "once"
    reason: Text = ""


class Approved(msgspec.Struct, frozen=True, kw_only=True):
    """The request, and the resulting grant."""

    request: StoredRequest
    grant: Grant


@router.get("/v1/requests", responses=stored(RequestPage, 409))
async def get_requests(
    request: Request,
    status: Annotated[RequestStatus | None, Query(description="Only those with this status.")] = None,
    subject: Annotated[str | None, Query(max_length=200, description="Only those of this requester.")] = None,
    cursor: Cursor = None,
    limit: RowLimit = DEFAULT_ROWS,
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


@router.get("/v1/requests/{request_id}", responses=stored(StoredRequest, 404, 409))
async def get_request(request: Request, request_id: RequestId) -> Response:
    """Get a request and its outcome."""
    return await record_response(
        request, lambda store: store.requests.get(request_id), f"request {quote(request_id)}", "/v1/requests"
    )


@router.get("/v1/requests/{request_id}/widening", responses=stored(RequestInFull, 404, 409))
async def get_widening(request: Request, request_id: RequestId) -> Response:
    """A request, and what granting it would change: the level before and after, of every resource that it opens."""
    kernel: Kernel = request.app.state.answers.kernel
    found = await with_store(
        request, lambda store: describe_request(Context(kernel, store, Actor("")), request_id)
    )
    return json_response(found)


@router.post(
    "/v1/requests",
    **change(
        StoredRequest,
        RequestDraft,
        {"resources": ["tool:browser_agent"], "reason": "to read the docs"},
        made=True,
        names_record=False,
    ),
)
async def post_request(request: Request) -> Response:
    """Request a permission. The credential of an agent can request permissions for that agent only."""
    return await write(
        request, "request", RequestDraft, '{"resources": ["tool:ID"], "reason": "…"}', ask, 201
    )


@router.post("/v1/requests/{request_id}/approve", **change(Approved, ApprovalAnswer, {"approval": "once"}))
async def post_approval(request: Request, request_id: RequestId) -> Response:
    """Approve a request: once, for a day, or always. The agent that made the request cannot approve it."""

    def say_yes(context: Context, answer: ApprovalAnswer) -> Approved:
        done, grant = approve(context, request_id, answer.approval, answer.reason)
        return Approved(request=done, grant=grant)

    return await write(request, "approve", ApprovalAnswer, '{"approval": "once"}', say_yes)


@router.post("/v1/requests/{request_id}/deny", **change(StoredRequest, ReasonBody, {"reason": "not today"}))
async def post_denial(request: Request, request_id: RequestId) -> Response:
    """Deny a request."""
    return await write_with_reason(
        request, "approve", lambda context, reason: deny(context, request_id, reason)
    )
