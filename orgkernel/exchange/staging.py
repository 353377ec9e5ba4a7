"""Replace files in a folder with foreign files, all or none: new contents are first written next to the files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from orgkernel.errors import UsageError
from orgkernel.exchange.confined_folder import ConfinedFolder

STAGED: Final = ".orgkernel-new"
"""Suffix of a new content next to its file."""


def open_folder(folder: str, shown: str) -> ConfinedFolder:
    """A folder that is there. Raises `UsageError`."""
    try:
        return ConfinedFolder(folder)
    except OSError as error:
        raise UsageError(f"{shown} cannot be opened: {_describe_reason(error)}", "pass a folder") from None


def build_unwritable_error(shown: str, error: OSError, help: str) -> UsageError:
    """The error for a folder that could not be written."""
    return UsageError(f"{shown} cannot be written: {_describe_reason(error)}", help)


def stage_files(tree: ConfinedFolder, contents: Mapping[str, bytes]) -> None:
    """Write each content next to its file. If one cannot be written, all are removed again. Raises OSError."""
    staged: list[str] = []
    try:
        for path, content in contents.items():
            staged.append(path)
            tree.write(f"{path}{STAGED}", content)
    except BaseException:
        for path in staged:
            tree.remove(f"{path}{STAGED}")
        raise


def settle(tree: ConfinedFolder, paths: Iterable[str]) -> None:
    """Replace the files by their staged contents, in this order. Raises OSError."""
    for path in paths:
        tree.rename(f"{path}{STAGED}", path.rpartition("/")[2])


def _describe_reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
