"""Killed gateways and servers lose no decision that a caller acted on, affect no other server, and leave no files behind."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import threading
import time
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest

from orgkernel.decisions.evidence.state_records import AuditFilter
from orgkernel.state.audit import read_rows
from orgkernel.state.verify import verify_audit
from tests.api.keys import opened
from tests.api.running import until
from tests.gateway.gateways import Http, Wire, on_wire, over_http, text_of
from tests.gateway.shop import Box, Shop
from tests.support.depth import DEPTH
from tests.support.patience import PATIENCE

KILLS = 20 if DEPTH == 1 else 40 * DEPTH
"""1,000 at the depth of the nightly run."""
STAYING: dict[str, Any] = {"tools": [{"name": "look", "inputSchema": {"type": "object"}}], "stays": True}
"""A server that ignores the end of its input."""
_LONGEST = 0.25
"""Seconds from the first call to the kill."""


def runs(process: int) -> bool:
    """Whether a process is there, and is not only waiting for its parent to look at it."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def left_of(server: Box) -> list[int]:
    """The processes of a server that are there."""
    return [each for each in server.processes if runs(each)]


def require_end(process: int) -> None:
    """A process ends by itself; if it does not, the test ends it."""
    try:
        until(lambda: runs(process), lambda it: not it)
    finally:
        if runs(process):
            os.kill(process, signal.SIGKILL)


def allowed(shop: Shop, tool: str) -> int:
    """How many calls of a tool were allowed, by the audit, which has to be whole."""
    with opened(shop.place) as store:
        found = list(read_rows(store.context, AuditFilter(kind="decision")))
        assert verify_audit(store.context, store.folder).findings == ()
    return len(
        [row for row in found if row.entry.activity == "allow" and row.entry.resource == f"tool:{tool}"]
    )


@pytest.mark.deep
def test_no_acknowledged_decision_is_lost(tmp_path: Path) -> None:
    """However often the gateway is killed in the middle of calls: whatever reached a server was decided and is in the audit,
    the audit verifies after each kill, and no process of a server stays behind.
    """
    shop, chance, answered = Shop(tmp_path), random.Random(1), 0
    for _ in range(KILLS):
        with on_wire(shop) as wire:
            numbers = {
                wire.send("tools/call", name="box__send", arguments={"n": number}) for number in range(40)
            }
            while wire.read().get("id") not in numbers:
                pass
            answered += 1
            time.sleep(chance.random() * _LONGEST)
            wire.process.kill()
            wire.process.join()
            answered += sum(each.get("id") in numbers for each in wire.rest())
            allowed(shop, "mcp__box__send")
    reached = len(shop.box.calls)
    found = allowed(shop, "mcp__box__send")
    assert KILLS <= answered <= reached <= found
    for server in (shop.box, shop.crate):
        until(partial(left_of, server), lambda left: not left)


@pytest.mark.deep
def test_no_answer_over_http_is_without_its_decision(tmp_path: Path) -> None:
    """However often the gateway is killed: whatever a client was told, of a read or of a change, is in the audit."""
    shop, chance = Shop(tmp_path), random.Random(3)
    told = {"look": 0, "send": 0}

    def ask(http: Http, key: str, tool: str) -> None:
        with suppress(httpx2.HTTPError), httpx2.Client(base_url=http.url, headers=http.said(key)) as client:
            while True:
                call = {"name": f"box__{tool}", "arguments": {}}
                message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
                answer = client.post("/mcp", json=message)
                if text_of(answer.json()) == f"{tool} done":
                    told[tool] += 1

    rounds = KILLS // 5
    for number in range(rounds):
        with over_http(shop) as http:
            http.headers = {"mcp-protocol-version": "2025-11-25"}
            key = http.key("ann")
            clients = [threading.Thread(target=ask, args=(http, key, tool)) for tool in told]
            for client in clients:
                client.start()
            until(lambda: len(shop.box.processes), bool)
            if number + 1 == rounds:
                until(lambda: all(told.values()), bool)
            time.sleep(chance.random() * _LONGEST * 2)
            http.process.kill()
            for client in clients:
                client.join()
    assert all(told.values())
    assert told["look"] <= allowed(shop, "mcp__box__look")
    assert told["send"] <= len([each for each in shop.box.calls if each[0] == "send"])
    assert len([each for each in shop.box.calls if each[0] == "send"]) <= allowed(shop, "mcp__box__send")


@pytest.mark.deep
def test_killed_servers_disturb_no_other(tmp_path: Path) -> None:
    """Calls of another server succeed throughout, and the killed one is started again."""
    shop, chance = Shop(tmp_path), random.Random(2)
    rounds = 3 + DEPTH  # each further start waits twice as long
    with on_wire(shop) as wire:
        wire.tools()
        for number in range(rounds):
            pending = wire.send("tools/call", name="box__look", arguments={"seconds": 10 * PATIENCE})
            while len(shop.box.calls) == number:
                if wire.has_said():
                    assert "tried again" in text_of(wire.answer(pending))
                    pending = wire.send("tools/call", name="box__look", arguments={"seconds": 10 * PATIENCE})
                time.sleep(0.05)
            others = [wire.send("tools/call", name="crate__look", arguments={}) for _ in range(5)]
            time.sleep(chance.random() * 0.1)
            for process in shop.box.processes:
                if runs(process):
                    os.kill(process, signal.SIGKILL)
            others += [wire.send("tools/call", name="crate__look", arguments={}) for _ in range(5)]
            said = {pending: "", **dict.fromkeys(others, "")}
            while not all(said.values()):
                message = wire.read()
                if message.get("id") in said:
                    said[message["id"]] = text_of(message)
            assert {said[each] for each in others} == {"look done"}
            assert said[pending].startswith("unavailable: ")
    assert len(shop.crate.processes) == 1
    assert len(shop.crate.calls) == rounds * 10


