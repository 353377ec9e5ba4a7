"""Agent-Zero: agent profiles, each a folder with `agent.yaml` or `agent.json`, its prompts and its tool policy."""

from __future__ import annotations

import os
from collections.abc import Sequence

from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.agent_zero.layout import find_layout
from orgkernel.loading.formats.format import Layout
from orgkernel.loading.sources import Completion, FileResult, LoadedFile


class AgentZero:
    """The Agent-Zero format. Its readers are imported on first use."""

    name = "agent-zero"
    title = "Agent-Zero"
    catalog = os.path.join(os.path.dirname(__file__), "tools.yaml")

    def may_hold(self, path: str) -> bool:
        """Whether a file can be a prompt of a profile. Its other files are YAML and JSON."""
        return (
            os.path.basename(path).startswith("agent.system.main.") or os.path.basename(path) == "_context.md"
        )

    def find(self, path: str, *, is_certain: bool) -> Layout | None:
        """The locations of the profiles for a path."""
        return find_layout(path, is_certain=is_certain)

    def read(self, source: SourceText, root: Root) -> FileResult:
        """Read one file."""
        from orgkernel.loading.formats.agent_zero.profiles import read_file

        return read_file(source, root)

    def complete(self, root: Root, files: Sequence[LoadedFile], own: Sequence[LoadedFile]) -> Completion:
        """Build the organization, and the tools of each profile."""
        from orgkernel.loading.formats.agent_zero.whole import complete, join_prompts
        from orgkernel.loading.formats.replacing import complete_replaced

        return complete_replaced(files, join_prompts(files), lambda joined: complete(root, joined, own))


FORMAT = AgentZero()
