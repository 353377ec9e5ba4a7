"""CrewAI: crews in YAML (`config/agents.yaml`, `config/tasks.yaml`) or JSONC (`crew.jsonc`, `agents/*.jsonc`)."""

from __future__ import annotations

import os
from collections.abc import Sequence

from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.crewai.layout import TOOLS, find_layout, may_hold
from orgkernel.loading.formats.format import Layout
from orgkernel.loading.sources import Completion, FileResult, LoadedFile


class CrewAI:
    """The CrewAI format. Its readers are imported on first use."""

    name = "crewai"
    title = "CrewAI"
    catalog = os.path.join(os.path.dirname(__file__), "tools.yaml")

    def may_hold(self, path: str) -> bool:
        """Whether a file can be part of a crew and cannot be an orgkernel document."""
        return may_hold(path)

    def find(self, path: str, *, is_certain: bool) -> Layout | None:
        """The locations of the files for a path."""
        return find_layout(path, is_certain=is_certain)

    def read(self, source: SourceText, root: Root) -> FileResult:
        """Read one file."""
        if source.path.endswith(".py") and os.path.basename(os.path.dirname(source.path)) != TOOLS:
            from orgkernel.loading.formats.crewai.python import read_python

            return read_python(source, root)
        from orgkernel.loading.formats.crewai.reading import read_file

        return read_file(source, root)

    def complete(self, root: Root, files: Sequence[LoadedFile], own: Sequence[LoadedFile]) -> Completion:
        """Build the crews as organizations, and the relations between their agents."""
        from orgkernel.loading.formats.crewai.whole import complete

        return complete(root, files, own)


FORMAT = CrewAI()
