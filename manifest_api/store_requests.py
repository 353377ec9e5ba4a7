"""What routes that read or change the store share: the store itself, pages of its rows, and who may not help itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

from fastapi import Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from manifest_api.guards.caller import Caller
from manifest_api.problems import BAD_CURSOR, NO_STORE, OTHER_REQUESTER, SELF_GRANT, UNKNOWN_RECORD, Refused
from manifest_api.store_access import WORK_SECONDS, Remembered
from orgkernel.decisions.state_view import Grant
from orgkernel.diagnostics.wording import quote
from orgkernel.kernel.grant_check import require_declared
from orgkernel.kernel.grant_right import require_right
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.registry_state import State
from orgkernel.manifest.v1 import encode
from orgkernel.state.store import Store

T = TypeVar("T")
MOST_ROWS, DEFAULT_ROWS = 1_000, 100
Limit = Annotated[int, Query(ge=1, le=MOST_ROWS, description="Most rows on a page.")]


async def with_store(
    request: Request, work: Callable[[Store], T], empty: T | None = None, seconds: float = WORK_SECONDS
) -> T:
    """Do something with the store, in a thread; where there is none yet, `empty`, or the problem that says so."""
    found = await find_in_store(request, work, seconds)
    if found is not None:
        return found
    if empty is None:
        raise Refused(NO_STORE, "there is no store yet", "`orgkernel key create --admin` makes it")
    return empty


async def find_in_store(
    request: Request, find: Callable[[Store], T | None], seconds: float = WORK_SECONDS
) -> T | None:
    """Something in the store, in a thread; None where it is not there, or where there is no store yet."""
    remembered: Remembered = request.app.state.remembered
    return await remembered.work(find, seconds)


def json_response(answer: Any, status: int = 200) -> Response:
    """An answer from the store: nobody keeps it."""
    return Response(encode(answer), status, media_type="application/json")


async def page_from_store(
    request: Request,
    read: Callable[[Store], Sequence[T]],
    name: Callable[[T], str],
    cursor: str | None,
    limit: int,
) -> tuple[tuple[T, ...], str | None]:
    """A page of what is stored, and the cursor of the next one; where there is no store yet, there is nothing."""
    return _page_of(await find_in_store(request, read) or (), name, cursor, limit)


async def existing_in_store(request: Request, find: Callable[[Store], T | None], what: str, listed: str) -> T:
    """Something in the store that has to be there; `what` it is and where it is `listed`, for the problem if it is not."""
    found = await find_in_store(request, find)
    if found is None:
        raise Refused(UNKNOWN_RECORD, f"there is no {what}", f"`GET {listed}` lists all")
    return found


def _page_of(
    rows: Sequence[T], name: Callable[[T], str], cursor: str | None, limit: int
) -> tuple[tuple[T, ...], str | None]:
    """A page of a list that only grows at its end, after the row the cursor names; and the cursor of the next one."""
    start = 0
    if cursor is not None:
        start = next((number for number, row in enumerate(rows, 1) if name(row) == cursor), 0)
        if not start:
            raise Refused(BAD_CURSOR, "the cursor names no row of this list", "start again without a cursor")
    shown = tuple(rows[start : start + limit])
    return shown, name(shown[-1]) if shown and start + limit < len(rows) else None


def own_name(caller: Caller, named: str | None, field: str) -> str:
    """For whom something is asked: an agent's credential says it, any other has to, in that `field` of the body."""
    if caller.agent_id is not None:
        own = f"agent:{caller.agent_id}"
        if named not in (None, own):
            raise Refused(OTHER_REQUESTER, f"the credential belongs to {quote(own)}", f"leave `{field}` out")
        return own
    if named is None:
        raise Refused(
            OTHER_REQUESTER,
            f"the credential belongs to no agent, and no {field} is named",
            f"name the `{field}`",
        )
    return named


def refuse_helping_itself(caller: Caller, state: State, subject: str) -> None:
    """Raise `Refused` where an agent's credential would give something to that agent, or to a role it fills.

    INVARIANT: an agent's key can never issue, approve or promote for that agent (design §10). What is given to a role is
    given to whoever fills it, so that would be the same.
    """
    if caller.agent_id is None:
        return
    own = {f"agent:{caller.agent_id}"}
    for organization in state.served.values():
        view = organization.snapshot.index
        own.update(f"role:{edge.target}" for edge in view.roles_filled_by(caller.agent_id))
    if subject in own:
        raise Refused(
            SELF_GRANT,
            f"the credential belongs to agent {quote(caller.agent_id)}, and this is for {quote(subject)}",
            "somebody else has to do it",
        )


async def refuse_giving_too_much(caller: Caller, kernel: Kernel, wanted: Grant) -> None:
    """Raise where an agent's credential would give what the roles of that agent may not give, or do not have."""
    refuse_helping_itself(caller, kernel.state, wanted.subject)
    if caller.agent_id is None:
        return
    grantor = f"agent:{caller.agent_id}"

    def check() -> None:
        require_declared(kernel.state, wanted)
        require_right(kernel, grantor, wanted)

    await run_in_threadpool(check)
