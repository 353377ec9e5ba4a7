"""What a change of the state is given: it runs in the writer's thread, in a savepoint of its own."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection

from orgkernel.decisions.state_records import AuditEntry


class Transaction:
    """What a change sees: the connection, the time, the version its rows get, and the audit."""

    def __init__(
        self, connection: Connection, now: float, version: int, append: Callable[[AuditEntry], str]
    ) -> None:
        self.connection = connection
        self.now = now
        self.version = version
        self.audit = append
        """Write a row down with the change; the row's name."""
        self.is_changed = False

    def touch(self) -> int:
        """Something decisions read changes: the version its rows get."""
        self.is_changed = True
        return self.version
