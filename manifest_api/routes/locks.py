"""Locks of exclusive tools: taken and given back with the scope `report`, broken with the scope `lock`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from manifest_api.access_shapes import Note
from manifest_api.answering import AnswersOfApp
from manifest_api.auditing import Auditor
from manifest_api.authzen import understand
from manifest_api.guards.caller import require_scope
from manifest_api.holding_shapes import LockDraft, LockPage, LockReturn
from manifest_api.problems import INVALID_REQUEST, MAY_NOT_LOCK, UNKNOWN_NAME, Refused
from manifest_api.questions import Cursor, Org, only, read_body
from manifest_api.routes.documented import body_of, remembered
from manifest_api.store_requests import (
    DEFAULT_ROWS,
    Limit,
    json_response,
    own_name,
    page_from_store,
    with_store,
)
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.kernel.kernel import Kernel

router = APIRouter(tags=["locks"])
_IN_OTHER_HANDS = ("LOCKED",)
"""When that is all, the store says who holds it: it knows better, at the moment of the change."""
Tool = Annotated[str, Path(description="Id of an exclusive tool.", examples=["deploy"])]


@router.get(
    "/v1/locks",
    response_class=Response,
    responses=remembered("LockPage", 409),
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
    responses=remembered("ToolLock", 400, 401, 404, 409, 415, status=201),
    openapi_extra=body_of("LockDraft", {"tool": "deploy", "seconds": 60, "reason": "release 7"}),
    dependencies=[only()],
)
async def post_lock(request: Request, answers: AnswersOfApp) -> Response:
    """Take an exclusive tool, if its holder may: that is decided, and written down, like the use of a tool.

    The token of the answer rises with every lock of the tool. Taken again by its holder, the old token is stale.
    """
    caller = require_scope(request, "report")
    draft = await read_body(request, LockDraft, '{"tool": "ID"}')
    holder = own_name(caller, draft.holder, "holder")
    org_id, most = _require_exclusive(answers.kernel, draft.org, draft.tool)
    asked = understand(holder, "lock", f"tool:{draft.tool}", draft.context)
    if asked.ignored:
        raise Refused(
            INVALID_REQUEST, f"the context has {listing(asked.ignored)}, which means nothing", "see `/docs`"
        )
    auditor: Auditor = request.app.state.auditor
    decision, reasons, _ = await auditor.finish(auditor.begin(org_id, asked.request, caller))
    if decision.outcome != "allow" and decision.codes != _IN_OTHER_HANDS:
        said = "; ".join(f"{each.code}: {each.text}" for each in reasons)
        raise Refused(MAY_NOT_LOCK, f"{quote(holder)} may not lock {quote(draft.tool)}", said)
    seconds = min((each for each in (draft.seconds, most) if each is not None), default=None)
    taken = await with_store(
        request,
        lambda store: store.locks.acquire(org_id, draft.tool, holder, timeout=seconds, reason=draft.reason),
    )
    return json_response(taken, 201)


@router.post(
    "/v1/locks/{org}/{tool}/release",
    response_class=Response,
    responses=remembered("ToolLock", 400, 401, 404, 409, 415),
    openapi_extra=body_of("LockReturn", {"token": 7}),
    dependencies=[only()],
)
async def post_release(request: Request, answers: AnswersOfApp, org: Org, tool: Tool) -> Response:
    """Give a tool back, by the token of its lock: a lock that is not held any more is not given back."""
    caller = require_scope(request, "report")
    given = await read_body(request, LockReturn, '{"token": 7}')
    holder = own_name(caller, given.holder, "holder")
    org_id = answers.kernel.organization(org).snapshot.org_id
    released = await with_store(
        request, lambda store: store.locks.release(org_id, tool, holder, int(given.token))
    )
    return json_response(released)


@router.post(
    "/v1/locks/{org}/{tool}/break",
    response_class=Response,
    responses=remembered("ToolLock", 400, 401, 404, 409, 415),
    openapi_extra=body_of("Note", {"reason": "its holder is gone"}),
    dependencies=[only()],
)
async def post_break(request: Request, answers: AnswersOfApp, org: Org, tool: Tool) -> Response:
    """Take a tool out of its holder's hands; the old lock's token is refused from then on."""
    caller = require_scope(request, "lock")
    note = await read_body(request, Note, '{"reason": "…"}')
    org_id = answers.kernel.organization(org).snapshot.org_id
    broken = await with_store(
        request, lambda store: store.locks.break_(org_id, tool, actor=caller.credential, reason=note.reason)
    )
    return json_response(broken)


def _require_exclusive(kernel: Kernel, org: str, tool: str) -> tuple[str, float | None]:
    """The organization, and for how long the tool may be held; raises `Refused` for a tool nobody has to lock."""
    snapshot = kernel.organization(org).snapshot
    tools = snapshot.index.records.tools
    exclusive = [each for each in tools if tools[each].record.concurrency == "exclusive"]
    if tool not in exclusive:
        what = "needs no lock" if tool in tools else "is not declared"
        help = did_you_mean(tool, exclusive) or (
            f"exclusive tools are {listing(exclusive)}" if exclusive else "no tool is exclusive"
        )
        raise Refused(UNKNOWN_NAME, f"the tool {quote(tool)} {what}", help)
    return snapshot.org_id, tools[tool].record.lock_timeout_seconds
