"""What is asked of an access decision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from orgkernel.decisions.evidence.state_view import PaceTierName
from orgkernel.documents.records import ToolLevel


class AccessContext(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """The circumstances of a request. What is left out is not known; an empty string says that there is none.

    >>> AccessContext(channel="slack", pace="contingent").peer_kind is None
    True
    """

    now: float = 0.0
    """Seconds since 1970-01-01 UTC."""
    utc_offset: int = 0
    """Seconds by which local time is ahead of UTC."""
    channel: str | None = None
    """Platform the message came by, such as `slack`."""
    peer_kind: Literal["dm", "group", ""] | None = None
    peer_id: str | None = None
    """The conversation, for session keys."""
    account: str | None = None
    guild: str | None = None
    hook_id: str | None = None
    event_type: str | None = None
    alert: str | None = None
    """The alert of the organization, such as `RED`. What is recorded in the store counts instead."""
    watch: str | None = None
    """The watch of the organization, such as `gamma`. What is recorded in the store counts instead."""
    session: str | None = None
    pace: PaceTierName | None = None
    """PACE tier of the role that asks; None where the runtime reports none."""
    input: Mapping[str, Any] | None = None
    """Arguments of the tool, checked against its input schema."""
    depth: int = 0
    """How many hand-offs lie above the subject; the path of delegation counts too."""
    children: int = 0
    """Agents the subject has handed work to and that have not ended."""
    concurrent: int = 0
    """Those of them that run at this moment."""


class AccessRequest(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """May this subject do this to that?

    Subjects: `role:ID`, `agent:ID`, `person:ID`, `system:ID`, `webhook:ID`, or `sender:PLATFORM/SPACE/ID`, which the
    directory resolves. Resources: `tool:ID`, `tool:ID:PATH`, `credential:ID`, `data:TIER`, `role:ID`. A tool has the
    actions it declares, and `use` for all of them; a role can be asked for `handoff` and `escalate`.

    >>> AccessRequest("role:codegen_specialist", "terminal", "tool:code_execution_tool").on_behalf_of is None
    True
    """

    subject: str
    action: str
    resource: str
    context: AccessContext = AccessContext()
    on_behalf_of: str | None = None
    """Who triggered the run: its tools, credentials and data are the envelope."""
    via: tuple[str, ...] = ()
    """The path of delegation: who handed work to whom, from the first to the one that handed it to the subject."""
    envelope: Mapping[str, ToolLevel] | None = None
    """What they passed on: tools, parts of tools, credentials and data tiers, each with its level.

    The words are those of a grant, so a name may end in a star. What is missing was not passed on.
    """
