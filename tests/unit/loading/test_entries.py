"""What a file yields survives as bytes, and bytes that are something else are told apart."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from orgkernel.loading.documents import read_documents
from orgkernel.loading.entries import DamagedEntry, pack_file, unpack_file
from orgkernel.loading.files import read_text
from orgkernel.loading.sources import ReadFile
from tests.support.trees import ONTOLOGY, TEMPLATES

FILES = sorted([*ONTOLOGY.glob("*.yaml"), *TEMPLATES.glob("*/*.yaml"), *TEMPLATES.glob("*/roles/*.yaml")])
BROKEN = "_schema: orgkernel:role_profile\nrole_id: [a]\nrole_name: 3\nunread: 1\n"
UNREAD = "_schema: orgkernel:role_profile\nrole_id: a\nunread: [1, {b: text}]\nx_mine: yes\n"
SEVERAL = f"{UNREAD}---\n_schema: orgkernel:tool_catalog\ntools: {{t: {{type: browser, input_schema: {{enum: [1, [2]]}}}}}}\n"


def reading(path: Path, name: str) -> ReadFile:
    """What a file yields, read now."""
    return read_documents(read_text(str(path), name), named=True, among_ours=False, shared=True)


def as_values(read: ReadFile) -> object:
    """Everything a reading holds, to compare."""
    documents = [
        (
            each.name, each.path, each.kind, each.record, each.digest, each.shared, each.context, each.unknown,
            msgspec.msgpack.encode(each.marks), each.packed,
        )
        for each in read.documents
    ]  # fmt: skip
    return documents, read.broken, read.diagnostics, read.skipped


@pytest.mark.parametrize("hold", [False, True])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_a_shipped_file_yields_survives(path: Path, hold: bool) -> None:
    """Records, marks and findings are the same after unpacking, held or not."""
    read = reading(path, "a/b.yaml")
    again = unpack_file(pack_file(read), str(path), "a/b.yaml", shared=True, hold=hold)
    assert as_values(again) == as_values(read)
    for one, other in zip(read.documents, again.documents, strict=True):
        assert one.place("role_id") == other.place("role_id")


@pytest.mark.parametrize("text", [BROKEN, UNREAD, SEVERAL, "", "a: [", "name: other\n"])
def test_what_any_file_yields_survives(text: str, tmp_path: Path) -> None:
    """Refusals, several documents and fields nobody reads too."""
    path = tmp_path / "b.yaml"
    path.write_text(text)
    read = reading(path, "a/b.yaml")
    assert as_values(unpack_file(pack_file(read), str(path), "a/b.yaml", shared=True)) == as_values(read)


def test_an_entry_does_not_say_where_the_file_lies(tmp_path: Path) -> None:
    """Two machines that read the same file pack the same bytes."""
    packed = []
    for folder in ("one", "other"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "b.yaml").write_text(BROKEN)
        packed.append(pack_file(reading(tmp_path / folder / "b.yaml", "b.yaml")))
    assert packed[0] == packed[1]


DEEP = b"\x91" * 100_000
HUGE = b"\xdd\xff\xff\xff\xff"
UNKNOWN_KIND = msgspec.msgpack.encode([[["no_kind", "", b"", b"", b""]], [], [], False])


@pytest.mark.parametrize(
    "hostile", [b"", b"\xc1", DEEP, HUGE, UNKNOWN_KIND, msgspec.msgpack.encode([[1], [2], [3], 4])]
)
def test_bytes_that_are_no_entry_are_told_apart(hostile: bytes) -> None:
    """Nesting, lengths and types are bounded by what an entry is."""
    with pytest.raises(DamagedEntry):
        unpack_file(hostile, "p", "n")


def test_every_cut_of_an_entry_is_told_apart() -> None:
    """An entry cut short is none."""
    packed = pack_file(reading(FILES[0], "n"))
    for end in range(0, len(packed), 97):
        with pytest.raises(DamagedEntry):
            unpack_file(packed[:end], "p", "n")
