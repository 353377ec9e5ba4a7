"""Routing hints: the session for the work, and its handling while the receiver is busy.

INVARIANT: work for two principals never shares a session, whatever an edge declares, so it cannot be merged.
"""

from __future__ import annotations

import re

from orgkernel.decisions.access.identity import SubjectKind
from orgkernel.decisions.handoff.edges import FoundEdge
from orgkernel.decisions.handoff.permission import HandoffRouting
from orgkernel.documents.records import RoleProfile

DEFAULT_KEY = "agent:{to}:handoff:{from}"
_VARIABLE = re.compile(r"\{([a-z]+)\}")


def route_handoff(
    org_id: str,
    sender: str,
    sender_kind: SubjectKind,
    sender_profile: RoleProfile | None,
    receiver: RoleProfile,
    edge_match: FoundEdge | None,
    principal: str | None,
) -> HandoffRouting:
    """The queue mode and the session key of a hand-off."""
    edge = None if edge_match is None else edge_match.edge
    mode = None if edge is None else edge.queue_mode
    key = DEFAULT_KEY if edge is None or edge.session_key is None else edge.session_key
    values = {"org": org_id, "from": sender, "to": receiver.role_id, "principal": principal or "none"}
    filled = _VARIABLE.sub(lambda match: values[match[1]], key)
    if principal is not None and "{principal}" not in key:
        filled = f"{filled}:for:{principal}"
    is_said = edge is not None and (edge.queue_mode is not None or edge.session_key is not None)
    return HandoffRouting(
        mode or _get_default_mode(sender_kind, sender_profile, receiver),
        filled,
        (edge_match.why,) if edge_match is not None and is_said else (),
    )


def _get_default_mode(kind: SubjectKind, sender: RoleProfile | None, receiver: RoleProfile) -> str:
    """The default mode: a person interrupts a manager; a timer or a worker waits for its turn to end; everything else
    is queued.
    """
    if get_position(receiver) != "worker":
        if kind == "person":
            return "interrupt"
        if kind == "system" or (sender is not None and get_position(sender) == "worker"):
            return "followup"
    return "queue"


def get_position(profile: RoleProfile) -> str:
    """The declared position. The default is manager for a profile that can delegate, else worker."""
    return profile.position or ("manager" if profile.can_delegate else "worker")
