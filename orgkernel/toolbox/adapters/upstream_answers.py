"""What an upstream server answers: a reply to a call, an error, and what it is doing."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

ReplyKind = Literal["done", "failed", "unavailable", "timeout", "protocol", "changed"]
"""`failed`: the server answered with an error. `unavailable`: it cannot be reached, or its connection ended.
`protocol`: its answer is not one that it may give. `changed`: nothing was sent, because its tools may be others now.
"""
State = Literal["not_started", "starting", "running", "waiting", "closed"]


class UpstreamReply(msgspec.Struct, frozen=True):
    """How a call ended."""

    result: dict[str, Any] | None
    """The result of the tool as the server sent it, with the names of the protocol: `content`, `isError` and so on."""
    error: str = ""
    """Why there is no result, as a part of a sentence. What the server says in it is cleaned and cut."""
    kind: ReplyKind = "done"
    is_uncertain: bool = False
    """Whether the call may have had an effect although it has no result."""


class UpstreamStatus(msgspec.Struct, frozen=True):
    """What an upstream is doing."""

    state: State
    reason: str = ""
    """Why its last connection ended."""
    retry_in: float = 0.0
    """In how many seconds it may be started again."""


class UpstreamError(Exception):
    """An upstream has no answer. The text is a part of a sentence."""

    def __init__(self, error: str, kind: ReplyKind = "unavailable", *, is_uncertain: bool = False) -> None:
        super().__init__(error)
        self.error = error
        self.kind: ReplyKind = kind
        self.is_uncertain = is_uncertain
