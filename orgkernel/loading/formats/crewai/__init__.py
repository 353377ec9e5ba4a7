"""CrewAI: crews in YAML (`config/agents.yaml`, `config/tasks.yaml`) or JSONC (`crew.jsonc`, `agents/*.jsonc`)."""

from __future__ import annotations

import os
from collections.abc import Sequence

from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.crewai.layout import TOOLS, find_layout, may_hold
from orgkernel.loading.formats.format import Layout
from orgkernel.loading.sources import Completion, FileRead, ReadFile


class CrewAI:
    """The format. What reads files is imported when there are any."""

    name = "crewai"
    title = "CrewAI"
    catalog = os.path.join(os.path.dirname(__file__), "tools.yaml")

    def may_hold(self, path: str) -> bool:
        """Whether a file may be a part of a crew that our documents could not be."""
        return may_hold(path)

    def find(self, path: str, *, is_certain: bool) -> Layout | None:
        """Where the files lie that a path means."""
        return find_layout(path, is_certain=is_certain)

    def read(self, source: SourceText, root: Root) -> ReadFile:
        """What one file says."""
        if source.path.endswith(".py") and os.path.basename(os.path.dirname(source.path)) != TOOLS:
            from orgkernel.loading.formats.crewai.python import read_python

            return read_python(source, root)
        from orgkernel.loading.formats.crewai.reading import read_file

        return read_file(source, root)

    def complete(self, root: Root, files: Sequence[FileRead], own: Sequence[FileRead]) -> Completion:
        """The crews as organizations, and what their agents are to one another."""
        from orgkernel.loading.formats.crewai.whole import complete

        return complete(root, files, own)


FORMAT = CrewAI()
