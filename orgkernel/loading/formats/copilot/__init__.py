"""GitHub Copilot and VS Code: custom agents (`.github/agents/*.agent.md`), older chat modes, skills and MCP servers."""

from __future__ import annotations

import os
from collections.abc import Sequence

from orgkernel.loading.files import Root, SourceText, get_markdown_kind
from orgkernel.loading.formats.copilot.layout import find_layout, may_hold
from orgkernel.loading.formats.format import Layout
from orgkernel.loading.sources import Completion, FileResult, LoadedFile


class Copilot:
    """The Copilot format. Its readers are imported on first use."""

    name = "copilot"
    title = "GitHub Copilot"
    catalog = os.path.join(os.path.dirname(__file__), "tools.yaml")

    def may_hold(self, path: str) -> bool:
        """Whether a file can be an agent."""
        return may_hold(path)

    def find(self, path: str, *, is_certain: bool) -> Layout | None:
        """The locations of the files for a path."""
        return find_layout(path, is_certain=is_certain)

    def read(self, source: SourceText, root: Root) -> FileResult:
        """Read one file."""
        if source.path.endswith(".json"):
            from orgkernel.loading.formats.servers import FIELD, OF_VSCODE, read_servers

            return read_servers(source, root, (OF_VSCODE, FIELD))
        if get_markdown_kind(source.path) == "cognitive_skill":
            from orgkernel.loading.formats.host_skills import read_skill

            return read_skill(source, root, is_name_optional=True)
        from orgkernel.loading.formats.copilot.agents import read_agent

        return read_agent(source, root)

    def complete(self, root: Root, files: Sequence[LoadedFile], own: Sequence[LoadedFile]) -> Completion:
        """Build the organization, its tools, and the list of agents that each agent may start."""
        from orgkernel.loading.formats.copilot.whole import complete

        return complete(root, files, own)


FORMAT = Copilot()
