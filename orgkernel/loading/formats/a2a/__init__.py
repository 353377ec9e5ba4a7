"""A2A agent cards, versions 1.0 and 0.3. Each card is a role. Reading does not verify signatures."""

from __future__ import annotations

from collections.abc import Sequence

from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.a2a.layout import find_layout
from orgkernel.loading.formats.format import Layout
from orgkernel.loading.sources import Completion, FileResult, LoadedFile


class A2A:
    """The A2A format. Its readers are imported on first use."""

    name = "a2a"
    title = "A2A"
    catalog = ""

    def may_hold(self, path: str) -> bool:
        """Cards are JSON files, and orgkernel documents can be JSON files too."""
        return False

    def find(self, path: str, *, is_certain: bool) -> Layout | None:
        """The locations of the cards for a path."""
        return find_layout(path, is_certain=is_certain)

    def read(self, source: SourceText, root: Root) -> FileResult:
        """Read one card."""
        from orgkernel.loading.formats.a2a.cards import read_card

        return read_card(source, root)

    def complete(self, root: Root, files: Sequence[LoadedFile], own: Sequence[LoadedFile]) -> Completion:
        """Build the organization: all cards as roles of equal standing."""
        from orgkernel.loading.formats.roles import build_flat_organization

        return build_flat_organization(root, files)


FORMAT = A2A()
