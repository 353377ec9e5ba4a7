"""In which PACE tier a role or an agent is, where the caller does not say: by its latest SALUTE report (design §6).

A report counts for an hour. An agent is in the tier of its own latest report; one that never reported under its name is
in that of the latest report of its roles.
"""

from __future__ import annotations

from collections.abc import Iterable

from orgkernel.decisions.access.holders import Holder
from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.state_view import REPORT_COUNTS_FOR, PaceTier, StateView, StoredReport


def tier_now(state: StateView, holder: Holder, context: AccessContext) -> PaceTier | None:
    """The tier the caller states, else a reported one that takes something away; None where neither is known."""
    if context.pace is not None or not state.raised or state.raised.isdisjoint(holder.keys):
        return context.pace
    report = find_report(state, holder.keys, context.now) if holder.is_crew else None
    return None if report is None else report.tier


def find_report(state: StateView, keys: Iterable[str], now: float) -> StoredReport | None:
    """The report that says in which tier somebody is now; `keys` are `agent:ID` before the roles it fills."""
    newest: StoredReport | None = None
    for key in keys:
        reports = state.reports.get(key, ())
        if reports and (newest is None or reports[0].at > newest.at):
            newest = reports[0]
        if reports and key.startswith("agent:"):
            break
    return None if newest is None or now - newest.at >= REPORT_COUNTS_FOR else newest
