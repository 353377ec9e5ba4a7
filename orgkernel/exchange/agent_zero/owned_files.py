"""Write files into a tree that other programs write to as well, and change only files that were written here.

A journal lists every written file with the digests of its written contents. A file is owned while its content has one of
these digests; once somebody edits it, it is theirs and is kept. The journal is written before the first file and lists
old and new contents until the last, so after a crash the next call knows every file that may be owned.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from orgkernel.project.replacing import replace_file

SCHEMA = "orgkernel:activation"


@dataclass(slots=True)
class Journal:
    """The files written below a root. Paths are relative to it, with slashes."""

    files: dict[str, list[str]] = field(default_factory=dict)
    """The digests of the written contents, by path."""
    folders: list[str] = field(default_factory=list)
    """Folders that were created for them, outer ones first."""
    about: dict[str, Any] = field(default_factory=dict)


class OwnedFiles:
    """The files of one journal in one tree. The journal is on disk before the files that it announces."""

    def __init__(self, root: str, journal_path: str) -> None:
        self._root = root
        self._path = journal_path
        self.journal = _read_journal(self.full(journal_path))

    def full(self, path: str) -> str:
        """The full path of a file in the tree."""
        return os.path.join(self._root, *path.split("/"))

    def name_of(self, full: str) -> str:
        """The path of a file relative to the root."""
        return os.path.relpath(full, self._root).replace(os.sep, "/")

    def is_free(self, path: str) -> bool:
        """Whether a file may be written: it does not exist, or it is owned."""
        return not os.path.lexists(self.full(path)) or self.is_ours(path)

    def is_ours(self, path: str) -> bool:
        """Whether the file still has a content that was written here."""
        full = self.full(path)
        if path not in self.journal.files or os.path.islink(full):
            return False
        try:
            with open(full, "rb") as file:
                return _digest(file.read()) in self.journal.files[path]
        except OSError:
            return False

    def announce(self, texts: Mapping[str, str], about: Mapping[str, Any]) -> None:
        """Record the files that will be written, in addition to those that were."""
        for path, text in texts.items():
            written = [*self.journal.files.get(path, ()), _digest(text.encode())]
            self.journal.files[path] = list(dict.fromkeys(written))
        for path in (*texts, self._path):
            for folder in _folders_of(path):
                if folder not in self.journal.folders and not os.path.isdir(self.full(folder)):
                    self.journal.folders.append(folder)
        self.journal.about = dict(about)
        self._save()

    def write(self, path: str, text: str) -> None:
        """Write an announced file. A reader sees either the old or the new one."""
        os.makedirs(os.path.dirname(self.full(path)), exist_ok=True)
        replace_file(self.full(path), text.encode())

    def remove(self, paths: Iterable[str]) -> tuple[list[str], list[str]]:
        """Remove the owned files among these. Returns the removed files and those kept because they were changed."""
        removed, changed = [], []
        for path in list(paths):
            if self.is_ours(path):
                os.unlink(self.full(path))
                removed.append(path)
            elif os.path.lexists(self.full(path)):
                changed.append(path)
        return removed, changed

    def settle(self, texts: Mapping[str, str]) -> None:
        """Finish: the journal now lists only the announced files. If there are none, it is removed."""
        self.journal.files = {path: [_digest(text.encode())] for path, text in texts.items()}
        self._drop_folders(keep={folder for path in (*texts, self._path) for folder in _folders_of(path)})
        if texts:
            self._save()
            return
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.full(self._path))
        self._drop_folders(keep=frozenset())

    def _drop_folders(self, keep: Collection[str]) -> None:
        """Remove created folders that are no longer needed. A folder with content is kept and is no longer owned."""
        for folder in sorted(set(self.journal.folders) - set(keep), key=len, reverse=True):
            with contextlib.suppress(OSError):  # not empty or already removed
                os.rmdir(self.full(folder))
        self.journal.folders = [folder for folder in self.journal.folders if folder in keep]

    def _save(self) -> None:
        os.makedirs(os.path.dirname(self.full(self._path)), exist_ok=True)
        data = {
            "_schema": SCHEMA,
            "_version": "1.0",
            **self.journal.about,
            "files": self.journal.files,
            "folders": self.journal.folders,
        }
        replace_file(self.full(self._path), (json.dumps(data, indent=1) + "\n").encode())


def _read_journal(path: str) -> Journal:
    """Read the journal. One that cannot be read counts as missing, so no foreign file counts as owned."""
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        if data["_schema"] != SCHEMA:
            return Journal()
        files = {str(name): [str(each) for each in digests] for name, digests in data["files"].items()}
        folders = [str(each) for each in data["folders"]]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Journal()
    safe = {name: digests for name, digests in files.items() if _is_below(name)}
    about = {
        name: value for name, value in data.items() if name not in ("files", "folders") and name[:1] != "_"
    }
    return Journal(safe, [each for each in folders if _is_below(each)], about)


def _is_below(path: str) -> bool:
    """Whether a path in a journal stays inside the root."""
    return bool(path) and not os.path.isabs(path) and ".." not in path.split("/") and "\\" not in path


def _folders_of(path: str) -> list[str]:
    """The folders that contain a file, outer ones first."""
    steps = path.split("/")[:-1]
    return ["/".join(steps[: number + 1]) for number in range(len(steps))]


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"
