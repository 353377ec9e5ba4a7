"""What a format of others does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from orgkernel.loading.files import Area, Root, SourceText
from orgkernel.loading.sources import Completion, FileRead, ReadFile


class Layout(NamedTuple):
    """Where the files of an organization lie in the format of others."""

    top: str
    """The folder that holds all of them."""
    areas: tuple[Area, ...]
    """Below it. Those that do not exist yet are read once they do."""


class Format(Protocol):
    """A format of others."""

    name: str
    """As users choose it."""
    title: str
    """As people call it."""
    catalog: str
    """The path of the document that comes with us and says what everybody has in this format; empty without one."""

    def may_hold(self, path: str) -> bool:
        """Whether a file of this name at this place may be in this format. Files that ours could be as well count not."""

    def find(self, path: str, *, is_certain: bool) -> Layout | None:
        """Where the files lie that a path means; None if it is not in this format. It need not be shown if it `is_certain`."""

    def read(self, source: SourceText, root: Root) -> ReadFile:
        """What one file says. It depends on the file alone, because it is cached."""

    def complete(self, root: Root, files: Sequence[FileRead], own: Sequence[FileRead]) -> Completion:
        """What the files of a root mean together; `own` is what the catalog of the format yielded."""
