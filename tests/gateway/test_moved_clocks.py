"""A clock that jumps while a gateway runs: what has expired stays expired, nothing hangs, and the audit keeps its order."""

from __future__ import annotations

import os
import signal
import time
from itertools import groupby
from pathlib import Path

from orgkernel.decisions.evidence.state_records import AuditFilter
from orgkernel.kernel.stored import open_store
from orgkernel.state.audit import read_rows
from orgkernel.state.verify import verify_audit
from tests.api.keys import new_key, opened
from tests.gateway.gateways import on_wire, over_http, text_of
from tests.gateway.moved_clock import move
from tests.gateway.shop import Shop
from tests.gateway.test_kills import runs
from tests.gateway.test_replays import approve, request_in

HOUR, DAY = 3_600.0, 86_400.0
PATIENCE = 20.0
"""Seconds that are far less than any jump."""


def test_what_expired_stays_expired(tmp_path: Path) -> None:
    """An approval and a grant with an end that were found expired give nothing after the clock was set back; a request
    that was made while it was ahead can be approved, and what it gives is used once.
    """
    shop = Shop(tmp_path)
    move(tmp_path, 0)
    with on_wire(shop, "--agent", "ann") as wire:
        approve(shop, request_in(wire.text("box__pay", amount=5)))
        with open_store(shop.place) as store:
            tool = "tool:mcp__box__wipe"
            store.grants.issue(
                "role:clerk", [tool], issued_by="person:owner", uses=2, expires_at=time.time() + HOUR
            )
        assert wire.text("box__wipe") == "wipe done"
        move(tmp_path, 2 * HOUR)
        assert wire.text("box__wipe").startswith("deny: ")
        ahead = request_in(wire.text("box__pay", amount=5))
        move(tmp_path, 0)
        assert wire.text("box__wipe").startswith("deny: ")
        assert request_in(wire.text("box__pay", amount=5)) == ahead
        approve(shop, ahead)
        assert wire.text("box__pay", amount=5) == "pay done"
        assert wire.text("box__pay", amount=5).startswith("ask: ")
    assert [name for name, _ in shop.box.calls] == ["wipe", "pay"]


def test_an_expired_key_calls_no_more(tmp_path: Path) -> None:
    """Not after the clock was set back either. Other keys call throughout."""
    shop = Shop(tmp_path)
    move(tmp_path, 0)
    with over_http(shop) as http:
        brief, lasting = http.key("ann", seconds=HOUR), http.key("ann")
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        for ahead, status in ((0.0, 200), (DAY, 401), (0.0, 401), (-HOUR, 401)):
            move(tmp_path, ahead)
            assert http.post(brief, message).status_code == status
            assert http.text(lasting, "box__look") == "look done"
            assert http.text(lasting, "box__send") == "send done"


def test_nothing_hangs(tmp_path: Path) -> None:
    """Calls, a server that is started again, and a call that waits for it take no longer than without a jump, and the rows of
    the audit verify in the order in which they were written.
    """
    shop = Shop(tmp_path)
    move(tmp_path, 0)
    with on_wire(shop) as wire:
        assert wire.text("box__send") == "send done"
        begun = time.monotonic()
        for jump in (-HOUR, DAY, 0):
            running = wire.send("tools/call", name="box__look", arguments={"seconds": 0.2})
            move(tmp_path, jump)
            assert text_of(wire.answer(running)) == "look done"
            for process in filter(runs, shop.box.processes):
                os.kill(process, signal.SIGKILL)
            while wire.text("box__send") != "send done":
                assert time.monotonic() - begun < PATIENCE
                time.sleep(0.05)
    new_key(shop.place, ["read"])  # which signs what was not signed yet when the gateway was killed
    with opened(shop.place) as store:
        assert verify_audit(store.context, store.folder).findings == ()
        rows = [
            row
            for row in read_rows(store.context, AuditFilter(kind="decision"))
            if "send" in row.entry.resource
        ]
        rows.sort(key=lambda row: row.sequence)
        hours = [round((row.entry.at - rows[0].entry.at) / HOUR) for row in rows]
        assert [hour for hour, _ in groupby(hours)] == [0, -1, 24, 0]
