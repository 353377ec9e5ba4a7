"""Locks of exclusive tools. Taking and releasing a lock needs the scope `report`, breaking it the scope `lock`."""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from manifest_api.authzen import understand
from manifest_api.authzen_shapes import ContextData
from manifest_api.problems import INVALID_REQUEST, RequestRefused
from manifest_api.questions import KNOWN_PARAMETERS, Cursor, Org, OrgOrAll
from manifest_api.routes.documented import declare_change, declare_store_responses
from manifest_api.store_requests import (
    DEFAULT_ROWS,
    ReasonBody,
    RowLimit,
    build_json_response,
    choose_listed_organization,
    page_from_store,
    write,
    write_with_reason,
)
from orgkernel.decisions.evidence.state_view import ToolLock
from orgkernel.diagnostics.wording import listing
from orgkernel.operations.context import Context
from orgkernel.operations.locks import acquire_lock, break_lock, release_lock
from orgkernel.operations.permissions import ID, Name, Text

router = APIRouter(tags=["locks"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])
ExclusiveTool = Annotated[str, Path(description="Id of an exclusive tool.", examples=["deploy"])]
Holder = Annotated[str, msgspec.Meta(pattern=f"^(agent|person|system):{ID}")]
LockSeconds = Annotated[float, msgspec.Meta(gt=0, le=31_536_000)]
Token = Annotated[float, msgspec.Meta(ge=1, le=9_007_199_254_740_991, multiple_of=1)]


class LockDraft(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request for the lock of an exclusive tool."""

    tool: Name
    holder: Holder | None = None
    """Not needed with the credential of an agent, which takes locks for that agent only."""
    seconds: LockSeconds | None = None
    """Seconds until the lock expires. By default, and at most, the lock timeout of the tool."""
    context: ContextData = {}
    """Circumstances as for an evaluation."""
    reason: Text = ""


class LockReturn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request to release a lock."""

    token: Token
    holder: Holder | None = None
    """Not needed with the credential of an agent."""


class LockPage(msgspec.Struct, frozen=True, kw_only=True):
    """The current locks, by organization and tool."""

    locks: tuple[ToolLock, ...]
    next: str | None


@router.get("/v1/orgs/{org}/locks", responses=declare_store_responses(LockPage, 404, 409))
async def get_locks(
    request: Request,
    org: OrgOrAll,
    cursor: Cursor = None,
    limit: RowLimit = DEFAULT_ROWS,
) -> Response:
    """List the current locks, by organization and tool."""
    org_id = choose_listed_organization(request, org)
    shown, following = await page_from_store(
        request,
        lambda store: store.locks.list(org_id),
        lambda lock: f"{lock.org_id}/{lock.tool_id}",
        cursor,
        limit,
    )
    return build_json_response(LockPage(locks=shown, next=following))


@router.post(
    "/v1/orgs/{org}/locks",
    **declare_change(
        ToolLock, LockDraft, {"tool": "deploy", "seconds": 60, "reason": "release 7"}, creates_record=True
    ),
)
async def post_lock(request: Request, org: Org) -> Response:
    """Take the lock of an exclusive tool.

    The holder needs the permission, and the decision is audited like a use of the tool.

    The token increases with every lock of the tool. If its holder takes the lock again, the old token is no longer
    valid.
    """

    def take(context: Context, draft: LockDraft) -> ToolLock:
        access = understand("", "lock", f"tool:{draft.tool}", draft.context)
        if access.ignored:
            raise RequestRefused(
                INVALID_REQUEST,
                f"the context has {listing(access.ignored)}, which is not a circumstance",
                "see `/docs`",
            )
        return acquire_lock(
            context,
            org,
            draft.tool,
            draft.holder,
            access.request,
            seconds=draft.seconds,
            reason=draft.reason,
        )

    return await write(request, "report", LockDraft, '{"tool": "ID"}', take, 201)


@router.post("/v1/orgs/{org}/locks/{tool}/release", **declare_change(ToolLock, LockReturn, {"token": 7}))
async def post_release(request: Request, org: Org, tool: ExclusiveTool) -> Response:
    """Release a lock by its token. A lock that is no longer held cannot be released."""
    return await write(
        request, "report", LockReturn, '{"token": 7}',
        lambda context, given: release_lock(context, org, tool, int(given.token), given.holder),
    )  # fmt: skip


@router.post(
    "/v1/orgs/{org}/locks/{tool}/break",
    **declare_change(ToolLock, ReasonBody, {"reason": "its holder is gone"}),
)
async def post_break(request: Request, org: Org, tool: ExclusiveTool) -> Response:
    """Break a lock. Its token is no longer valid."""
    return await write_with_reason(
        request, "lock", lambda context, reason: break_lock(context, org, tool, reason)
    )
