"""The rules for times in contracts: they exist, have a zone, are in order and are not in the future."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from orgkernel.decisions.work.contracts.findings import ContractFinding, Route
from orgkernel.diagnostics import contract_rows as row
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import Blocker, Contract, DecisionEntry, Preflight, SessionReport
from orgkernel.loading.marks import format_route
from orgkernel.runtime.utc import as_seconds

MAX_CLOCK_SKEW: Final = 300.0
"""Seconds by which the clock of the author of a contract may be ahead."""
_STEPS: Final = (
    "dry_run", "dry_run_output", "blast_radius", "authorization", "backup", "execution", "verification",
)  # fmt: skip


def list_times(contract: Contract) -> tuple[tuple[Route, str], ...]:
    """The times of a contract with their places."""
    if isinstance(contract, SessionReport):
        return (("started_at",), contract.started_at), (("finished_at",), contract.finished_at)
    if isinstance(contract, Preflight):
        steps = ((name, getattr(contract, name)) for name in _STEPS)
        return tuple(((name, "at"), step.at) for name, step in steps if step is not None)
    if isinstance(contract, Blocker):
        own: str | None = contract.blocked_at
        return () if own is None else ((("blocked_at",), own),)
    own = contract.timestamp if isinstance(contract, DecisionEntry) else None
    return () if own is None else ((("timestamp",), own),)


def find_bad_times(contract: Contract) -> Iterator[ContractFinding]:
    """CONTRACT_TIME_WRONG: a time does not exist or has no zone, or the end of a report is before its start."""
    for route, text in list_times(contract):
        name = quote(format_route(route))
        if as_seconds(text) is None:
            message = f"{name} is {quote(text)}, which is not a date of the calendar"
            yield ContractFinding(row.CONTRACT_TIME_WRONG, route, message)
        elif not _has_zone(text):
            message = f"{name} is {quote(text)}, which has no zone"
            yield ContractFinding(
                row.CONTRACT_TIME_WRONG, route, message, "add `Z` for UTC, or an offset such as `+02:00`"
            )
    if isinstance(contract, SessionReport) and _is_before(contract.finished_at, contract.started_at):
        message = f"the session finished at {quote(contract.finished_at)}, before it started at {quote(contract.started_at)}"
        yield ContractFinding(row.CONTRACT_TIME_WRONG, ("finished_at",), message)


def find_future_times(contract: Contract, now: float) -> Iterator[ContractFinding]:
    """CONTRACT_TIME_WRONG: a time is later than now, apart from the difference that clocks may have."""
    for route, text in list_times(contract):
        seconds = as_seconds(text)
        if seconds is not None and seconds > now + MAX_CLOCK_SKEW:
            message = f"{quote(format_route(route))} is {quote(text)}, which is in the future"
            yield ContractFinding(
                row.CONTRACT_TIME_WRONG, route, message, "write the time at which it happened"
            )


def find_wrong_order(contract: Contract, other: Contract) -> Iterator[ContractFinding]:
    """CONTRACT_TIME_WRONG, with the contract that came first: the contract is from an earlier time.

    A correction follows its original, a decision the one that it replaces and the blocker that it answers, and a report
    the blockers of its session.
    """
    if not isinstance(contract, SessionReport | DecisionEntry) or not isinstance(
        other, SessionReport | DecisionEntry | Blocker
    ):
        return
    if not (own := list_times(contract)[-1:]) or not (first := list_times(other)[-1:]):
        return
    (route, text), (other_route, other_text) = own[0], first[0]
    if _is_before(text, other_text):
        name, other_name = quote(str(route[0])), quote(str(other_route[0]))
        message = f"{name} is {quote(text)}, before {other_name} {quote(other_text)} of the contract that came first"
        yield ContractFinding(
            row.CONTRACT_TIME_WRONG, route, message, "", other_route, "the contract that came first"
        )


def _has_zone(time: str) -> bool:
    """Whether a time in ISO 8601 has a zone."""
    clock = time[len("2026-01-31") :]
    return clock[-1:] in "Zz" or "+" in clock or "-" in clock


def _is_before(one: str, other: str) -> bool:
    at, then = as_seconds(one), as_seconds(other)
    return at is not None and then is not None and at < then
