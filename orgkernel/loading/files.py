"""Files: finding them, reading them within limits, decoding them. With the cache, the only readers of disk.

Nothing here raises for a bad file: what cannot be read is returned as a refusal at a mark, like a bad value.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from orgkernel.diagnostics import catalogue as row
from orgkernel.loading.marks import pack_mark
from orgkernel.loading.parsed import Refusal

SUFFIXES = (".yaml", ".yml", ".json")
MAX_BYTES = 16 * 1024 * 1024
_FIRST = pack_mark(1, 1)
_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__"})
# YAML 1.2 §5.1 lets a line separator stand in text, YAML 1.1 and libyaml end the line there: refused, so that line
# numbers mean the same to everybody.
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_UNPRINTABLE_IN_JSON = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Root:
    """A file or folder to read, and the name its files are shown under."""

    path: str
    name: str
    shared: bool = False
    """The catalogues every organisation falls back to."""
    context: bool = False
    """Read only so that others can refer to it; its own findings are not reported."""


@dataclass(frozen=True, slots=True)
class SourceText:
    """The text of one file, or why there is none."""

    path: str
    name: str
    text: str
    digest: str
    """SHA-256 of the bytes, in hexadecimal; empty where they could not be read."""
    refusal: Refusal | None = None


def find_files(root: Root) -> Iterator[tuple[str, str]]:
    """Path and name of every candidate file below a root, sorted, each folder once even through links.

    A folder that cannot be listed is itself yielded, so that reading it says why.
    """
    if not os.path.isdir(root.path):
        yield root.path, root.name
        return
    seen: set[str] = set()
    pending = [(root.path, root.name)]
    while pending:
        folder, name = pending.pop()
        if (real := os.path.realpath(folder)) in seen:
            continue
        seen.add(real)
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:
            yield folder, name
            continue
        below = []
        for entry in entries:
            if entry.name.startswith(".") or entry.name in _SKIPPED_FOLDERS:
                continue
            entry_name = f"{name}/{entry.name}" if name not in ("", ".") else entry.name
            if _is_folder(entry):
                below.append((entry.path, entry_name))
            elif entry.name.endswith(SUFFIXES):
                yield entry.path, entry_name
        pending.extend(reversed(below))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def read_text(path: str, name: str) -> SourceText:
    """The text of a file, at most `MAX_BYTES` of UTF-8 without characters that readers disagree on."""
    try:
        state = os.stat(path)
        if not stat.S_ISREG(state.st_mode):
            what = "a folder that cannot be listed" if stat.S_ISDIR(state.st_mode) else "not a regular file"
            return _refused(path, name, Refusal(row.UNREADABLE, _FIRST, f"the path is {what}"))
        if state.st_size > MAX_BYTES:
            return _too_large(path, name, state.st_size)
        with open(path, "rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        reason = (error.strerror or "it cannot be opened").lower()
        return _refused(path, name, Refusal(row.UNREADABLE, _FIRST, f"the file cannot be read: {reason}"))
    if len(content) > MAX_BYTES:
        return _too_large(path, name, len(content))
    return decode(path, name, content)


def decode(path: str, name: str, content: bytes) -> SourceText:
    """Bytes to text; a byte order mark of UTF-8 is dropped, any other encoding refused."""
    digest = hashlib.sha256(content).hexdigest()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8", "replace")
        refusal = Refusal(
            row.NOT_UTF8, _mark_after(before), f"byte 0x{content[error.start]:02x} is not UTF-8 here",
            "save the file as UTF-8",
        )  # fmt: skip
        return SourceText(path, name, "", digest, refusal)
    unprintable = _UNPRINTABLE_IN_JSON if name.endswith(".json") else _UNPRINTABLE
    if match := unprintable.search(text):
        refusal = Refusal(
            row.CHARACTER, _mark_after(text[: match.start()]), f"the character U+{ord(match[0]):04X} is not allowed",
            "remove it, or write it as an escape inside double quotes",
        )  # fmt: skip
        return SourceText(path, name, text, digest, refusal)
    return SourceText(path, name, text, digest)


def documents_in(folder: str) -> list[str]:
    """Paths of the candidate files directly in a folder, sorted; none where it cannot be listed."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    paths = (os.path.join(folder, name) for name in names if name.endswith(SUFFIXES) and not name.startswith("."))
    return [path for path in paths if os.path.isfile(path)]


def mentions(path: str, words: str) -> bool:
    """Whether the text of a file holds some words; a folder and a file that cannot be read hold none."""
    return os.path.isfile(path) and words in read_text(path, path).text


def read_lines(path: str) -> list[str]:
    """The lines of a file for showing an excerpt; empty when it cannot be read any more."""
    source = read_text(path, path)
    return source.text.split("\n")


def _mark_after(text: str) -> int:
    return pack_mark(text.count("\n") + 1, len(text) - text.rfind("\n"))


def _refused(path: str, name: str, refusal: Refusal) -> SourceText:
    return SourceText(path, name, "", "", refusal)


def _too_large(path: str, name: str, size: int) -> SourceText:
    message = f"the file has {size / 2**20:.1f} MiB, more than the {MAX_BYTES // 2**20} MiB a file may have"
    return _refused(path, name, Refusal(row.TOO_LARGE, _FIRST, message, "split the documents over several files"))
