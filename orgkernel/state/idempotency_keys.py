"""The responses to requests with an idempotency key, so that a repeated request changes nothing twice.

The row of a key is written before its request runs. A request that ended without a response (its process was killed) leaves a row
without one, and it is unknown whether it had its effect, so the key is never free again until it expires. A key expires
at the time that the audit proves, because a clock that is ahead for a minute must not let a repeated request run again.
"""

from __future__ import annotations

import msgspec
from sqlalchemy import delete, insert, select, update

from orgkernel.state.clock_gap import measure_gap
from orgkernel.state.rows import StoreContext, decode_record
from orgkernel.state.tables import idempotency_keys
from orgkernel.state.writer import Transaction

KEPT_SECONDS = 86_400.0
"""Seconds for which a response is kept. If nothing else happens in a store, it is kept longer."""


class IdempotencyRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The first request with a key, and its response."""

    caller: str
    key: str
    request_digest: str
    created_at: float
    status: int | None = None
    """The status of the response; None while there is none."""
    headers: str | None = None
    """The headers of the response, as a JSON object."""
    response: str | None = None
    """The body of the response."""


class IdempotencyKeys:
    """The idempotency keys of a store."""

    def __init__(self, context: StoreContext) -> None:
        self._context = context

    def begin(self, caller: str, key: str, request_digest: str) -> IdempotencyRecord | None:
        """The earlier request of a caller with this key. None if there is none: then the key is taken for this request."""

        def change(transaction: Transaction) -> IdempotencyRecord | None:
            connection, columns = transaction.connection, idempotency_keys.c
            proven = transaction.now - measure_gap(connection, transaction.now)
            connection.execute(delete(idempotency_keys).where(columns.created_at <= proven - KEPT_SECONDS))
            row = connection.execute(
                select(idempotency_keys).where(columns.caller == caller, columns.key == key)
            ).first()
            if row is not None:
                return decode_record(IdempotencyRecord, row)
            values = {"caller": caller, "key": key, "request_digest": request_digest}
            connection.execute(insert(idempotency_keys).values(created_at=transaction.now, **values))
            return None

        return self._context.change(change)

    def finish(self, caller: str, key: str, status: int, headers: str, response: str) -> None:
        """Keep the response of a request that has taken its key."""
        self._change(caller, key, {"status": status, "headers": headers, "response": response})

    def release(self, caller: str, key: str) -> None:
        """Free a key whose request has changed nothing."""
        self._change(caller, key, None)

    def _change(self, caller: str, key: str, values: dict[str, object] | None) -> None:
        def change(transaction: Transaction) -> None:
            columns = idempotency_keys.c
            row = (columns.caller == caller, columns.key == key, columns.status.is_(None))
            statement = (
                delete(idempotency_keys).where(*row)
                if values is None
                else update(idempotency_keys).where(*row).values(**values)
            )
            transaction.connection.execute(statement)

        self._context.change(change)
