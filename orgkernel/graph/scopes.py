"""What organizations see: documents in groups, nearest first (design §3).

What a group or a folder holds is looked up once for all organizations that see it: there may be a thousand of them over
ten thousand profiles.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypedDict

from orgkernel.graph.definition import AliasTarget, Definition
from orgkernel.graph.groups import CATALOGS, Duplicate, Group
from orgkernel.loading.sources import BrokenDocument, SourceDocument, Tree
from orgkernel.records.access_policies import AccessPolicies, Policy
from orgkernel.records.crew_roster import CrewRoster, Member
from orgkernel.records.directory import Directory, Person, SystemOrigin, Webhook
from orgkernel.records.domain_catalog import Domain, DomainCatalog
from orgkernel.records.plan_catalog import Plan, PlanCatalog
from orgkernel.records.qualification_catalog import Qualification, QualificationCatalog
from orgkernel.records.rank_ladder import MatrixRow, Promotion, Rank, RankLadder
from orgkernel.records.record import Record
from orgkernel.records.skill_catalog import Skill, SkillCatalog
from orgkernel.records.tool_catalog import Tool, ToolCatalog


class _Definitions(TypedDict):
    """Fields of `OrgRecords` that come from catalogs."""

    domains: Mapping[str, Definition[Domain]]
    aliases: Mapping[str, AliasTarget]
    plans: Mapping[str, Definition[Plan]]
    tools: Mapping[str, Definition[Tool]]
    skills: Mapping[str, Definition[Skill]]
    proficiency_scale: tuple[str, ...]
    catalogs: tuple[SourceDocument, ...]
    catalog_counts: tuple[int, ...]
    skill_categories: frozenset[str]
    ranks: tuple[Rank, ...]
    ladder: SourceDocument | None
    promotions: Mapping[str, Definition[Promotion]]
    matrices: Mapping[str, Definition[tuple[MatrixRow, ...]]]
    qualifications: Mapping[str, Definition[Qualification]]
    people: Mapping[str, Definition[Person]]
    system_origins: Mapping[str, Definition[SystemOrigin]]
    webhooks: Mapping[str, Definition[Webhook]]
    policies: Mapping[str, Definition[Policy]]
    agents: Mapping[str, Definition[Member]]


class Scope:
    """What the organizations of one folder see: groups of documents, nearest first."""

    def __init__(self, groups: tuple[Group, ...]) -> None:
        self.groups = groups
        self.catalogs = tuple(document for group in groups for document in group.catalogs)

    @classmethod
    def of_catalogs(cls, catalogs: Sequence[SourceDocument], counts: Iterable[int]) -> Scope:
        """The catalogs that a scope was made of, `counts` of them in each group, as a scope again."""
        groups, start = [], 0
        for number, count in enumerate(counts):
            groups.append(Group(catalogs[start : start + count], own=number == 0))
            start += count
        return cls(tuple(groups))

    def profile(self, role_id: str) -> SourceDocument | None:
        return next((group.profiles[role_id] for group in self.groups if role_id in group.profiles), None)

    @cached_property
    def definitions(self) -> _Definitions:
        """What the catalogs define; shared by all organizations of the folder."""
        records = [document.record for document in self.catalogs]
        skill_catalogs = [record for record in records if isinstance(record, SkillCatalog)]
        scales = (record.proficiency_scale for record in skill_catalogs)
        ranks, ladder, promotions = self._ladder()
        return {
            "domains": self._nearest(DomainCatalog, "domains"),
            "aliases": self._aliases(),
            "plans": self._nearest(PlanCatalog, "plans"),
            "tools": self._nearest(ToolCatalog, "tools"),
            "skills": self._nearest(SkillCatalog, "skills"),
            "proficiency_scale": next((scale for scale in scales if scale), ()),
            "catalogs": self.catalogs,
            "catalog_counts": tuple(len(group.catalogs) for group in self.groups),
            "skill_categories": frozenset(each for record in skill_catalogs for each in record.categories),
            "ranks": ranks,
            "ladder": ladder,
            "promotions": promotions,
            "matrices": self._nearest(RankLadder, "matrices"),
            "qualifications": self._nearest(QualificationCatalog, "qualifications"),
            "people": self._nearest(Directory, "people"),
            "system_origins": self._nearest(Directory, "system_origins"),
            "webhooks": self._nearest(Directory, "webhooks"),
            "policies": self._nearest(AccessPolicies, "policies"),
            "agents": self._nearest(CrewRoster, "agents"),
        }

    def _ladder(self) -> tuple[tuple[Rank, ...], SourceDocument | None, dict[str, Definition[Promotion]]]:
        """The nearest ladder that lists ranks; the promotions of another would speak of other ranks."""
        for group in self.groups:
            if (document := group.ladder) is not None and isinstance(document.record, RankLadder):
                promotions = {
                    rank_id: Definition(rank_id, promotion, document, "promotions", group.own)
                    for rank_id, promotion in document.record.promotions.items()
                }
                return document.record.ranks, document, promotions
        return (), None, {}

    def _nearest(self, catalog: type[Record], section: str) -> dict[str, Definition[Any]]:
        found: dict[str, Definition[Any]] = {}
        for group in self.groups:
            for entry_id, definition in group.entries(catalog, section).items():
                found.setdefault(entry_id, definition)
        return found

    def _aliases(self) -> dict[str, AliasTarget]:
        found: dict[str, AliasTarget] = {}
        for document in self.catalogs:
            if isinstance(document.record, DomainCatalog):
                for alias, target in document.record.aliases.items():
                    found.setdefault(alias, AliasTarget(target, document.place("aliases", alias)))
                for number, alias in enumerate(document.record.unmapped):
                    found.setdefault(alias, AliasTarget(None, document.place("unmapped", number)))
        return found

    @cached_property
    def broken(self) -> list[BrokenDocument]:
        return [each for group in self.groups for each in group.broken]

    @cached_property
    def claims(self) -> dict[str, list[str]]:
        """Id that a file which could not be read seems to declare, to the names of such files."""
        found: dict[str, list[str]] = defaultdict(list)
        for each in self.broken:
            for claim in each.claims:
                found[claim].append(each.name)
        return found

    @cached_property
    def excused(self) -> frozenset[str]:
        return frozenset(self.claims)

    @cached_property
    def incomplete(self) -> frozenset[str]:
        return frozenset(each.kind for each in self.broken if each.kind)

    def missed(self, role_ids: Iterable[str]) -> frozenset[str]:
        """Names of the files an organization with these roles lacks because they could not be read."""
        catalogs = {each.name for each in self.broken if each.kind in CATALOGS} if self.incomplete else set()
        return frozenset(catalogs.union(*(self.claims.get(role_id, ()) for role_id in role_ids)))


class Scopes:
    """Documents by the folders in which organizations lie, readable ones or not."""

    def __init__(self, tree: Tree) -> None:
        readable = {os.path.dirname(each.path) for each in tree.documents if each.kind == "organization"}
        unread_ones = {os.path.dirname(each.path) for each in tree.broken if each.kind == "organization"}
        self._org_folders = readable | unread_ones
        self._homes: dict[str, str | None] = {}
        documents: dict[str | None, list[SourceDocument]] = defaultdict(list)
        broken: dict[str | None, list[BrokenDocument]] = defaultdict(list)
        for document in tree.documents:
            if not document.shared:
                documents[self._home(os.path.dirname(document.path))].append(document)
        for unread in tree.broken:
            if not unread.shared:
                broken[self._home(os.path.dirname(unread.path))].append(unread)
        self._documents, self._broken = documents, broken
        self._shared = Group(
            (each for each in tree.documents if each.shared), (each for each in tree.broken if each.shared)
        )
        self._beside: dict[str, Group] = {}
        self._scopes: dict[str, Scope] = {}

    def of(self, folder: str) -> Scope:
        """What the organizations of a folder see."""
        if folder not in self._scopes:
            own = Group(self._documents.get(folder, ()), self._broken.get(folder, ()), own=True)
            self._scopes[folder] = Scope((own, self._group_beside(os.path.dirname(folder)), self._shared))
        return self._scopes[folder]

    def duplicates(self) -> Iterator[Duplicate]:
        """Second declarations of one id in the groups that were looked at."""
        for scope in self._scopes.values():
            for group in scope.groups:
                yield from group.duplicates

    def _group_beside(self, parent: str) -> Group:
        """Documents of the folder an organization lies in, without those of other organizations' folders."""
        if parent not in self._beside:
            home, inside = self._home(parent), os.path.join(parent, "")
            self._beside[parent] = Group(
                (each for each in self._documents.get(home, ()) if each.path.startswith(inside)),
                (each for each in self._broken.get(home, ()) if each.path.startswith(inside)),
            )
        return self._beside[parent]

    def _home(self, folder: str) -> str | None:
        """The nearest folder from here upwards in which an organization lies."""
        if folder not in self._homes:
            parent = os.path.dirname(folder)
            if folder in self._org_folders:
                self._homes[folder] = folder
            else:
                self._homes[folder] = None if parent == folder else self._home(parent)
        return self._homes[folder]
