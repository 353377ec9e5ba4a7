"""Connections of single callers to servers that keep state, such as a working folder or a login.

A connection that was not used for some minutes is ended, and so is the one that was unused for longest if there are too many.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from hashlib import sha256
from typing import Final

from orgkernel.mcp.gateway.servers import ReviewedServer
from orgkernel.toolbox.upstream_tools import Upstream, UpstreamError

MAX_SESSIONS: Final = 64
"""Connections of all callers together. Each can be a process."""
IDLE_SECONDS: Final = 900.0
_Key = tuple[str, str, bytes]
"""A server, a caller, and the digest of its token if that is exchanged."""


class _Session:
    def __init__(self, server: ReviewedServer) -> None:
        self.server = server
        self.used_at = 0.0
        self.calls = 0


class CallerSessions:
    """The connections of the callers of one gateway. Used from one event loop."""

    def __init__(self, review: Callable[[Upstream], ReviewedServer]) -> None:
        self._review = review
        self._sessions: dict[_Key, _Session] = {}
        self._ending: set[asyncio.Task[None]] = set()

    def enter(self, server: ReviewedServer, caller_id: str, subject_token: str) -> ReviewedServer:
        """The server for a call of one caller: the shared one, unless the server has sessions. `leave` must follow.

        `subject_token` is the token of the caller; a server that exchanges it has a connection for each token. Raises `UpstreamError` if there are too many sessions.
        """
        if not server.upstream.has_sessions:
            return server
        now = asyncio.get_running_loop().time()
        key = _build_key(server, caller_id, subject_token)
        if key not in self._sessions:
            self._end_unused(now)
            if len(self._sessions) >= MAX_SESSIONS:
                raise UpstreamError("all of its connections are used by other callers")
            self._sessions[key] = _Session(self._review(server.upstream.open_another(subject_token)))
        session = self._sessions[key]
        session.calls += 1
        session.used_at = now
        return session.server

    def leave(self, server: ReviewedServer, caller_id: str, subject_token: str) -> None:
        """A call of a caller has ended."""
        session = self._sessions.get(_build_key(server, caller_id, subject_token))
        if session is not None and session.calls:
            session.calls -= 1
            session.used_at = asyncio.get_running_loop().time()

    async def end(self, server: str) -> None:
        """End those of one server."""
        keys = [key for key in self._sessions if key[0] == server]
        await asyncio.gather(*(_close(self._sessions.pop(key)) for key in keys))

    async def aclose(self) -> None:
        """End all of them."""
        sessions, self._sessions = self._sessions, {}
        await asyncio.gather(*(_close(each) for each in sessions.values()), *self._ending)

    def _end_unused(self, now: float) -> None:
        unused = sorted(
            (key for key, each in self._sessions.items() if not each.calls),
            key=lambda key: self._sessions[key].used_at,
        )
        excess = len(self._sessions) - MAX_SESSIONS + 1
        for number, key in enumerate(unused):
            if number < excess or now - self._sessions[key].used_at > IDLE_SECONDS:
                task = asyncio.get_running_loop().create_task(_close(self._sessions.pop(key)))
                self._ending.add(task)
                task.add_done_callback(self._ending.discard)


def _build_key(server: ReviewedServer, caller_id: str, subject_token: str) -> _Key:
    """The key of a session. Another token of the same caller can have other scopes, so it has another session."""
    if not (server.upstream.has_sessions and server.upstream.exchanges_tokens):
        return server.name, caller_id, b""
    return server.name, caller_id, sha256(subject_token.encode("utf-8", "surrogatepass")).digest()


async def _close(session: _Session) -> None:
    session.server.lists.close()
    await session.server.upstream.aclose()
