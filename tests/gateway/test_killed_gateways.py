"""A gateway that is killed leaves no process of a server behind, whatever the server does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from orgkernel.toolbox.adapters import server_guard
from orgkernel.toolbox.adapters.server_guard import read_start_time
from tests.api.running import until
from tests.gateway.gateways import on_wire, over_http
from tests.gateway.shop import LOOK, Shop
from tests.gateway.test_kills import runs
from tests.support.patience import PATIENCE
from tests.support.trees import REPOSITORY

DEAF: dict[str, Any] = {"tools": [LOOK], "stays": True, "deaf": True, "child": True}
"""A server that nothing but SIGKILL ends, with a child."""


def gone(*processes: int) -> None:
    """Wait until processes are gone, and end them if they stay."""
    try:
        until(lambda: [each for each in processes if runs(each)], lambda left: not left)
    finally:
        for each in processes:
            if runs(each):
                os.kill(each, signal.SIGKILL)


def children_of(process: int | None) -> list[int]:
    """The children of a process."""
    return [int(each) for each in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def test_a_server_that_stays_ends_with_a_killed_gateway(tmp_path: Path) -> None:
    """Also the children of a server, one that was started again, and those of before the guard was killed itself; the new
    guard ends when it has nothing to do.
    """
    shop = Shop(tmp_path)
    shop.box.says(**DEAF)
    shop.crate.says(tools=[LOOK], stays=True)
    with on_wire(shop) as wire:
        assert wire.text("crate__look") == "look done"
        (guard,) = set(children_of(wire.process.pid)) - set(shop.crate.processes)
        os.kill(guard, signal.SIGKILL)
        assert wire.text("box__look") == "look done"
        (first,), (child,) = shop.box.processes, shop.box.children
        os.kill(first, signal.SIGKILL)
        gone(child, guard)
        while len(shop.box.processes) < 2:
            wire.text("box__look")
        assert wire.text("box__look") == "look done"
        servers = [*shop.box.processes[1:], *shop.box.children[1:], *shop.crate.processes]
        assert all(map(runs, servers))
        guards = set(children_of(wire.process.pid)) - set(servers)
        assert len(guards) == 1
        wire.process.kill()
        gone(*servers, *guards)


def test_a_server_that_stays_ends_with_a_killed_gateway_over_http(tmp_path: Path) -> None:
    """And another gateway, whose servers are of the same file, keeps its own."""
    shop = Shop(tmp_path)
    shop.box.says(**DEAF)
    with on_wire(shop) as other:
        assert other.text("box__look") == "look done"
        kept = [*shop.box.processes, *shop.box.children]
        with over_http(shop) as http:
            assert http.text(http.key("ann"), "box__look") == "look done"
            http.process.kill()
            gone(shop.box.processes[1], shop.box.children[1])
        assert all(map(runs, kept))
        assert other.text("box__look") == "look done"


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """A process with a group of its own."""
    with subprocess.Popen(
        [sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True
    ) as one:
        yield one
        one.kill()


def guarding(lines: str) -> int:
    """Let a guard read lines, as if the process that wrote them had been killed then."""
    program = [sys.executable, "-I", "-S", server_guard.__file__]
    return subprocess.run(program, input=lines.encode(), check=False, timeout=PATIENCE).returncode


def test_no_stranger_is_ended(bystander: subprocess.Popen[bytes]) -> None:
    """A process that reuses the number of an ended server is left alone, and so is a number that was released."""
    group = bystander.pid
    assert guarding(f"{group} 1\n") == 0
    assert guarding(f"{group}\n") == 0
    assert guarding(f"{group} {read_start_time(group)}\n{group} -\n") == 0
    assert bystander.poll() is None
    threading.Thread(target=bystander.wait).start()  # a process that nobody waits for does not quite end
    assert guarding(f"{group} {read_start_time(group)}\n") == 0
    assert bystander.wait(PATIENCE) < 0


def test_a_forked_child_keeps_nothing_running(bystander: subprocess.Popen[bytes]) -> None:
    """A process that was forked off does not keep the guard from noticing the end of the one that was guarded."""
    program = """if True:
        import os, sys
        from orgkernel.toolbox.adapters.server_guard import ServerGuard
        guard = ServerGuard()
        guard.add(int(sys.argv[1]))
        if not os.fork():
            sys.stdin.read()
        os._exit(0)
    """
    with subprocess.Popen(
        [sys.executable, "-c", program, str(bystander.pid)], stdin=subprocess.PIPE, cwd=REPOSITORY
    ) as killed:
        assert killed.wait(PATIENCE) == 0
        assert bystander.wait(PATIENCE) < 0
