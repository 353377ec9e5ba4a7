"""What one subject has: the tools it is shown, as the decider answers now, and what a change of circumstances changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from orgkernel.decisions.access.decision import AccessRow
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.access.resource import LOCK
from orgkernel.records.levels import LEVELS
from orgkernel.toolbox.parts import Parts

LETTERS = {"none": "---", "observe": "O--", "read": "OR-", "write": "ORW", "full": "ORWD"}


class AvailableTool(msgspec.Struct, frozen=True):
    """A tool somebody has, with what a host needs to show it to an agent."""

    tool: str
    level: str
    letters: str
    actions: tuple[str, ...]
    """What it may do with it."""
    asks: tuple[str, ...]
    """What it may do once somebody approves."""
    conditions: tuple[str, ...]
    """What could change the answer: a time, a channel, a path, each as `KEY:VALUE`."""
    served: bool
    """Whether anything serves it here; a tool that is declared and not served is unavailable."""
    exclusive: bool
    name: str = ""
    description: str = ""
    names: Mapping[str, str] = {}
    input_schema: Mapping[str, Any] | None = None


class Difference(msgspec.Struct, frozen=True):
    """What changed between two lists of tools."""

    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    """Tools that are still there with another level or other actions."""


def available_tools(parts: Parts, org: str, request: AccessRequest) -> tuple[AvailableTool, ...]:
    """The tools above level none, by id. An exclusive tool is there when it could be used with its lock."""
    rows: dict[str, list[AccessRow]] = {}
    for row in parts.kernel.what_can(org, request.subject, request=request):
        rows.setdefault(row.resource.split(":")[1], []).append(row)
    found = (_tool(parts, org, tool, rows[tool]) for tool in sorted(rows))
    return tuple(each for each in found if each is not None)


def _tool(parts: Parts, org: str, tool_id: str, rows: list[AccessRow]) -> AvailableTool | None:
    tool = parts.tool(org, tool_id)
    if tool is None:
        return None
    lock = f"lock:{tool_id}"
    allowed: list[str] = []
    asks: list[str] = []
    conditions: list[str] = []
    for row in rows:
        # Calling takes the lock, so that it is not held yet keeps nobody from a tool.
        waits = row.outcome == "deny" and row.conditions == (lock,)
        if row.outcome == "allow" or waits:
            allowed += row.actions
        elif row.outcome == "ask":
            asks += row.actions
        conditions += [each for each in row.conditions if each != lock]
    allowed = [action for action in dict.fromkeys(allowed) if action != LOCK]
    if not allowed and not asks:
        return None
    level = max((row.level for row in rows), key=LEVELS.index)
    return AvailableTool(
        tool_id, level, LETTERS[level], tuple(allowed), tuple(asks), tuple(dict.fromkeys(conditions)),
        tool_id in parts.adapters, tool.concurrency == "exclusive", tool.name, tool.description,
        tool.names, tool.input_schema,
    )  # fmt: skip


def compare(old: tuple[AvailableTool, ...], new: tuple[AvailableTool, ...]) -> Difference:
    """What a list gained and lost."""
    before, after = ({each.tool: each for each in listed} for listed in (old, new))
    return Difference(
        tuple(tool for tool in after if tool not in before),
        tuple(tool for tool in before if tool not in after),
        tuple(tool for tool in after if tool in before and after[tool] != before[tool]),
    )