def test_a_server_that_stays_ends_with_the_host(tmp_path: Path) -> None:
    """One that ignores the end of its input is ended when the host closes the connection."""
    shop = Shop(tmp_path)
    shop.box.says(**STAYING)
    with on_wire(shop) as wire:
        assert wire.text("box__look") == "look done"
        (process,) = shop.box.processes
        wire.hang_up()
        wire.process.join(PATIENCE)
        assert wire.process.exitcode == 0
        require_end(process)


@pytest.mark.parametrize("signal_number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_servers_too(tmp_path: Path, signal_number: int) -> None:
    """A gateway that is told to end leaves no process of a server behind, not even one that stays."""
    shop = Shop(tmp_path)
    shop.box.says(**STAYING)
    with on_wire(shop) as wire:
        assert wire.text("box__look") == "look done"
        (process,) = shop.box.processes
        assert wire.process.pid is not None
        os.kill(wire.process.pid, signal_number)
        wire.process.join(PATIENCE)
        require_end(process)


def test_a_signal_ends_the_servers_of_a_gateway_over_http(tmp_path: Path) -> None:
    """A server that stays when its input ends is ended too."""
    shop = Shop(tmp_path)
    shop.box.says(**STAYING)
    with over_http(shop) as http:
        key = http.key("ann")
        assert http.text(key, "box__look") == "look done"
        (process,) = shop.box.processes
        assert http.process.pid is not None
        os.kill(http.process.pid, signal.SIGTERM)
        require_end(process)


@pytest.mark.parametrize("is_http", [False, True])
def test_how_the_last_call_ended_is_written_before_the_end(tmp_path: Path, is_http: bool) -> None:
    """It waits for another row, but not when the gateway is told to end."""
    shop = Shop(tmp_path)
    with over_http(shop) if is_http else on_wire(shop) as gateway:
        if isinstance(gateway, Http):
            assert gateway.text(gateway.key("ann"), "box__look") == "look done"
        else:
            assert gateway.text("box__look") == "look done"
        assert gateway.process.pid is not None
        os.kill(gateway.process.pid, signal.SIGTERM)
        gateway.process.join(PATIENCE)
    with opened(shop.place) as store:
        found = list(read_rows(store.context, AuditFilter(kind="usage")))
    assert [(row.entry.activity, row.entry.resource) for row in found] == [
        ("succeeded", "tool:mcp__box__look")
    ]


def hold(shop: Shop) -> sqlite3.Connection:
    """A process that writes to the store and does not end."""
    connection = sqlite3.connect(shop.store, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    return connection


def fill(shop: Shop) -> None:
    """From now on the store takes no row of the audit."""
    with closing(sqlite3.connect(shop.store)) as connection, connection:
        connection.execute(
            "CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END"
        )


def refused(wire: Wire, shop: Shop) -> None:
    """A call is refused, and never made."""
    before = shop.box.calls
    said = wire.text("box__send")
    assert "done" not in said, said
    assert shop.box.calls == before


def test_what_cannot_be_written_down_is_not_called(tmp_path: Path) -> None:
    """The store is held by another process, missing, or replaced; afterwards the gateway works again."""
    shop = Shop(tmp_path)
    with on_wire(shop) as wire:
        assert wire.text("box__look") == "look done"
        holder = hold(shop)
        refused(wire, shop)
        holder.close()
        assert wire.text("box__look") == "look done"
        for path in list(tmp_path.glob("state.db*")):
            if path.is_file():
                path.unlink()
        refused(wire, shop)


def test_a_store_that_is_full_or_read_only_calls_nothing(tmp_path: Path) -> None:
    """A store that takes no more rows refuses every call."""
    shop = Shop(tmp_path)
    with on_wire(shop) as wire:
        assert wire.text("box__look") == "look done"
    fill(shop)
    with on_wire(shop) as wire:
        refused(wire, shop)
        listed = wire.tools()
        assert "box__look" in listed


def test_no_path_of_the_store_is_told_over_http(tmp_path: Path) -> None:
    """A store that fails refuses the call, in words that have no path in them. A read may have been made, and is not answered."""
    shop = Shop(tmp_path)
    with over_http(shop) as http:
        key = http.key("ann")
        assert http.text(key, "box__look") == "look done"
        fill(shop)
        for version in ({}, {"mcp-protocol-version": "2025-11-25"}):
            http.headers = version
            for tool in ("box__look", "box__send"):
                said = http.text(key, tool)
                assert "done" not in said
                assert str(tmp_path) not in said
                assert "state.db" not in said
    assert "send" not in [each[0] for each in shop.box.calls]
