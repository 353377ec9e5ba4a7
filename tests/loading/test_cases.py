"""Every case of reading and shape: the complete list of what is found while some files are read.

A file of a case is its text, or one of `{hex: …}`, `{base64: …}`, `{repeat: [text, times], before: …, after: …}`,
`{size: bytes}` (a file of zeros) and `{link: target}`. `documents` and `skipped` count what was read and passed over.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from orgkernel.diagnostics.catalog import ROWS
from orgkernel.diagnostics.diagnostic import sort_diagnostics
from orgkernel.loading.files import Root
from orgkernel.loading.sources import LoadedFiles
from orgkernel.loading.tree import read_tree
from orgkernel.snapshots.roots import Request, resolve_paths
from tests.support.trees import read_sources
from tests.support.yaml_text import read_yaml_file

CASES = Path(__file__).parent / "cases"
FILES = {path.stem: read_yaml_file(path) for path in sorted(CASES.glob("*.yaml"))}


def put_file(path: Path, content: str | dict[str, Any]) -> None:
    """Write one file of a case."""
    path.parent.mkdir(parents=True, exist_ok=True)
    match content:
        case str():
            path.write_bytes(content.encode())
        case {"hex": digits}:
            path.write_bytes(bytes.fromhex(digits))
        case {"base64": letters}:
            path.write_bytes(base64.b64decode(letters, validate=True))
        case {"repeat": [text, times]}:
            path.write_bytes((content.get("before", "") + text * times + content.get("after", "")).encode())
        case {"size": size}:
            with path.open("wb") as file:
                file.truncate(size)
        case {"link": target}:
            path.symlink_to(target)
        case _:
            raise AssertionError(f"{path.name}: {content}")


def read_case(case: dict[str, Any], folder: Path) -> LoadedFiles:
    """What reading the files of a case yields."""
    for name, content in case["files"].items():
        put_file(folder / name, content)
    request = resolve_paths(["."], str(folder))
    if request.detected:
        return read_tree(request.roots)
    own = Root(str(folder), "")
    sources = read_sources(Request((own,), frozenset(), shown_from=str(folder)))
    tree = read_tree((own, *sources.roots))
    return replace(tree, diagnostics=(*tree.diagnostics, *sources.refused))


def list_findings(tree: LoadedFiles) -> list[dict[str, str]]:
    """The findings as a case lists them."""
    return [
        {
            "code": found.code,
            "at": str(found.place),
            "message": found.message,
            **({"help": found.help} if found.help else {}),
        }
        for found in sort_diagnostics(tree.diagnostics)
    ]


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=f"{stem}-{name}")
        for stem, file in FILES.items()
        for name, case in file["cases"].items()
    ],
)
def test_case(case: dict[str, Any], tmp_path: Path) -> None:
    """Reading says exactly this."""
    tree = read_case(case, tmp_path)
    assert list_findings(tree) == case["expect"]
    if "documents" in case:
        assert [document.kind for document in tree.documents] == case["documents"]
    if "skipped" in case:
        assert tree.skipped == case["skipped"]


@pytest.mark.parametrize("code", sorted(ROWS))
def test_every_code_has_cases(code: str) -> None:
    """Every row of the catalog fires in one of its cases and keeps silent in a near miss."""
    cases = FILES[code]["cases"]
    fires = {name: any(found["code"] == code for found in case["expect"]) for name, case in cases.items()}
    assert any(fires.values())
    misses = {name for name in cases if name.startswith("near_miss")}
    assert misses
    assert not any(fires[name] for name in misses)
