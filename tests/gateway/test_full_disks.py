"""A disk that is full under the store: what cannot be written down is refused, and when there is room again all goes on.

The disk is a limit of the system on the size of the files that the gateway may write, which its servers do not have.
"""

from __future__ import annotations

import random
import resource
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from orgkernel.state.verify import verify_audit
from tests.api.keys import opened
from tests.gateway.gateways import Http, on_wire, over_http
from tests.gateway.shop import LOOK, SEND, TOOLS, Shop
from tests.gateway.test_kills import allowed
from tests.gateway.test_replays import approve, request_in
from tests.support.depth import DEPTH

EXCLUSIVE = TOOLS.replace("provider: crate,", "provider: crate, concurrency: exclusive,")


@contextmanager
def full(process: BaseProcess, most: int = 1) -> Iterator[None]:
    """A process writes no file beyond so many bytes."""
    assert process.pid is not None
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
    try:
        yield
    finally:
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)


def test_a_full_disk_refuses_and_then_goes_on(tmp_path: Path) -> None:
    """Nothing is called or asked for that cannot be written down, and nothing is used up; lists are answered, although
    the log cannot be written either. Afterwards the same process goes on, and nothing half-done is left.
    """
    shop = Shop(tmp_path, tools=EXCLUSIVE)
    with on_wire(shop, "--agent", "ann") as wire:
        assert wire.text("box__look") == "look done"
        approve(shop, request_in(wire.text("box__pay", amount=5)))
        shop.crate.says(tools=[LOOK, SEND])
        assert wire.text("crate__look", changes=True) == "look done"
        with full(wire.process):
            assert "crate__look" in wire.tools()
            calls = (
                ("box__look", {}), ("box__send", {}), ("box__wipe", {}), ("box__pay", {"amount": 5}),
                ("box__pay", {"amount": 6}), ("crate__look", {}),
                ("orgkernel__request_access", {"resource": "tool:mcp__box__wipe", "action": "use", "reason": "x"}),
            )  # fmt: skip
            for tool, arguments in calls:
                said = wire.text(tool, **arguments)
                assert said.startswith("STORE_FULL: "), said
                assert "\nwhat to do: free some space" in said
        assert {name for name, _ in shop.box.calls} == {"look"}
        assert len(shop.crate.calls) == 1
        for tool in ("look", "send"):
            assert wire.text(f"box__{tool}") == f"{tool} done"
        assert wire.text("crate__look") == "look done"
        assert wire.text("box__pay", amount=5) == "pay done"
        assert wire.text("box__pay", amount=5).startswith("ask: ")
    with opened(shop.place) as store:
        assert store.locks.list() == ()
        assert verify_audit(store.context, store.folder).findings == ()


@pytest.mark.deep
def test_a_disk_that_fills_up_loses_nothing(tmp_path: Path) -> None:
    """While many clients call over HTTP, every answer and call is in the audit, and a lock that could not be released
    blocks no later caller.
    """
    shop, chance, told = Shop(tmp_path, tools=EXCLUSIVE), random.Random(4), {"look": 0, "send": 0}

    def ask(http: Http, key: str, tool: str) -> None:
        while True:
            said = http.text(key, f"box__{tool}")
            if said != f"{tool} done":
                assert said == "STORE_FULL: the disk of the store is full\nwhat to do: try again later"
                return
            told[tool] += 1

    with over_http(shop) as http:
        http.headers = {"mcp-protocol-version": "2025-11-25"}
        ann, amy = http.key("ann"), http.key("amy")
        for number in range(2 * DEPTH):
            assert http.text(ann, "box__look") == http.text(ann, "crate__look") == "look done"
            working = threading.Thread(target=http.text, args=(ann, "crate__look"), kwargs={"seconds": 0.7})
            working.start()
            while len(shop.crate.calls) < 3 * number + 2:
                time.sleep(0.01)
            wal = shop.store.with_name(f"{shop.store.name}-wal").stat().st_size
            with full(http.process, wal + chance.randrange(100_000)):
                clients = [threading.Thread(target=ask, args=(http, ann, tool)) for tool in told]
                for each in clients:
                    each.start()
                for each in (*clients, working):
                    each.join()
            assert http.text(amy, "crate__look") == "look done"
            told["look"] += 1
    assert told["look"] <= allowed(shop, "mcp__box__look")
    sent = [each for each in shop.box.calls if each[0] == "send"]
    assert told["send"] <= len(sent) <= allowed(shop, "mcp__box__send")
    with opened(shop.place) as store:
        assert store.locks.list() == ()
