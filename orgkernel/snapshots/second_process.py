"""Reading a large tree with a second process; the same result in the same order as with one.

It is a fresh process, never a fork: the first may have threads. Whatever goes wrong with it – it does not start, is
killed, writes nonsense – the first process reads what is missing itself.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import IO

import msgspec

from orgkernel.loading.entries import DamagedEntry, unpack_file
from orgkernel.loading.files import Located
from orgkernel.loading.sources import ReadFile
from orgkernel.loading.tree import OpenFile, open_text
from orgkernel.snapshots.shared_reading import (
    BATCH,
    HEAD,
    BatchResult,
    Division,
    Result,
    SharedFile,
    batch_count,
)

# From how many files on a second process is worth its start: the imports of a third of a second.
LARGE = 4_000
_NAP = 0.001
# How long a batch is waited for, in seconds: a process may be stopped.
_PATIENCE = 5.0
_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_RESULTS = msgspec.msgpack.Decoder(BatchResult)


@contextmanager
def second_process(located: Sequence[Located], size: int = BATCH) -> Iterator[Callable[[Located], OpenFile]]:
    """How to open these files, in their order, while a second process reads the last of them."""
    with ExitStack() as stack:
        try:
            work, division, results = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(3))
            work.write(msgspec.msgpack.encode([SharedFile(each.path, each.name) for each in located]))
            work.seek(0)
            taken = Division(division.fileno(), batch_count(located, size), new=True)
            stack.callback(taken.close)
            process = _start((work.fileno(), division.fileno(), results.fileno()), size)
        except (OSError, ValueError, UnicodeError):
            yield open_text
            return
        stack.callback(process.wait)
        stack.callback(process.kill)
        yield _Shared(located, size, taken, process, results).open_file


def is_worth_it(files: int) -> bool:
    """Whether two processes read so many files faster than one."""
    return files >= LARGE and os.name == "posix" and bool(sys.executable) and _processors() > 1


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _start(descriptors: tuple[int, ...], size: int) -> subprocess.Popen[bytes]:
    path = os.pathsep.join(filter(None, (_PACKAGE, os.environ.get("PYTHONPATH"))))
    return subprocess.Popen(
        # -P: what lies in the current folder is not imported.
        [
            sys.executable,
            "-P",
            "-m",
            "orgkernel.snapshots.reading_process",
            *map(str, descriptors),
            str(size),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=descriptors,
        env={**os.environ, "PYTHONPATH": path},
    )


class _Shared:
    """The files of one tree, asked for in their order."""

    def __init__(
        self,
        located: Sequence[Located],
        size: int,
        taken: Division,
        process: subprocess.Popen[bytes],
        results: IO[bytes],
    ) -> None:
        self._numbers = {each.path: number for number, each in enumerate(located)}
        self._size = size
        self._taken = taken
        self._process = process
        self._results = results
        self._batch = -1
        self._ours = True
        # Where the results of each batch are, and those of the present one.
        self._places: dict[int, tuple[int, int]] = {}
        self._found: tuple[Result, ...] = ()

    def open_file(self, located: Located) -> OpenFile:
        """The file as the other process read it, or as it is now."""
        number = self._numbers.get(located.path)
        if number is None:
            return open_text(located)
        batch, at = divmod(number, self._size)
        if batch != self._batch:
            self._batch = batch
            self._ours = self._taken.take_in_front(batch) or not self._is_there(batch)
        if self._ours or located.path == located.root.path:
            return open_text(located)
        result = self._found[at] if at < len(self._found) else None
        return open_text(located) if result is None else _ReadElsewhere(located, *result)

    def _is_there(self, batch: int) -> bool:
        """Wait for the results of a batch; False where they will not come."""
        patience = time.monotonic() + _PATIENCE
        while not self._taken.is_done_behind(batch):
            over = self._process.poll() is not None or time.monotonic() > patience
            if over and not self._taken.is_done_behind(batch):
                return False
            time.sleep(_NAP)
        if batch not in self._places:
            self._places = _find_results(self._results)
        start, end = self._places.get(batch, (0, 0))
        try:
            found = _RESULTS.decode(os.pread(self._results.fileno(), end - start, start))
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return False
        self._found = found.results
        return found.batch == batch


class _ReadElsewhere:
    """A file that the other process read."""

    says_ours = True

    def __init__(self, located: Located, digest: str, packed: bytes) -> None:
        self._located = located
        self._packed = packed
        self.digest = digest

    def read(self, *, named: bool, among_ours: bool, shared: bool, context: bool) -> ReadFile:
        located = self._located
        try:
            return unpack_file(
                self._packed, located.path, located.name, shared=shared, context=context, hold=True
            )
        except DamagedEntry:
            return open_text(located).read(named=named, among_ours=among_ours, shared=shared, context=context)


def _find_results(results: IO[bytes]) -> dict[int, tuple[int, int]]:
    """Where each whole batch is in the file of results; the last one may be half written."""
    descriptor = results.fileno()
    size = os.fstat(descriptor).st_size
    places = {}
    at = 0
    while at + HEAD.size <= size:
        batch, length = HEAD.unpack(os.pread(descriptor, HEAD.size, at))
        at += HEAD.size
        if length > size - at:
            break
        places[batch] = (at, at + length)
        at += length
    return places
