"""How a question that takes microseconds is timed: one by one, garbage collection off, the clock's own cost beside it."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from statistics import median, quantiles

REPEAT = 3_000


class NotMeasured(Exception):
    """Raised by a measurement that cannot be taken here, with the reason in one line."""


def microseconds(ask: Callable[[int], object], repeat: int = REPEAT, warm: int = 50) -> dict[str, float]:
    """Median and 99th percentile of asking; `ask` gets the number of the turn."""
    gc.collect()
    gc.disable()
    for turn in range(warm):
        ask(turn)
    times = []
    clock = time.perf_counter
    for turn in range(repeat):
        start = clock()
        ask(turn)
        times.append(clock() - start)
    return {"median": median(times) * 1e6, "p99": quantiles(times, n=100)[98] * 1e6}
