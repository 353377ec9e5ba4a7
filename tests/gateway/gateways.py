"""Gateways as processes: one role on standard input and output, or all keys over HTTP."""

from __future__ import annotations

import json
import os
import queue
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import httpx2

from tests.api.keys import bearer, new_key
from tests.api.running import until
from tests.gateway.shop import Shop
from tests.gateway.starting import start
from tests.mcp.calling import Calls, calling, connect
from tests.support.patience import PATIENCE

INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


class Wire:
    """A gateway on standard input and output, and its lines."""

    def __init__(self, shop: Shop, *arguments: str) -> None:
        self._errors = shop.folder / f"stderr-{len(list(shop.folder.glob('stderr-*')))}.txt"
        self.process, given, said = start(
            shop.folder, self._errors, "gateway", "--org", "shop", *arguments, *shop.options
        )
        self._given, self._said = os.fdopen(given, "wb", buffering=0), os.fdopen(said, "rb")
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._number = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def errors(self) -> str:
        """What it has said on standard error."""
        return self._errors.read_text(encoding="utf-8")

    def _read(self) -> None:
        for line in self._said:
            self._lines.put(line)
        self._lines.put(b"")

    def hang_up(self) -> None:
        """Close its input, as a host that ends does."""
        self._given.close()

    def end(self) -> None:
        """Kill it, and wait until its output is read."""
        self.process.kill()
        self.process.join(PATIENCE)
        self._reader.join(PATIENCE)
        self._given.close()
        self._said.close()

    def write(self, *messages: Any) -> None:
        """Send messages as they are."""
        lines = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in messages]
        content = memoryview(b"".join(line + b"\n" for line in lines))
        while content:
            content = content[self._given.write(content) :]

    def read(self) -> Any:
        """The next message."""
        line = self._lines.get(timeout=PATIENCE)
        assert line, self.errors
        return json.loads(line)

    def has_said(self) -> bool:
        """Whether a message waits to be read."""
        return not self._lines.empty()

    def rest(self) -> list[Any]:
        """What it has said until its output ended."""
        found = []
        while line := self._lines.get(timeout=PATIENCE):
            if line.endswith(b"\n"):
                found.append(json.loads(line))
        return found

    def send(self, method: str, **params: Any) -> int:
        """Send a request; its number."""
        self._number += 1
        self.write({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        return self._number

    def answer(self, number: Any) -> Any:
        """The answer to a request; what comes before it is dropped."""
        while True:
            message = self.read()
            if message.get("id") == number and "method" not in message:
                return message

    def ask(self, method: str, **params: Any) -> Any:
        """The answer to a new request."""
        return self.answer(self.send(method, **params))

    def call(self, tool: str, **arguments: Any) -> Any:
        """The answer to a call."""
        return self.ask("tools/call", name=tool, arguments=arguments)

    def text(self, tool: str, **arguments: Any) -> str:
        """The first text of the result of a call, or the message of its error."""
        return text_of(self.call(tool, **arguments))

    def tools(self) -> list[str]:
        """The names of the tools that are listed."""
        return [each["name"] for each in self.ask("tools/list")["result"]["tools"]]

    def shake_hands(self, **capabilities: Any) -> Any:
        """Begin as a client of 2025-11-25."""
        client = {"name": "test", "version": "1"}
        answer = self.ask(
            "initialize", protocolVersion="2025-11-25", capabilities=capabilities, clientInfo=client
        )
        self.write(INITIALIZED)
        return answer


def text_of(answer: Any) -> str:
    """The first text of a result, or the message of an error."""
    if "error" in answer:
        said: str = answer["error"]["message"]
        return said
    text: str = answer["result"]["content"][0]["text"]
    return text


@contextmanager
def on_wire(shop: Shop, *arguments: str, hands: bool = True, **capabilities: Any) -> Iterator[Wire]:
    """A gateway that answers one role, for a client of the era with a handshake."""
    wire = Wire(shop, *(arguments or ("--role", "clerk")))
    try:
        if hands:
            wire.shake_hands(**capabilities)
        yield wire
    finally:
        wire.end()


class Http:
    """A gateway over HTTP."""

    def __init__(self, shop: Shop, process: BaseProcess, url: str, errors: Path) -> None:
        self.shop = shop
        self.process = process
        self.url = url
        self._errors = errors
        self.headers: dict[str, str] = {}
        """What every message has besides."""

    @property
    def errors(self) -> str:
        """What it has said on standard error."""
        return self._errors.read_text(encoding="utf-8")

    def key(self, agent: str | None = "ann", *scopes: str, **more: Any) -> str:
        """A new key."""
        said = scopes or ("read", "report", "request")
        return new_key(self.shop.place, said, agent=agent, **more)

    def said(self, key: str) -> dict[str, str]:
        """The headers of a message."""
        accepts = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        return accepts | self.headers | (bearer(key) if key else {})

    def post(self, key: str, message: Any, query: str = "", **headers: str) -> httpx2.Response:
        """The answer to what is sent as it is."""
        content = message if isinstance(message, bytes) else json.dumps(message).encode()
        return httpx2.post(
            f"{self.url}/mcp{query}", content=content, headers=self.said(key) | headers, timeout=PATIENCE,
        )  # fmt: skip

    def ask(self, key: str, method: str, query: str = "", **params: Any) -> Any:
        """The answer to a request of the older era."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return self.post(key, message, query).json()

    def text(self, key: str, tool: str, **arguments: Any) -> str:
        """The first text of the result of a call, or the message of its error."""
        return text_of(self.ask(key, "tools/call", name=tool, arguments=arguments))

    def tools(self, key: str) -> list[str]:
        """The names of the tools that are listed."""
        return [each["name"] for each in self.ask(key, "tools/list")["result"]["tools"]]

    @contextmanager
    def client(self, key: str, era: Any = "auto") -> Iterator[Calls]:
        """The official client with a key."""
        with calling(connect(f"{self.url}/mcp", bearer(key)), era) as calls:
            yield calls


@contextmanager
def over_http(shop: Shop, *arguments: str) -> Iterator[Http]:
    """A gateway that answers every agent with a key."""
    new_key(shop.place, ["admin"])
    errors = shop.folder / f"http-stderr-{len(list(shop.folder.glob('http-stderr-*')))}.txt"
    process, given, said = start(
        shop.folder, errors, "gateway", "--org", "shop", "--http", "127.0.0.1:0", *shop.options, *arguments
    )
    os.close(given)
    try:
        url = re.compile("gateway on (.*)/mcp")
        found = until(
            lambda: url.search(errors.read_text(encoding="utf-8")) or not process.is_alive(),
            bool,
        )
        assert isinstance(found, re.Match), errors.read_text(encoding="utf-8")
        yield Http(shop, process, found[1], errors)
    finally:
        process.kill()
        process.join(PATIENCE)
        os.close(said)
