"""Count the use of servers' tools from the audit: calls, refusals with their reasons, and failures.

A call through the gateway is a decision with the server and the tool in its detail; the row of its use names the
decision. Other decisions about a tool also count as use, so a tool that a subject could need is never proposed for
removal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeVar

import msgspec

from orgkernel.decisions.evidence.state_records import AuditRow

KeyT = TypeVar("KeyT")
Roles = Callable[[str], tuple[str, ...]]
"""A function that returns the roles of a subject."""


class ToolCalls(msgspec.Struct, frozen=True, kw_only=True):
    """The calls of one tool of a server by one subject."""

    subject: str
    server: str
    tool: str
    """The name of the tool on its server."""
    tool_id: str
    """The id of the declared tool."""
    calls: int
    allowed: int
    asked: int
    """The number of calls that needed an approval."""
    refused: dict[str, int]
    """The number of refusals for each reason code."""
    failed: dict[str, int]
    """The number of failed calls for each code, among the allowed ones."""


class RefusedUse(msgspec.Struct, frozen=True):
    """The refused calls of one tool by a role."""

    times: int
    codes: Mapping[str, int]
    asked: Mapping[tuple[str, str], int]
    """The number of calls for each subject and action, highest first."""


class ObservedUse(NamedTuple):
    """The use of tools in a period, from the audit."""

    calls: tuple[ToolCalls, ...]
    """The calls through the gateway, by subject and tool."""
    first_at: float | None
    """The time of the first of these calls."""
    first_of: Mapping[str, float]
    """The time of the first call of a holder of each role."""
    actions: Mapping[tuple[str, str], frozenset[str]]
    """The requested actions for each role and declared tool, through any surface and with any answer."""
    names: Mapping[tuple[str, str], frozenset[str]]
    """The server's tools that were called through the gateway, for each role and declared tool."""
    refused: Mapping[tuple[str, str], RefusedUse]
    """The refusals of the gateway, for each role and declared tool."""


def count_tool_use(
    decisions: Iterable[AuditRow], uses: Iterable[AuditRow], org_id: str, roles_of: Roles
) -> ObservedUse:
    """Count decisions about tools, and the results of calls. Calls of an agent count for every role that it fills."""
    failures = {
        row.entry.record_id: row.entry.code or "FAILED"
        for row in uses
        if row.entry.activity == "failed" and row.entry.record_id
    }
    known_roles: dict[str, tuple[str, ...]] = {}
    by_tool: dict[tuple[str, str, str, str], _Count] = {}
    first_at: float | None = None
    first_of: dict[str, float] = {}
    actions: dict[tuple[str, str], set[str]] = {}
    names: dict[tuple[str, str], set[str]] = {}
    refused: dict[tuple[str, str], _Count] = {}
    for row in decisions:
        entry = row.entry
        kind, _, rest = entry.resource.partition(":")
        if kind != "tool" or entry.org_id != org_id:
            continue
        tool_id = rest.partition(":")[0]
        if entry.subject not in known_roles:
            known_roles[entry.subject] = roles_of(entry.subject)
        roles = known_roles[entry.subject]
        for role in roles:
            actions.setdefault((role, tool_id), set()).add(entry.action)
        server, tool = _parse_call(entry.detail)
        if not server:
            continue
        first_at = entry.at if first_at is None else min(first_at, entry.at)
        key = (entry.subject, server, tool, tool_id)
        by_tool.setdefault(key, _Count()).add(entry.activity, entry.code, None, failures.get(row.audit_id))
        for role in roles:
            first_of[role] = min(first_of.get(role, entry.at), entry.at)
            names.setdefault((role, tool_id), set()).add(tool)
            if entry.activity == "deny":
                refused.setdefault((role, tool_id), _Count()).add(
                    "deny", entry.code, (entry.subject, entry.action), None
                )
    return ObservedUse(
        tuple(count.convert_to_calls(*key) for key, count in sorted(by_tool.items())),
        first_at,
        first_of,
        {key: frozenset(members) for key, members in actions.items()},
        {key: frozenset(members) for key, members in names.items()},
        {
            key: RefusedUse(
                count.refused.total(), _sort_most_first(count.refused), _sort_most_first(count.asked)
            )
            for key, count in sorted(refused.items())
        },
    )


class _Count:
    """Counters of one tool."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.asked: Counter[tuple[str, str]] = Counter()
        self.failed: Counter[str] = Counter()

    def add(self, outcome: str, code: str, question: tuple[str, str] | None, failure: str | None) -> None:
        self.outcomes[outcome] += 1
        if outcome == "deny":
            self.refused[code] += 1
            if question is not None:
                self.asked[question] += 1
        elif failure is not None:
            self.failed[failure] += 1

    def convert_to_calls(self, subject: str, server: str, tool: str, tool_id: str) -> ToolCalls:
        return ToolCalls(
            subject=subject,
            server=server,
            tool=tool,
            tool_id=tool_id,
            calls=self.outcomes.total(),
            allowed=self.outcomes["allow"],
            asked=self.outcomes["ask"],
            refused=_sort_most_first(self.refused),
            failed=_sort_most_first(self.failed),
        )


def _parse_call(detail: Mapping[str, object] | None) -> tuple[str, str]:
    """The server and the tool of a call through the gateway; empty for any other call."""
    fields = detail or {}
    server, tool = fields.get("server"), fields.get("tool")
    return (server, tool) if isinstance(server, str) and isinstance(tool, str) else ("", "")


def _sort_most_first(counter: Counter[KeyT]) -> dict[KeyT, int]:
    return dict(sorted(counter.items(), key=lambda item: (-item[1], str(item[0]))))
