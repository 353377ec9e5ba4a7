"""The formats of others, in which organizations are read where they lie. One package for each.

A format finds its files in a folder, reads each file by itself into documents with the places of their values, and then
adds what no single file says. All above loading sees documents.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from orgkernel.loading.files import is_file, is_folder
from orgkernel.loading.formats.agent_zero import AgentZero
from orgkernel.loading.formats.claude_code import ClaudeCode
from orgkernel.loading.formats.copilot import Copilot
from orgkernel.loading.formats.crewai import CrewAI
from orgkernel.loading.formats.format import Format, Layout
from orgkernel.loading.formats.mcp import Mcp
from orgkernel.loading.sources import NOTHING_TO_COMPLETE, Completion, FileRead

OURS = "orgkernel"
"""The word for our own documents, where a format is chosen."""
# What is found first is taken. MCP is last, because servers belong to the agents beside them.
_FORMATS: tuple[Format, ...] = (ClaudeCode(), Copilot(), CrewAI(), AgentZero(), Mcp())
FORMATS = {each.name: each for each in _FORMATS}
__all__ = [
    "FORMATS",
    "OURS",
    "Format",
    "Layout",
    "complete",
    "find_layout",
    "find_others",
    "format_named",
    "may_be_foreign",
]


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


def find_others(path: str, chosen: Format, layout: Layout) -> list[Format]:
    """Formats in which a path could be read as well, and which find there what the chosen one does not read."""
    read = {os.path.join(layout.top, area.path) for area in layout.areas}
    others = []
    for each in _FORMATS:
        found = each.find(path, is_certain=False) if each is not chosen else None
        if found is not None:
            paths = {os.path.join(found.top, area.path) for area in found.areas}
            if any(is_file(more) or is_folder(more) for more in paths - read):
                others.append(each)
    return others


def complete(files: Sequence[FileRead]) -> Completion:
    """What the files in the formats of others mean together."""
    if not any(file.located.root.areas for file in files):
        return NOTHING_TO_COMPLETE
    by_root: dict[int, list[FileRead]] = {}
    for file in files:
        if file.located.root.areas:
            by_root.setdefault(file.located.number, []).append(file)
    made = Completion({}, ())
    for those in by_root.values():
        root = those[0].located.root
        own = [
            file for file in files if file.located.root.format == root.format and not file.located.root.areas
        ]
        found = FORMATS[root.format].complete(root, those, own)
        made = Completion({**made.instead, **found.instead}, (*made.documents, *found.documents))
    return made
