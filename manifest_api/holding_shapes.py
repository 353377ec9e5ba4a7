"""What is asked and answered about restrictions, locks of exclusive tools, and whether the audit is whole."""

from __future__ import annotations

from typing import Annotated

import msgspec

from manifest_api.authzen_shapes import Context
from orgkernel.decisions.state_records import AuditFinding
from orgkernel.decisions.state_view import Restriction, ToolLock
from orgkernel.kernel.registry import ACTIVE
from orgkernel.operations.permissions import ID, Name, Text

Holder = Annotated[str, msgspec.Meta(pattern=f"^(agent|person|system):{ID}")]
Seconds = Annotated[float, msgspec.Meta(gt=0, le=31_536_000)]
Token = Annotated[float, msgspec.Meta(ge=1, le=9_007_199_254_740_991, multiple_of=1)]


class RestrictionPage(msgspec.Struct, frozen=True, kw_only=True):
    """Restrictions in the order in which they were issued."""

    restrictions: tuple[Restriction, ...]
    next: str | None


class LockDraft(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An exclusive tool that somebody wants to hold."""

    org: Name = ACTIVE
    tool: Name
    holder: Holder | None = None
    """Left out by the credential of an agent, which takes tools for that agent and for nobody else."""
    seconds: Seconds | None = None
    """How long it is held unless it is released before: at most as long as the tool allows, which is what it is without."""
    context: Context = {}
    """Circumstances as for an evaluation."""
    reason: Text = ""


class LockReturn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A lock that is given back."""

    token: Token
    holder: Holder | None = None
    """Left out by the credential of an agent."""


class LockPage(msgspec.Struct, frozen=True, kw_only=True):
    """The locks that are held, by organization and tool."""

    locks: tuple[ToolLock, ...]
    next: str | None


class AuditVerification(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the audit is as it was written."""

    is_whole: bool
    rows: int
    chains: int
    dropped: int
    """Rows that retention took; their segments are kept."""
    findings: tuple[AuditFinding, ...]
    more_findings: int
    """Beyond those listed."""
    notes: tuple[str, ...]
    """What could not be looked at."""
