"""OpenAI Codex: agents (`.codex/agents/*.toml`), and the sandbox and MCP servers of `.codex/config.toml`."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from orgkernel.loading.files import Area, Root, SourceText, find_in_head, is_folder, list_files_in
from orgkernel.loading.formats.agent_folders import AgentFolders
from orgkernel.loading.formats.format import Layout
from orgkernel.loading.sources import Completion, FileRead, ReadFile
from orgkernel.runtime.lazy_patterns import lazy_pattern

CONFIGURATION = "config.toml"
FOLDERS = AgentFolders(".codex", ("agents",), ".toml", (os.path.join(".codex", CONFIGURATION),))

_NAMES = lazy_pattern(r"[^.].*\.toml")
_AGENT = lazy_pattern(rb"^developer_instructions[ \t]*=", re.MULTILINE)
_SIZE, _MOST_LOOKED_AT = 16 * 1024, 50


class Codex:
    """The Codex format. Its readers are imported on first use."""

    name = "codex"
    title = "OpenAI Codex"
    catalog = os.path.join(os.path.dirname(__file__), "tools.yaml")

    def may_hold(self, path: str) -> bool:
        """Whether a file can be an agent or the configuration."""
        return FOLDERS.may_hold(path)

    def find(self, path: str, *, is_certain: bool) -> Layout | None:
        """The locations of the files for a path: a project, or a folder elsewhere that directly contains agents."""
        layout = FOLDERS.find(path, is_certain=is_certain)
        if layout is None and is_folder(path):
            names = list_files_in(path, _NAMES)[:_MOST_LOOKED_AT]
            if any(find_in_head(each, _AGENT, _SIZE) for each in names):
                return Layout(path, (Area(os.curdir, r"[^/]+[.]toml", depth=0),))
        return layout

    def read(self, source: SourceText, root: Root) -> ReadFile:
        """Read one file."""
        from orgkernel.loading.formats.codex.agents import read_agent, read_configuration

        is_agent = os.path.basename(source.path) != CONFIGURATION
        return read_agent(source, root) if is_agent else read_configuration(source, root)

    def complete(self, root: Root, files: Sequence[FileRead], own: Sequence[FileRead]) -> Completion:
        """Build the organization, and apply the sandbox to its tools."""
        from orgkernel.loading.formats.codex.agents import NAMES
        from orgkernel.loading.formats.coding_agents import complete_agents

        return complete_agents(root, files, own, NAMES)


FORMAT = Codex()
