"""Requests for access decisions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from orgkernel.decisions.evidence.state_view import PaceTierName
from orgkernel.documents.records import ToolLevel


class AccessContext(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """The circumstances of a request. A missing value is unknown; an empty string means that there is none.

    >>> AccessContext(channel="slack", pace="contingent").peer_kind is None
    True
    """

    now: float = 0.0
    """The time in seconds since 1970-01-01 UTC."""
    utc_offset: int = 0
    """Seconds by which local time is ahead of UTC."""
    channel: str | None = None
    """The platform of the message, such as `slack`."""
    peer_kind: Literal["dm", "group", ""] | None = None
    peer_id: str | None = None
    """The id of the conversation, for session keys."""
    account: str | None = None
    guild: str | None = None
    hook_id: str | None = None
    event_type: str | None = None
    alert: str | None = None
    """The alert of the organization, such as `RED`. A value recorded in the store overrides it."""
    watch: str | None = None
    """The watch of the organization, such as `gamma`. A value recorded in the store overrides it."""
    session: str | None = None
    pace: PaceTierName | None = None
    """The PACE tier of the requesting role; None if the runtime does not report one."""
    input: Mapping[str, Any] | None = None
    """The arguments of the tool, which are checked against its input schema."""
    depth: int = 0
    """The number of hand-offs above the subject. The delegation path also counts."""
    children: int = 0
    """The number of agents that the subject has handed work to and that have not ended."""
    concurrent: int = 0
    """The number of these agents that are running now."""
    links_unresolved: bool = False
    """Whether links in the paths of the input could not be followed, because the files are not on the caller's machine."""


class AccessRequest(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """A question: may this subject perform this action on this resource?

    Subjects: `role:ID`, `agent:ID`, `person:ID`, `system:ID`, `webhook:ID`, or `sender:PLATFORM/SPACE/ID`, which the directory resolves to a person. Resources: `tool:ID`, `tool:ID:PATH`, `credential:ID`, `data:TIER`, `role:ID`. A tool has the
    actions it declares, and `use` for all of them; a role can be asked for `handoff` and `escalate`.

    >>> AccessRequest("role:codegen_specialist", "terminal", "tool:code_execution_tool").on_behalf_of is None
    True
    """

    subject: str
    action: str
    resource: str
    context: AccessContext = AccessContext()
    on_behalf_of: str | None = None
    """The principal that triggered the run. Its tools, credentials and data form the envelope."""
    via: tuple[str, ...] = ()
    """The delegation path: the senders that handed work down, from the first to the one that handed it to the subject."""
    envelope: Mapping[str, ToolLevel] | None = None
    """The permissions that they passed on: tools, parts of tools, credentials and data tiers, each with its
    level.

    The words have the form of those in a grant, so a name can end in a star. Missing ones were not passed on.
    """
