"""Grants that ran out and are missed: told beside the reasons of a denial, and never part of the decision.

What has expired is absent (the law `expired_is_absent`), so it is none of the codes of what fails. Whoever is refused
something that was given until yesterday still has to read that, and when it ended (policies and governance §10).
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from orgkernel.decisions.access.cells import Cell
from orgkernel.decisions.access.codes import BITS, GRANT_EXPIRED
from orgkernel.decisions.access.decision import AccessDecision
from orgkernel.decisions.access.holders import Holder
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.access.run import weigh_run
from orgkernel.decisions.access.stored import gather_grants
from orgkernel.decisions.access.tables import AccessTables
from orgkernel.decisions.reasons import Reason
from orgkernel.decisions.state_view import Grant, StateView
from orgkernel.diagnostics.wording import quote
from orgkernel.runtime.utc import as_utc

# Each is tried, and whoever asks every day has many: the last ones are those anybody remembers.
_MOST_TRIED = 20


def tell_expired(
    tables: AccessTables,
    state: StateView,
    holder: Holder | None,
    cell: Cell,
    path: str | None,
    request: AccessRequest,
    decision: AccessDecision,
) -> tuple[Reason, ...]:
    """The grant that ran out last among those with which less would fail, as a reason; none where there is none."""
    if holder is None or cell.unknown or decision.outcome == "allow" or not (state.grants or state.expired):
        return ()
    failing = sum(BITS[code] for code in decision.codes)
    found = sorted(
        _expired(tables, state, holder, cell, path, request),
        key=lambda grant: (grant.expires_at, grant.grant_id),
        reverse=True,
    )
    for grant in found[:_MOST_TRIED]:
        revived = (*state.grants.get(grant.subject, ()), replace(grant, expires_at=None))
        then = replace(state, grants={**state.grants, grant.subject: revived})
        left = weigh_run(tables, then, holder, cell, request.action, path, request)[0]
        if left != failing and not left & ~failing:
            text = (
                f"grant {quote(grant.grant_id)} of {quote(', '.join(grant.resources))} to {quote(grant.subject)} "
                f"ran out at {as_utc(grant.expires_at)}"
            )
            return (Reason(GRANT_EXPIRED, text),)
    return ()


def _expired(
    tables: AccessTables,
    state: StateView,
    holder: Holder,
    cell: Cell,
    path: str | None,
    request: AccessRequest,
) -> Iterator[Grant]:
    """What has run out of what was given to the subject, or to those it acts for, and would speak of the resource."""
    others = [tables.holder(each) for each in (request.on_behalf_of, *request.via) if each is not None]
    keys = dict.fromkeys(key for each in (holder, *others) if each is not None for key in each.keys)
    for key in keys:
        for grant in (*state.grants.get(key, ()), *state.expired.get(key, ())):
            ends = grant.expires_at
            if ends is not None and ends <= request.context.now:
                alone = {key: (replace(grant, expires_at=None),)}
                if gather_grants(alone, (key,), cell, path, tables.org_id, request.context).grants:
                    yield grant
