"""Documents that organizations see at one distance, and which of two declarations of an id counts there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from orgkernel.diagnostics import Place
from orgkernel.graph.definition import Definition
from orgkernel.loading.sources import BrokenDocument, SourceDocument
from orgkernel.records.rank_ladder import RankLadder
from orgkernel.records.record import Record
from orgkernel.records.role_profile import RoleProfile

CATALOGS = frozenset(
    {
        "domain_catalog", "plan_catalog", "tool_catalog", "skill_catalog", "rank_ladder", "qualification_catalog",
        "directory", "access_policies", "crew_roster",
    }
)  # fmt: skip
# A section of a catalog to what one entry of it is.
_ENTRY_OF = {
    "matrices": "matrix",
    "people": "person",
    "policies": "policy",
    "system_origins": "origin",
}
# Of what kind a file may be that could not be read and is missed by the organizations that would see it. What another
# organization's file, a report or a case says about a role does not declare the role.
_MISSED = CATALOGS | {"role_profile", None}


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A second declaration of an id at the same distance; the first is the one that is seen."""

    what: str
    id: str
    place: Place
    first: Place


class Group:
    """Documents that organizations see at one distance; what they hold is looked up once for all organizations."""

    def __init__(
        self, documents: Iterable[SourceDocument], broken: Iterable[BrokenDocument] = (), *, own: bool = False
    ) -> None:
        seen = (each for each in documents if each.kind == "role_profile" or each.kind in CATALOGS)
        # By name, so that of two entries of one id the same one is seen in whatever order the files were read.
        self.documents = sorted(seen, key=lambda document: document.name)
        self.broken = [each for each in broken if each.kind in _MISSED]
        self.own = own
        self.duplicates: list[Duplicate] = []
        self._entries: dict[str, dict[str, Definition[Any]]] = {}

    @cached_property
    def profiles(self) -> dict[str, SourceDocument]:
        found: dict[str, SourceDocument] = {}
        for document in self.documents:
            if not isinstance(document.record, RoleProfile):
                continue
            role_id = document.record.role_id
            first = found.setdefault(role_id, document)
            if first is not document:
                self.duplicates.append(
                    Duplicate("role", role_id, document.place("role_id"), first.place("role_id"))
                )
        return found

    @cached_property
    def catalogs(self) -> list[SourceDocument]:
        return [document for document in self.documents if document.kind in CATALOGS]

    @cached_property
    def ladder(self) -> SourceDocument | None:
        """The first ladder that lists ranks."""
        found = [each for each in self.catalogs if isinstance(each.record, RankLadder) and each.record.ranks]
        self.duplicates += [
            Duplicate("ladder", "ranks", each.place("ranks", key=True), found[0].place("ranks", key=True))
            for each in found[1:]
        ]
        return found[0] if found else None

    def entries(self, catalog: type[Record], section: str) -> dict[str, Definition[Any]]:
        """The entries of one section of the catalogs of a kind."""
        if section not in self._entries:
            found = self._entries[section] = {}
            for document in self.catalogs:
                if not isinstance(document.record, catalog):
                    continue
                for entry_id, record in getattr(document.record, section).items():
                    definition = Definition(entry_id, record, document, section, self.own)
                    first = found.setdefault(entry_id, definition)
                    if first is not definition:
                        self.duplicates.append(
                            Duplicate(
                                _ENTRY_OF.get(section, section[:-1]),
                                entry_id,
                                definition.place(),
                                first.place(),
                            )
                        )
        return self._entries[section]
