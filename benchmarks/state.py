"""What writing the audit costs: group commit against one commit per decision, and what a deferred caller pays.

Each function opens a store of its own in a folder, which should lie on the disk one wants to know about, and returns
figures. `python -m benchmarks.state` prints them for the current folder's disk.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import threading
import time
from pathlib import Path
from queue import SimpleQueue
from statistics import median
from typing import Any

from sqlalchemy import insert

from orgkernel.decisions.evidence.state_records import AuditEntry
from orgkernel.operations.waiting import await_write
from orgkernel.state.chain import GENESIS, encode_entry, link
from orgkernel.state.database import make_engine, open_for_writing, translate_error
from orgkernel.state.location import parse_location
from orgkernel.state.migrating import prepare
from orgkernel.state.store import Store
from orgkernel.state.tables import audit
from orgkernel.state.writer import PendingWrite

CALLERS = 64


def entry() -> AuditEntry:
    """A decision as it is written: with its reasons' code, its grants and the snapshot it came from."""
    return AuditEntry(
        "decision",
        1_700_000_000.0,
        "allow",
        subject="agent:codegen_specialist_17",
        action="run",
        resource="tool:code_execution_tool",
        code="ALLOWED",
        org_id="software_dev",
        level="write",
        policies_matched=("owner-full-access",),
        snapshot="sha256:" + "5e" * 32,
        state_version=17,
        seconds=2.4e-06,
    )


def open_store(folder: str | Path) -> Store:
    """A new store in a folder."""
    path = os.path.join(folder, f"{os.urandom(6).hex()}.db")
    return Store(parse_location(path, "/"), clock=time.time, tokens=os.urandom, busy_seconds=120)


def group_commit(folder: str | Path, seconds: float = 3.0, callers: int = CALLERS) -> dict[str, Any]:
    """Decisions acknowledged in a second by callers that each wait for their row to be on the disk."""
    with open_store(folder) as store:
        return _drive(callers, seconds, lambda: store.audit.write(entry()))


def group_commit_of_tasks(folder: str | Path, seconds: float = 3.0, callers: int = CALLERS) -> dict[str, Any]:
    """As `group_commit`, with callers that are tasks of one event loop, as requests to the server are."""

    async def drive(store: Store) -> float:
        count, is_over = 0, False

        async def call() -> None:
            nonlocal count
            while not is_over:
                await await_write(store.audit.submit(entry()))
                count += 1

        tasks = [asyncio.create_task(call()) for _ in range(callers)]
        await asyncio.sleep(seconds / 2)
        before, begun = count, time.perf_counter()
        await asyncio.sleep(seconds / 2)
        speed = (count - before) / (time.perf_counter() - begun)
        is_over = True
        await asyncio.gather(*tasks)
        return speed

    with open_store(folder) as store:
        return {"per_second": asyncio.run(drive(store)), "callers": callers}


def nothing_written(seconds: float = 3.0, callers: int = CALLERS) -> dict[str, Any]:
    """What waiting alone costs: the same callers, answered by a thread that writes nothing at all."""
    queue: SimpleQueue[PendingWrite | None] = SimpleQueue()

    def answer() -> None:
        while (pending := queue.get()) is not None:
            pending.resolve("")

    def ask() -> None:
        pending = PendingWrite(None)
        queue.put(pending)
        pending.result()

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        return _drive(callers, seconds, ask)
    finally:
        queue.put(None)
        thread.join()


def one_commit_each(folder: str | Path, seconds: float = 3.0, callers: int = CALLERS) -> dict[str, Any]:
    """The same callers, rows and settings of the database, with a transaction for every decision.

    One chain and one connection, taken in turns: callers that fight for the file's lock are slower still.
    """
    place = parse_location(os.path.join(folder, f"{os.urandom(6).hex()}.db"), "/")
    engine = make_engine(place)
    prepare(engine, place.shown)
    turn = threading.Lock()
    last = [0, GENESIS]
    statement = insert(audit)

    def write() -> None:
        with turn:
            said, body = encode_entry(entry())
            sequence = last[0] + 1
            digest = link(last[1], "w", "decision", sequence, body)
            try:
                with open_for_writing(engine) as connection:
                    connection.execute(
                        statement,
                        {
                            "writer": "w", "stream": "decision", "sequence": sequence, "previous": last[1],
                            "digest": digest, "at": said.at, "kind": said.kind, "activity": said.activity,
                            "subject": said.subject, "channel": said.channel, "relationship": said.relationship,
                            "record_id": said.record_id, "body": body,
                        },
                    )  # fmt: skip
            except Exception as error:
                raise translate_error(error, place.shown) from error
            last[:] = [sequence, digest]

    try:
        return _drive(callers, seconds, write)
    finally:
        engine.dispose()


