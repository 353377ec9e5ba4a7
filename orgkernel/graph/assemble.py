"""Which documents make up which organisation: lookup from near to far (design §3).

An organisation sees, in this order, the documents of its own folder, those of the folder it lies in (several
organisations may share one `roles/`), and the shared catalogues. The nearest entry of an id is the one it sees.
"""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypedDict, TypeVar

from orgkernel.diagnostics import Place
from orgkernel.graph.records import AliasTarget, Definition, OrgRecords, RolePost, apply_override
from orgkernel.loading.documents import BrokenDocument, SourceDocument
from orgkernel.loading.tree import Tree
from orgkernel.model.domain_catalog import Domain, DomainCatalog
from orgkernel.model.organization import Organization
from orgkernel.model.plan_catalog import Plan, PlanCatalog
from orgkernel.model.record import Record
from orgkernel.model.role_profile import RoleProfile
from orgkernel.model.skill_catalog import Skill, SkillCatalog
from orgkernel.model.tool_catalog import Tool, ToolCatalog

RecordT = TypeVar("RecordT", bound=Record)

# The file by which a host is told which organisation is active: a copy, not a second declaration (specification,
# "Directory Structure").
ACTIVE_COPY = "active.json"

_CATALOGUES = frozenset({"domain_catalog", "plan_catalog", "tool_catalog", "skill_catalog"})
# Of what kind a file may be that could not be read and is missed by the organisations that would see it. What another
# organisation's file, a report or a case says about a role does not declare the role.
_MISSED = _CATALOGUES | {"role_profile", None}


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A second declaration of an id at the same distance; the first is the one that is seen."""

    what: str
    id: str
    place: Place
    first: Place


@dataclass(frozen=True, slots=True)
class Assembly:
    """All organisations of a tree, and what stands beside them."""

    organizations: tuple[OrgRecords, ...]
    duplicates: tuple[Duplicate, ...]
    loose_catalogues: OrgRecords | None
    """Catalogue entries where no organisation was read that could be asked about them."""
    stray_profiles: tuple[SourceDocument, ...]
    """Profiles no organisation includes."""
    strays_are_known: bool
    """Whether every organisation there is could be read, so that a stray profile is certainly one."""


def assemble(tree: Tree) -> Assembly:
    """Resolve every organisation of a tree."""
    org_documents, duplicates = _organizations(tree)
    scopes = _Scopes(tree)
    included = {document.path: _included(_organization(document)) for document in org_documents}
    uses: dict[int, int] = defaultdict(int)
    including: dict[str, list[str]] = defaultdict(list)
    for document in org_documents:
        scope = scopes.of(os.path.dirname(document.path))
        for role_id in included[document.path]:
            including[role_id].append(_organization(document).org_id)
            if (profile := scope.profile(role_id)) is not None:
                uses[id(profile)] += 1
    organizations = tuple(
        _resolve(
            document, scopes.of(os.path.dirname(document.path)), included[document.path], uses, including
        )
        for document in org_documents
    )
    unread_organization = any(document.kind in ("organization", None) for document in tree.broken)
    return Assembly(
        organizations,
        tuple(dict.fromkeys([*duplicates, *scopes.duplicates()])),
        None if organizations else _loose_catalogues(tree),
        tuple(
            document
            for document in tree.documents
            if document.kind == "role_profile" and not document.context and not uses.get(id(document))
        ),
        bool(organizations) and not unread_organization,
    )


def _organization(document: SourceDocument) -> Organization:
    assert isinstance(document.record, Organization)
    return document.record


def _is_copy(document: SourceDocument | BrokenDocument) -> bool:
    return os.path.basename(document.path) == ACTIVE_COPY


def _organizations(tree: Tree) -> tuple[list[SourceDocument], list[Duplicate]]:
    """The document of each organisation to be answered for, and second declarations of one id.

    The copy answers only where there is no original; one that could not be read is still the original.
    """
    declared = [each for each in tree.documents if each.kind == "organization" and not each.context]
    first: dict[str, SourceDocument] = {}
    duplicates = []
    for document in declared:
        org_id = _organization(document).org_id
        if _is_copy(document):
            continue
        if org_id in first:
            duplicates.append(
                Duplicate("organization", org_id, document.place("org_id"), first[org_id].place("org_id"))
            )
        first.setdefault(org_id, document)
    unread = {
        claim
        for each in tree.broken
        if each.kind == "organization" and not _is_copy(each)
        for claim in each.claims
    }
    for document in declared:
        if _is_copy(document) and _organization(document).org_id not in unread:
            first.setdefault(_organization(document).org_id, document)
    return list(first.values()), duplicates


def _included(organization: Organization) -> dict[str, tuple[str | int, ...]]:
    """Every role the hierarchy names, as a key or as a subordinate, and the route to where it does."""
    named: dict[str, tuple[str | int, ...]] = {
        role_id: ("hierarchy", role_id) for role_id in organization.hierarchy
    }
    for role_id, post in organization.hierarchy.items():
        for number, subordinate in enumerate(post.subordinates):
            named.setdefault(subordinate, ("hierarchy", role_id, "subordinates", number))
    return named


class _Group:
    """Documents that organisations see at one distance; what they hold is looked up once for all organisations."""

    def __init__(
        self, documents: Iterable[SourceDocument], broken: Iterable[BrokenDocument] = (), *, own: bool = False
    ) -> None:
        self.documents = [
            each for each in documents if each.kind == "role_profile" or each.kind in _CATALOGUES
        ]
        self.broken = [each for each in broken if each.kind in _MISSED]
        self.own = own
        self.duplicates: list[Duplicate] = []

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
    def catalogues(self) -> list[SourceDocument]:
        return [document for document in self.documents if document.kind in _CATALOGUES]

    def definitions(
        self, catalogue: type[Record], section: str, entry: type[RecordT]
    ) -> dict[str, Definition[RecordT]]:
        found: dict[str, Definition[RecordT]] = {}
        for document in self.catalogues:
            if not isinstance(document.record, catalogue):
                continue
            for entry_id, record in getattr(document.record, section).items():
                assert isinstance(record, entry)
                definition = Definition(entry_id, record, document, section, self.own)
                first = found.setdefault(entry_id, definition)
                if first is not definition:
                    self.duplicates.append(
                        Duplicate(section[:-1], entry_id, definition.place(), first.place())
                    )
        return found

    @cached_property
    def domains(self) -> dict[str, Definition[Domain]]:
        return self.definitions(DomainCatalog, "domains", Domain)

    @cached_property
    def plans(self) -> dict[str, Definition[Plan]]:
        return self.definitions(PlanCatalog, "plans", Plan)

    @cached_property
    def tools(self) -> dict[str, Definition[Tool]]:
        return self.definitions(ToolCatalog, "tools", Tool)

    @cached_property
    def skills(self) -> dict[str, Definition[Skill]]:
        return self.definitions(SkillCatalog, "skills", Skill)


class _Definitions(TypedDict):
    """Fields of `OrgRecords` that come from catalogues."""

    domains: Mapping[str, Definition[Domain]]
    aliases: Mapping[str, AliasTarget]
    plans: Mapping[str, Definition[Plan]]
    tools: Mapping[str, Definition[Tool]]
    skills: Mapping[str, Definition[Skill]]
    proficiency_scale: tuple[str, ...]
    catalogues: tuple[SourceDocument, ...]
    skill_categories: frozenset[str]


class _Scope:
    """What the organisations of one folder see: groups of documents, nearest first."""

    def __init__(self, groups: tuple[_Group, ...]) -> None:
        self.groups = groups
        self.catalogues = tuple(document for group in groups for document in group.catalogues)

    def profile(self, role_id: str) -> SourceDocument | None:
        return next((group.profiles[role_id] for group in self.groups if role_id in group.profiles), None)

    @cached_property
    def definitions(self) -> _Definitions:
        """What the catalogues define; shared by all organisations of the folder."""
        records = [document.record for document in self.catalogues]
        skill_catalogues = [record for record in records if isinstance(record, SkillCatalog)]
        scales = (record.proficiency_scale for record in skill_catalogues)
        return {
            "domains": _nearest(group.domains for group in self.groups),
            "aliases": self._aliases(),
            "plans": _nearest(group.plans for group in self.groups),
            "tools": _nearest(group.tools for group in self.groups),
            "skills": _nearest(group.skills for group in self.groups),
            "proficiency_scale": next((scale for scale in scales if scale), ()),
            "catalogues": self.catalogues,
            "skill_categories": frozenset(each for record in skill_catalogues for each in record.categories),
        }

    def _aliases(self) -> dict[str, AliasTarget]:
        found: dict[str, AliasTarget] = {}
        for document in self.catalogues:
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
        """Names of the files an organisation with these roles lacks because they could not be read."""
        catalogues = (
            {each.name for each in self.broken if each.kind in _CATALOGUES} if self.incomplete else set()
        )
        return frozenset(catalogues.union(*(self.claims.get(role_id, ()) for role_id in role_ids)))


def _nearest(groups: Iterable[dict[str, Definition[RecordT]]]) -> dict[str, Definition[RecordT]]:
    found: dict[str, Definition[RecordT]] = {}
    for group in groups:
        for entry_id, definition in group.items():
            found.setdefault(entry_id, definition)
    return found


class _Scopes:
    """Documents by the folders in which organisations lie, readable ones or not."""

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
        self._shared = _Group(
            (each for each in tree.documents if each.shared), (each for each in tree.broken if each.shared)
        )
        self._beside: dict[str, _Group] = {}
        self._scopes: dict[str, _Scope] = {}

    def of(self, folder: str) -> _Scope:
        """What the organisations of a folder see."""
        if folder not in self._scopes:
            own = _Group(self._documents.get(folder, ()), self._broken.get(folder, ()), own=True)
            self._scopes[folder] = _Scope((own, self._group_beside(os.path.dirname(folder)), self._shared))
        return self._scopes[folder]

    def duplicates(self) -> Iterator[Duplicate]:
        """Second declarations of one id in the groups that were looked at."""
        for scope in self._scopes.values():
            for group in scope.groups:
                yield from group.duplicates

    def _group_beside(self, parent: str) -> _Group:
        """Documents of the folder an organisation lies in, without those of other organisations' folders."""
        if parent not in self._beside:
            home, inside = self._home(parent), os.path.join(parent, "")
            self._beside[parent] = _Group(
                (each for each in self._documents.get(home, ()) if each.path.startswith(inside)),
                (each for each in self._broken.get(home, ()) if each.path.startswith(inside)),
            )
        return self._beside[parent]

    def _home(self, folder: str) -> str | None:
        """The nearest folder from here upwards in which an organisation lies."""
        if folder not in self._homes:
            parent = os.path.dirname(folder)
            if folder in self._org_folders:
                self._homes[folder] = folder
            else:
                self._homes[folder] = None if parent == folder else self._home(parent)
        return self._homes[folder]


