"""Claude Code: subagents (`agents/**/*.md`), skills, and the MCP servers of `.mcp.json` or a plugin."""

from __future__ import annotations

import os
from collections.abc import Sequence

from orgkernel.loading.files import MARKDOWN, SKILL_FILE, Root, SourceText
from orgkernel.loading.formats.claude_code.layout import find_layout
from orgkernel.loading.formats.claude_code.paths import AGENTS, COLLECTION, COMMAND, SETTINGS
from orgkernel.loading.formats.format import Layout
from orgkernel.loading.shipped import get_shipped_folder
from orgkernel.loading.sources import Completion, FileResult, LoadedFile


class ClaudeCode:
    """The Claude Code format. Its readers are imported on first use."""

    name = "claude-code"
    title = "Claude Code"
    catalog = os.path.join(get_shipped_folder("ontology"), "hosts", "claude_code_tools.yaml")

    def may_hold(self, path: str) -> bool:
        """Whether a file can be an agent."""
        return path.endswith(MARKDOWN) and AGENTS in path.split(os.sep)[:-1]

    def find(self, path: str, *, is_certain: bool) -> Layout | None:
        """The locations of the files for a path."""
        return find_layout(path, is_certain=is_certain)

    def read(self, source: SourceText, root: Root) -> FileResult:
        """Read one file."""
        if os.path.basename(source.path) in SETTINGS:
            from orgkernel.loading.formats.claude_code.permissions import read_permissions

            return read_permissions(source, root)
        if source.path.endswith(".json"):
            from orgkernel.loading.formats.servers import read_servers

            return read_servers(source, root)
        if os.path.basename(source.path) == SKILL_FILE:
            from orgkernel.loading.formats.host_skills import read_skill

            return read_skill(source, root, is_name_optional=True)
        area = root.find_area(source.path)
        content = area.content if area is not None else ""
        if content == COMMAND:
            from orgkernel.loading.formats.claude_code.commands import read_command

            return read_command(source, root)
        from orgkernel.loading.formats.claude_code.agents import read_agent

        return read_agent(source, root, is_certain=content != COLLECTION)

    def complete(self, root: Root, files: Sequence[LoadedFile], own: Sequence[LoadedFile]) -> Completion:
        """Build the organization, its tools, and the roles that have all of them."""
        from orgkernel.loading.formats.claude_code.whole import complete

        return complete(root, files, own)


FORMAT = ClaudeCode()
