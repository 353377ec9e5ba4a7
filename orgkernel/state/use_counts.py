"""Calls of tools for the writer: a row of the audit for each, and all counts in one statement.

A finished call cannot be refused, and no decision reads the counts, so a use needs no savepoint and no order among
changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Insert
from sqlalchemy.dialects import postgresql, sqlite

from orgkernel.decisions.evidence.state_records import AuditEntry
from orgkernel.state.tables import tool_usage


class CountedCall(NamedTuple):
    """A call that an agent has made."""

    agent_id: str
    tool_id: str
    entry: AuditEntry
    """Its row: the end time, the duration, and the error code."""


def count_uses(connection: Connection, uses: Sequence[CountedCall]) -> None:
    """Add calls to the counts by agent and tool."""
    connection.execute(build_add_statement(connection.dialect.name), sum_up(uses))


def sum_up(uses: Sequence[CountedCall]) -> list[dict[str, Any]]:
    """Sum up calls for the parameters of `build_add_statement`."""
    counts: dict[tuple[str, str], dict[str, float]] = {}
    for each in uses:
        at, took = each.entry.at, each.entry.seconds or 0.0
        count = counts.setdefault(
            (each.agent_id, each.tool_id),
            {"uses": 0, "failures": 0, "first_at": at, "last_at": at, "seconds": 0.0},
        )
        count["uses"] += 1
        count["failures"] += each.entry.activity == "failed"
        count["last_at"] = max(at, count["last_at"])
        count["seconds"] += took
    # INVARIANT: in order, so that two processes that count the same tools never deadlock.
    return [
        {"agent_id": agent_id, "tool_id": tool_id, **counts[agent_id, tool_id]}
        for agent_id, tool_id in sorted(counts)
    ]


@cache
def build_add_statement(dialect: str) -> Insert:
    """The statement that adds to the counts, for one engine."""
    insert = (postgresql.insert if dialect == "postgresql" else sqlite.insert)(tool_usage)
    columns, new_row = tool_usage.c, insert.excluded
    return insert.on_conflict_do_update(
        index_elements=[columns.agent_id, columns.tool_id],
        set_={
            "uses": columns.uses + new_row.uses,
            "failures": columns.failures + new_row.failures,
            "last_at": new_row.last_at,
            "seconds": columns.seconds + new_row.seconds,
        },
    )
