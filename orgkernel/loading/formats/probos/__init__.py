"""ProbOS: the ontology of a crew in YAML, with standing orders, personality profiles and skills next to it."""

from __future__ import annotations

from collections.abc import Sequence

from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.format import Layout
from orgkernel.loading.formats.probos.layout import find_layout
from orgkernel.loading.sources import Completion, FileResult, LoadedFile


class ProbOS:
    """The ProbOS format. Its readers are imported on first use."""

    name = "probos"
    title = "ProbOS"
    catalog = ""

    def may_hold(self, path: str) -> bool:
        """The names of its files are common: only their content and their folder show what they are."""
        return False

    def find(self, path: str, *, is_certain: bool) -> Layout | None:
        """The location of an ontology for a path: its folder, `organization.yaml` in it, or a folder around it."""
        return find_layout(path, is_certain=is_certain)

    def read(self, source: SourceText, root: Root) -> FileResult:
        """Read one file."""
        from orgkernel.loading.formats.probos.reading import read_file

        return read_file(source, root)

    def complete(self, root: Root, files: Sequence[LoadedFile], own: Sequence[LoadedFile]) -> Completion:
        """Join the files into one organization with its crew."""
        from orgkernel.loading.formats.probos.whole import complete

        return complete(root, files)


FORMAT = ProbOS()
