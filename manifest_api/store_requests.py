"""What routes that read or change the store share: one operation in a thread, and pages of what is stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec
from fastapi import Query, Request
from starlette.responses import Response

from manifest_api.guards.caller import Caller, require_scope
from manifest_api.problems import BAD_CURSOR, NO_STORE, UNKNOWN_RECORD, RequestRefused
from manifest_api.questions import read_body
from manifest_api.store_access import WORK_SECONDS, StoreAccess
from orgkernel.decisions.state_records import KeyScope
from orgkernel.kernel.kernel import Kernel
from orgkernel.manifest.v1 import encode
from orgkernel.operations.context import Context
from orgkernel.operations.permissions import Text

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store

T = TypeVar("T")
D = TypeVar("D")
MOST_ROWS, DEFAULT_ROWS = 1_000, 100
RowLimit = Annotated[int, Query(ge=1, le=MOST_ROWS, description="Most rows on a page.")]


class ReasonBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why, for the audit."""

    reason: Text = ""


async def write(
    request: Request,
    scope: KeyScope,
    draft: type[D],
    example: str,
    operation: Callable[[Context, D], Any],
    status: int = 200,
) -> Response:
    """The response to a change: who asks has the scope, the body is a draft, and one operation does the rest in a thread."""
    caller = require_scope(request, scope)
    body = await read_body(request, draft, example)
    return json_response(await operate(request, caller, lambda context: operation(context, body)), status)


async def write_with_reason(
    request: Request, scope: KeyScope, operation: Callable[[Context, str], Any]
) -> Response:
    """The response to a change of which the body says no more than why."""
    return await write(
        request, scope, ReasonBody, '{"reason": "…"}', lambda context, note: operation(context, note.reason)
    )


async def operate(request: Request, caller: Caller, operation: Callable[[Context], T]) -> T:
    """Make one change as the caller, in a thread. Raises what it raises, and `RequestRefused` where there is no store yet."""
    kernel: Kernel = request.app.state.answers.kernel
    return await with_store(request, lambda store: operation(Context(kernel, store, caller.actor)))


async def with_store(
    request: Request, work: Callable[[Store], T], empty: T | None = None, seconds: float = WORK_SECONDS
) -> T:
    """Do something with the store, in a thread; where there is none yet, `empty`, or the problem that says so."""
    found = await find_in_store(request, work, seconds)
    if found is not None:
        return found
    if empty is None:
        raise RequestRefused(NO_STORE, "there is no store yet", "`orgkernel key create --admin` makes it")
    return empty


async def find_in_store(
    request: Request, find: Callable[[Store], T | None], seconds: float = WORK_SECONDS
) -> T | None:
    """Something in the store, in a thread; None where it is not there, or where there is no store yet."""
    store_access: StoreAccess = request.app.state.store_access
    return await store_access.work(find, seconds)


def json_response(answer: Any, status: int = 200) -> Response:
    """An answer that nobody keeps."""
    return Response(encode(answer), status, media_type="application/json")


async def page_from_store(
    request: Request,
    read: Callable[[Store], Sequence[T]],
    name: Callable[[T], str],
    cursor: str | None,
    limit: int,
) -> tuple[tuple[T, ...], str | None]:
    """A page of a list that only grows at its end, after the row the cursor names; and the cursor of the next one.

    Where there is no store yet, there is nothing.
    """
    rows = rows_after(await find_in_store(request, read) or (), name, cursor, "row of this list")
    shown = tuple(rows[:limit])
    return shown, name(shown[-1]) if len(rows) > limit else None


def rows_after(rows: Sequence[T], name: Callable[[T], str], cursor: str | None, what: str) -> Sequence[T]:
    """The rows after the one that the cursor names; all of them without a cursor."""
    if cursor is None:
        return rows
    for number, row in enumerate(rows, 1):
        if name(row) == cursor:
            return rows[number:]
    raise RequestRefused(BAD_CURSOR, f"the cursor names no {what}", "start again without a cursor")


async def record_response(request: Request, find: Callable[[Store], Any], what: str, listed: str) -> Response:
    """The response with something in the store; `what` it is and where it is `listed`, for the problem if it is not there."""
    found = await find_in_store(request, find)
    if found is None:
        raise RequestRefused(UNKNOWN_RECORD, f"there is no {what}", f"`GET {listed}` lists all")
    return json_response(found)
