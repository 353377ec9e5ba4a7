"""Which changes on disk can be changes of documents.

Every way an edit reaches a folder counts: written in place, written beside and renamed over, a folder moved in. What
the operating system does not notify of is compared twice a second: a watched folder replaced by another one of its
name, a file that was named itself, and what links lead to outside the watched folders.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence

from watchfiles import Change

from orgkernel.loading.files import SUFFIXES

Identity = tuple[int, ...] | None
_NOISE = frozenset({"node_modules", "__pycache__"})


def relevant_below(folders: Sequence[str]) -> Callable[[Change, str], bool]:
    """A filter for changes below some folders: documents, folders, and the links that folders are swapped by."""
    beginnings = tuple(os.path.join(folder, "") for folder in folders)

    def is_relevant(change: Change, path: str) -> bool:
        beginning = next((each for each in beginnings if path.startswith(each)), "")
        *above, name = path[len(beginning) :].split(os.sep)
        if any(_is_skipped(part) for part in above) or _is_skipped(name):
            return False
        return (
            name.endswith(SUFFIXES)
            or "." not in name.lstrip(".")
            or change is Change.deleted
            or os.path.isdir(path)
        )

    return is_relevant


def _is_skipped(name: str) -> bool:
    """Whether loading passes over it; Kubernetes swaps mounted files by the link `..data`, so two dots count."""
    return name in _NOISE or (name.startswith(".") and not name.startswith(".."))


def identify(paths: Iterable[str], linked: Iterable[str] = ()) -> dict[str, Identity]:
    """What tells whether paths are still the same folders, or files with the same content.

    Of `linked` folders the entries count as well, since nothing else tells of a file that comes or goes there.
    """
    return {path: _identify(path, entries=False) for path in paths} | {
        path: _identify(path, entries=True) for path in linked
    }


def _identify(path: str, entries: bool) -> Identity:
    try:
        found = os.stat(path)
    except OSError:
        return None
    if os.path.isdir(path) and not entries:
        return (found.st_dev, found.st_ino)
    return (found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size)


def linked_paths(files: Iterable[str], watched: Iterable[str]) -> tuple[str, ...]:
    """The files that lie elsewhere than their paths say, outside everything that is watched, and their folders."""
    inside = tuple(os.path.join(os.path.realpath(path), "") for path in watched if os.path.isdir(path))
    folders: dict[str, str] = {}
    linked: set[str] = set()
    for file in files:
        folder, name = os.path.split(file)
        if folder not in folders:
            folders[folder] = os.path.realpath(folder)
        real = os.path.realpath(file) if os.path.islink(file) else os.path.join(folders[folder], name)
        if not real.startswith(inside):
            linked |= {real, os.path.dirname(real)}
    return tuple(sorted(linked))
