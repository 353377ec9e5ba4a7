"""Cursor: agents (`.cursor/agents/*.md`) and MCP servers. Its rules are instructions, and declare no agent."""

from __future__ import annotations

import os
from collections.abc import Sequence

from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.agent_folders import AgentFolders
from orgkernel.loading.formats.format import Layout
from orgkernel.loading.sources import Completion, FileResult, LoadedFile

FOLDERS = AgentFolders(".cursor", ("agents",), ".md", (os.path.join(".cursor", "mcp.json"),))


class CursorAgents:
    """The Cursor format. Its readers are imported on first use."""

    name = "cursor"
    title = "Cursor"
    catalog = os.path.join(os.path.dirname(__file__), "tools.yaml")

    def may_hold(self, path: str) -> bool:
        """Whether a file can be an agent or declare servers."""
        return FOLDERS.may_hold(path)

    def find(self, path: str, *, is_certain: bool) -> Layout | None:
        """The locations of the files for a path."""
        return FOLDERS.find(path, is_certain=is_certain)

    def read(self, source: SourceText, root: Root) -> FileResult:
        """Read one file."""
        if source.path.endswith(".json"):
            from orgkernel.loading.formats.servers import read_servers

            return read_servers(source, root)
        from orgkernel.loading.formats.cursor.agents import read_agent

        return read_agent(source, root)

    def complete(self, root: Root, files: Sequence[LoadedFile], own: Sequence[LoadedFile]) -> Completion:
        """Build the organization."""
        from orgkernel.loading.formats.coding_agents import complete_agents
        from orgkernel.loading.formats.cursor.agents import NAMES

        return complete_agents(root, files, own, NAMES)


FORMAT = CursorAgents()
