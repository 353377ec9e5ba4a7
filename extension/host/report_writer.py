"""Write SALUTE reports in a background thread, so a model call does not wait for the disk.

One thread writes them in their order, and ends when it was idle for a while. The end of a turn waits until
everything is written, and so does the end of the process.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections import deque
from dataclasses import dataclass, field

from .runtime import report_files, salute_format

_MAX_WAITING = 100
_IDLE = 30.0
"""Seconds after which the thread ends."""
_BETWEEN_CLEANING = 60.0


@dataclass(slots=True)
class _Writer:
    """The writer thread of one process and its queue. After a fork, a process starts a new one."""

    waiting: deque[tuple[str, salute_format.Report]] = field(
        default_factory=lambda: deque(maxlen=_MAX_WAITING)
    )
    changed: threading.Condition = field(default_factory=threading.Condition)
    running: bool = False
    busy: bool = False
    problems: dict[str, None] = field(default_factory=dict)
    cleaned: dict[str, float] = field(default_factory=dict)


_writers: dict[int, _Writer] = {}


def write_later(folder: str, report: salute_format.Report) -> str:
    """Write a report in the background. Returns the problem with an earlier one, or an empty string."""
    writer = _get_writer()
    with writer.changed:
        writer.waiting.append((folder, report))
        if writer.running:
            writer.changed.notify_all()
        else:
            threading.Thread(target=_write_all, args=(writer,), name="orgkernel-reports", daemon=True).start()
            writer.running = True
        return _take_problem(writer)


def finish(seconds: float = 2.0) -> str:
    """Wait until everything is written. Returns the problem, or an empty string."""
    writer = _get_writer()
    with writer.changed:
        writer.changed.wait_for(lambda: not writer.running or not (writer.waiting or writer.busy), seconds)
        return _take_problem(writer)


def _get_writer() -> _Writer:
    writer = _writers.get(os.getpid())
    if writer is None:
        writer = _writers.setdefault(os.getpid(), _Writer())
    return writer


def _take_problem(writer: _Writer) -> str:
    return writer.problems.popitem()[0] if writer.problems else ""


def _write_all(writer: _Writer) -> None:
    while True:
        with writer.changed:
            writer.busy = False
            writer.changed.notify_all()
            if not writer.waiting and not writer.changed.wait_for(lambda: writer.waiting, _IDLE):
                # INVARIANT: a caller that adds a report while this is held sees that no thread runs.
                writer.running = False
                return
            folder, report = writer.waiting.popleft()
            writer.busy = True
        problem = _write(writer, folder, report)
        if problem:
            with writer.changed:
                writer.problems[problem] = None


def _write(writer: _Writer, folder: str, report: salute_format.Report) -> str:
    try:
        problem = report_files.write_report(folder, report).problem
        now = time.monotonic()
        if now - writer.cleaned.get(folder, -_BETWEEN_CLEANING) >= _BETWEEN_CLEANING:
            writer.cleaned[folder] = now
            problem = problem or report_files.remove_stale(folder, time.time()).problem
    except Exception as error:  # the thread has to continue
        return f"{type(error).__name__}: {error}"
    return problem


atexit.register(finish)
