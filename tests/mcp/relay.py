"""A relay in front of a server that wants a key: the suite cannot send one, and knows tools by names without a server.

It adds the key to what is asked of this machine. A page that was rebound to it names another host, and has no key.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import httpx2
import uvicorn

from tests.support.patience import PATIENCE

_NOT_RELAYED = {"connection", "transfer-encoding", "keep-alive", "content-length"}
_OURS = ("localhost", "127.0.0.1", "[::1]")


@contextmanager
def relaying(url: str, headers: dict[str, str], prefix: str = "") -> Iterator[str]:
    """The URL of a relay to a URL, with more headers and with a prefix before the names of tools and prompts."""
    listener = socket.create_server(("127.0.0.1", 0))
    relay = uvicorn.Server(uvicorn.Config(_Relay(url, headers, prefix), log_level="error", lifespan="off"))
    thread = threading.Thread(target=relay.run, args=([listener],))
    thread.start()
    try:
        yield f"http://localhost:{listener.getsockname()[1]}/mcp"
    finally:
        relay.should_exit = relay.force_exit = True
        thread.join(PATIENCE)
        listener.close()


class _Relay:
    def __init__(self, url: str, headers: dict[str, str], prefix: str) -> None:
        self._url = url
        self._headers = headers
        self._prefix = prefix

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        # Whitespace around a value is no part of it, and the client here refuses to send it.
        headers = [
            (name.decode("latin-1"), value.decode("latin-1").strip(" \t")) for name, value in scope["headers"]
        ]
        headers = [each for each in headers if each[0] not in _NOT_RELAYED]
        host = dict(headers).get("host", "").rpartition(":")[0]
        if host in _OURS:
            headers += self._headers.items()
        if self._prefix:
            body, headers = self._named(body, headers)
        async with anyio.create_task_group() as tasks:

            async def until_gone() -> None:
                while (await receive())["type"] != "http.disconnect":
                    pass
                tasks.cancel_scope.cancel()

            tasks.start_soon(until_gone)
            await self._answer(scope["method"], headers, body, send)
            tasks.cancel_scope.cancel()

    async def _answer(self, method: str, headers: list[tuple[str, str]], body: bytes, send: Any) -> None:
        async with (
            httpx2.AsyncClient(timeout=PATIENCE) as client,
            client.stream(method, self._url, headers=headers, content=body) as response,
        ):
            said = [
                (name, value) for name, value in response.headers.raw
                if name.decode("latin-1").lower() not in _NOT_RELAYED
            ]  # fmt: skip
            await send({"type": "http.response.start", "status": response.status_code, "headers": said})
            async for chunk in response.aiter_raw():
                part = (
                    chunk.replace(b'"name":"%s' % self._prefix.encode(), b'"name":"')
                    if self._prefix
                    else chunk
                )
                await send({"type": "http.response.body", "body": part, "more_body": True})
            await send({"type": "http.response.body", "body": b""})

    def _named(self, body: bytes, headers: list[tuple[str, str]]) -> tuple[bytes, list[tuple[str, str]]]:
        """The request with the names that the server behind has."""
        try:
            message = json.loads(body)
            method, params = message["method"], message["params"]
        except (ValueError, KeyError, TypeError):
            return body, headers
        target = params.get("ref", {}) if method == "completion/complete" else params
        if method not in ("tools/call", "prompts/get", "completion/complete") or "name" not in target:
            return body, headers
        plain = target["name"]
        target["name"] = self._prefix + plain
        named = [
            (name, self._prefix + value if name == "mcp-name" and value == plain else value)
            for name, value in headers
        ]
        return json.dumps(message).encode(), named
