"""Limits of an upstream server: time, bytes, messages, and the number of starts."""

from __future__ import annotations

import msgspec


class UpstreamLimits(msgspec.Struct, frozen=True):
    """The limits of one upstream."""

    start_seconds: float = 20.0
    """How long a start may take, with the agreement on a version of the protocol."""
    slot_seconds: float = 3.0
    """How long a start counts as one of those that can run at once. Longer ones do not hold up the starts of others."""
    call_seconds: float = 60.0
    """How long a call may take that has no time limit of its own."""
    list_seconds: float = 20.0
    """Seconds for all pages of a list together."""
    max_bytes: int = 10_000_000
    """Maximum bytes of one message, and of all pages of a list."""
    most_pages: int = 100
    """Maximum pages of a list."""
    most_calls_at_once: int = 64
    """Further calls wait, and their time runs."""
    first_wait: float = 0.5
    """Seconds before the third start, if two in a row ended quickly. Each later start doubles it."""
    longest_wait: float = 60.0
    """The most seconds between two starts."""
    quick_seconds: float = 10.0
    """A connection that lasted less than this ended quickly."""
    list_ttl: float = 30.0
    """Seconds for which a list is kept if the server neither gives a lifetime nor announces changes."""
    longest_ttl: float = 3600.0
    """Maximum lifetime of a list that the server can set, in seconds."""
    unasked_per_second: float = 1000.0
    """Messages per second that answer nothing, such as notifications. More are read later, not dropped."""
    most_unanswered: int = 16
    """Requests of the server that are not answered yet. Further ones are dropped."""