class _Elsewhere(Mapping[str, tuple[str, ...]]):
    """Role id to the other organisations that include it, looked up when asked: there may be many of both."""

    def __init__(self, including: Mapping[str, list[str]], org_id: str) -> None:
        self._including = including
        self._org_id = org_id

    def __getitem__(self, role_id: str) -> tuple[str, ...]:
        others = tuple(org_id for org_id in self._including.get(role_id, ()) if org_id != self._org_id)
        if not others:
            raise KeyError(role_id)
        return others

    def __iter__(self) -> Iterator[str]:
        return (role_id for role_id in self._including if role_id in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _resolve(
    document: SourceDocument,
    scope: _Scope,
    included: Mapping[str, tuple[str | int, ...]],
    uses: Mapping[int, int],
    including: Mapping[str, list[str]],
) -> OrgRecords:
    organization = _organization(document)
    posts: dict[str, RolePost] = {}
    without_profile: dict[str, Place] = {}
    for role_id, route in included.items():
        source = scope.profile(role_id)
        if source is None:
            without_profile[role_id] = document.place(*route, key=len(route) == 2)
            continue
        assert isinstance(source.record, RoleProfile)
        profile = apply_override(source.record, organization.overrides.get(role_id))
        posts[role_id] = RolePost(role_id, source, profile, document, uses[id(source)] > 1)
    missed = scope.missed(included)
    contributing = [document, *(post.document for post in posts.values()), *scope.catalogues]
    return OrgRecords(
        organization.org_id,
        document,
        organization,
        posts,
        without_profile,
        excused=scope.excused,
        incomplete=scope.incomplete,
        elsewhere=_Elsewhere(including, organization.org_id),
        files=frozenset(each.name for each in contributing) | missed,
        unread=missed,
        digest=_digest(contributing),
        **scope.definitions,
    )


def _digest(documents: Iterable[SourceDocument]) -> str:
    """Of names and contents: without the names, moving a file would change every `why` and not the digest."""
    lines = sorted({f"{document.name}\0{document.digest}\n" for document in documents})
    return "sha256:" + hashlib.sha256("".join(lines).encode()).hexdigest()


def _loose_catalogues(tree: Tree) -> OrgRecords:
    """The catalogues of a tree without an organisation, as one without roles would see them."""
    own = _Group((each for each in tree.documents if not each.shared), own=True)
    scope = _Scope((own, _Group(each for each in tree.documents if each.shared)))
    nobody = Organization(org_id="none", hierarchy={})
    document = SourceDocument("", "", "organization", nobody, (0, {}), "")
    return OrgRecords(nobody.org_id, document, nobody, {}, {}, **scope.definitions)
