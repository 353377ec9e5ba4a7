"""MCP without agents: the servers of an `mcp.json`, or a saved answer to `tools/list`, are the tools of an
organization without roles.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from orgkernel.documents.records import PREFIX
from orgkernel.loading.files import (
    Area,
    Root,
    SourceText,
    does_mention,
    find_words,
    is_file,
    is_folder,
    read_text,
)
from orgkernel.loading.formats.format import Layout
from orgkernel.loading.sources import Completion, FileResult, LoadedFile

LISTED = "mcp-tools.json"
"""File for saved answers to `tools/list`, next to the file that declares the servers."""
PLACES = (".mcp.json", "mcp.json", os.path.join(".vscode", "mcp.json"), LISTED)
_NAMES = (".mcp.json", "mcp.json")
_AT_ROOT = re.compile(rb'"(?:command|url)"\s*:')
_OWN_KEYS = frozenset({"mcpServers", "servers", "tools", "result"})
_SCHEMA = re.compile(rb'"\$schema"\s*:\s*"https?://json-schema[.]org/')
_SHOWS = re.compile(rb'"(?:mcpServers|inputSchema)"\s*:|"servers"\s*:\s*\{')


class Mcp:
    """The MCP format. Its readers are imported on first use."""

    name = "mcp"
    title = "MCP"
    catalog = ""

    def may_hold(self, path: str) -> bool:
        """All its files are JSON, and orgkernel documents can be JSON too."""
        return False

    def find(self, path: str, *, is_certain: bool) -> Layout | None:
        """The location of a file of servers or tools, or of a folder that contains one under a usual name."""
        if is_folder(path):
            has_usual_file = any(is_certain or _is_mcp_file(os.path.join(path, each)) for each in PLACES)
            return Layout(path, tuple(Area(each) for each in PLACES)) if has_usual_file else None
        if path.endswith(".json") and (is_certain or _is_mcp_file(path)):
            return Layout(os.path.dirname(path), (Area(os.path.basename(path)),))
        return None

    def read(self, source: SourceText, root: Root) -> FileResult:
        """Read the servers and tools of one file."""
        from orgkernel.loading.formats.mcp.files import read_file

        return read_file(source, root)

    def complete(self, root: Root, files: Sequence[LoadedFile], own: Sequence[LoadedFile]) -> Completion:
        """Build the organization."""
        from orgkernel.loading.formats.mcp.files import complete

        return complete(root, files)


def _is_mcp_file(path: str) -> bool:
    if not is_file(path) or does_mention(path, PREFIX) or _is_json_schema(path):
        return False
    return bool(find_words(path, _SHOWS)) or (
        os.path.basename(path) in _NAMES and bool(find_words(path, _AT_ROOT)) and _holds_servers(path)
    )


def _is_json_schema(path: str) -> bool:
    """Whether a file is the schema of such files. The answers of servers have schemas, too, in their tools."""
    if not find_words(path, _SCHEMA):
        return False
    from orgkernel.loading.jsonc_reader import parse_jsonc

    roots = (each.value for each in parse_jsonc(read_text(path, path).text).documents)
    return any(isinstance(each, dict) and "$schema" in each and _OWN_KEYS.isdisjoint(each) for each in roots)


def _holds_servers(path: str) -> bool:
    from orgkernel.loading.formats.mcp.files import has_servers_at_root
    from orgkernel.loading.jsonc_reader import parse_jsonc

    parsed = parse_jsonc(read_text(path, path).text)
    return any(has_servers_at_root(each.value) for each in parsed.documents)


FORMAT = Mcp()
