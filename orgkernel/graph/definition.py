"""An entry of a catalog as an organization sees it, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from orgkernel.diagnostics import Place
from orgkernel.loading.marks import RouteStep
from orgkernel.loading.sources import SourceDocument

EntryT = TypeVar("EntryT")


@dataclass(frozen=True, slots=True)
class Definition(Generic[EntryT]):
    """An entry of a catalog as an organization sees it: the nearest one of its id."""

    id: str
    record: EntryT
    document: SourceDocument
    section: str
    own: bool
    """Whether the organization declares it itself, and not a catalog it shares with others."""

    def place(self, *route: RouteStep, key: bool = False) -> Place:
        """Where the entry, or something in it, is written."""
        return self.document.place(self.section, self.id, *route, key=key or not route)

    def item_places(self, *route: RouteStep) -> list[Place]:
        """Where each item of a list in the entry is written."""
        return self.document.item_places(self.section, self.id, *route)


@dataclass(frozen=True, slots=True)
class AliasTarget:
    """Another vocabulary's id; without a target it means no domain here."""

    target: str | None
    place: Place
