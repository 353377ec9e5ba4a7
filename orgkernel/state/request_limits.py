"""How long a request waits, and how much a requester may ask: pending requests, a pause, an end after denials (§4.5, §4.10)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import func, select

from orgkernel.decisions.state_records import AccessRequest, Approval, RequestKind
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import TooManyRequests
from orgkernel.state.rows import row_of
from orgkernel.state.tables import requests
from orgkernel.state.transaction import Transaction

TIMERS: Mapping[RequestKind, float] = {"access": 86_400.0, "command": 120.0, "action": 3_600.0}
"""Seconds in which a request has to be answered."""
GRANTED: Mapping[Approval, float | None] = {"once": 3_600.0, "day": 86_400.0, "always": None}
"""Seconds a grant holds that answers a request. One use only is no standing grant: it does not wait for long."""


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """How much one requester may ask. The sources demand limits and give no numbers; these are ours."""

    pending: int = 5
    cooldown: float = 60.0
    """Seconds before the same may be asked again."""
    denials: int = 3
    """So many denials …"""
    denial_window: float = 86_400.0
    """… within so many seconds, and nothing can be asked for that long."""


def require_room(transaction: Transaction, request: AccessRequest, limits: RequestLimits) -> None:
    """Whether the requester may ask once more; raises `TooManyRequests`."""
    now, connection = transaction.now, transaction.connection
    mine = requests.c.requester == request.requester
    pending = connection.scalar(select(func.count()).where(mine, requests.c.status == "pending")) or 0
    if pending >= limits.pending:
        raise TooManyRequests(
            f"{quote(request.requester)} has {pending} pending requests",
            "wait for an answer",
            "TOO_MANY_PENDING",
        )
    # A clock that was set back must not lock anybody out: what lies far in the future is not recent.
    denied = connection.scalar(
        select(func.count()).where(
            mine,
            requests.c.status == "denied",
            requests.c.response_at > now - limits.denial_window,
            requests.c.response_at < now + limits.denial_window,
        )
    )
    if (denied or 0) >= limits.denials:
        raise TooManyRequests(
            f"{quote(request.requester)} was denied {denied} times", "ask a person", "REQUESTS_BLOCKED"
        )
    recent = connection.execute(
        select(requests.c.created_at).where(
            mine,
            requests.c.resources == row_of(request)["resources"],
            requests.c.created_at > now - limits.cooldown,
            requests.c.created_at < now + limits.cooldown,
        )
    ).first()
    if recent is not None:
        raise TooManyRequests(
            f"{quote(request.requester)} asked for the same less than {limits.cooldown:g} seconds ago",
            "wait for an answer",
            "REQUEST_COOLDOWN",
        )
