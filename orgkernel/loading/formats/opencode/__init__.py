"""OpenCode: agents (`.opencode/agents/*.md`, and `agent` in `opencode.json`), their permissions, and MCP servers."""

from __future__ import annotations

import os
from collections.abc import Sequence

from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.format import Layout
from orgkernel.loading.formats.opencode.layout import find_layout, may_hold
from orgkernel.loading.sources import Completion, FileResult, LoadedFile


class OpenCode:
    """The OpenCode format. Its readers are imported on first use."""

    name = "opencode"
    title = "OpenCode"
    catalog = os.path.join(os.path.dirname(__file__), "tools.yaml")

    def may_hold(self, path: str) -> bool:
        """Whether a file can be an agent or a configuration."""
        return may_hold(path)

    def find(self, path: str, *, is_certain: bool) -> Layout | None:
        """The locations of the files for a path."""
        return find_layout(path, is_certain=is_certain)

    def read(self, source: SourceText, root: Root) -> FileResult:
        """Read one file."""
        if source.path.endswith((".json", ".jsonc")):
            from orgkernel.loading.formats.opencode.configuration import read_configuration

            return read_configuration(source, root)
        from orgkernel.loading.formats.opencode.agents import read_agent

        return read_agent(source, root)

    def complete(self, root: Root, files: Sequence[LoadedFile], own: Sequence[LoadedFile]) -> Completion:
        """Build the organization, and apply the permissions to its tools."""
        from orgkernel.loading.formats.coding_agents import complete_agents
        from orgkernel.loading.formats.opencode.agents import NAMES
        from orgkernel.loading.formats.opencode.layers import merge_layers
        from orgkernel.loading.formats.replacing import complete_replaced

        return complete_replaced(
            files, merge_layers(files), lambda merged: complete_agents(root, merged, own, NAMES)
        )


FORMAT = OpenCode()
