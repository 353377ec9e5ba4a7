"""Locks of exclusive tools: taken and given back with the scope `report`, broken with the scope `lock`."""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from manifest_api.authzen import understand
from manifest_api.authzen_shapes import ContextData
from manifest_api.problems import INVALID_REQUEST, RequestRefused
from manifest_api.questions import KNOWN_PARAMETERS, Cursor, Org, word
from manifest_api.routes.documented import change, stored
from manifest_api.store_requests import (
    DEFAULT_ROWS,
    ReasonBody,
    RowLimit,
    json_response,
    page_from_store,
    write,
    write_with_reason,
)
from orgkernel.decisions.state_view import ToolLock
from orgkernel.diagnostics.wording import listing
from orgkernel.kernel.registry import ACTIVE
from orgkernel.operations.context import Context
from orgkernel.operations.locks import acquire_lock, break_lock, release_lock
from orgkernel.operations.permissions import ID, Name, Text

router = APIRouter(tags=["locks"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])
ExclusiveTool = Annotated[str, Path(description="Id of an exclusive tool.", examples=["deploy"])]
Holder = Annotated[str, msgspec.Meta(pattern=f"^(agent|person|system):{ID}")]
LockSeconds = Annotated[float, msgspec.Meta(gt=0, le=31_536_000)]
Token = Annotated[float, msgspec.Meta(ge=1, le=9_007_199_254_740_991, multiple_of=1)]


class LockDraft(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An exclusive tool that somebody wants to hold."""

    org: Name = ACTIVE
    tool: Name
    holder: Holder | None = None
    """Left out by the credential of an agent, which takes tools for that agent and for nobody else."""
    seconds: LockSeconds | None = None
    """How long it is held unless it is released before: at most as long as the tool allows, which is what it is without."""
    context: ContextData = {}
    """Circumstances as for an evaluation."""
    reason: Text = ""


class LockReturn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A lock that is given back."""

    token: Token
    holder: Holder | None = None
    """Left out by the credential of an agent."""


class LockPage(msgspec.Struct, frozen=True, kw_only=True):
    """The locks that are held, by organization and tool."""

    locks: tuple[ToolLock, ...]
    next: str | None


@router.get("/v1/locks", responses=stored(LockPage, 409))
async def get_locks(
    request: Request,
    org: Annotated[str | None, word("Only those of one organization.")] = None,
    cursor: Cursor = None,
    limit: RowLimit = DEFAULT_ROWS,
) -> Response:
    """Who holds which exclusive tool now, by organization and tool."""
    shown, following = await page_from_store(
        request,
        lambda store: store.locks.list(org),
        lambda lock: f"{lock.org_id}/{lock.tool_id}",
        cursor,
        limit,
    )
    return json_response(LockPage(locks=shown, next=following))


@router.post(
    "/v1/locks",
    **change(ToolLock, LockDraft, {"tool": "deploy", "seconds": 60, "reason": "release 7"}, made=True),
)
async def post_lock(request: Request) -> Response:
    """Take an exclusive tool, if its holder may: that is decided, and written down, like the use of a tool.

    The token of the answer rises with every lock of the tool. Taken again by its holder, the old token is stale.
    """

    def take(context: Context, draft: LockDraft) -> ToolLock:
        asked = understand("", "lock", f"tool:{draft.tool}", draft.context)
        if asked.ignored:
            raise RequestRefused(
                INVALID_REQUEST,
                f"the context has {listing(asked.ignored)}, which means nothing",
                "see `/docs`",
            )
        return acquire_lock(
            context,
            draft.org,
            draft.tool,
            draft.holder,
            asked.request,
            seconds=draft.seconds,
            reason=draft.reason,
        )

    return await write(request, "report", LockDraft, '{"tool": "ID"}', take, 201)


@router.post("/v1/locks/{org}/{tool}/release", **change(ToolLock, LockReturn, {"token": 7}))
async def post_release(request: Request, org: Org, tool: ExclusiveTool) -> Response:
    """Give a tool back, by the token of its lock: a lock that is not held any more is not given back."""
    return await write(
        request, "report", LockReturn, '{"token": 7}',
        lambda context, given: release_lock(context, org, tool, int(given.token), given.holder),
    )  # fmt: skip


@router.post("/v1/locks/{org}/{tool}/break", **change(ToolLock, ReasonBody, {"reason": "its holder is gone"}))
async def post_break(request: Request, org: Org, tool: ExclusiveTool) -> Response:
    """Take a tool out of its holder's hands; the old lock's token is refused from then on."""
    return await write_with_reason(
        request, "lock", lambda context, reason: break_lock(context, org, tool, reason)
    )
