"""Open Agent Spec: agents, teams with managers, and swarms, in YAML or JSON."""

from __future__ import annotations

from collections.abc import Sequence

from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.agent_spec.layout import find_layout
from orgkernel.loading.formats.format import Layout
from orgkernel.loading.sources import Completion, FileResult, LoadedFile


class AgentSpec:
    """The Open Agent Spec format. Its readers are imported on first use."""

    name = "agent-spec"
    title = "Open Agent Spec"
    catalog = ""

    def may_hold(self, path: str) -> bool:
        """Specifications are YAML or JSON files, and orgkernel documents can be too."""
        return False

    def find(self, path: str, *, is_certain: bool) -> Layout | None:
        """The locations of the specifications for a path."""
        return find_layout(path, is_certain=is_certain)

    def read(self, source: SourceText, root: Root) -> FileResult:
        """Read one file."""
        from orgkernel.loading.formats.agent_spec.components import read_components

        return read_components(source, root)

    def complete(self, root: Root, files: Sequence[LoadedFile], own: Sequence[LoadedFile]) -> Completion:
        """Build the teams as organizations, and resolve tools in other files."""
        from orgkernel.loading.formats.agent_spec.whole import complete

        return complete(root, files)


FORMAT = AgentSpec()
