"""How long a test waits for something that has to happen."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

PATIENCE = 300.0
"""Seconds after which a test no longer waits for an event. They pass only where something is broken, so they are many: a
machine that does other things is slow, and that is no defect.
"""
Value = TypeVar("Value")


def until(ask: Callable[[], Value], holds: Callable[[Value], bool], pause: float = 0.02) -> Value:
    """The first answer that fits; fails with the last one when none does in time."""
    end = time.monotonic() + PATIENCE
    while True:
        value = ask()
        if holds(value):
            return value
        assert time.monotonic() < end, f"still {value!r}"
        time.sleep(pause)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """The block takes at most so many seconds of the processor, in this process: what others do does not count."""
    start = time.process_time()
    yield
    took = time.process_time() - start
    assert took < seconds, f"{took:.1f} seconds of the processor instead of {seconds:g}"
