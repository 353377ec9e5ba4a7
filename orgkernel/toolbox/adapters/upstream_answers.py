"""Results of an upstream server: a reply to a call, an error, and the server's status."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

ReplyKind = Literal["done", "failed", "unavailable", "timeout", "protocol", "changed"]
"""`failed`: the server answered with an error. `unavailable`: it cannot be reached, or its connection ended.
`protocol`: its answer breaks the protocol. `changed`: nothing was sent, because its tools could have changed.
"""
State = Literal["not_started", "starting", "running", "waiting", "closed"]
"""`waiting`: its last connection ended, and it is started again only after a pause."""


class UpstreamReply(msgspec.Struct, frozen=True):
    """How a call ended."""

    result: dict[str, Any] | None
    """The result of the tool as the server sent it, with the names of the protocol: `content`, `isError` and so on."""
    error: str = ""
    """The reason for a missing result, as a part of a sentence. Strings from the server in it are cleaned and cut."""
    kind: ReplyKind = "done"
    is_uncertain: bool = False
    """Whether the call may have had an effect although it has no result."""


class UpstreamStatus(msgspec.Struct, frozen=True):
    """The status of an upstream."""

    state: State
    reason: str = ""
    """Why its last connection ended."""
    retry_in: float = 0.0
    """Seconds until it can be started again."""


class UpstreamError(Exception):
    """An upstream has no answer. The message is a part of a sentence."""

    def __init__(self, error: str, kind: ReplyKind = "unavailable", *, is_uncertain: bool = False) -> None:
        super().__init__(error)
        self.error = error
        self.kind: ReplyKind = kind
        self.is_uncertain = is_uncertain
