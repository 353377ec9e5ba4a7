"""A2A: agent cards, of version 1.0 and 0.3. Each card is a role; signatures are not verified by reading."""

from __future__ import annotations

from collections.abc import Sequence

from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.a2a.layout import find_layout
from orgkernel.loading.formats.format import Layout
from orgkernel.loading.sources import Completion, FileRead, ReadFile


class A2A:
    """The format. What reads files is imported when there are any."""

    name = "a2a"
    title = "A2A"
    catalog = ""

    def may_hold(self, path: str) -> bool:
        """Cards are JSON files, which our documents could be as well."""
        return False

    def find(self, path: str, *, is_certain: bool) -> Layout | None:
        """Where the cards lie that a path means."""
        return find_layout(path, is_certain=is_certain)

    def read(self, source: SourceText, root: Root) -> ReadFile:
        """What one card says."""
        from orgkernel.loading.formats.a2a.cards import read_card

        return read_card(source, root)

    def complete(self, root: Root, files: Sequence[FileRead], own: Sequence[FileRead]) -> Completion:
        """The organization: all cards beside one another."""
        from orgkernel.loading.formats.roles import build_flat_organization

        return build_flat_organization(root, files)


FORMAT = A2A()
