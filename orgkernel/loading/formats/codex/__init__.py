"""OpenAI Codex: agents (`.codex/agents/*.toml`), and the sandbox and MCP servers of `.codex/config.toml`."""

from __future__ import annotations

import os
from collections.abc import Sequence

from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.agent_folders import AgentFolders
from orgkernel.loading.formats.format import Layout
from orgkernel.loading.sources import Completion, FileRead, ReadFile

CONFIGURATION = "config.toml"
FOLDERS = AgentFolders(".codex", ("agents",), ".toml", (os.path.join(".codex", CONFIGURATION),))


class Codex:
    """The Codex format. Its readers are imported on first use."""

    name = "codex"
    title = "OpenAI Codex"
    catalog = os.path.join(os.path.dirname(__file__), "tools.yaml")

    def may_hold(self, path: str) -> bool:
        """Whether a file can be an agent or the configuration."""
        return FOLDERS.may_hold(path)

    def find(self, path: str, *, is_certain: bool) -> Layout | None:
        """The locations of the files for a path."""
        return FOLDERS.find(path, is_certain=is_certain)

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
