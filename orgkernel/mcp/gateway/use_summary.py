"""The use of a gateway as values. They need no SDK of MCP, so that every server can describe its answers."""

from __future__ import annotations

from typing import Literal

import msgspec

from orgkernel.mcp.gateway.proposals import UseProposal
from orgkernel.operations.reports.tool_use import ToolCalls

SizeUnit = Literal["estimated_tokens"]


class SparedRole(msgspec.Struct, frozen=True):
    """The tools that one role sees."""

    role: str
    tools: int
    size: int
    """Size of its tools in a prompt."""
    spared: int
    """How much less that is than all tools."""


class Spared(msgspec.Struct, frozen=True):
    """The size of all tools of all servers in a prompt, and the saving for each role."""

    unit: SizeUnit
    """All sizes are estimates, because each model has its own tokenizer."""
    servers: tuple[str, ...]
    tools: int
    size: int
    roles: tuple[SparedRole, ...]


class UseSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The use of a gateway, and the proposals."""

    org_id: str
    since: str
    days: float
    """Days of calls that the audit has in this time."""
    spared: Spared
    calls: tuple[ToolCalls, ...]
    proposals: tuple[UseProposal, ...]
    notes: tuple[str, ...]
    """Sentences about limits of the report."""
