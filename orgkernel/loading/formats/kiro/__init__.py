"""Kiro: agents in JSON and Markdown (`.kiro/agents`) and MCP servers. Its steering files are instructions, and declare no agent."""

from __future__ import annotations

import os
from collections.abc import Sequence

from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.format import Layout
from orgkernel.loading.formats.kiro.layout import FOLDERS
from orgkernel.loading.sources import Completion, FileResult, LoadedFile


class KiroAgents:
    """The Kiro format. Its readers are imported on first use."""

    name = "kiro"
    title = "Kiro"
    catalog = os.path.join(os.path.dirname(__file__), "tools.yaml")

    def may_hold(self, path: str) -> bool:
        """Whether a file can be an agent or declare servers."""
        return FOLDERS.may_hold(path)

    def find(self, path: str, *, is_certain: bool) -> Layout | None:
        """The locations of the files for a path."""
        return FOLDERS.find(path, is_certain=is_certain)

    def read(self, source: SourceText, root: Root) -> FileResult:
        """Read one file."""
        if source.path.endswith(FOLDERS.others):
            from orgkernel.loading.formats.kiro.servers import read_project_servers

            return read_project_servers(source, root)
        from orgkernel.loading.formats.kiro.agents import read_agent

        return read_agent(source, root)

    def complete(self, root: Root, files: Sequence[LoadedFile], own: Sequence[LoadedFile]) -> Completion:
        """Build the organization, and apply the permissions to its tools."""
        from orgkernel.loading.formats.coding_agents import complete_agents
        from orgkernel.loading.formats.kiro.host_table import get_names

        return complete_agents(root, files, own, get_names())


FORMAT = KiroAgents()
