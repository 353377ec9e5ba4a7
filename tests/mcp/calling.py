"""A client of the official SDK that tests call without a loop of their own."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx2
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.kernel.kernel import Kernel
from orgkernel.mcp.asker import Asker
from orgkernel.mcp.local import LocalAsker
from orgkernel.mcp.server import build_server
from orgkernel.operations.context import Actor, Context
from orgkernel.operations.decisions import Answered, decide
from tests.api.keys import location_of

ERAS = ("legacy", "2026-07-28")
"""How a client speaks: with the handshake of 2025-11-25, or with an envelope in every request."""


_PATIENCE = 60


class Calls:
    """An open client."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self._portal = portal
        self.client = client

    def do(self, method: str, *arguments: Any, **named: Any) -> Any:
        """What a method of the client returns."""
        call = getattr(self.client, method)
        return self._portal.call(lambda: call(*arguments, **named))

    def call(self, tool: str, **arguments: Any) -> Any:
        """The result of a call."""
        return self.do("call_tool", tool, arguments)

    def ask(self, tool: str, **arguments: Any) -> Any:
        """The structured answer of a call that was not refused."""
        found = self.call(tool, **arguments)
        assert not found.is_error, found.content[0].text
        return found.structured_content

    def refusal(self, tool: str, **arguments: Any) -> str:
        """The first text block of a call that was refused."""
        found = self.call(tool, **arguments)
        assert found.is_error
        assert found.structured_content is None
        said: str = found.content[0].text
        return said


@contextmanager
def calling(server: Any, mode: Any = "auto") -> Iterator[Calls]:
    """A client of a server, a URL or a transport."""
    client = Client(server, mode=mode)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(client) as opened:
        yield Calls(portal, opened)


@asynccontextmanager
async def connect(url: str, headers: dict[str, str], auth: httpx2.Auth | None = None) -> AsyncIterator[Any]:
    """The transport of a client over HTTP, with a key in the headers, or one that gets tokens."""
    async with (
        httpx2.AsyncClient(headers=headers, timeout=_PATIENCE, auth=auth) as http,
        streamable_http_client(url, http_client=http) as streams,
    ):
        yield streams


@contextmanager
def calling_as(asker: Asker, mode: Any = "auto") -> Iterator[Calls]:
    """A client of a server in this process, which answers in the name of an asker."""
    with calling(build_server(lambda _: asker), mode) as calls:
        yield calls


def asker_of(
    kernel: Kernel, org: str, subject: str, folder: Path, context: AccessContext | None = None
) -> LocalAsker:
    """A subject that asks, with a store in a folder that does not exist before it is needed."""
    base = AccessRequest(subject, "", "", context or AccessContext())
    return LocalAsker(kernel, org, subject, location_of(folder / "state.db"), base)


class FixedAsker(Asker):
    """A subject that asks a kernel with the state of a test, and can change nothing."""

    def __init__(self, kernel: Kernel, org: str, base: AccessRequest) -> None:
        super().__init__(kernel.organization(org).snapshot.org_id, base.subject, frozenset({"read"}), base)
        self._kernel = kernel

    async def ask(self, question: Callable[[Kernel], Any]) -> Any:
        return question(self._kernel)

    async def decide(self, request: AccessRequest) -> Answered:
        return decide(self._kernel, None, self.org_id, request, Actor(self.subject, self.subject)).answer()

    async def operate(self, operation: Callable[[Context], Any]) -> Any:
        raise NotImplementedError


class Session:
    """One open client, whose questions are those of one asker after the other."""

    def __init__(self) -> None:
        self.asker: Asker | None = None
        self._stack = ExitStack()
        self._calls: Calls | None = None

    def call(self, asker: Asker, tool: str, **arguments: Any) -> Any:
        """The result of a call in the name of an asker."""
        self.asker = asker
        if self._calls is None:
            self._calls = self._stack.enter_context(calling(build_server(self._current)))
        return self._calls.call(tool, **arguments)

    def close(self) -> None:
        """End the client. The next call opens another one: tests of a module may be run in several goes."""
        self._calls = None
        self._stack.close()

    def _current(self, _: Any) -> Asker:
        assert self.asker is not None
        return self.asker


def sent(number: int, method: str, **params: Any) -> bytes:
    """A request as a line of JSON."""
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"
