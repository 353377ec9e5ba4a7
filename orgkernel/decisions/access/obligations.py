"""What an allowance rests on that is used up by it, and what it obliges the caller to (facts: policies §3.1, §11.4)."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from orgkernel.decisions.access.cells import LOCK, Cell
from orgkernel.decisions.access.evaluate import Verdict
from orgkernel.decisions.access.holders import Holder
from orgkernel.decisions.access.overlay import Overlay
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.access.run import find_lock, weigh_run
from orgkernel.decisions.access.stored import is_active, level_in
from orgkernel.decisions.access.tables import AccessTables
from orgkernel.decisions.state_view import Grant, StateView


def obligations_of(
    tables: AccessTables,
    state: StateView,
    request: AccessRequest,
    holder: Holder,
    cell: Cell,
    grants: Iterable[Grant],
) -> tuple[str, ...]:
    """What the caller has to do.

    `consume_grant:ID` for a grant with few uses, `hold_lock:TOKEN` while an exclusive tool runs, and for each
    credential the tool works with `credential:ID` to supply it or `without_credential:ID` where the subject has none.
    """
    tool = cell.tool
    if tool is None:
        return tuple(f"consume_grant:{grant.grant_id}" for grant in grants if grant.uses_left is not None)
    found = [f"consume_grant:{grant.grant_id}" for grant in grants if grant.uses_left is not None]
    if cell.exclusive and request.action != LOCK:
        lock = find_lock(state, tables.org_id, cell, request.context)
        found += [f"hold_lock:{lock.token}"] if lock is not None else []
    for credential in tool.credentials:
        needed, _ = tables.find(f"credential:{credential}")
        failing = weigh_run(tables, state, holder, needed, "use", None, request)[0]
        found.append(f"credential:{credential}" if not failing else f"without_credential:{credential}")
    return tuple(found)


def needed_grants(
    tables: AccessTables,
    state: StateView,
    request: AccessRequest,
    holder: Holder,
    cell: Cell,
    path: str | None,
    verdict: Verdict,
) -> tuple[Grant, ...]:
    """The stored grants without which the request would not be allowed; those with few uses are spared first."""
    parents = [tables.holder(each) for each in (request.on_behalf_of, *request.via) if each is not None]
    if not verdict[4].grants and not parents:
        return ()
    keys = dict.fromkeys(key for each in (holder, *parents) if each is not None for key in each.keys)
    applied = [
        grant
        for key in keys
        for grant in state.grants.get(key, ())
        if is_active(grant, tables.org_id, request.context.now) and level_in(grant, cell, path) is not None
    ]
    needed = {grant.grant_id: grant for grant in applied}
    for grant in sorted(needed.values(), key=lambda each: (each.uses_left is None, each.grant_id)):
        rest = needed.keys() - {grant.grant_id}
        without = {
            key: tuple(each for each in state.grants.get(key, ()) if each.grant_id in rest) for key in keys
        }
        spared = msgspec.structs.replace(state, grants=Overlay(without, state.grants))
        if not weigh_run(tables, spared, holder, cell, request.action, path, request)[0]:
            del needed[grant.grant_id]
    return tuple(sorted(needed.values(), key=lambda each: each.grant_id))
