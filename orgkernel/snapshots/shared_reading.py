"""How two processes share the files of a large tree: the words and the bytes between them.

One begins at the first file, the other at the last, a batch at a time, until they meet. Each writes down what it has
taken before it begins; should both take the last batch at one moment, both read it, and no harm is done. Results go
into a file, so that neither process ever waits for the other to take them.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence
from struct import Struct

import msgspec

BATCH = 128
"""Files in a batch: some twenty milliseconds of work."""
HEAD = Struct(">QQ")
"""What stands before the results of a batch: its number, and their length in bytes."""
_WORD = 8
_TAKEN_IN_FRONT, _TAKEN_BEHIND, _DONE_BEHIND, _WORDS = range(4)

Result = tuple[str, bytes] | None
"""What a file yields that says it is ours: digest of its content, packed documents. None: whoever asks reads it."""


class SharedFile(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A file to be read."""

    path: str
    name: str


class BatchResult(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a batch of files yielded."""

    batch: int
    results: tuple[Result, ...]


class Division:
    """Which batches each of two processes has taken; a view of memory that both see."""

    def __init__(self, descriptor: int, batches: int, *, new: bool = False) -> None:
        if new:
            os.ftruncate(descriptor, _WORDS * _WORD)
        self._memory = mmap.mmap(descriptor, _WORDS * _WORD)
        self._words = memoryview(self._memory).cast("Q")
        if new:
            self._words[_TAKEN_BEHIND] = self._words[_DONE_BEHIND] = batches

    def close(self) -> None:
        """Let go of the memory."""
        self._words.release()
        self._memory.close()

    def take_in_front(self, batch: int) -> bool:
        """Take a batch for the process that reads onwards; False where the other has it."""
        if self._words[_TAKEN_BEHIND] <= batch:
            return False
        self._words[_TAKEN_IN_FRONT] = batch + 1
        return True

    def take_behind(self) -> int | None:
        """Take the next batch for the process that reads backwards; None where they have met."""
        batch = self._words[_TAKEN_BEHIND] - 1
        if batch < self._words[_TAKEN_IN_FRONT] or batch < 0:
            return None
        self._words[_TAKEN_BEHIND] = batch
        return batch

    def finish_behind(self, batch: int) -> None:
        """The results of a batch are in the file."""
        self._words[_DONE_BEHIND] = batch

    def is_done_behind(self, batch: int) -> bool:
        """Whether the results of a batch are in the file."""
        return self._words[_DONE_BEHIND] <= batch


def batch_count(files: Sequence[object], size: int) -> int:
    """Into how many batches of a size files are divided."""
    return -(-len(files) // size)
