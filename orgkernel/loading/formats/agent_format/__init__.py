"""Agent Format: one agent in each `.agf.yaml` file, with the tools, servers and agents that it may use."""

from __future__ import annotations

import os
from collections.abc import Sequence

from orgkernel.loading.files import Area, Root, SourceText, is_folder, list_files_in
from orgkernel.loading.formats.format import Layout
from orgkernel.loading.sources import Completion, FileResult, LoadedFile
from orgkernel.runtime.lazy_patterns import lazy_pattern

ENDINGS = (".agf.yaml", ".agf.yml")
_FILES = r".*[.]agf[.]ya?ml"
_NAMES = lazy_pattern(_FILES)


class AgentFormat:
    """The Agent Format. Its readers are imported on first use."""

    name = "agent-format"
    title = "Agent Format"
    catalog = ""

    def may_hold(self, path: str) -> bool:
        """Whether a file is an agent, by its name."""
        return path.endswith(ENDINGS)

    def find(self, path: str, *, is_certain: bool) -> Layout | None:
        """The location of the agents for a path: a folder that directly contains one, with all folders below it, or a file."""
        if is_folder(path):
            is_source = is_certain or bool(list_files_in(path, _NAMES))
            return Layout(path, (Area(os.curdir, _FILES),)) if is_source else None
        return (
            Layout(os.path.dirname(path), (Area(os.path.basename(path)),))
            if path.endswith(ENDINGS) or is_certain
            else None
        )

    def read(self, source: SourceText, root: Root) -> FileResult:
        """Read one agent."""
        from orgkernel.loading.formats.agent_format.agents import read_agent

        return read_agent(source, root)

    def complete(self, root: Root, files: Sequence[LoadedFile], own: Sequence[LoadedFile]) -> Completion:
        """Build the organization, with local agents as a chain of command."""
        from orgkernel.loading.formats.declared_agents import complete_declared

        return complete_declared(root, files)


FORMAT = AgentFormat()
