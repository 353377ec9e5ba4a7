"""Gemini CLI: agents (`.gemini/agents/*.md`, and `agents/*.md` of an extension), settings and MCP servers."""

from __future__ import annotations

import os
from collections.abc import Sequence

from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.format import Layout
from orgkernel.loading.formats.gemini_cli.layout import find_layout, may_hold
from orgkernel.loading.sources import Completion, FileResult, LoadedFile


class GeminiCli:
    """The Gemini CLI format. Its readers are imported on first use."""

    name = "gemini-cli"
    title = "Gemini CLI"
    catalog = os.path.join(os.path.dirname(__file__), "tools.yaml")

    def may_hold(self, path: str) -> bool:
        """Whether a file can be an agent or a configuration."""
        return may_hold(path)

    def find(self, path: str, *, is_certain: bool) -> Layout | None:
        """The locations of the files for a path."""
        return find_layout(path, is_certain=is_certain)

    def read(self, source: SourceText, root: Root) -> FileResult:
        """Read one file."""
        if source.path.endswith(".json"):
            from orgkernel.loading.formats.gemini_cli.settings import read_settings

            return read_settings(source, root)
        from orgkernel.loading.formats.claude_code.beginnings import begins_like_agent
        from orgkernel.loading.formats.claude_code.paths import COLLECTION

        area = root.find_area(source.path)
        if area is not None and area.content == COLLECTION and not begins_like_agent(source.text.encode()):
            return FileResult(skipped=True)
        from orgkernel.loading.formats.gemini_cli.agents import read_agent

        return read_agent(source, root)

    def complete(self, root: Root, files: Sequence[LoadedFile], own: Sequence[LoadedFile]) -> Completion:
        """Build the organization, and resolve the tools that agents list."""
        from orgkernel.loading.formats.coding_agents import complete_agents
        from orgkernel.loading.formats.gemini_cli.agents import NAMES

        return complete_agents(root, files, own, NAMES)


FORMAT = GeminiCli()
