"""The formats of others, in which organizations are read where they lie. One package for each.

A format finds its files in a folder, reads each file by itself into documents with the places of their values, and then
adds what no single file says. All above loading sees documents.
"""

from __future__ import annotations

from collections.abc import Sequence

from orgkernel.loading.formats.claude_code import ClaudeCode
from orgkernel.loading.formats.crewai import CrewAI
from orgkernel.loading.formats.format import Format, Layout
from orgkernel.loading.formats.lookups import look_up
from orgkernel.loading.sources import NOTHING_TO_COMPLETE, Completion, FileRead

OURS = "orgkernel"
"""The word for our own documents, where a format is chosen."""
_FORMATS: tuple[Format, ...] = (ClaudeCode(), CrewAI())
FORMATS = {each.name: each for each in _FORMATS}
__all__ = ["FORMATS", "OURS", "Format", "Layout", "complete", "find_layout", "format_named", "may_be_foreign"]


def may_be_foreign(path: str) -> bool:
    """Whether a file of this name at this place may be in one of the formats, and is no document of ours."""
    return any(each.may_hold(path) for each in _FORMATS)


def format_named(name: str) -> Format:
    """The format of a root."""
    return FORMATS[name]


def find_layout(path: str, name: str | None = None) -> tuple[Format, Layout] | None:
    """The format of a file or folder, and where its files lie; with `name`, that format even where nothing shows it."""
    for each in _FORMATS if name is None else (FORMATS[name],):
        if (layout := each.find(path, is_certain=name is not None)) is not None:
            return each, layout
    return None


def complete(files: Sequence[FileRead]) -> Completion:
    """What the files in the formats of others mean together."""
    if not any(file.located.root.areas for file in files):
        return NOTHING_TO_COMPLETE
    by_root: dict[int, list[FileRead]] = {}
    for file in files:
        if file.located.root.areas:
            by_root.setdefault(file.located.number, []).append(file)
    made = Completion({}, ())
    for number, those in by_root.items():
        root = those[0].located.root
        own = [
            file for file in files if file.located.root.format == root.format and not file.located.root.areas
        ]
        found = FORMATS[root.format].complete(root, those, own)
        read = (document for file in those for document in file.read.documents)
        instead, looked_up = look_up(root, number, (each for each in read if id(each) not in found.instead))
        made = Completion(
            {**made.instead, **found.instead, **instead},
            (*made.documents, *found.documents),
            {**made.looked_up, **looked_up},
        )
    return made
