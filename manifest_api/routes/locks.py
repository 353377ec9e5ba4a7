"""Locks of exclusive tools: taken and given back with the scope `report`, broken with the scope `lock`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from manifest_api.access_shapes import Note
from manifest_api.authzen import understand
from manifest_api.holding_shapes import LockDraft, LockPage, LockReturn
from manifest_api.problems import INVALID_REQUEST, Refused
from manifest_api.questions import Cursor, Org, only
from manifest_api.routes.documented import body_of, stored
from manifest_api.store_requests import DEFAULT_ROWS, Limit, json_response, page_from_store, write
from orgkernel.decisions.state_view import ToolLock
from orgkernel.diagnostics.wording import listing
from orgkernel.operations.context import Context
from orgkernel.operations.locks import acquire_lock, break_lock, release_lock

router = APIRouter(tags=["locks"])
Tool = Annotated[str, Path(description="Id of an exclusive tool.", examples=["deploy"])]


@router.get(
    "/v1/locks",
    response_class=Response,
    responses=stored("LockPage", 409),
    dependencies=[only("org", "cursor", "limit")],
)
async def get_locks(
    request: Request,
    org: Annotated[
        str | None, Query(min_length=1, max_length=200, description="Only those of one organization.")
    ] = None,
    cursor: Cursor = None,
    limit: Limit = DEFAULT_ROWS,
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
    response_class=Response,
    status_code=201,
    responses=stored("ToolLock", 400, 401, 404, 409, 415, status=201),
    openapi_extra=body_of("LockDraft", {"tool": "deploy", "seconds": 60, "reason": "release 7"}),
    dependencies=[only()],
)
async def post_lock(request: Request) -> Response:
    """Take an exclusive tool, if its holder may: that is decided, and written down, like the use of a tool.

    The token of the answer rises with every lock of the tool. Taken again by its holder, the old token is stale.
    """

    def take(context: Context, draft: LockDraft) -> ToolLock:
        asked = understand("", "lock", f"tool:{draft.tool}", draft.context)
        if asked.ignored:
            raise Refused(
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


@router.post(
    "/v1/locks/{org}/{tool}/release",
    response_class=Response,
    responses=stored("ToolLock", 400, 401, 404, 409, 415),
    openapi_extra=body_of("LockReturn", {"token": 7}),
    dependencies=[only()],
)
async def post_release(request: Request, org: Org, tool: Tool) -> Response:
    """Give a tool back, by the token of its lock: a lock that is not held any more is not given back."""
    return await write(
        request, "report", LockReturn, '{"token": 7}',
        lambda context, given: release_lock(context, org, tool, int(given.token), given.holder),
    )  # fmt: skip


@router.post(
    "/v1/locks/{org}/{tool}/break",
    response_class=Response,
    responses=stored("ToolLock", 400, 401, 404, 409, 415),
    openapi_extra=body_of("Note", {"reason": "its holder is gone"}),
    dependencies=[only()],
)
async def post_break(request: Request, org: Org, tool: Tool) -> Response:
    """Take a tool out of its holder's hands; the old lock's token is refused from then on."""
    return await write(
        request,
        "lock",
        Note,
        '{"reason": "…"}',
        lambda context, note: break_lock(context, org, tool, note.reason),
    )
