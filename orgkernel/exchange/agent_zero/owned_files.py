"""Write files into a folder that other programs also write to, and change only files that orgkernel wrote.

A journal lists every written file with the digests of its written contents. A file is owned while its content has
one of these digests. An edited file belongs to its editor and is kept. The journal is written before the first file
and lists old and new contents until the last, so after a crash the next call knows every file that could be owned.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from orgkernel.exchange.confined_folder import ConfinedFolder


@dataclass(slots=True)
class Journal:
    """The files written below a root. Paths are relative to it, with slashes."""

    files: dict[str, list[str]] = field(default_factory=dict)
    """The digests of the written contents, by path."""
    folders: list[str] = field(default_factory=list)
    """Folders that were created for them, outer ones first."""
    about: dict[str, Any] = field(default_factory=dict)


class OwnedFiles:
    """The files of one journal in one tree. The journal is on disk before the files that it announces.

    Other programs can write the journal too. `may_own` decides which paths can be owned. Entries of other paths are
    ignored, and so are entries of files whose content orgkernel did not write.
    """

    def __init__(
        self,
        tree: ConfinedFolder,
        journal_path: str,
        schema: str,
        may_own: Callable[[str], bool],
    ) -> None:
        self._tree = tree
        self._path = journal_path
        self._schema = schema
        self.journal = _read_journal(tree.read(journal_path), schema, may_own)

    def is_free(self, path: str) -> bool:
        """Whether a file can be written: it does not exist, or it is owned."""
        return not self._tree.exists(path) or self.is_ours(path)

    def is_ours(self, path: str, *, written_as: str | None = None) -> bool:
        """Whether the file still has a content that was written here, perhaps under another name."""
        digests = self.journal.files.get(written_as or path, ())
        content = self._tree.read(path) if digests else None
        return content is not None and _compute_digest(content) in digests

    def announce(self, contents: Mapping[str, bytes], about: Mapping[str, Any]) -> None:
        """Record the files that will be written, in addition to those that were."""
        for path, content in contents.items():
            written = [*self.journal.files.get(path, ()), _compute_digest(content)]
            self.journal.files[path] = list(dict.fromkeys(written))
        for path in (*contents, self._path):
            for folder in _list_folders(path):
                if folder not in self.journal.folders and not self._tree.is_folder(folder):
                    self.journal.folders.append(folder)
        self.journal.about = dict(about)
        self._save()

    def write(self, path: str, content: bytes) -> None:
        """Write an announced file. A reader sees either the old or the new one."""
        self._tree.write(path, content)

    def remove(self, paths: Iterable[str]) -> tuple[list[str], list[str]]:
        """Remove the owned files among these. Returns the removed files and those kept because they were changed."""
        removed, changed = [], []
        for path in list(paths):
            if self.is_ours(path):
                self._tree.remove(path)
                removed.append(path)
            elif self._tree.exists(path):
                changed.append(path)
            else:
                self._tree.remove(path)  # left by a killed run
        return removed, changed

    def settle(self, contents: Mapping[str, bytes], kept: Iterable[str] = ()) -> None:
        """Finish: the journal now lists only these files and those `kept`. If there are none, it is removed."""
        still = {path: self.journal.files[path] for path in kept if path in self.journal.files}
        self.journal.files = {
            **still,
            **{path: [_compute_digest(content)] for path, content in contents.items()},
        }
        files = self.journal.files
        self._drop_folders(keep={folder for path in (*files, self._path) for folder in _list_folders(path)})
        if files:
            self._save()
            return
        self._tree.remove(self._path)
        self._drop_folders(keep=frozenset())

    def _drop_folders(self, keep: Collection[str]) -> None:
        """Remove created folders that are no longer needed. A folder with content is kept and is no longer owned."""
        for folder in sorted(set(self.journal.folders) - set(keep), key=len, reverse=True):
            self._tree.remove_folder(folder)
        self.journal.folders = [folder for folder in self.journal.folders if folder in keep]

    def _save(self) -> None:
        data = {
            "_schema": self._schema,
            "_version": "1.0",
            **self.journal.about,
            "files": self.journal.files,
            "folders": self.journal.folders,
        }
        self._tree.write(self._path, (json.dumps(data, indent=1) + "\n").encode())


def _read_journal(content: bytes | None, schema: str, may_own: Callable[[str], bool]) -> Journal:
    """Read the journal. An unreadable journal is treated as missing, so foreign files are never treated as owned."""
    try:
        data = json.loads(content or b"")
        if data["_schema"] != schema:
            return Journal()
        files = {str(name): [str(each) for each in digests] for name, digests in data["files"].items()}
        folders = [str(each) for each in data["folders"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Journal()
    safe = {
        name: digests for name, digests in files.items() if ConfinedFolder.is_below(name) and may_own(name)
    }
    about = {
        name: value for name, value in data.items() if name not in ("files", "folders") and name[:1] != "_"
    }
    return Journal(safe, [each for each in folders if ConfinedFolder.is_below(each)], about)


def _list_folders(path: str) -> list[str]:
    """The folders that contain a file, outer ones first."""
    steps = path.split("/")[:-1]
    return ["/".join(steps[: number + 1]) for number in range(len(steps))]


def _compute_digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"
