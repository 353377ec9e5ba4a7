"""Limits of calls: each call is reserved before it runs and settled with its true cost afterwards.

A reservation is one change that counts and inserts. Changes are serialized over all processes, so concurrent callers can never
take more than the limit. A retry with the same call id is charged once. A call whose caller dies stays charged in a
window; its slot among the calls in progress ends with its lease. A clock that is set back frees nothing, because amounts
dated after the clock are in the window. A clock that is far beyond the audit frees nothing either until it is believed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, and_, func, insert, select, update

from orgkernel.decisions.evidence.limit_usage import MAX_AMOUNT, Charge, LimitUsage, LimitUse
from orgkernel.decisions.evidence.state_records import AuditEntry
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.errors import Conflict, Refused, UnknownRecord
from orgkernel.runtime.utc import as_utc
from orgkernel.state.clock_gap import FAR_SECONDS, measure_gap
from orgkernel.state.rows import StoreContext, decode_record, encode_row, require_id, require_reference
from orgkernel.state.tables import limit_uses
from orgkernel.state.writer import Transaction

LIMIT_REACHED, CALL_ENDED, OTHER_CALL = "LIMIT_REACHED", "CALL_ENDED", "OTHER_CALL"
LEASE_SECONDS = 3_600.0
"""The default time after which a call in progress is given up. A lease is not renewed, so it is longer than calls last: if it
ended too early, more calls could run than the limit allows.
"""
MAX_LEASE_SECONDS = 86_400.0
MAX_CHARGES = 50
"""The highest number of charges of one call."""
_SUBJECTS = ("agent", "person", "role", "system", "webhook")
_COLUMNS = limit_uses.c


class CallLimits:
    """The usage of limits in a store."""

    def __init__(self, context: StoreContext) -> None:
        self._context = context

    def reserve(
        self,
        org_id: str,
        call_id: str,
        charges: Sequence[Charge],
        *,
        subject: str,
        tool_id: str,
        lease: float = LEASE_SECONDS,
    ) -> tuple[LimitUse, ...]:
        """Charge a call to each of its limits, or to none.

        Raises `Conflict`: `LIMIT_REACHED` if one has not enough left, `CALL_ENDED` if the call was settled or released,
        `OTHER_CALL` if the id belongs to another call. Raises `Refused` for charges that cannot be stored.
        """
        return self._context.change(
            lambda transaction: reserve_call(
                transaction, org_id, call_id, charges, subject=subject, tool_id=tool_id, lease=lease
            )
        )

    def settle(
        self, org_id: str, call_id: str, costs: Mapping[str, int] | None = None
    ) -> tuple[LimitUse, ...]:
        """End a call that ran. `costs` are its true costs by limit; a limit without one keeps its reservation.

        A cost above the reservation is charged in full, because it was spent. Settling twice changes nothing. Raises
        `UnknownRecord`, `Refused`, and `Conflict` (`CALL_ENDED`) if the call was released.
        """
        for limit_id, cost in (costs or {}).items():
            _require_amount(f"the cost for {quote(limit_id)}", cost, lowest=0)
        return self._end(org_id, call_id, costs or {}, is_released=False)

    def release(self, org_id: str, call_id: str) -> tuple[LimitUse, ...]:
        """End a call that did not run, which is charged nothing. Raises `UnknownRecord`, `Conflict` (`CALL_ENDED`)."""
        return self._end(org_id, call_id, {}, is_released=True)

    def read_usage(self, org_id: str, charges: Sequence[Charge]) -> tuple[LimitUsage, ...]:
        """The usage of the counters that charges name, at one moment. Their amounts are ignored."""
        with self._context.reading() as connection:
            now = _believe(connection, self._context.clock())
            return tuple(_read_usage(connection, org_id, charge, now) for charge in charges)

    def read_all_usage(self, org_id: str, charges: Sequence[Charge]) -> tuple[LimitUsage, ...]:
        """The usage of every counter that counts anything now, by counter, for each charge. Its own counter is ignored."""
        with self._context.reading() as connection:
            now = _believe(connection, self._context.clock())
            return tuple(
                _build_usage(charge, counter, used, oldest)
                for charge in charges
                for counter, used, oldest in connection.execute(_select_by_counter(org_id, charge, now))
            )

    def list(self, org_id: str, call_id: str) -> tuple[LimitUse, ...]:
        """The charges of a call, by limit and counter."""
        return self._context.read(LimitUse, _select_call(org_id, call_id))

    def _end(
        self, org_id: str, call_id: str, costs: Mapping[str, int], *, is_released: bool
    ) -> tuple[LimitUse, ...]:
        def change(transaction: Transaction) -> tuple[LimitUse, ...]:
            uses = _read_call(transaction.connection, org_id, call_id)
            if not uses:
                raise UnknownRecord(f"no limit is charged for the call {quote(call_id)}")
            if unknown := sorted(costs.keys() - {use.limit_id for use in uses}):
                raise Refused(
                    f"the call {quote(call_id)} is not charged to {listing(unknown)}", code="BAD_VALUE"
                )
            if uses[0].ended_at is not None:
                if uses[0].is_released != is_released:
                    ended = "released" if uses[0].is_released else "settled"
                    raise Conflict(f"the call {quote(call_id)} is already {ended}", code=CALL_ENDED)
                return uses
            for use in uses:
                # A slot among the calls in progress has no cost: ending the call frees it.
                amount = use.amount if use.lease_until is not None else costs.get(use.limit_id, use.amount)
                values = {"amount": amount, "ended_at": transaction.now, "is_released": is_released}
                key = and_(
                    _COLUMNS.org_id == org_id, _COLUMNS.call_id == call_id,
                    _COLUMNS.limit_id == use.limit_id, _COLUMNS.counter == use.counter,
                )  # fmt: skip
                transaction.connection.execute(update(limit_uses).where(key).values(**values))
            ended_uses = _read_call(transaction.connection, org_id, call_id)
            _note(transaction, ended_uses, "released" if is_released else "settled")
            return ended_uses

        return self._context.change(change)


def reserve_call(
    transaction: Transaction, org_id: str, call_id: str, charges: Sequence[Charge], *, subject: str, tool_id: str,
    lease: float = LEASE_SECONDS,
) -> tuple[LimitUse, ...]:  # fmt: skip
    """Within a change: charge a call as `CallLimits.reserve` does."""
    _require_call(org_id, call_id, charges, subject, tool_id, lease)
    connection = transaction.connection
    if uses := _read_call(connection, org_id, call_id):
        _require_same(uses, charges, subject, tool_id)
        return uses
    now = _believe(connection, transaction.now)
    for charge in charges:
        usage = _read_usage(connection, org_id, charge, now)
        if charge.amount > usage.left:
            refill = "" if usage.refills_at is None else f"; the next refill is at {as_utc(usage.refills_at)}"
            raise Conflict(
                f"the limit {quote(charge.limit_id)} of {quote(charge.counter)} is reached", f"wait{refill}",
                code=LIMIT_REACHED,
            )  # fmt: skip
    uses = tuple(
        LimitUse(
            org_id, each.limit_id, each.counter, call_id, subject, tool_id, each.amount, transaction.now,
            transaction.now + lease if each.seconds is None else None,
        )
        for each in sorted(charges, key=_get_key)
    )  # fmt: skip
    connection.execute(insert(limit_uses), [encode_row(use) for use in uses])
    _note(transaction, uses, "reserved")
    return uses


def _require_call(
    org_id: str, call_id: str, charges: Sequence[Charge], subject: str, tool_id: str, lease: float
) -> None:
    require_id("the organization", org_id)
    require_id("the call", call_id)
    require_id("the tool", tool_id)
    require_reference("the subject", subject, _SUBJECTS)
    if not 0 < lease <= MAX_LEASE_SECONDS:
        raise Refused(f"a lease lasts at most {MAX_LEASE_SECONDS:g} seconds", code="BAD_VALUE")
    if not 0 < len(charges) <= MAX_CHARGES or len({_get_key(each) for each in charges}) < len(charges):
        raise Refused(f"charge 1 to {MAX_CHARGES} different counters", code="BAD_VALUE")
    for each in charges:
        require_id("the limit", each.limit_id)
        require_id("the counter", each.counter)
        _require_amount("the limit", each.limit, lowest=0)
        _require_amount("the amount", each.amount, lowest=0)
        if each.seconds is None and each.amount != 1:
            raise Refused("one call takes one slot", code="BAD_VALUE")
        if each.seconds is not None and not 0 < each.seconds <= 1e9:
            raise Refused("the window of a limit must be positive", code="BAD_VALUE")


def _require_amount(name: str, amount: int, *, lowest: int) -> None:
    # A float would not add up exactly, and a negative amount would give back what others spent.
    if type(amount) is not int or not lowest <= amount <= MAX_AMOUNT:
        raise Refused(f"{name} is a whole number from {lowest} to {MAX_AMOUNT}", code="BAD_VALUE")


def _require_same(uses: Sequence[LimitUse], charges: Sequence[Charge], subject: str, tool_id: str) -> None:
    """A retry has the id, the subject, the tool and the charges of the first try."""
    call_id = quote(uses[0].call_id)
    if uses[0].ended_at is not None:
        raise Conflict(f"the call {call_id} has ended", "use a new id for each call", code=CALL_ENDED)
    charged = {(use.limit_id, use.counter, use.amount) for use in uses}
    if (uses[0].subject, uses[0].tool_id) != (subject, tool_id) or charged != {
        (each.limit_id, each.counter, each.amount) for each in charges
    }:
        raise Conflict(f"the id {call_id} belongs to another call", "use a new id", code=OTHER_CALL)


def _believe(connection: Connection, now: float) -> float:
    """The time for windows. A clock that is far beyond the audit was perhaps set ahead, so it frees nothing yet."""
    gap = measure_gap(connection, now)
    return now - gap if gap > FAR_SECONDS else now


def _read_usage(connection: Connection, org_id: str, charge: Charge, now: float) -> LimitUsage:
    counted = _select_by_counter(org_id, charge, now).where(_COLUMNS.counter == charge.counter)
    row = connection.execute(counted).one_or_none()
    used, oldest = (0, None) if row is None else (row[1], row[2])
    return _build_usage(charge, charge.counter, used, oldest)


def _select_by_counter(org_id: str, charge: Charge, now: float) -> Any:
    """Each counter of a limit with its sum, and when its oldest row was charged or ends."""
    total = func.count() if charge.seconds is None else func.sum(_COLUMNS.amount)
    oldest = func.min(_COLUMNS.lease_until if charge.seconds is None else _COLUMNS.at)
    counters = select(_COLUMNS.counter, total, oldest).where(_select_counted(org_id, charge, now))
    return counters.group_by(_COLUMNS.counter).order_by(_COLUMNS.counter)


def _build_usage(charge: Charge, counter: str, used: int, oldest: float | None) -> LimitUsage:
    refills_at = None if oldest is None else oldest + (charge.seconds or 0.0)
    return LimitUsage(charge.limit_id, counter, charge.limit, int(used), refills_at)


def _select_counted(org_id: str, charge: Charge, now: float) -> Any:
    """The condition for rows that are counted now, of all counters."""
    own = and_(
        _COLUMNS.org_id == org_id,
        _COLUMNS.limit_id == charge.limit_id,
        _COLUMNS.is_released.is_(False),
    )
    if charge.seconds is None:
        in_progress = and_(_COLUMNS.ended_at.is_(None), _COLUMNS.lease_until > now)
        return and_(own, in_progress)
    return and_(own, _COLUMNS.at > now - charge.seconds)


def _select_call(org_id: str, call_id: str) -> Any:
    mine = and_(_COLUMNS.org_id == org_id, _COLUMNS.call_id == call_id)
    return select(limit_uses).where(mine).order_by(_COLUMNS.limit_id, _COLUMNS.counter)


def _read_call(connection: Connection, org_id: str, call_id: str) -> tuple[LimitUse, ...]:
    rows = connection.execute(_select_call(org_id, call_id))
    return tuple(decode_record(LimitUse, row) for row in rows)


def _get_key(charge: Charge) -> tuple[str, str]:
    return charge.limit_id, charge.counter


def _note(transaction: Transaction, uses: Sequence[LimitUse], activity: str) -> None:
    """Write one audit row for all charges of a call."""
    first = uses[0]
    detail = {f"{use.limit_id} of {use.counter}": use.amount for use in uses}
    transaction.audit(
        AuditEntry(
            "limit", transaction.now, activity, subject=first.subject, resource=f"tool:{first.tool_id}",
            org_id=first.org_id, record_id=first.call_id, detail={"charges": detail},
        )
    )  # fmt: skip
