"""Requests for permissions. The key scope `request` is needed to create one, and `approve` to answer one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from fastapi import APIRouter, Path, Query, Request
from msgspec.structs import asdict
from starlette.responses import Response

from manifest_api.guards.caller import require_scope
from manifest_api.questions import KNOWN_PARAMETERS, Cursor, OrgOrAll
from manifest_api.routes.documented import declare_change, declare_store_responses
from manifest_api.store_requests import (
    DEFAULT_ROWS,
    ReasonBody,
    RowLimit,
    build_json_response,
    choose_listed_organization,
    page_from_store,
    record_response,
    require_known,
    with_store,
    write,
    write_with_reason,
)
from orgkernel.decisions.evidence.state_records import Approval, RequestStatus
from orgkernel.decisions.evidence.state_records import PermissionRequest as StoredRequest
from orgkernel.decisions.evidence.state_view import Grant
from orgkernel.diagnostics.wording import quote
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.approvals import ApprovalNeed, find_needs
from orgkernel.operations.context import Actor, Context
from orgkernel.operations.organizations import is_valid_in
from orgkernel.operations.permissions import (
    RequestDraft,
    RequestInFull,
    RequestTerms,
    Text,
    approve,
    ask,
    deny,
    describe_request,
)

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store

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
    """The request, and the resulting grant. The grant is null while policies require further approvals."""

    request: StoredRequest
    grant: Grant | None
    needs: tuple[ApprovalNeed, ...] = ()
    """The approvals that policies require, and how many of them are missing. Empty if one approval is enough."""


@router.get("/v1/orgs/{org}/requests", responses=declare_store_responses(RequestPage, 404, 409))
async def get_requests(
    request: Request,
    org: OrgOrAll,
    status: Annotated[RequestStatus | None, Query(description="Only requests with this status.")] = None,
    subject: Annotated[
        str | None, Query(max_length=200, description="Only requests of this requester.")
    ] = None,
    cursor: Cursor = None,
    limit: RowLimit = DEFAULT_ROWS,
) -> Response:
    """List the requests for permissions in an organization, oldest first."""
    org_id = choose_listed_organization(request, org)
    shown, following = await page_from_store(
        request,
        lambda store: tuple(
            each for each in store.requests.list(status, subject) if is_valid_in(each, org_id)
        ),
        lambda each: each.request_id,
        cursor,
        limit,
    )
    return build_json_response(RequestPage(requests=shown, next=following))


@router.get(
    "/v1/orgs/{org}/requests/{request_id}", responses=declare_store_responses(StoredRequest, 404, 409)
)
async def get_request(request: Request, org: OrgOrAll, request_id: RequestId) -> Response:
    """Get a request and its outcome."""
    org_id = choose_listed_organization(request, org)

    def find(store: Store) -> StoredRequest | None:
        stored_request = store.requests.get(request_id)
        return None if stored_request is None or not is_valid_in(stored_request, org_id) else stored_request

    return await record_response(request, find, f"request {quote(request_id)}", f"/v1/orgs/{org}/requests")


@router.get(
    "/v1/orgs/{org}/requests/{request_id}/widening",
    responses=declare_store_responses(RequestInFull, 404, 409),
)
async def get_widening(
    request: Request,
    org: OrgOrAll,
    request_id: RequestId,
    arguments: Annotated[
        Literal["masked", "full"],
        Query(description="Arguments of the call with secrets masked and long values cut, or in full."),
    ] = "masked",
) -> Response:
    """Get a request, and the effect of granting it: the level before and after, for every resource that it would
    change. A caller with the scope `approve` also gets the arguments of the call, while the request is pending.
    """
    caller = require_scope(request, "read")
    kernel: Kernel = request.app.state.answers.kernel
    shown = arguments if {"approve", "admin"} & caller.scopes else "withheld"
    full_request = await with_store(
        request,
        lambda store: describe_request(
            Context(kernel, store, Actor("")), request_id, org=org, arguments=shown
        ),
    )
    return build_json_response(full_request)


@router.post(
    "/v1/orgs/{org}/requests",
    **declare_change(
        StoredRequest,
        RequestTerms,
        {"resources": ["tool:browser_agent"], "reason": "to read the docs"},
        creates_record=True,
    ),
)
async def post_request(request: Request, org: OrgOrAll) -> Response:
    """Request a permission. The credential of an agent can request permissions for that agent only."""

    def request_it(context: Context, terms: RequestTerms) -> StoredRequest:
        require_known(context.kernel, org)
        return ask(context, RequestDraft(**asdict(terms), org_id=org))

    return await write(
        request, "request", RequestTerms, '{"resources": ["tool:ID"], "reason": "…"}', request_it, 201
    )


@router.post(
    "/v1/orgs/{org}/requests/{request_id}/approve",
    **declare_change(Approved, ApprovalAnswer, {"approval": "once"}),
)
async def post_approval(request: Request, org: OrgOrAll, request_id: RequestId) -> Response:
    """Approve a request: once, for a day, or always. The agent that made the request cannot approve it.

    Where policies require several approvals, the grant comes with the last of them.
    """

    def approve_it(context: Context, answer: ApprovalAnswer) -> Approved:
        done, grant = approve(context, request_id, answer.approval, answer.reason, org=org)
        return Approved(request=done, grant=grant, needs=() if grant else find_needs(context, done))

    return await write(request, "approve", ApprovalAnswer, '{"approval": "once"}', approve_it)


@router.post(
    "/v1/orgs/{org}/requests/{request_id}/deny",
    **declare_change(StoredRequest, ReasonBody, {"reason": "not today"}),
)
async def post_denial(request: Request, org: OrgOrAll, request_id: RequestId) -> Response:
    """Deny a request."""
    return await write_with_reason(
        request, "approve", lambda context, reason: deny(context, request_id, reason, org=org)
    )
