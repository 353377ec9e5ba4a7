"""Shared code of routes that read or change the store: run one operation in a thread, and return pages of records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec
from fastapi import Query, Request
from starlette.responses import Response

from manifest_api.guards.caller import Caller, require_scope
from manifest_api.problems import BAD_CURSOR, NO_STORE, UNKNOWN_RECORD, RequestRefused
from manifest_api.questions import read_body
from manifest_api.store_access import StoreAccess
from orgkernel.decisions.evidence.state_records import KeyScope
from orgkernel.decisions.evidence.state_view import ALL_ORGANIZATIONS
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.names import ACTIVE
from orgkernel.manifest.v1 import encode
from orgkernel.operations.context import Context
from orgkernel.operations.permissions import Text
from orgkernel.operations.reports.submission import resolve_org
from orgkernel.operations.waiting import WORK_SECONDS

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store

T = TypeVar("T")
D = TypeVar("D")
MAX_ROWS, DEFAULT_ROWS = 1_000, 100
RowLimit = Annotated[int, Query(ge=1, le=MAX_ROWS, description="Maximum number of rows on a page.")]


class ReasonBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The reason, for the audit."""

    reason: Text = ""


async def write(
    request: Request,
    scope: KeyScope,
    draft: type[D],
    example: str,
    operation: Callable[[Context, D], Any],
    status: int = 200,
) -> Response:
    """The response to a change: check the scope, read the draft from the body, and run one operation in a thread."""
    caller = require_scope(request, scope)
    body = await read_body(request, draft, example)
    return build_json_response(
        await operate(request, caller, lambda context: operation(context, body)), status
    )


async def write_with_reason(
    request: Request, scope: KeyScope, operation: Callable[[Context, str], Any]
) -> Response:
    """The response to a change whose body only has a reason."""
    return await write(
        request, scope, ReasonBody, '{"reason": "…"}', lambda context, note: operation(context, note.reason)
    )


async def operate(request: Request, caller: Caller, operation: Callable[[Context], T]) -> T:
    """Run one operation as the caller, in a thread. Raises its errors, and `RequestRefused` if there is no store."""
    kernel: Kernel = request.app.state.answers.kernel
    return await with_store(request, lambda store: operation(Context(kernel, store, caller.actor)))


async def with_store(
    request: Request, work: Callable[[Store], T], empty: T | None = None, seconds: float = WORK_SECONDS
) -> T:
    """Run a function with the store in a thread. Without a store, return `empty` or raise `RequestRefused`."""
    outcome = await find_in_store(request, work, seconds)
    if outcome is not None:
        return outcome
    if empty is None:
        raise RequestRefused(NO_STORE, "there is no store", "create it with `orgkernel key create --admin`")
    return empty


async def find_in_store(
    request: Request, find: Callable[[Store], T | None], seconds: float = WORK_SECONDS
) -> T | None:
    """Find a record of the store in a thread. None if there is no such record or no store."""
    store_access: StoreAccess = request.app.state.store_access
    return await store_access.work(find, seconds)


def build_json_response(answer: Any, status: int = 200) -> Response:
    """A JSON response that is not cached."""
    return Response(encode(answer), status, media_type="application/json")


async def page_from_store(
    request: Request,
    read: Callable[[Store], Sequence[T]],
    name: Callable[[T], str],
    cursor: str | None,
    limit: int,
) -> tuple[tuple[T, ...], str | None]:
    """A page of a list, and the cursor of the next page. Without a store, the page is empty.

    The page begins after the row of the cursor. The list only grows at its end.
    """
    rows = list_rows_after(await find_in_store(request, read) or (), name, cursor, "row of this list")
    shown = tuple(rows[:limit])
    return shown, name(shown[-1]) if len(rows) > limit else None


def list_rows_after(
    rows: Sequence[T], name: Callable[[T], str], cursor: str | None, what: str
) -> Sequence[T]:
    """The rows after the row of the cursor. Without a cursor, all rows."""
    if cursor is None:
        return rows
    for number, row in enumerate(rows, 1):
        if name(row) == cursor:
            return rows[number:]
    raise RequestRefused(BAD_CURSOR, f"the cursor does not name a {what}", "start again without a cursor")


def choose_listed_organization(request: Request, org: str) -> str | None:
    """The organization whose rows are listed. None for `*`, which lists those of all organizations."""
    kernel: Kernel = request.app.state.answers.kernel
    return None if org == ALL_ORGANIZATIONS else resolve_org(kernel, org)


def require_known(kernel: Kernel | None, org: str) -> None:
    """Raise `UnknownOrganization` for an id that no document declares.

    The operations call it `UNKNOWN_NAME`, because there it is one of several values. Here it is in the path.
    """
    if kernel is not None and org not in (ACTIVE, ALL_ORGANIZATIONS):
        resolve_org(kernel, org)


async def record_response(request: Request, find: Callable[[Store], Any], what: str, listed: str) -> Response:
    """The response with a record. `what` and `listed` describe it in the problem if it does not exist."""
    record = await find_in_store(request, find)
    if record is None:
        raise RequestRefused(UNKNOWN_RECORD, f"there is no {what}", f"`GET {listed}` lists all")
    return build_json_response(record)
