"""Write an export into a folder with foreign files: foreign files stay unchanged, and the export is written
completely or not at all.

A file belongs to the export if it has the mark of this organization and format. All new contents are written next
to their files before the first one is replaced, so a full disk changes nothing, and a reader sees either the old or
the new file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from orgkernel.diagnostics.wording import listing
from orgkernel.errors import UsageError
from orgkernel.exchange.confined_folder import ConfinedFolder
from orgkernel.exchange.drift import ExportComparison, compare_export
from orgkernel.exchange.exported import ConvertedFiles
from orgkernel.exchange.formats import Exporter
from orgkernel.exchange.marks import Mark, find_mark
from orgkernel.exchange.staging import STAGED, build_unwritable_error, open_folder, settle, stage_files

_MAX_FOLDERS = 10_000


class ForeignFile(UsageError):
    """A file that would be replaced was not exported from this organization."""

    code = "NOT_OURS"


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    """The files that an export wrote, kept and removed."""

    written: tuple[str, ...]
    removed: tuple[str, ...]
    kept: tuple[str, ...]
    """Files that already were as exported."""


def check_export(export: ConvertedFiles, exporter: Exporter, folder: str, mark: Mark) -> ExportComparison:
    """Compare an export with a folder. Raises `UsageError` if it cannot be read."""
    if not os.path.lexists(folder):
        return compare_export(export, {}, mark)
    with _open(folder) as tree:
        return compare_export(export, _read_existing_files(tree, export, exporter), mark)


def write_export(
    export: ConvertedFiles, exporter: Exporter, folder: str, mark: Mark, *, force: bool
) -> WrittenFiles:
    """Write the files that differ and remove files that are no longer exported.

    Raises `ForeignFile` before anything is changed, unless with `force`, and `UsageError` if the folder cannot be
    written.
    """
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise _build_unwritable_error(folder, error) from None
    with _open(folder) as tree:
        try:
            with tree.locked():
                return _write(tree, export, exporter, mark, force=force)
        except OSError as error:
            raise _build_unwritable_error(folder, error) from None


def _open(folder: str) -> ConfinedFolder:
    if os.open not in os.supports_dir_fd:
        raise UsageError(
            "files are written and checked on Linux and macOS only", "print them: leave out `-o`"
        )
    return open_folder(folder, f"`{folder}`")


def _build_unwritable_error(folder: str, error: OSError) -> UsageError:
    return build_unwritable_error(
        f"`{folder}`", error, "free some space or fix the permissions, and export again"
    )


def _write(
    tree: ConfinedFolder, export: ConvertedFiles, exporter: Exporter, mark: Mark, *, force: bool
) -> WrittenFiles:
    current_files = _read_existing_files(tree, export, exporter)
    ours = {path for path, text in current_files.items() if find_mark(text or "") == mark}
    if ours & set(export.files):
        ours |= export.unmarked
    wanted = {path: text for path, text in export.files.items() if current_files.get(path, ...) != text}
    others = [
        path
        for path in wanted
        if path not in ours and tree.exists(path) and not (force and tree.is_file(path))
    ]
    if others:
        raise ForeignFile(
            f"not exported from this organization: {listing(others)}",
            "export into another folder, move the files away, or replace them with `--force`",
        )
    surplus = sorted(path for path in ours if path in current_files and path not in export.files)
    stage_files(tree, {path: text.encode() for path, text in wanted.items()})
    for pattern in exporter.places:
        for path in _list_matching(tree, "", f"{pattern}{STAGED}".split("/")):
            if path.removesuffix(STAGED) not in wanted:
                tree.remove(path)  # left by a killed run
    # Removals come first, so a run that is stopped here leaves fewer files with permissions, not more.
    for path in surplus:
        tree.remove(path)
        _remove_empty(tree, path)
    settle(tree, sorted(wanted, key=lambda path: path.endswith(".md")))
    kept = tuple(path for path in export.files if path not in wanted)
    return WrittenFiles(tuple(wanted), tuple(surplus), kept)


def _remove_empty(tree: ConfinedFolder, path: str) -> None:
    folder = path.rpartition("/")[0]
    while folder and tree.remove_folder(folder):
        folder = folder.rpartition("/")[0]


def _read_existing_files(
    tree: ConfinedFolder, export: ConvertedFiles, exporter: Exporter
) -> dict[str, str | None]:
    """The files with exported names and at the locations of the format. None for a file that is not text."""
    paths = dict.fromkeys(path for path in export.files if tree.exists(path))
    for pattern in exporter.places:
        paths.update(dict.fromkeys(_list_matching(tree, "", pattern.split("/"))))
    return {path: _read_text(tree.read(path)) for path in paths}


def _list_matching(tree: ConfinedFolder, folder: str, steps: list[str]) -> Iterator[str]:
    step, rest = steps[0], steps[1:]
    names = [step] if "*" not in step else tree.names(folder)[:_MAX_FOLDERS]
    for name in names:
        path = f"{folder}/{name}" if folder else name
        if not fnmatchcase(name, step):
            continue
        if rest:
            yield from _list_matching(tree, path, rest)
        elif tree.is_file(path):
            yield path


def _read_text(content: bytes | None) -> str | None:
    try:
        return None if content is None else content.decode()
    except UnicodeDecodeError:
        return None