def group_against_single(folder: str | Path, turns: int = 5, seconds: float = 2.0) -> dict[str, Any]:
    """All in turns, since other users of a disk come and go; the ratios are those of the medians.

    `most` is the ratio threads could have if writing cost nothing: a machine whose disk is quick enough has no room for more.
    """
    found: dict[str, list[float]] = {"grouped": [], "tasks": [], "single": [], "nothing_written": []}
    for _ in range(turns):
        found["grouped"].append(group_commit(folder, seconds)["per_second"])
        found["tasks"].append(group_commit_of_tasks(folder, seconds)["per_second"])
        found["single"].append(one_commit_each(folder, seconds)["per_second"])
        found["nothing_written"].append(nothing_written(seconds)["per_second"])
    speed = {name: median(each) for name, each in found.items()}
    single = speed["single"]
    ratios = {
        "ratio": speed["grouped"] / single, "ratio_of_tasks": speed["tasks"] / single,
        "most": speed["nothing_written"] / single,
    }  # fmt: skip
    return {"callers": CALLERS, **speed, **ratios}


def deferred(folder: str | Path, rows: int = 20_000, rounds: int = 5) -> dict[str, Any]:
    """Microseconds a caller pays to hand a decision in, and rows a second until the last one is acknowledged.

    `caller_us` is what one call takes; `added_us` compares a loop that hands in with the same loop that does not, so
    that what the writer's thread takes from the caller's is in it too.
    """
    taken: list[float] = []
    added: list[float] = []
    speed: list[float] = []
    said = entry()
    with open_store(folder) as store:
        defer = store.audit.defer
        store.audit.write(said)
        for _ in range(rounds):
            begun = time.perf_counter()
            for _ in range(rows):
                pass
            bare = time.perf_counter() - begun
            begun = time.perf_counter()
            for _ in range(rows):
                pending = defer(said)
            handed_in = time.perf_counter() - begun
            pending.result()
            speed.append(rows / (time.perf_counter() - begun))
            added.append((handed_in - bare) / rows * 1e6)
            for _ in range(2_000):
                begun = time.perf_counter()
                pending = defer(said)
                taken.append((time.perf_counter() - begun) * 1e6)
            pending.result()
    taken.sort()
    return {
        "caller_us": {"median": median(taken), "p99": taken[int(len(taken) * 0.99)]},
        "added_us": median(added),
        "rows_per_second": median(speed),
    }


def view_check(folder: str | Path, rows: int = 5_000) -> dict[str, Any]:
    """Microseconds to ask whether the state is still the same, and to take in one change among many grants."""
    with open_store(folder) as store:
        for number in range(rows):
            store.context.writer.submit(lambda transaction, number=number: _insert_grant(transaction, number))
        store.read_view()
        asked: list[float] = []
        for _ in range(2_000):
            begun = time.perf_counter()
            store.read_view()
            asked.append((time.perf_counter() - begun) * 1e6)
        patched: list[float] = []
        for number in range(20):
            store.grants.issue(f"agent:new{number}", ["tool:x"], issued_by="a")
            begun = time.perf_counter()
            store.read_view()
            patched.append((time.perf_counter() - begun) * 1e6)
    return {"unchanged_us": median(asked), "patched_us": median(patched), "grants": rows}


def _insert_grant(transaction: Any, number: int) -> None:
    from orgkernel.decisions.evidence.state_view import Grant
    from orgkernel.state.grants import insert_grant

    insert_grant(transaction, Grant(f"g-{number}", f"agent:{number}", ("tool:x",), issued_by="a"))


def _drive(callers: int, seconds: float, write: Any) -> dict[str, Any]:
    """So many threads that call until the time is over; the second half of the time counts."""
    counts = [0] * callers
    waits: list[list[float]] = [[] for _ in range(callers)]
    ends = threading.Event()

    def call(number: int) -> None:
        while not ends.is_set():
            begun = time.perf_counter()
            write()
            waits[number].append((time.perf_counter() - begun) * 1e3)
            counts[number] += 1

    threads = [threading.Thread(target=call, args=(number,)) for number in range(callers)]
    for thread in threads:
        thread.start()
    time.sleep(seconds / 2)
    before, begun = sum(counts), time.perf_counter()
    time.sleep(seconds / 2)
    number, took = sum(counts) - before, time.perf_counter() - begun
    ends.set()
    for thread in threads:
        thread.join()
    all_waits = sorted(wait for each in waits for wait in each)
    return {
        "per_second": number / took,
        "callers": callers,
        "wait_ms": {"median": median(all_waits), "p99": all_waits[int(len(all_waits) * 0.99)]},
    }


def main() -> None:
    """All of it, on the disk of a folder."""
    with tempfile.TemporaryDirectory(
        dir=os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ".")
    ) as folder:
        figures = {
            "group_commit": group_against_single(folder),
            "deferred": deferred(folder),
            "view": view_check(folder),
        }
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
