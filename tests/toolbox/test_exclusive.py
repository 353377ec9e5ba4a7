"""Exclusive tools: one holder at a time, and a call without a lock is no call."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from orgkernel import Kernel
from orgkernel.decisions.evidence.state_records import AuditFilter
from orgkernel.state.audit import read_rows
from orgkernel.state.store import Store
from orgkernel.toolbox import PythonFunction
from orgkernel.toolbox.parts import Exclusive
from tests.state.opening import Clock, opened, sqlite_at
from tests.support.patience import PATIENCE, until
from tests.toolbox.crew import brief, organization, toolbox


@pytest.fixture
def clock() -> Clock:
    return Clock(time.time())


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    with opened(sqlite_at(tmp_path), clock) as store:
        yield store


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    return organization(tmp_path)


def held(store: Store) -> list[tuple[str, str, int]]:
    return [(lock.tool_id, lock.holder, lock.token) for lock in store.locks.list("post")]


def test_a_call_takes_the_lock_and_gives_it_back(kernel: Kernel, store: Store) -> None:
    """It is held while the tool runs, and only then."""
    seen: list[Any] = []
    box = toolbox(kernel, store, press=PythonFunction(lambda: seen.append(held(store))))
    context = box.context("post", "agent:ann")
    assert context.has_tool("press")
    assert context.level("press") == "write"
    assert [context.invoke_blocking("press").outcome for _ in range(2)] == ["done", "done"]
    assert seen == [[("press", "agent:ann", 1)], [("press", "agent:ann", 2)]]
    assert held(store) == []


def test_a_lock_that_is_held_already_is_kept(kernel: Kernel, store: Store) -> None:
    """Who took it gives it back."""
    store.locks.acquire("post", "press", "agent:ann")
    context = toolbox(kernel, store, press=PythonFunction(lambda: "pressed")).context("post", "agent:ann")
    assert context.invoke_blocking("press").output == "pressed"
    assert held(store) == [("press", "agent:ann", 1)]


def test_what_another_holds_is_unavailable(kernel: Kernel, store: Store) -> None:
    """The tool does not run."""
    store.locks.acquire("post", "press", "agent:bob")
    ran: list[int] = []
    context = toolbox(kernel, store, press=PythonFunction(lambda: ran.append(1))).context("post", "agent:ann")
    result = context.invoke_blocking("press", fallback=False)
    assert (result.outcome, result.code) == ("unavailable", "TOOL_LOCKED")
    assert result.error == "the tool `press` is locked by `agent:bob`"
    assert ran == []


def test_without_a_store_no_lock_can_be_held(kernel: Kernel) -> None:
    """So an exclusive tool does not run."""
    context = toolbox(kernel, press=PythonFunction(lambda: 1)).context("post", "agent:ann")
    result = context.invoke_blocking("press", fallback=False)
    assert (result.outcome, result.code) == ("denied", "LOCKED")


def test_who_may_not_use_it_takes_no_lock(kernel: Kernel, store: Store) -> None:
    """A lock is taken only where it is all that is missing."""
    context = toolbox(kernel, store, press=PythonFunction(lambda: 1)).context("post", "role:guest")
    result = context.invoke_blocking("press", fallback=False)
    assert (result.outcome, result.code) == ("denied", "NOT_BOUND_TO_ROLE")
    store.locks.acquire("post", "press", "agent:ann")
    assert held(store) == [("press", "agent:ann", 1)]  # the first token there ever was


def test_one_holder_may_call_several_times_at_once(kernel: Kernel, store: Store) -> None:
    """Under one lock, given back by the last."""
    gate = threading.Barrier(4)
    context = toolbox(kernel, store, press=PythonFunction(lambda: gate.wait(PATIENCE))).context(
        "post", "agent:ann"
    )

    async def four() -> list[Any]:
        return await asyncio.gather(*(context.invoke("press") for _ in range(4)))

    results = asyncio.run(four())
    assert sorted(result.output for result in results) == [0, 1, 2, 3]
    assert held(store) == []
    assert store.locks.acquire("post", "press", "agent:bob").token == 2


def test_a_lock_for_a_call_is_for_its_own_process(kernel: Kernel, store: Store) -> None:
    """Another one of the same agent would be left without it in the middle of its call, so it is refused."""
    other = toolbox(kernel, store, press=PythonFunction(lambda: "pressed")).context("post", "agent:ann")
    found: list[Any] = []
    press = PythonFunction(lambda: found.append(other.invoke_blocking("press", fallback=False)))
    assert (
        toolbox(kernel, store, press=press).context("post", "agent:ann").invoke_blocking("press").code == ""
    )
    assert [each.code for each in found] == ["TOOL_LOCKED"]
    assert other.invoke_blocking("press").output == "pressed"
    assert held(store) == []


def test_two_agents_never_press_at_once(kernel: Kernel, store: Store) -> None:
    """Forty calls of two agents: each that runs runs alone."""
    inside: list[int] = []
    most: list[int] = []

    def press() -> None:
        inside.append(1)
        most.append(len(inside))
        time.sleep(0.002)
        inside.pop()

    box = toolbox(kernel, store, press=PythonFunction(press))
    outcomes: list[str] = []

    def work(agent: str) -> None:
        context = box.context("post", agent)
        outcomes.extend(context.invoke_blocking("press", fallback=False).outcome for _ in range(20))

    threads = [threading.Thread(target=work, args=(agent,)) for agent in ("agent:ann", "agent:bob")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 40
    assert set(outcomes) <= {"done", "unavailable"}
    assert outcomes.count("done") >= 1
    assert max(most) == 1
    assert held(store) == []


def test_what_goes_on_running_keeps_the_lock(kernel: Kernel, store: Store) -> None:
    """A function that was given up still runs, so no other caller may use the tool until it ends."""
    free = threading.Event()
    box = toolbox(kernel, store, press=PythonFunction(lambda: free.wait(PATIENCE)))
    result = box.context("post", "agent:ann").invoke_blocking("press", timeout=1.0, fallback=False)
    assert (result.outcome, held(store)) == ("timeout", [("press", "agent:ann", 1)])
    other = box.context("post", "agent:bob").invoke_blocking("press", fallback=False)
    assert other.code == "TOOL_LOCKED"
    free.set()
    until(lambda: held(store), lambda locks: locks == [])


def test_a_lock_that_is_lost_while_the_tool_runs_is_said(kernel: Kernel, store: Store) -> None:
    """The lock was broken or timed out, so another caller could have used the tool at the same time."""

    def broken() -> str:
        store.locks.break_("post", "press", actor="person:user")
        return "pressed"

    result = (
        toolbox(kernel, store, press=PythonFunction(broken))
        .context("post", "agent:ann")
        .invoke_blocking("press")
    )
    assert (result.outcome, result.metadata["lock"]) == ("done", "LOCK_LOST")
    assert brief(result) == [("tool", "tool:press", "done", "")]


def test_a_failing_tool_gives_the_lock_back(kernel: Kernel, store: Store) -> None:
    """As does a cancelled one."""

    async def cancelled() -> None:
        await asyncio.sleep(60)

    def fails() -> None:
        raise ValueError

    box = toolbox(kernel, store, press=PythonFunction(fails))
    assert box.context("post", "agent:ann").invoke_blocking("press").outcome == "failed"
    assert held(store) == []
    context = toolbox(kernel, store, press=PythonFunction(cancelled)).context("post", "agent:ann")

    async def impatient() -> None:
        async with asyncio.timeout(0.5):
            await context.invoke("press")

    with pytest.raises(TimeoutError):
        asyncio.run(impatient())
    until(lambda: held(store), lambda locks: locks == [])


def test_who_leaves_while_waiting_for_the_lock_keeps_none(
    kernel: Kernel, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store is busy, the caller is canceled, and the lock that its thread takes afterwards is given back."""
    context = toolbox(kernel, store, press=PythonFunction(lambda: 1)).context("post", "agent:ann")
    holder = sqlite3.connect(tmp_path / "state.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")

    is_waiting = threading.Event()
    enter = Exclusive.enter

    def enter_and_tell(*arguments: Any) -> Any:
        is_waiting.set()
        return enter(*arguments)

    monkeypatch.setattr(Exclusive, "enter", enter_and_tell)

    async def leave() -> None:
        call = asyncio.create_task(context.invoke("press"))
        assert await asyncio.to_thread(is_waiting.wait, PATIENCE)
        call.cancel()
        await asyncio.wait([call])
        assert call.cancelled()
        holder.execute("ROLLBACK")
        holder.close()

    asyncio.run(leave())

    def noted() -> list[str]:
        return [row.entry.activity for row in read_rows(store.context, AuditFilter(kind="lock"))]

    assert until(noted, lambda rows: len(rows) == 2) == ["released", "acquired"]
    assert held(store) == []


def test_a_lock_that_could_not_be_given_back_is_given_back_later(
    kernel: Kernel, tmp_path: Path, clock: Clock
) -> None:
    """The store failed when the call ended. The next call of any caller releases the lock first."""
    file = tmp_path / "state.db"
    holders: list[sqlite3.Connection] = []

    def press() -> str:
        if not holders:
            holders.append(sqlite3.connect(file, isolation_level=None, check_same_thread=False))
            holders[0].execute("BEGIN IMMEDIATE")
        return "pressed"

    with opened(sqlite_at(tmp_path), clock, busy_seconds=0.1) as store:
        box = toolbox(kernel, store, press=PythonFunction(press))
        assert box.context("post", "agent:ann").invoke_blocking("press").output == "pressed"
        assert held(store) == [("press", "agent:ann", 1)]
        holders[0].close()
        assert box.context("post", "agent:bob").invoke_blocking("press").output == "pressed"
        assert held(store) == []
