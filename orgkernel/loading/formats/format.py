"""The interface of another format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from orgkernel.loading.files import Area, Root, SourceText
from orgkernel.loading.sources import Completion, FileResult, LoadedFile


class Layout(NamedTuple):
    """The location of an organization's files in another format."""

    top: str
    """The folder that contains all of them."""
    areas: tuple[Area, ...]
    """Areas below the folder. Areas that do not exist yet are read once they do."""


class Format(Protocol):
    """Another format in which organizations are read."""

    name: str
    """The word for the format on the command line and in documents."""
    title: str
    """The name of the format in messages."""
    catalog: str
    """Path of the built-in document with the tools that every agent of this format has. Empty if none exists."""

    def may_hold(self, path: str) -> bool:
        """Whether a file with this name at this place can be in this format. Files that could also be orgkernel
        documents are ignored.
        """

    def find(self, path: str, *, is_certain: bool) -> Layout | None:
        """The layout for a path. None if the path is not in this format. If `is_certain`, the content does not have
        to show the format.
        """

    def read(self, source: SourceText, root: Root) -> FileResult:
        """Read one file. The result depends on the file alone, because it is cached."""

    def complete(self, root: Root, files: Sequence[LoadedFile], own: Sequence[LoadedFile]) -> Completion:
        """Combine the files of a root. `own` is the result of the format's built-in catalog."""
