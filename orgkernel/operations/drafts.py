"""What operations are asked to write. The bounds on texts are for whoever decodes a draft; the store has its own."""

from __future__ import annotations

from typing import Annotated

import msgspec

from orgkernel.decisions.state_records import RequestKind
from orgkernel.decisions.state_view import Waiver
from orgkernel.records.levels import ToolLevel

LONGEST_WORD = 200
ID = "[!-~]{1,150}$"
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_WORD)]
Text = Annotated[str, msgspec.Meta(max_length=4_000)]
Grantee = Annotated[str, msgspec.Meta(pattern=f"^(agent|person|role|system|webhook|relationship|tag):{ID}")]
Requester = Annotated[str, msgspec.Meta(pattern=f"^(agent|person|role|system|webhook):{ID}")]
Resource = Annotated[str, msgspec.Meta(pattern=f"^(tool|credential|data):{ID}")]
Resources = Annotated[tuple[Resource, ...], msgspec.Meta(min_length=1, max_length=100)]
Many = Annotated[float, msgspec.Meta(ge=1, le=1_000_000, multiple_of=1)]


class GrantDraft(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A permission to be given. Who gives it is said by the credential."""

    subject: Grantee
    resources: Resources
    level: ToolLevel = "full"
    waives: tuple[Waiver, ...] = ()
    org_id: Name | None = None
    channel: Name | None = None
    session: Name | None = None
    reason: Text = ""
    expires_at: float | None = None
    """Seconds since 1970-01-01 UTC."""
    uses: Many | None = None


class RestrictionDraft(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The most somebody is left of something. Who says so is said by the credential."""

    subject: Grantee
    resources: Resources
    level: ToolLevel = "none"
    """The most that is left."""
    org_id: Name | None = None
    reason: Text = ""
    expires_at: float | None = None
    """Seconds since 1970-01-01 UTC."""


class RequestDraft(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A permission that is asked for."""

    requester: Requester | None = None
    """Left out by the credential of an agent, which asks for that agent and for nobody else."""
    resources: Resources
    kind: RequestKind = "access"
    level: ToolLevel = "full"
    waives: tuple[Waiver, ...] = ()
    org_id: Name | None = None
    channel: Name | None = None
    session: Name | None = None
    reason: Text = ""
    summary: Text = ""
    original_message: Text = ""
    tool_call_id: Name | None = None
