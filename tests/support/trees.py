"""Trees of documents for tests: written to disk, copied from a template, read with the shared ontology."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from orgkernel.diagnostics import Severity
from orgkernel.loading.files import Root, locate_files
from orgkernel.snapshots.build import build_snapshot
from orgkernel.snapshots.roots import Request, get_shared_ontology, resolve_paths
from orgkernel.snapshots.snapshot import Snapshot
from orgkernel.snapshots.sources import Sources, find_declared_sources, find_sources

REPOSITORY = Path(__file__).parents[2]
_AS_STATED: Mapping[str, Severity | None] = {}
ONTOLOGY = REPOSITORY / "ontology"
TEMPLATES = REPOSITORY / "templates"


def write_tree(folder: Path, files: Mapping[str, str]) -> Path:
    """Write files by their relative names."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def copy_template(folder: Path, template: str) -> Path:
    """A template's files, to be changed."""
    return Path(shutil.copytree(TEMPLATES / template, folder, dirs_exist_ok=True))


def change_line(path: Path, line: str, becomes: str) -> None:
    """Replace the one line that reads exactly `line`."""
    lines = path.read_text(encoding="utf-8").split("\n")
    assert lines.count(line) == 1, f"{path.name} has {lines.count(line)} lines {line!r}"
    lines[lines.index(line)] = becomes
    path.write_text("\n".join(lines), encoding="utf-8")


def read_sources(request: Request) -> Sources:
    """The sources that the organizations of a request name."""
    located = locate_files(request.roots)
    return find_sources(
        request, [(each, named) for each in located if (named := find_declared_sources(each))]
    )


def read(folder: Path, severities: Mapping[str, Severity | None] = _AS_STATED) -> Snapshot:
    """A folder's snapshot, with files named relative to it; of one in the format of others, as an organization."""
    request = resolve_paths(["."], str(folder))
    if request.detected:
        return build_snapshot(request.roots, severities=severities)
    own = (Root(str(folder), ""), get_shared_ontology())
    sources = read_sources(Request(own, frozenset(), shown_from=str(folder)))
    return build_snapshot((*own, *sources.roots), severities=severities, refused=sources.refused)
