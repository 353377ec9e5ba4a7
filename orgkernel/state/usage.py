"""How often agents use tools, and how that ends."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import select

from orgkernel.decisions.evidence.state_records import AuditEntry, ToolUsage
from orgkernel.state.rows import StoreContext, require_id, require_time
from orgkernel.state.tables import tool_usage
from orgkernel.state.use_counts import CountedCall
from orgkernel.state.writer import PendingWrite

_NAMED_AGENTS = 100
"""The largest number of agents that a query names. For more, reading all rows is cheaper."""


class Usage:
    """The tool usage of a store."""

    def __init__(self, context: StoreContext) -> None:
        self._context = context

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
        is_urgent: bool = True,
    ) -> PendingWrite:
        """Store one call with its outcome. `decision` is the audit row that allowed it.

        Resolves with the name of the row, which is written a little later if it is not urgent.
        """
        require_id("the agent", agent_id)
        require_id("the tool", tool_id)
        require_time("the duration", seconds)
        entry = AuditEntry(
            "usage",
            self._context.clock(),
            "succeeded" if ok else "failed",
            subject=f"agent:{agent_id}",
            action=action,
            resource=f"tool:{tool_id}",
            code=code,
            org_id=org_id,
            record_id=decision,
            seconds=seconds,
        )
        return self._context.writer.submit(CountedCall(agent_id, tool_id, entry), is_urgent=is_urgent)

    def list(self, agent_ids: Collection[str] | None = None) -> tuple[ToolUsage, ...]:
        """The number of calls by agent and tool, of these agents or of all."""
        query = select(tool_usage).order_by(tool_usage.c.agent_id, tool_usage.c.tool_id)
        if agent_ids is None:
            return self._context.read(ToolUsage, query)
        if len(agent_ids) <= _NAMED_AGENTS:
            query = query.where(tool_usage.c.agent_id.in_(sorted(agent_ids)))
        return tuple(each for each in self._context.read(ToolUsage, query) if each.agent_id in agent_ids)
