"""Maintain a store: upgrade it, copy it, describe it; read its audit, verify it, and drop old rows."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from orgkernel.decisions.access.vanished import find_vanished
from orgkernel.decisions.evidence.state_records import AuditFilter, AuditFinding, AuditRow
from orgkernel.decisions.evidence.state_view import Grant
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import BadStore, Refused, UsageError
from orgkernel.kernel.stored import require_there
from orgkernel.operations.context import Context
from orgkernel.operations.rights import open_noted_store, require_outside
from orgkernel.state.audit import (
    DAY,
    AuditStats,
    PolicyCount,
    SenderCount,
    accept_findings,
    count_decisions,
    count_policies,
    count_unknown_senders,
    drop_old,
    read_rows,
    rotate_signing_key,
)
from orgkernel.state.backup import StoreInfo, back_up, measure_size, read_info
from orgkernel.state.checkpoints import Checkpoints
from orgkernel.state.clock_gap import FAR_SECONDS, measure_gap
from orgkernel.state.migrating import KeyToBind, is_older_store, upgrade_store
from orgkernel.state.migrating import list_keys_to_bind as find_keys_to_bind
from orgkernel.state.restore import RestoreReport, restore
from orgkernel.state.verify import Verification, verify_audit

if TYPE_CHECKING:
    from orgkernel.kernel.registry_state import RegistryState
    from orgkernel.kernel.stored import Store, StoreLocation

_SET_SECONDS, FIRST_SECONDS = 60.0, 600.0
"""How much two clocks of a process may differ, and how long it runs before it ends or deletes anything."""
NOTING = "system:orgkernel"
"""The actor in the audit for automatic changes."""
AuditCount = Literal["senders", "policies", "decisions"]


def read_audit(
    store: Store, audit_filter: AuditFilter, limit: int | None = None, after: str | None = None
) -> Iterator[AuditRow]:
    """Rows that match every filter, newest first; `after` is the last row of the page before. Raises `UnknownRecord`."""
    return read_rows(store.context, audit_filter, limit, after)


def count_audit(
    store: Store, what: AuditCount, since: float | None = None
) -> AuditStats | tuple[SenderCount, ...] | tuple[PolicyCount, ...]:
    """Counts of rows: unknown senders, matching policies, or decisions by outcome."""
    if what == "decisions":
        return count_decisions(store.context, since)
    return (
        count_policies(store.context, since)
        if what == "policies"
        else count_unknown_senders(store.context, since)
    )


def verify(store: Store, checkpoints: Sequence[str] = ()) -> Verification:
    """Verify every chain against the checkpoints of the store, and those in other folders. Raises `UsageError`."""
    for path in checkpoints:
        if not os.path.isdir(path):
            raise UsageError(f"there is no folder {quote(path)}", "name a folder of checkpoints")
    others = (Checkpoints(path, store.context.tokens, store.context.clock) for path in checkpoints)
    return verify_audit(store.context, store.folder, *others)


def find_lost_store(location: StoreLocation) -> tuple[AuditFinding, ...]:
    """The finding about a missing store, if there are checkpoints of it."""
    if not Checkpoints(location.checkpoints, os.urandom, time.time).has_heads():
        return ()
    return (AuditFinding("missing", "store", "there are checkpoints, but the store is missing"),)


def prune(store: Store, decision_days: float, history_days: float) -> tuple[int, int]:
    """Seal and drop older rows. Returns the number of rows and of segments."""
    segments = drop_old(
        store.context, store.folder, {"decision": decision_days * DAY, "history": history_days * DAY}
    )
    return sum(each.last - each.first + 1 for each in segments), len(segments)


class ClockTrust:
    """Whether the clock of a process may decide which rows have expired or are old enough to be deleted.

    A clock that was ahead for a minute must destroy nothing, so a process first runs for a while, longer if its clock is far beyond
    the newest row that others wrote. Times are in seconds; `steady` is of a clock that is never set.
    """

    def __init__(self, store: Store, now: float, steady: float, first_seconds: float = FIRST_SECONDS) -> None:
        """`first_seconds` is how long the process runs before its clock is believed."""
        self._first_seconds = first_seconds
        self._start(store, now, steady)

    def find_doubt(self, store: Store, now: float, steady: float) -> str:
        """Why nothing may be deleted now. Empty if the clock is believed."""
        ran = steady - self._steady
        if abs(now - self._now - ran) > _SET_SECONDS:
            self._start(store, now, steady)
            return "the clock was set"
        if ran < self._first_seconds:
            return "the process has just started"
        if self._ahead > FAR_SECONDS and ran < DAY:
            return say_ahead(self._ahead)
        return ""

    def _start(self, store: Store, now: float, steady: float) -> None:
        self._now, self._steady = now, steady
        self._ahead = measure_ahead(store, now)


def measure_ahead(store: Store, now: float) -> float:
    """The seconds by which the clock is beyond the newest row. Rows of the last minute can be of this process, so they do not count."""
    with store.context.reading() as connection:
        return measure_gap(connection, now, _SET_SECONDS)


def say_ahead(seconds: float) -> str:
    """The sentence about a clock that is far beyond the newest row."""
    return f"the clock is {seconds / DAY:,.0f} days beyond the newest row of the audit"


def require_believable_clock(store: Store) -> None:
    """Raise `Refused` if the clock is far beyond the newest row of the audit."""
    ahead = measure_ahead(store, store.context.clock())
    if ahead > FAR_SECONDS:
        raise Refused(
            f"{say_ahead(ahead)}, so nothing was deleted",
            "set the clock, or pass `--trust-clock` if it is right",
            "CLOCK_NOT_BELIEVED",
        )


def upgrade(location: StoreLocation, *, while_connected: bool = False) -> tuple[str | None, str]:
    """Upgrade a store to the version of this program, or create one.

    Returns the versions before and after. Raises `StoreBusy` if other programs are connected, unless `while_connected`, and
    `StoreError`.
    """
    return upgrade_store(location, while_connected=while_connected)


def list_keys_to_bind(location: StoreLocation) -> tuple[KeyToBind, ...]:
    """The valid keys of agents and people, in a store of any version, that name no organization. Raises `StoreError`."""
    return find_keys_to_bind(location, time.time()) if _may_exist(location) else ()


def needs_upgrade(location: StoreLocation) -> bool:
    """Whether a location has a store of an older version. Raises `StoreError`."""
    return _may_exist(location) and is_older_store(location)


def _may_exist(location: StoreLocation) -> bool:
    return not location.path or os.path.exists(location.path)


def copy_store(location: StoreLocation, target: str) -> str:
    """Copy a store of any version and its checkpoints while other processes can write. Returns its version.

    Raises `BadStore` and `StoreError`.
    """
    require_there(location)
    return back_up(location, target, os.urandom, time.time)


def restore_store(location: StoreLocation, backup: str, actor: str, reason: str = "") -> RestoreReport:
    """Replace a store with a backup. Raises `BadStore`, `StoreBusy` if another process has it open, and `StoreError`."""
    return restore(location, backup, actor=actor, reason=reason, clock=time.time, tokens=os.urandom)


def accept(context: Context, checkpoints: Sequence[str] = (), reason: str = "") -> Verification:
    """Accept the current findings of a verification, so later ones report only new findings. Returns the findings.

    Raises `Refused`, and `BadStore` if there is no key to sign with.
    """
    store = open_noted_store(context, require_outside(context, "accept findings about the audit"))
    if store.folder.key() is None:
        raise BadStore(
            "there is no key to sign with",
            "put the `key` of a backup into the folder of checkpoints; if there is none, any change makes a new key",
        )
    verification = verify(store, checkpoints)
    if verification.findings:
        accept_findings(
            store.context, store.folder, verification.findings, actor=context.actor.name, reason=reason
        )
    return verification


def rotate_signing(context: Context, overlap: float, reason: str = "") -> float:
    """Sign checkpoints with a new key. Returns the time until which the old key remains valid.

    Raises `Refused`. The audit must be intact, because a new signature would hide an earlier change.
    """
    store = open_noted_store(context, require_outside(context, "rotate the key of the audit"))
    if verify(store).verdict != "whole":
        raise Refused(
            "the audit is not intact, so it cannot be signed with a new key",
            "see `orgkernel audit verify`, and accept what cannot be repaired with `orgkernel audit accept`",
            "AUDIT_NOT_WHOLE",
        )
    until = time.time() + overlap
    rotate_signing_key(store.context, store.folder, until, actor=context.actor.name, reason=reason)
    return until


def describe_store(store: Store) -> StoreInfo:
    """A store in figures."""
    return read_info(store)


def measure(store: Store) -> int:
    """The size of a store in bytes."""
    return measure_size(store)


def note_expired(store: Store, trust: ClockTrust, now: float, steady: float) -> int:
    """Record in the audit what has expired since the last time, unless the clock is in doubt.

    Returns the number of rows that were dated after the clock, and whose terms are now counted from this moment. Times are as in
    `ClockTrust`.
    """
    if trust.find_doubt(store, now, steady):
        return 0
    future = begin_future_terms(store)
    store.expire()
    return future


def begin_future_terms(store: Store) -> int:
    """Count the terms of rows that are dated after the clock from now. Returns their number. The clock must be right."""
    return store.count_terms_from_now()


def note_vanished(store: Store, state: RegistryState, removed: Collection[str] = ()) -> tuple[Grant, ...]:
    """Suspend the grants of subjects that no document declares now, and of organizations that were removed.

    A subject that is declared again later could be a different one, so its grants sleep until they are woken.
    An organization that answers from an older version is skipped, because its current declarations are unknown. Raises `StoreError`.
    """
    given = [grant for grants in store.read_view().grants.values() for grant in grants]
    current = [each.snapshot.index for each in state.served.values() if not each.stale]
    vanished = find_vanished(current, given, complete=not state.refused)
    gone = dict.fromkeys(grant.grant_id for grant in vanished)
    gone |= dict.fromkeys(grant.grant_id for grant in given if grant.org_id in removed)
    if not gone:
        return ()
    return store.grants.put_to_sleep(tuple(gone), actor=NOTING, reason="no document declares the subject")
