"""The audit as callers write it: answered when it is on the disk, or with a ticket at once (design §9)."""

from __future__ import annotations

from collections.abc import Sequence

from orgkernel.decisions.state_records import AuditEntry
from orgkernel.state.grants import use_grants
from orgkernel.state.rows import Rows
from orgkernel.state.ticket import Ticket
from orgkernel.state.transaction import Transaction


class AuditLog:
    """The audit of a store."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self.defer = rows.writer.submit
        """Hand in an entry and go on; it is acknowledged only when the ticket resolves."""

    def write(self, entry: AuditEntry, uses: Sequence[str] = ()) -> str:
        """Write an entry and wait until it is on the disk; the name of its row.

        `uses` are the ids of grants the decision needed: they are used in the same transaction, and when one of them
        is used up by now, `Conflict` (`GRANT_USED_UP`) is raised, nothing is written, and the answer has to be no.
        """
        name: str = self.submit(entry, uses).result()
        return name

    def submit(self, entry: AuditEntry, uses: Sequence[str] = ()) -> Ticket:
        """As `write`, for callers that wait in their own way; raises `StoreBusy` where too many do."""
        if not uses:
            return self._rows.writer.submit(entry, may_wait=False)

        def change(transaction: Transaction) -> str:
            name = transaction.audit(entry)
            use_grants(transaction, uses, name)
            return name

        return self._rows.writer.submit(change, may_wait=False)
