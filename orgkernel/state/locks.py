"""Locks of exclusive tools: one holder at a time, and a fencing token that rises with every lock.

The holder of an expired or broken lock may not know it, so work is checked against the token, and an older token is
refused. Other code decides whether a subject may have the tool.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, insert, select, update

from orgkernel.decisions.evidence.state_records import AuditEntry
from orgkernel.decisions.evidence.state_view import ToolLock
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import Conflict, Refused, UnknownRecord
from orgkernel.state.chain import clean_text
from orgkernel.state.rows import StoreContext, decode_record, require_id, require_reference, require_time
from orgkernel.state.tables import tool_locks
from orgkernel.state.writer import Transaction

HOLDERS = ("agent", "person", "system")


class Locks:
    """The locks of a store."""

    def __init__(self, context: StoreContext) -> None:
        self._context = context

    def acquire(
        self,
        org_id: str,
        tool_id: str,
        holder: str,
        *,
        timeout: float | None = None,
        reason: str = "",
        only_free: bool = False,
    ) -> ToolLock:
        """Take a tool, for `timeout` seconds or until it is released; raises `Conflict` (`TOOL_LOCKED`) with its
        holder.

        A holder that already has the lock gets a new one, and the old token becomes stale. With `only_free`, a
        holder cannot.
        """
        require_id("the organization", org_id)
        require_id("the tool", tool_id)
        require_time("the timeout", timeout)
        require_reference("the holder", holder, HOLDERS)
        if timeout is not None and timeout <= 0:
            raise Refused("the duration of a lock must be positive", code="BAD_VALUE")

        def change(transaction: Transaction) -> ToolLock:
            now, row = transaction.now, _find(transaction.connection, org_id, tool_id)
            if row is not None and (
                row.holder not in (None, holder) or (only_free and row.holder is not None)
            ):
                if row.expires_at is None or now < row.expires_at:
                    raise Conflict(
                        f"the tool {quote(tool_id)} is locked by {quote(row.holder)}",
                        "wait until it is released, or break the lock",
                        code="TOOL_LOCKED",
                    )
                # Nothing runs when a lock expires, so its end is written by the next subject that takes the tool.
                _note(transaction, decode_record(ToolLock, row), "timed_out", "", "")
            # A fencing token: work that was started under an earlier lock is recognized, even if its holder returns.
            token = 1 if row is None else row.token + 1
            until = None if timeout is None else now + timeout
            lock = ToolLock(org_id, tool_id, holder, token, now, until, clean_text(reason))
            values = {
                "holder": holder, "token": token, "acquired_at": now, "expires_at": until, "reason": lock.reason,
                "version": transaction.touch(),
            }  # fmt: skip
            if row is None:
                transaction.connection.execute(
                    insert(tool_locks).values(org_id=org_id, tool_id=tool_id, **values)
                )
            else:
                _update(transaction, org_id, tool_id, values)
            _note(transaction, lock, "acquired", holder, reason)
            return lock

        return self._context.change(change)

    def release(self, org_id: str, tool_id: str, holder: str, token: int) -> ToolLock:
        """Release a lock. Raises `Conflict` (`STALE_TOKEN`) if it is no longer held."""

        def change(transaction: Transaction) -> ToolLock:
            lock = _require(transaction.connection, org_id, tool_id, token, holder)
            _free_lock(transaction, lock, "released", holder, "")
            return lock

        return self._context.change(change)

    def break_(
        self, org_id: str, tool_id: str, *, actor: str, reason: str = "", token: int | None = None
    ) -> ToolLock:
        """Break the lock of a tool. Raises `UnknownRecord` if there is none.

        With a token, only that lock is broken. Raises `Conflict` (`STALE_TOKEN`) if the tool has another lock.
        """

        def change(transaction: Transaction) -> ToolLock:
            row = _find(transaction.connection, org_id, tool_id)
            if row is None or row.holder is None:
                raise UnknownRecord(f"the tool {quote(tool_id)} is not locked in {quote(org_id)}")
            lock = decode_record(ToolLock, row)
            if token not in (None, lock.token):
                raise Conflict(
                    f"the lock {token} of the tool {quote(tool_id)} is no longer held",
                    "look again",
                    code="STALE_TOKEN",
                )
            _free_lock(transaction, lock, "broken", actor, reason)
            return lock

        return self._context.change(change)

    def check(self, org_id: str, tool_id: str, holder: str, token: int) -> ToolLock:
        """The lock, if the token is still valid. Raises `Conflict` (`STALE_TOKEN`)."""
        with self._context.reading() as connection:
            lock = _require(connection, org_id, tool_id, token, holder)
        # Nothing ends a lock when its time is over, so the row can still name its last holder.
        if lock.expires_at is not None and lock.expires_at <= self._context.clock():
            raise Conflict(f"the lock {token} of the tool {quote(tool_id)} has expired", code="STALE_TOKEN")
        return lock

    def list(self, org_id: str | None = None) -> tuple[ToolLock, ...]:
        """The current locks, by organization and tool. Expired locks are left out."""
        query = (
            select(tool_locks)
            .where(tool_locks.c.holder.is_not(None))
            .order_by(tool_locks.c.org_id, tool_locks.c.tool_id)
        )
        if org_id is not None:
            query = query.where(tool_locks.c.org_id == org_id)
        now = self._context.clock()
        locks = self._context.read(ToolLock, query)
        return tuple(lock for lock in locks if lock.expires_at is None or now < lock.expires_at)


def _find(connection: Connection, org_id: str, tool_id: str) -> Any:
    where = (tool_locks.c.org_id == org_id, tool_locks.c.tool_id == tool_id)
    return connection.execute(select(tool_locks).where(*where)).first()


def _require(connection: Connection, org_id: str, tool_id: str, token: int, holder: str) -> ToolLock:
    row = _find(connection, org_id, tool_id)
    if row is None or row.holder != holder or row.token != token:
        raise Conflict(
            f"lock {token} of tool {quote(tool_id)} is no longer held by {quote(holder)}",
            "take the lock again; another holder may have used the tool in the meantime",
            code="STALE_TOKEN",
        )
    return decode_record(ToolLock, row)


def _free_lock(transaction: Transaction, lock: ToolLock, activity: str, actor: str, reason: str) -> None:
    # The row stays, so the next lock gets a higher token.
    _update(transaction, lock.org_id, lock.tool_id, {"holder": None, "version": transaction.touch()})
    _note(transaction, lock, activity, actor, reason)


def _update(transaction: Transaction, org_id: str, tool_id: str, values: dict[str, Any]) -> None:
    where = (tool_locks.c.org_id == org_id, tool_locks.c.tool_id == tool_id)
    transaction.connection.execute(update(tool_locks).where(*where).values(**values))


def _note(transaction: Transaction, lock: ToolLock, activity: str, actor: str, reason: str) -> None:
    transaction.audit(
        AuditEntry(
            "lock",
            transaction.now,
            activity,
            subject=lock.holder,
            actor=actor if actor != lock.holder else "",
            resource=f"tool:{lock.tool_id}",
            org_id=lock.org_id,
            record_id=f"{lock.tool_id}#{lock.token}",
            reason=reason,
        )
    )
