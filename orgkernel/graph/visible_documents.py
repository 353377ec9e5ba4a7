"""Documents that organizations see, in groups, nearest first. The nearest declaration of an id applies
(docs/documents.md).

The content of a group or a folder is indexed once for all organizations that see it, because there can be a thousand of
them with ten thousand profiles.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

import msgspec

from orgkernel.diagnostics import Place
from orgkernel.documents.records import (
    AccessPolicies,
    Bill,
    CognitiveSkill,
    CommandCatalog,
    CrewRoster,
    Directory,
    DomainCatalog,
    Governance,
    PlanCatalog,
    ProcedureCatalog,
    Promotion,
    QualificationCatalog,
    Rank,
    RankLadder,
    Record,
    RoleProfile,
    SkillCatalog,
    StandingOrder,
    ToolCatalog,
)
from orgkernel.graph.records import AliasTarget, Definition
from orgkernel.loading.sources import MARKDOWN_KINDS, BrokenDocument, LoadedFiles, SourceDocument

K = TypeVar("K")
V = TypeVar("V")
CATALOGS = frozenset(
    {
        "domain_catalog", "plan_catalog", "tool_catalog", "skill_catalog", "rank_ladder", "qualification_catalog",
        "directory", "access_policies", "crew_roster", "procedure_catalog", "bill", "governance", "command_catalog",
    }
) | MARKDOWN_KINDS  # fmt: skip
# The record type of the entries of each catalog section.
_ENTRY_OF = {
    "matrices": "matrix",
    "people": "person",
    "policies": "policy",
    "system_origins": "origin",
}
# The kinds of unreadable files that organizations lack if they would see them. Another
# organization's file, a report or a case does not declare a role.
# An unreadable skill is left out, because then no subject has it. Unreadable orders are not left out.
_MISSED = CATALOGS - {"cognitive_skill"} | {"role_profile", None}


class Duplicate(msgspec.Struct, frozen=True):
    """A second declaration of an id at the same distance. The first one is visible."""

    what: str
    id: str
    place: Place
    first: Place


class Group:
    """Documents that organizations see at one distance, indexed once for all of them."""

    def __init__(
        self, documents: Iterable[SourceDocument], broken: Iterable[BrokenDocument] = (), *, own: bool = False
    ) -> None:
        seen = (each for each in documents if each.kind == "role_profile" or each.kind in CATALOGS)
        # Sorted by name, so of two entries with one id the same one is visible, whatever order the files were read in.
        self.documents = sorted(seen, key=lambda document: document.name)
        self.broken = [each for each in broken if each.kind in _MISSED]
        self.own = own
        self.find_duplicates: list[Duplicate] = []
        self._entries: dict[str, dict[str, Definition[Any]]] = {}

    @cached_property
    def profiles(self) -> dict[str, SourceDocument]:
        profiles: dict[str, SourceDocument] = {}
        for document in self.documents:
            if not isinstance(document.record, RoleProfile) or document.record.overlay:
                continue
            role_id = document.record.role_id
            first = profiles.setdefault(role_id, document)
            if first is not document:
                self.find_duplicates.append(
                    Duplicate("role", role_id, document.place("role_id"), first.place("role_id"))
                )
        return profiles

    @cached_property
    def catalogs(self) -> list[SourceDocument]:
        return [document for document in self.documents if document.kind in CATALOGS]

    @cached_property
    def bills(self) -> dict[str, SourceDocument]:
        """The documents of bills by slug."""
        bills: dict[str, SourceDocument] = {}
        for document in self.catalogs:
            if isinstance(document.record, Bill):
                slug = document.record.slug
                first = bills.setdefault(slug, document)
                if first is not document:
                    self.find_duplicates.append(
                        Duplicate("bill", slug, document.place("slug"), first.place("slug"))
                    )
        return bills

    @cached_property
    def ladder(self) -> SourceDocument | None:
        """The first ladder that lists ranks."""
        ladders = [
            each for each in self.catalogs if isinstance(each.record, RankLadder) and each.record.ranks
        ]
        self.find_duplicates += [
            Duplicate("ladder", "ranks", each.place("ranks", key=True), ladders[0].place("ranks", key=True))
            for each in ladders[1:]
        ]
        return ladders[0] if ladders else None

    @cached_property
    def governance(self) -> SourceDocument | None:
        """The first governance document."""
        documents = [document for document in self.catalogs if isinstance(document.record, Governance)]
        self.find_duplicates += [
            Duplicate("governance", "handoffs", each.place(), documents[0].place()) for each in documents[1:]
        ]
        return documents[0] if documents else None

    @cached_property
    def cognitive_skills(self) -> dict[str, Definition[CognitiveSkill]]:
        """Skills by name. Each is a document of its own."""
        definitions: dict[str, Definition[CognitiveSkill]] = {}
        for document in self.catalogs:
            if isinstance(document.record, CognitiveSkill):
                name = document.record.name
                definition = Definition(name, document.record, document, "", self.own)
                first = definitions.setdefault(name, definition)
                if first is not definition:
                    self.find_duplicates.append(
                        Duplicate("cognitive_skill", name, definition.place("name"), first.place("name"))
                    )
        return definitions

    @cached_property
    def orders(self) -> dict[tuple[str, str], Definition[StandingOrder]]:
        """Files of standing orders, by recipient."""
        definitions: dict[tuple[str, str], Definition[StandingOrder]] = {}
        for document in self.catalogs:
            if not isinstance(record := document.record, StandingOrder):
                continue
            # Orders inside one organization cannot be for the federation, and outside orders cannot be for one organization.
            if record.audience in ("unknown", "federation" if self.own else "organization"):
                continue
            definition = Definition(record.target or record.audience, record, document, "", self.own)
            first = definitions.setdefault((record.audience, record.target), definition)
            if first is not definition:
                what = f"{record.audience} order"
                self.find_duplicates.append(Duplicate(what, definition.id, definition.place(), first.place()))
        return definitions

    def get_entries(self, catalog: type[Record], section: str) -> dict[str, Definition[Any]]:
        """The entries of one section of the catalogs of a kind."""
        if section not in self._entries:
            entries = self._entries[section] = {}
            for document in self.catalogs:
                if not isinstance(document.record, catalog):
                    continue
                for entry_id, record in getattr(document.record, section).items():
                    definition = Definition(entry_id, record, document, section, self.own)
                    first = entries.setdefault(entry_id, definition)
                    # Two sources can use one server without declaring anything else about it.
                    is_same = document.home and first.document.home and record == first.record
                    if first is not definition and not is_same:
                        self.find_duplicates.append(
                            Duplicate(
                                _ENTRY_OF.get(section, section[:-1]),
                                entry_id,
                                definition.place(),
                                first.place(),
                            )
                        )
        return self._entries[section]


class VisibleDocuments:
    """The documents that the organizations of one folder see: groups, nearest first."""

    def __init__(self, groups: tuple[Group, ...]) -> None:
        self.groups = groups
        self.catalogs = tuple(document for group in groups for document in group.catalogs)

    @classmethod
    def rebuild_from_catalogs(
        cls, catalogs: Sequence[SourceDocument], counts: Iterable[int]
    ) -> VisibleDocuments:
        """The visible catalogs of an organization, rebuilt from a list, with `counts` of them in each group."""
        groups, start = [], 0
        for number, count in enumerate(counts):
            groups.append(Group(catalogs[start : start + count], own=number == 0))
            start += count
        return cls(tuple(groups))

    def find_profile(self, role_id: str) -> SourceDocument | None:
        return next((group.profiles[role_id] for group in self.groups if role_id in group.profiles), None)

    @cached_property
    def definitions(self) -> dict[str, Any]:
        """The fields of `OrgRecords` that come from catalogs, shared by all organizations of the folder."""
        records = [document.record for document in self.catalogs]
        skill_catalogs = [record for record in records if isinstance(record, SkillCatalog)]
        scales = (record.proficiency_scale for record in skill_catalogs)
        ranks, ladder, promotions = self._find_ladder()
        return {
            "domains": self._find_nearest(DomainCatalog, "domains"),
            "aliases": self._collect_aliases(),
            "plans": self._find_nearest(PlanCatalog, "plans"),
            "tools": self._find_nearest(ToolCatalog, "tools"),
            "skills": self._find_nearest(SkillCatalog, "skills"),
            "proficiency_scale": next((scale for scale in scales if scale), ()),
            "catalogs": self.catalogs,
            "catalog_counts": tuple(len(group.catalogs) for group in self.groups),
            "skill_categories": frozenset(each for record in skill_catalogs for each in record.categories),
            "ranks": ranks,
            "ladder": ladder,
            "promotions": promotions,
            "matrices": self._find_nearest(RankLadder, "matrices"),
            "qualifications": self._find_nearest(QualificationCatalog, "qualifications"),
            "programs": self._find_nearest(CommandCatalog, "programs"),
            "people": self._find_nearest(Directory, "people"),
            "system_origins": self._find_nearest(Directory, "system_origins"),
            "webhooks": self._find_nearest(Directory, "webhooks"),
            "policies": self._find_nearest(AccessPolicies, "policies"),
            "limits": self._find_nearest(AccessPolicies, "limits"),
            "agents": self._find_nearest(CrewRoster, "agents"),
            "bills": {slug: bill for group in reversed(self.groups) for slug, bill in group.bills.items()},
            "procedures": self._find_nearest(ProcedureCatalog, "procedures"),
            "cognitive_skills": _take_first(group.cognitive_skills for group in self.groups),
            "orders": _take_all(group.orders for group in reversed(self.groups)),
            "governance": next((group.governance for group in self.groups if group.governance), None),
        }

    def _find_ladder(
        self,
    ) -> tuple[tuple[Rank, ...], SourceDocument | None, dict[str, Definition[Promotion]]]:
        """The ranks and promotions of the first ladder with ranks, from the own folder of the organization upward.

        Promotions come from the same ladder, because those of another ladder name other ranks.
        """
        for group in self.groups:
            if (document := group.ladder) is not None and isinstance(document.record, RankLadder):
                promotions = {
                    rank_id: Definition(rank_id, promotion, document, "promotions", group.own)
                    for rank_id, promotion in document.record.promotions.items()
                }
                return document.record.ranks, document, promotions
        return (), None, {}

    def _find_nearest(self, catalog: type[Record], section: str) -> dict[str, Definition[Any]]:
        definitions: dict[str, Definition[Any]] = {}
        for group in self.groups:
            for entry_id, definition in group.get_entries(catalog, section).items():
                definitions.setdefault(entry_id, definition)
        return definitions

    def _collect_aliases(self) -> dict[str, AliasTarget]:
        targets_by_alias: dict[str, AliasTarget] = {}
        for document in self.catalogs:
            if isinstance(document.record, DomainCatalog):
                for alias, target in document.record.aliases.items():
                    targets_by_alias.setdefault(alias, AliasTarget(target, document.place("aliases", alias)))
                for number, alias in enumerate(document.record.unmapped):
                    targets_by_alias.setdefault(alias, AliasTarget(None, document.place("unmapped", number)))
        return targets_by_alias

    @cached_property
    def broken(self) -> list[BrokenDocument]:
        return [each for group in self.groups for each in group.broken]

    @cached_property
    def declared_ids(self) -> dict[str, list[str]]:
        """The files that could not be read and seem to declare each id."""
        names_by_id: dict[str, list[str]] = defaultdict(list)
        for each in self.broken:
            for declared_id in each.declared_ids:
                names_by_id[declared_id].append(each.name)
        return names_by_id

    @cached_property
    def excused(self) -> frozenset[str]:
        return frozenset(self.declared_ids)

    @cached_property
    def incomplete(self) -> frozenset[str]:
        return frozenset(each.kind for each in self.broken if each.kind)

    def find_missed(self, role_ids: Iterable[str]) -> frozenset[str]:
        """Names of the unreadable files that an organization with these roles lacks."""
        catalogs = {each.name for each in self.broken if each.kind in CATALOGS} if self.incomplete else set()
        return frozenset(catalogs.union(*(self.declared_ids.get(role_id, ()) for role_id in role_ids)))


def _take_first(groups: Iterable[Mapping[K, V]]) -> dict[K, V]:
    """For each key, the value of the nearest group."""
    values_by_key: dict[K, V] = {}
    for group in groups:
        for key, value in group.items():
            values_by_key.setdefault(key, value)
    return values_by_key


def _take_all(groups: Iterable[Mapping[K, V]]) -> dict[K, tuple[V, ...]]:
    """For each key, the values of all groups, because nearer orders do not replace farther ones."""
    values_by_key: dict[K, tuple[V, ...]] = {}
    for group in groups:
        for key, value in group.items():
            values_by_key[key] = (*values_by_key.get(key, ()), value)
    return values_by_key


class Visibility:
    """Documents by the folders of organizations, readable or not.

    A folder can contain organizations in several formats, which do not see one another's documents.
    """

    def __init__(self, tree: LoadedFiles) -> None:
        # Folders of organizations by format; orgkernel organizations have the empty one.
        self._org_folders: dict[str, set[str]] = defaultdict(set)
        declaring: tuple[SourceDocument | BrokenDocument, ...] = (*tree.documents, *tree.broken)
        for each in declaring:
            if each.kind == "organization":
                self._org_folders[each.format].add(os.path.dirname(each.path))
        self._homes: dict[tuple[str, str], str | None] = {}
        in_format: dict[str, list[SourceDocument]] = defaultdict(list)
        documents: dict[tuple[str | None, str], list[SourceDocument]] = defaultdict(list)
        broken: dict[tuple[str | None, str], list[BrokenDocument]] = defaultdict(list)
        for document in tree.documents:
            if document.format and document.context:
                in_format[document.format].append(document)
            elif not document.shared:
                documents[self._get_key(document)].append(document)
        for unread in tree.broken:
            if not unread.shared:
                broken[self._get_key(unread)].append(unread)
        self._documents, self._broken = documents, broken
        self._shared = Group(
            (each for each in tree.documents if each.shared), (each for each in tree.broken if each.shared)
        )
        self._of_format = {name: Group(those) for name, those in in_format.items()}
        self._beside: dict[str, Group] = {}
        self._visible: dict[tuple[str, str], VisibleDocuments] = {}

    def of(self, folder: str, form: str = "") -> VisibleDocuments:
        """The documents that the organizations of a folder see. In another format, they see only their own documents
        and the catalog of the format.
        """
        key = (folder, form)
        if key not in self._visible:
            own = Group(self._documents.get(key, ()), self._broken.get(key, ()), own=True)
            if form:
                catalog = self._of_format.get(form, Group(()))
                self._visible[key] = VisibleDocuments((own, catalog))
                return self._visible[key]
            named = dict.fromkeys(each.format for each in self._documents.get(key, ()) if each.home)
            in_use = (self._of_format[each] for each in named if each in self._of_format)
            beside = self._get_group_beside(os.path.dirname(folder))
            self._visible[key] = VisibleDocuments((own, beside, *in_use, self._shared))
        return self._visible[key]

    def _get_key(self, document: SourceDocument | BrokenDocument) -> tuple[str | None, str]:
        """The folder of the organization that a document belongs to, and its format there."""
        if document.home:
            return document.home, ""
        folder = os.path.dirname(document.path)
        home = self._find_home(folder, document.format)
        if home is None and document.format:  # no organization of this format contains it
            return self._find_home(folder), ""
        return home, document.format

    def find_duplicates(self) -> Iterator[Duplicate]:
        """Second declarations of one id in the groups that were used."""
        for visible in self._visible.values():
            for group in visible.groups:
                yield from group.find_duplicates

    def _get_group_beside(self, parent: str) -> Group:
        """Documents of an organization's parent folder, without those in folders of other organizations."""
        if parent not in self._beside:
            home, inside = self._find_home(parent), os.path.join(parent, "")
            self._beside[parent] = Group(
                (each for each in self._documents.get((home, ""), ()) if each.path.startswith(inside)),
                (each for each in self._broken.get((home, ""), ()) if each.path.startswith(inside)),
            )
        return self._beside[parent]

    def _find_home(self, folder: str, form: str = "") -> str | None:
        """The nearest folder, from here upward, that contains an organization of a format."""
        key = (folder, form)
        if key not in self._homes:
            parent = os.path.dirname(folder)
            if folder in self._org_folders.get(form, ()):
                self._homes[key] = folder
            else:
                self._homes[key] = None if parent == folder else self._find_home(parent, form)
        return self._homes[key]
