"""The digest of an organization's documents: approvals are bound to it, so it must not depend on who reads them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from orgkernel.kernel.kernel import Kernel
from tests.support.trees import write_tree

FILES = {
    "house/shop/org.yaml": '{_schema: "orgkernel:organization", org_id: shop, hierarchy: {co: {}}}\n',
    "house/shop/roles/co.yaml": '{_schema: "orgkernel:role_profile", role_id: co, role_type: commander}\n',
    "house/tools.yaml": '{_schema: "orgkernel:tool_catalog", tools: {radio: {type: browser}}}\n',
}


@pytest.fixture
def house(tmp_path: Path) -> Path:
    return write_tree(tmp_path, FILES) / "house"


def digest_from(folder: Path, path: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The digest for a process that was started in a folder and was given a path."""
    monkeypatch.chdir(folder)
    return Kernel.open(path).organization("shop").snapshot.digest


def test_every_process_that_reads_the_same_documents_comes_to_the_same_digest(
    house: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In whatever folder it was started, by whatever path it was told, and wherever a copy of the documents lies."""
    copy = house.parent / "copy"
    shutil.copytree(house, copy)
    asked = (
        (house, "."),
        (house, "shop"),
        (house.parent, "house"),
        (house / "shop", "."),
        (Path("/"), str(house)),
        (copy, "."),
    )
    assert len({digest_from(folder, path, monkeypatch) for folder, path in asked}) == 1


@pytest.mark.parametrize("file", FILES)
def test_the_digest_changes_with_every_document_of_the_organization(
    house: Path, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And is the old one again when the edit is taken back."""
    before = digest_from(house, ".", monkeypatch)
    path = house.parent / file
    content = path.read_bytes()
    path.write_bytes(content + b"# seen\n")
    assert digest_from(house, ".", monkeypatch) != before
    path.write_bytes(content)
    assert digest_from(house, ".", monkeypatch) == before


def test_a_file_that_moves_within_the_organization_changes_the_digest(
    house: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Because every answer names the file it rests on."""
    before = digest_from(house, ".", monkeypatch)
    (house / "shop" / "roles" / "co.yaml").rename(house / "shop" / "roles" / "chief.yaml")
    assert digest_from(house, ".", monkeypatch) != before


def test_what_lies_beside_an_organization_and_is_none_of_its_documents_changes_nothing(
    house: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reload after such an edit leaves every approval as it is."""
    before = digest_from(house, ".", monkeypatch)
    write_tree(
        house, {"notes.txt": "later\n", "yard/org.yaml": FILES["house/shop/org.yaml"].replace("shop", "yard")}
    )
    assert digest_from(house, ".", monkeypatch) == before


def test_what_comes_with_the_package_may_lie_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tools of a host that agents in its format use: two checkouts of the program come to one digest."""
    write_tree(
        tmp_path,
        {"shop/.claude/agents/tests.md": "---\nname: tests\ndescription: Runs.\ntools: Read\n---\nRun.\n"},
    )
    copy = tmp_path / "far" / "away"
    shutil.copytree(tmp_path / "shop", copy / "shop")
    found = {digest_from(folder, "shop", monkeypatch) for folder in (tmp_path, copy)}
    assert len(found) == 1
