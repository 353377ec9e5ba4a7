"""Log messages of servers during calls: who gets them, at which level, and what is left out."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.api.keys import bearer
from tests.gateway.gateways import Wire, on_wire, over_http
from tests.gateway.shop import LOOK, SEND, Shop
from tests.mcp.calling import connect
from tests.support.patience import PATIENCE

SECRET = "s3cret-of-the-box"
LOGS = [
    {"level": "debug", "data": "looking"},
    {"level": "warning", "logger": "disk", "data": {"text": f"nearly full, key {SECRET}\u200b"}},
    {"level": "error", "data": "x" * 70_000},
    {"level": "error", "data": "full"},
]


def declare(shop: Shop, **settings: Any) -> None:
    """The box, which has a secret and sends log messages."""
    shop.box.says(tools=[LOOK, SEND], logs=True)
    shop.declare(
        {
            "box": shop.box.command | {"env": {"BOX_KEY": SECRET}, "orgkernel": settings},
            "crate": shop.crate.command,
        }
    )


def call(wire: Wire) -> list[dict[str, Any]]:
    """The log messages of a call, from before its result."""
    number, messages = wire.send("tools/call", name="box__look", arguments={"logs": LOGS}), []
    while True:
        message = wire.read()
        if message.get("id") == number:
            assert "result" in message
            return messages
        messages.append(message["params"])


def test_a_host_with_a_handshake_gets_messages_of_its_level(tmp_path: Path) -> None:
    """From the level that it has set, and none before. A message names the server; secrets are masked, invisible characters are
    shown, and what is too long is left out. The server is told of a level that is lower than before.
    """
    shop = Shop(tmp_path)
    declare(shop)
    with on_wire(shop, hands=False) as wire:
        assert "logging" in wire.shake_hands()["result"]["capabilities"]
        assert call(wire) == []
        assert "result" in wire.ask("logging/setLevel", level="warning")
        assert call(wire) == [
            {"level": "warning", "logger": "box/disk", "data": {"text": "nearly full, key ***\\u200b"}},
            {"level": "error", "logger": "box", "data": "full"},
        ]
        wire.ask("logging/setLevel", level="debug")
        assert [each["level"] for each in call(wire)] == ["debug", "warning", "error"]
        wire.ask("logging/setLevel", level="error")
        assert [each["level"] for each in call(wire)] == ["error"]
        assert "error" in wire.ask("logging/setLevel", level="loud")
    assert [level for level, _ in shop.box.noted("level")] == ["warning", "debug"]


@pytest.mark.parametrize(
    ("settings", "levels"), [({"sessions": "per_caller"}, ["warning", "error"]), ({}, [])]
)
def test_over_http_only_a_connection_of_one_caller_has_messages(
    tmp_path: Path, settings: dict[str, str], levels: list[str]
) -> None:
    """A shared connection has none: a message names no call, so it could be about another caller."""
    shop = Shop(tmp_path)
    declare(shop, **settings)
    messages: list[Any] = []

    async def receive(params: Any) -> None:
        messages.append(params)

    with over_http(shop) as http:

        async def run() -> None:
            transport = connect(f"{http.url}/mcp", bearer(http.key("ann")))
            async with (
                asyncio.timeout(PATIENCE),
                Client(transport, logging_callback=receive, log_level="warning") as client,
            ):
                result = await client.call_tool("box__look", {"logs": LOGS})
                assert result.content[0].text == "look done"

        asyncio.run(run())
        assert [each.level for each in messages] == levels
        answer = http.ask(http.key("ann"), "logging/setLevel", level="debug")
        assert "over HTTP there are no sessions" in answer["error"]["message"]
