"""The lines around a place in a document, without what could be a secret."""

from __future__ import annotations

from collections.abc import Sequence

from orgkernel.diagnostics.excerpt_secrets import mask_line
from orgkernel.loading.files import may_show_lines, read_lines
from orgkernel.loading.sources import LoadedFiles

MAX_LINE = 400
"""The characters of a line that are shown."""


def read_excerpt(
    tree: LoadedFiles, file: str, line: int, around: int, tops: Sequence[str]
) -> list[str] | None:
    """The lines of a file from `line - around` (or 1) to `line + around`, as they were read. `file` is a name as shown, and only
    names of files that were read are known. `tops` are folders whose files may be shown besides those that were named.

    None if there is no such file or line, if the file has changed since, or if a link leads out of the folders.
    """
    known = next((each for each in tree.files if each.located.name == file), None)
    if known is None or not may_show_lines(known.located, tops):
        return None
    lines = read_lines(known.located.path, known.digest)
    if not 0 < line <= len(lines):
        return None
    numbers = range(max(1, line - around), min(len(lines), line + around) + 1)
    return [_shorten(mask_line(lines, number)) for number in numbers]


def _shorten(line: str) -> str:
    return line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}…"
