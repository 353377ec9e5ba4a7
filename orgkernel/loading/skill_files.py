"""Lists and reads the files next to a SKILL.md, by names that cannot lead out of the skill's folder.

They are data for agents and never documents. They are read on request, so each answer has its own digest.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from typing import NamedTuple

from orgkernel.loading.files import SKILL_FILE
from orgkernel.runtime.regular_files import NotRegular, open_regular

MAX_FILES, MAX_LEVELS = 200, 5
MAX_BYTES = 1024 * 1024
# A name is an ASCII file name that starts with no dot, so neither `..` nor a hidden file is one.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_. -]{0,99}\Z")


class FileEntry(NamedTuple):
    """A file next to a skill."""

    path: str
    """Relative to the folder of the skill, with slashes."""
    size: int


class FileContent(NamedTuple):
    """The bytes of a file next to a skill."""

    path: str
    content: bytes
    sha256: str


class FileRefused(Exception):
    """Raised for a file that is not read: `unknown`, `unsafe` or `too_large`."""

    def __init__(self, why: str, text: str) -> None:
        super().__init__(text)
        self.why = why
        self.text = text


def list_files(skill: str) -> tuple[FileEntry, ...]:
    """The files next to a SKILL.md, sorted by name. Links, hidden files and special files are omitted."""
    folder = os.path.dirname(skill)
    files: list[FileEntry] = []
    pending = [(folder, "")]
    while pending and len(files) < MAX_FILES:
        here, prefix = pending.pop()
        try:
            with os.scandir(here) as entries:
                named = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        below = []
        for entry in named:
            path = prefix + entry.name
            if not _NAME.match(entry.name) or entry.is_symlink() or path == SKILL_FILE:
                continue
            if entry.is_dir(follow_symlinks=False):
                if path.count("/") + 1 < MAX_LEVELS:
                    below.append((entry.path, f"{path}/"))
            elif entry.is_file(follow_symlinks=False):
                files.append(FileEntry(path, entry.stat(follow_symlinks=False).st_size))
        # Reversed, because the last folder is read next: the limit then cuts off the end of the order, not the beginning.
        pending.extend(reversed(below))
    return tuple(sorted(files)[:MAX_FILES])


def read_file(skill: str, path: str) -> FileContent:
    """Read one of these files. Raises `FileRefused`."""
    parts = path.split("/")
    if len(parts) > MAX_LEVELS or not all(_NAME.match(part) for part in parts) or path == SKILL_FILE:
        raise FileRefused("unsafe", "the path is not a relative name of a file next to the skill")
    here = os.path.dirname(skill)
    try:
        for part in parts[:-1]:
            here = os.path.join(here, part)
            if not stat.S_ISDIR(os.lstat(here).st_mode):
                raise FileRefused("unknown", "the file does not exist next to the skill")
        # A folder that is swapped for a link between here and there is found by where the file really is.
        file_path = os.path.join(here, parts[-1])
        top = os.path.join(os.path.realpath(os.path.dirname(skill)), "")
        with open_regular(file_path, follow=False) as file:
            if os.path.realpath(file_path) != top + os.path.join(*parts):
                raise FileRefused("unsafe", "the path leads out of the skill's folder")
            # One byte more than allowed, so a file that grows while it is read is still noticed.
            content = file.read(MAX_BYTES + 1)
    except NotRegular:
        raise FileRefused("unsafe", "the path is a link, or not a regular file") from None
    except (OSError, ValueError):
        raise FileRefused("unknown", "the file does not exist next to the skill") from None
    if len(content) > MAX_BYTES:
        raise FileRefused("too_large", f"the file has more than {MAX_BYTES // 1024} KiB")
    return FileContent(path, content, hashlib.sha256(content).hexdigest())
