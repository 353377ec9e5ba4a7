"""Commands as processes of their own that start at once, because they are forked from one that has imported everything."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import DupFd
from pathlib import Path
from typing import Any

from tests.gateway.moved_clock import follow

_FORKING = multiprocessing.get_context("forkserver")
_FORKING.set_forkserver_preload(["tests.gateway.forked_clock", "tests.gateway.preloaded"])


def start(folder: Path, errors: Path, *arguments: str) -> tuple[BaseProcess, int, int]:
    """Start a command in a folder. Returns the process, where to write its input, and where to read its output."""
    given, write = os.pipe()
    read, said = os.pipe()
    wrong = os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    process = _FORKING.Process(target=run, args=(str(folder), arguments, *map(_Passed, (given, said, wrong))))
    process.start()
    for each in (given, said, wrong):
        os.close(each)
    return process, write, read


class _Passed:
    """An open file that the new process has too."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __reduce__(self) -> Any:
        return _same, (DupFd(self.number),)


def _same(passed: Any) -> Any:
    return passed


def run(folder: str, arguments: tuple[str, ...], *files: Any) -> None:
    """The new process."""
    for target, passed in enumerate(files):
        number = passed.detach()
        os.dup2(number, target)
        os.close(number)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    # The types say that nobody sets `sys.__stdout__`. Here it has to be new: the gateway writes to it, and the stream of
    # the process this one is forked from belongs to another file, which may be seekable where a pipe is not.
    sys.stdout = sys.__stdout__ = os.fdopen(1, "w", 1, encoding="utf-8", closefd=False)  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = os.fdopen(2, "w", 1, encoding="utf-8", closefd=False)  # type: ignore[misc]
    os.chdir(folder)
    os.environ["PYTHONUNBUFFERED"] = "1"
    # Whoever runs the tests in the background of a shell may ignore these, and a child of them would too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    follow(Path(folder))
    from orgkernel.cli import main

    sys.argv = ["orgkernel", *arguments]
    main()
