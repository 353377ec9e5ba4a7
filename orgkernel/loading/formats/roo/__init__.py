"""Roo Code: the custom modes of a project (`.roomodes`), and its MCP servers. Rules of modes are not read,
because they are instructions.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from orgkernel.loading.files import Area, Root, SourceText, find_in_head, is_file
from orgkernel.loading.formats.format import Layout
from orgkernel.loading.sources import Completion, FileResult, LoadedFile
from orgkernel.runtime.lazy_patterns import lazy_pattern

MODES = ".roomodes"
_CONTENT = lazy_pattern(rb"customModes")
_SIZE = 256 * 1024
_SERVERS = os.path.join(".roo", "mcp.json")


class RooModes:
    """The Roo Code format. Its readers are imported on first use."""

    name = "roo"
    title = "Roo Code"
    catalog = os.path.join(os.path.dirname(__file__), "tools.yaml")

    def may_hold(self, path: str) -> bool:
        """Whether a file can declare modes or servers."""
        return os.path.basename(path) == MODES or path == _SERVERS or path.endswith(os.sep + _SERVERS)

    def find(self, path: str, *, is_certain: bool) -> Layout | None:
        """The locations of the files for a path: a folder with modes, or the file itself."""
        top = os.path.dirname(path) if os.path.basename(path) == MODES else path
        if find_in_head(os.path.join(top, MODES), _CONTENT, _SIZE):
            return Layout(top, (Area(MODES), Area(_SERVERS)))
        return (
            Layout(os.path.dirname(path), (Area(os.path.basename(path)),))
            if is_certain and is_file(path)
            else None
        )

    def read(self, source: SourceText, root: Root) -> FileResult:
        """Read one file."""
        if source.path.endswith(".json"):
            from orgkernel.loading.formats.servers import read_servers

            return read_servers(source, root)
        from orgkernel.loading.formats.roo.modes import read_modes

        return read_modes(source, root)

    def complete(self, root: Root, files: Sequence[LoadedFile], own: Sequence[LoadedFile]) -> Completion:
        """Build the organization."""
        from orgkernel.loading.formats.coding_agents import complete_agents
        from orgkernel.loading.formats.roo.modes import NAMES

        return complete_agents(root, files, own, NAMES)


FORMAT = RooModes()
