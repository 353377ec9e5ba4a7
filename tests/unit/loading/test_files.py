"""Finding, reading and decoding files."""

from __future__ import annotations

from pathlib import Path

import pytest

from orgkernel.loading.files import (
    Root,
    decode,
    does_mention,
    find_files,
    list_documents_in,
    read_lines,
    read_text,
)
from orgkernel.loading.marks import unpack_mark
from orgkernel.loading.tree import read_tree
from tests.support.trees import write_tree

ROLE = "_schema: orgkernel:role_profile\nrole_id: {}\n"


def names(folder: Path, name: str = "") -> list[str]:
    """Names of the files found below a folder."""
    return [name for _, name in find_files(Root(str(folder), name))]


def test_files_are_found_in_order(tmp_path: Path) -> None:
    """Sorted, files before folders, without hidden ones, with the name of the root in front."""
    write_tree(
        tmp_path,
        dict.fromkeys(["b.yml", "a.json", "z/a.yaml", "c/d/e.yaml", "c/a.txt", ".x/a.yaml", "Z.yaml"], ""),
    )
    assert names(tmp_path) == ["Z.yaml", "a.json", "b.yml", "c/d/e.yaml", "z/a.yaml"]
    assert names(tmp_path, "org")[0] == "org/Z.yaml"
    assert names(tmp_path, ".") == names(tmp_path)


def test_links_come_after_files(tmp_path: Path) -> None:
    """So that a file read once is called by its own name."""
    write_tree(tmp_path, {"b.yaml": ROLE.format("b"), "c/d.yaml": ROLE.format("d")})
    (tmp_path / "a.yaml").symlink_to("b.yaml")
    (tmp_path / "a").symlink_to("c")
    assert names(tmp_path) == ["b.yaml", "a.yaml", "c/d.yaml"]
    tree = read_tree([Root(str(tmp_path), "")])
    assert [document.name for document in tree.documents] == ["b.yaml", "c/d.yaml"]


def test_a_file_below_two_roots_is_read_once(tmp_path: Path) -> None:
    """For the first root that has it; the shared catalogs stay shared."""
    write_tree(tmp_path, {"a/x.yaml": ROLE.format("x"), "b/y.yaml": ROLE.format("y")})
    roots = [
        Root(str(tmp_path / "a" / "x.yaml"), "x"),
        Root(str(tmp_path), "all"),
        Root(str(tmp_path / "b"), "b", shared=True, context=True),
    ]
    found = [(each.name, each.shared, each.context) for each in read_tree(roots).documents]
    assert found == [("x", False, False), ("all/b/y.yaml", True, False)]


def test_roots_of_one_name_hide_nothing(tmp_path: Path) -> None:
    """Two files shown under one name are both read."""
    write_tree(tmp_path, {"a/co.yaml": ROLE.format("a"), "b/co.yaml": ROLE.format("b")})
    tree = read_tree([Root(str(tmp_path / "a"), ""), Root(str(tmp_path / "b"), "")])
    assert [document.record.role_id for document in tree.documents] == ["a", "b"]


def test_a_named_file_has_to_be_ours(tmp_path: Path) -> None:
    """What is passed over in a folder is reported when the user names it."""
    path = write_tree(tmp_path, {"a.yaml": "name: x\n"}) / "a.yaml"
    assert read_tree([Root(str(tmp_path), "")]).diagnostics == ()
    (found,) = read_tree([Root(str(path), "a.yaml")]).diagnostics
    assert (found.code, str(found.place)) == ("ORG018", "a.yaml:1:1")


@pytest.mark.parametrize("name", ["a.yaml", "a.json"])
def test_decode(name: str) -> None:
    """A byte order mark is dropped, the digest is of the bytes as they are."""
    with_mark, without = decode(name, name, b"\xef\xbb\xbf{}"), decode(name, name, b"{}")
    assert with_mark.text == without.text == "{}"
    assert with_mark.digest != without.digest
    assert with_mark.problem is without.problem is None


@pytest.mark.parametrize(
    "content", [b"ab\r\ncd\xff", b"\xef\xbb\xbfab\r\ncd\xff", b"ab\rcd\xff", b"ab\ncd\xff"]
)
def test_places_of_bad_bytes(content: bytes) -> None:
    """Counted in characters, with any line ends, the byte order mark aside."""
    problem = decode("a.yaml", "a.yaml", content).problem
    assert problem is not None
    assert unpack_mark(problem.mark) == (2, 3)
    assert "0xff" in problem.message


def test_lines_for_an_excerpt(tmp_path: Path) -> None:
    """Lines as marks count them, without their ends; a file that is gone or another one by now has none to show."""
    path = tmp_path / "a.yaml"
    path.write_bytes(b"\xef\xbb\xbfa\r\nb\rc\n")
    digest = read_text(str(path), "a.yaml").digest
    assert read_lines(str(path), digest) == ["a", "b", "c", ""]
    assert read_lines(str(path), digest[::-1]) == []
    assert read_lines(str(path), "") == []
    assert read_lines(str(tmp_path / "gone.yaml"), digest) == []


def test_mentions_and_candidates(tmp_path: Path) -> None:
    """Only candidate files directly in a folder; a folder, a link to nowhere and a missing file mention nothing."""
    write_tree(tmp_path, {"a.yaml": "x orgkernel:y\n", "b.txt": "", "c/d.yaml": "", ".e.yaml": ""})
    (tmp_path / "f.yaml").symlink_to("nowhere")
    assert list_documents_in(str(tmp_path)) == [str(tmp_path / "a.yaml")]
    assert list_documents_in(str(tmp_path / "gone")) == []
    assert does_mention(str(tmp_path / "a.yaml"), "orgkernel:")
    assert not does_mention(str(tmp_path / "a.yaml"), "other")
    assert not any(does_mention(str(tmp_path / name), "") for name in ("c", "f.yaml", "gone", "a\0b"))


def test_a_file_that_is_read_has_a_digest(tmp_path: Path) -> None:
    """Contents that differ have digests that differ; what could not be read has none."""
    write_tree(tmp_path, {"a.yaml": "a", "b.yaml": "b"})
    first, second = (read_text(str(tmp_path / name), name) for name in ("a.yaml", "b.yaml"))
    assert first.digest != second.digest
    assert len(first.digest) == 64
    assert read_text(str(tmp_path), "folder").digest == ""
