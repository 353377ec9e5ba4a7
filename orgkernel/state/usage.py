"""Which tools agents have really called: a row of the audit for each call, and a total that outlives it."""

from __future__ import annotations

from sqlalchemy import insert, select, update

from orgkernel.decisions.state_records import AuditEntry, ToolUse
from orgkernel.state.rows import Rows, record_of, require_id, require_time
from orgkernel.state.tables import tool_usage
from orgkernel.state.ticket import Ticket
from orgkernel.state.transaction import Transaction


class Usage:
    """The tool usage of a store."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def record(
        self,
        agent_id: str,
        tool_id: str,
        *,
        action: str = "use",
        ok: bool = True,
        code: str = "",
        seconds: float = 0.0,
        org_id: str = "",
        decision: str = "",
    ) -> Ticket:
        """Note one call and how it ended; `decision` is the audit row that allowed it. Resolves with the row's name."""
        require_id("the agent", agent_id)
        require_id("the tool", tool_id)
        require_time("the duration", seconds)

        def change(transaction: Transaction) -> str:
            now, connection = transaction.now, transaction.connection
            where = (tool_usage.c.agent_id == agent_id, tool_usage.c.tool_id == tool_id)
            changed = connection.execute(
                update(tool_usage)
                .where(*where)
                .values(
                    uses=tool_usage.c.uses + 1,
                    failures=tool_usage.c.failures + (0 if ok else 1),
                    seconds=tool_usage.c.seconds + seconds,
                    last_at=now,
                )
            )
            if not changed.rowcount:
                connection.execute(
                    insert(tool_usage).values(
                        agent_id=agent_id, tool_id=tool_id, uses=1, failures=0 if ok else 1, first_at=now,
                        last_at=now, seconds=seconds,
                    )
                )  # fmt: skip
            return transaction.audit(
                AuditEntry(
                    "usage",
                    now,
                    "succeeded" if ok else "failed",
                    subject=f"agent:{agent_id}",
                    action=action,
                    resource=f"tool:{tool_id}",
                    code=code,
                    org_id=org_id,
                    record_id=decision,
                    seconds=seconds,
                )
            )

        return self._rows.writer.submit(change)

    def list(self, agent_id: str | None = None) -> tuple[ToolUse, ...]:
        """What was called how often, by agent and tool."""
        query = select(tool_usage).order_by(tool_usage.c.agent_id, tool_usage.c.tool_id)
        if agent_id is not None:
            query = query.where(tool_usage.c.agent_id == agent_id)
        with self._rows.reading() as connection:
            return tuple(record_of(ToolUse, row) for row in connection.execute(query))
