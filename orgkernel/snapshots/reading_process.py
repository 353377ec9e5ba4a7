"""The second process: reads files from the last one backwards until it meets the first process.

Started by `second_process.py` with three open files: what to read, how it is divided, and where results go; and the size of a batch.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

import msgspec

from orgkernel.loading.documents import read_documents, says_ours
from orgkernel.loading.entries import pack_file
from orgkernel.loading.files import read_text
from orgkernel.snapshots.shared_reading import HEAD, BatchResult, Division, Result, SharedFile, batch_count


def main(work: int, division: int, results: int, size: int) -> None:
    """Read until there is nothing left to take."""
    gc.disable()
    with os.fdopen(work, "rb") as file:
        files = msgspec.msgpack.decode(file.read(), type=list[SharedFile])
    taken = Division(division, batch_count(files, size))
    with os.fdopen(results, "wb", buffering=0) as file:
        while (batch := taken.take_behind()) is not None:
            found = BatchResult(batch, tuple(map(_read, files[batch * size : (batch + 1) * size])))
            content = msgspec.msgpack.encode(found)
            file.write(HEAD.pack(batch, len(content)) + content)
            taken.finish_behind(batch)


def _read(each: SharedFile) -> Result:
    source = read_text(each.path, each.name)
    if not says_ours(source):
        return None  # whether it is depends on what stands beside it
    read = read_documents(source, named=False, among_ours=False)
    return source.digest, pack_file(read)


def run(arguments: Sequence[str]) -> None:
    """As a program, with the numbers of the open files and the size of a batch."""
    main(*map(int, arguments))


if __name__ == "__main__":
    run(sys.argv[1:])
