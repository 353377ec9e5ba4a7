"""No file within the size limit costs more than a second of processor time or 200 MB."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.sampling import sample_every
from tests.support.trees import REPOSITORY

SECONDS, MEGABYTES = 1.0, 200
LIMIT = 16 * 2**20
# A machine that is busy with other things, or slow, takes longer for the same work.
ROOM = 2.0

Y = b"_schema: orgkernel:role_profile\nrole_id: dev\nrole_name: Dev\nx_a: "
J = b'{"_schema":"orgkernel:role_profile","role_id":"dev","role_name":"Dev","x_a":'
FACE = "\U0001f600".encode()

COSTLY: dict[str, tuple[bytes, bytes, bytes]] = {
    "anchors.yaml": (Y + b"[", b"&a%d 1, ", b"1]\n"),
    "keys.yaml": (Y + b"\n", b"  k%d: 1\n", b""),
    "values.yaml": (Y + b"[", b"1, ", b"1]\n"),
    "lists.yaml": (Y + b"[", b"[],", b"]\n"),
    "mappings.yaml": (Y + b"[", b"{a},", b"]\n"),
    "folded.yaml": (Y + b">\n", b"  a\n", b""),
    "folded_blank.yaml": (Y + b">\n", b"  a\n\n\n", b""),
    "folded_quoted.yaml": (Y + b'"a', b"\n  a", b'"\n'),
    "folded_plain.yaml": (Y + b"a", b"\n  a", b"\n"),
    "literal.yaml": (Y + b"|\n", b"  a\n", b""),
    "comments.yaml": (Y + b"1\n", b"#\n", b""),
    "text.yaml": (Y, b"a", b"\n"),
    "wide_text.yaml": (Y + b'"' + FACE, b"a", b'"\n'),
    "wide_lines.yaml": (Y + b"|\n  " + FACE, b"a\n  ", b"\n"),
    "escapes.yaml": (Y + b'"', b"\\n", b'"\n'),
    "documents.yaml": (Y + b"1\n", b"---\n", b""),
    "roles.yaml": (Y + b"1\n", b"---\n_schema: orgkernel:role_profile\nrole_id: r%d\nrole_name: R\n", b""),
    "unknown_fields.yaml": (Y + b"1\n", b"k%d: 1\n", b""),
    "numbers.json": (J + b"[", b"1,", b"1]}"),
    "numbers_in_json.yaml": (J + b"[", b"1,", b"1]}"),
    "keys.json": (J + b"{", b'"k%d":1,', b'"k":1}}'),
    "lists.json": (J + b"[", b"[],", b"1]}"),
    "lines.json": (J, b"\n", b"1}"),
    "escapes.json": (J + b'"', b"\\u0041", b'"}'),
    "wide_text.json": (J + b'"' + FACE, b"a", b'"}'),
    "schema.json": (b'{"$schema": "x", "a": [', b"[],", b"1]}"),
}

# Imports once; each file is read by a process of its own, which begins with the memory of the first one.
MEASURE = """
import os, re, resource, sys, time
from orgkernel.loading.files import Root
from orgkernel.loading.tree import read_tree
from orgkernel.snapshots import build
def peak():
    return int(re.search("VmHWM:\\\\s+(\\\\d+)", open("/proc/self/status").read())[1]) // 1024
for path in map(str.strip, sys.stdin):
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
        before, began = peak(), time.process_time()
        tree = read_tree([Root(path, path)])
        codes = sorted({found.code for found in tree.diagnostics})
        print(time.process_time() - began, peak() - before, *codes, flush=True)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        print("died", flush=True)
"""


def fill(begin: bytes, part: bytes, end: bytes) -> bytes:
    """A file of nearly 16 MiB."""
    room = LIMIT - len(begin) - len(end) - 100
    if b"%d" not in part:
        return begin + part * (room // len(part)) + end
    parts: list[bytes] = []
    number = 0
    while room > 0:
        parts.append(part % number)
        room -= len(parts[-1])
        number += 1
    return begin + b"".join(parts[:-1]) + end


@pytest.fixture(scope="module")
def reader() -> Iterator[subprocess.Popen[str]]:
    """A process that reads the files that it is told, and says what each has cost."""
    with subprocess.Popen(
        [sys.executable, "-c", MEASURE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    ) as process:  # fmt: skip
        yield process


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory is measured by /proc")
@pytest.mark.parametrize("name", sample_every(COSTLY, 3))
def test_a_file_within_the_limit_is_cheap(
    name: str, reader: subprocess.Popen[str], quick_folder: Path
) -> None:
    """Whatever fills the file, it is read or refused within the budget."""
    assert reader.stdin is not None
    assert reader.stdout is not None
    path = quick_folder / name
    path.write_bytes(fill(*COSTLY[name]))
    reader.stdin.write(f"{path}\n")
    seconds, megabytes, *codes = (said := reader.stdout.readline()).split()
    assert float(seconds) < SECONDS * ROOM, said
    assert int(megabytes) < MEGABYTES, said
    assert codes in ([], ["ORG003"]), codes
