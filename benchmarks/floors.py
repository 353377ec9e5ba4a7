"""What the machine and the language cost anyway: the measure that microseconds of two machines are compared by."""

from __future__ import annotations

import multiprocessing
import time
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.timing import microseconds

_ROUNDS = 2_000_000
_CALLS = 100


def floors(folder: Path) -> dict[str, Any]:
    """An empty call, a look-up, and making the smallest answer; the clock's own cost is taken off."""
    import msgspec

    class Smallest(msgspec.Struct, frozen=True):
        outcome: str
        role_id: str

    table = {f"role_{number}": number for number in range(10_000)}
    names = list(table)

    def call() -> None:
        return None

    def of(ask: Any) -> float:
        def often(turn: int) -> None:
            for _ in range(_CALLS):
                ask(turn)

        return (microseconds(often)["median"] - clock) / _CALLS

    clock = microseconds(lambda _: None)["median"]
    return {
        "clock": clock,
        "call": of(lambda _: call()),
        "lookup": of(lambda turn: table[names[turn * 7919 % 10_000]]),
        "answer": of(lambda _: Smallest("role", "role_1")),
    }


def two_processes(folder: Path) -> dict[str, Any]:
    """How much slower a process is for another one doing the same beside it."""
    alone, together = [], []
    context = multiprocessing.get_context("spawn")
    with context.Pool(2) as pool:
        pool.map(_work, [1, 1])
        for _ in range(5):
            alone.append(pool.apply(_work, (_ROUNDS,)))
            together += pool.map(_work, [_ROUNDS, _ROUNDS], chunksize=1)
    return {"slowdown": median(together) / median(alone)}


def _work(rounds: int) -> float:
    start = time.perf_counter()
    table: dict[int, int] = {}
    for number in range(rounds):
        table[number & 1023] = number
    return time.perf_counter() - start
