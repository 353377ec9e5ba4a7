"""Many tools, long lists, many simultaneous calls and clients that leave: no client waits for another one."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from manifest_api.routes.mcp import MAX_CALL_BYTES
from tests.api.running import until
from tests.gateway.gateways import on_wire, over_http, text_of
from tests.gateway.shop import LOOK, Box, Shop, large_shop
from tests.support.patience import PATIENCE

SERVERS, OF_EACH = 50, 20


def test_a_thousand_tools_of_fifty_servers(tmp_path: Path) -> None:
    """They are listed once, found by name, and known without a start of any server after that."""
    names = [f"tool{number}" for number in range(OF_EACH)]
    boxes = [
        Box(tmp_path, f"b{number}", *({**LOOK, "name": name} for name in names)) for number in range(SERVERS)
    ]
    shop = large_shop(tmp_path, boxes)
    expected = sorted(f"{box.name}__{name}" for box in boxes for name in names)
    with on_wire(shop) as wire:
        listed = [name for name in wire.tools() if name.startswith("b") and not name.startswith("box")]
        assert listed == expected
        assert wire.text("b7__tool3") == "tool3 done"
    started = sum(len(box.processes) for box in boxes)
    assert started == SERVERS
    with on_wire(shop) as wire:
        assert set(expected) < set(wire.tools())
        assert wire.text("b7__tool4") == "tool4 done"
    assert sum(len(box.processes) for box in boxes) == started + 1
    assert boxes[7].calls == [["tool3", {}], ["tool4", {}]]


def test_a_list_of_five_megabytes_passes(tmp_path: Path) -> None:
    """A server that describes much is listed, and delays no other by more than its own list takes."""
    tools = [{**LOOK, "name": f"tool{number}", "description": "d" * 5000} for number in range(1000)]
    shop = large_shop(tmp_path, [Box(tmp_path, "long", *tools)])
    with on_wire(shop) as wire:
        assert len([name for name in wire.tools() if name.startswith("long__")]) == 1000
        assert wire.text("long__tool999") == "tool999 done"
        assert wire.text("crate__look") == "look done"


def test_a_busy_server_delays_no_other(tmp_path: Path) -> None:
    """While 64 calls of one are slow, those of another are answered, and all of the slow ones are in the end."""
    shop, done = Shop(tmp_path), tmp_path / "done"
    with on_wire(shop) as wire:
        wire.tools()
        wire.text("crate__look")
        slow = [wire.send("tools/call", name="box__look", arguments={"until": str(done)}) for _ in range(64)]
        until(lambda: len(shop.box.calls), lambda number: number == 64)
        quick = [wire.send("tools/call", name="crate__look", arguments={}) for _ in range(20)]

        def read_answers(number: int) -> set[int]:
            answers = [wire.read() for _ in range(number)]
            assert {text_of(answer) for answer in answers} == {"look done"}
            return {answer["id"] for answer in answers}

        assert read_answers(len(quick)) == set(quick)
        done.touch()
        assert read_answers(len(slow)) == set(slow)


def test_a_canceled_call_is_canceled_at_the_server(tmp_path: Path) -> None:
    """Over standard input and output, and only that call; a host that hangs up ends the servers."""
    shop = Shop(tmp_path)
    with on_wire(shop) as wire:
        slow = wire.send("tools/call", name="box__look", arguments={"seconds": 10 * PATIENCE})
        other = wire.send("tools/call", name="box__look", arguments={"seconds": 1})
        until(lambda: len(shop.box.calls), lambda number: number == 2)
        wire.write({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": slow}})
        assert text_of(wire.answer(other)) == "look done"
        until(lambda: len(shop.box.noted("cancelled")), lambda number: number == 1)
        wire.send("tools/call", name="box__look", arguments={"seconds": 10 * PATIENCE})
        until(lambda: len(shop.box.calls), lambda number: number == 3)
        wire.hang_up()
        wire.process.join(PATIENCE)
        assert wire.process.exitcode == 0


@pytest.mark.parametrize("version", ["", "2025-11-25"], ids=["with the SDK", "quickly"])
def test_a_client_that_leaves_cancels_its_call(tmp_path: Path, version: str) -> None:
    """Over HTTP the server behind is told; another call of the same server goes on."""
    shop = Shop(tmp_path)
    with over_http(shop) as http:
        key = http.key("ann")
        assert http.text(key, "box__look") == "look done"
        body = json.dumps(
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "box__look", "arguments": {"seconds": 10 * PATIENCE}}}
        )  # fmt: skip
        headers = [
            "POST /mcp HTTP/1.1", "host: localhost", "content-type: application/json", f"authorization: Bearer {key}",
            "accept: application/json, text/event-stream", f"content-length: {len(body)}",
            *([f"mcp-protocol-version: {version}"] if version else []),
        ]  # fmt: skip
        host, _, port = http.url.removeprefix("http://").rpartition(":")
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(("\r\n".join(headers) + "\r\n\r\n" + body).encode())
            until(lambda: len(shop.box.calls), lambda number: number == 2)
        until(lambda: len(shop.box.noted("cancelled")), lambda number: number == 1)
        assert http.text(key, "box__look") == "look done"


def test_a_call_has_a_body_up_to_the_limit(tmp_path: Path) -> None:
    """A body of 4 MiB reaches the server, and a longer one is answered with 413 on an open connection."""
    shop = Shop(tmp_path)
    with over_http(shop) as http:
        key = http.key("ann")
        empty = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "box__send", "arguments": {"x": ""}},
        }
        rest = MAX_CALL_BYTES - len(json.dumps(empty))
        for size, status in ((rest, 200), (rest + 1, 413), (3 * MAX_CALL_BYTES, 413)):
            answer = http.post(key, json.dumps(empty).replace('""', f'"{"x" * size}"').encode())
            assert answer.status_code == status
        assert len(shop.box.calls) == 1
