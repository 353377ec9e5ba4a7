"""Tells what a process is doing, for a line of progress on a terminal.

Work that can take long states its stage with `enter_stage`, and nothing else follows from it. Without a listener, which
only the command line sets, this costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_listeners: list[Callable[[str], None]] = []


def enter_stage(stage: str) -> None:
    """Begin a stage of the work, such as `reading 450 files`. An empty stage ends the work."""
    for listen in _listeners:
        listen(stage)


@contextmanager
def end_stages() -> Iterator[None]:
    """End the last stage when a piece of work ends, whether it succeeds or not."""
    try:
        yield
    finally:
        enter_stage("")


@contextmanager
def show_stage(stage: str) -> Iterator[None]:
    """A piece of work with a single stage."""
    enter_stage(stage)
    with end_stages():
        yield


def listen_to_stages(listener: Callable[[str], None]) -> None:
    """Call a function with each stage."""
    _listeners.append(listener)
