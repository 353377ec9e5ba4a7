"""The records of the search for sources of agents."""

from __future__ import annotations

from typing import NamedTuple

from orgkernel.loading.formats.format import Layout


class FolderListing(NamedTuple):
    """A folder with the names in it."""

    path: str
    files: tuple[str, ...]
    folders: tuple[str, ...]
    """The folders that are searched."""
    others: tuple[str, ...]
    """The folders that are not searched, and links to folders."""


class SourceFound(NamedTuple):
    """A source of agents: files of one format that belong together."""

    format: str
    place: str
    """The folder at which it was recognized."""
    layout: Layout
    name: str
    """The name of its organization, or of its department in a union."""
    is_pooled: bool = False
    """Whether its host loads it together with the other pooled sources of the tree."""


class LeftOut(NamedTuple):
    """A place that looks like agents and is not read."""

    place: str
    reason: str
    format: str
    """The word for the format or framework. Empty if it is not known."""
