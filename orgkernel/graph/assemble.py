"""Which documents make up which organisation: lookup from near to far (design §3).

An organisation sees, in this order, the documents of its own folder, those of the folder it lies in (several
organisations may share one `roles/`), and the shared catalogues. The nearest entry of an id is the one it sees.
"""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

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
DocumentT = TypeVar("DocumentT", SourceDocument, BrokenDocument)

# The file by which a host is told which organisation is active: a copy, not a second declaration (specification,
# "Directory Structure").
ACTIVE_COPY = "active.json"

_CATALOGUES = frozenset({"domain_catalog", "plan_catalog", "tool_catalog", "skill_catalog"})


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
    org_documents, duplicates = _organizations(tree.documents)
    scopes = _Scopes({os.path.dirname(document.path) for document in tree.documents if _is_organization(document)})
    folders = {document.path: os.path.dirname(document.path) for document in org_documents}
    included = {document.path: _included(_organization(document)) for document in org_documents}

    profiles: dict[str, dict[str, SourceDocument]] = {}
    uses: dict[int, int] = defaultdict(int)
    elsewhere: dict[str, list[str]] = defaultdict(list)
    by_scope = scopes.sort(tree.documents)
    for document in org_documents:
        found, doubled = _profiles(by_scope, folders[document.path])
        duplicates += doubled
        profiles[document.path] = found
        for role_id in included[document.path]:
            elsewhere[role_id].append(_organization(document).org_id)
            if role_id in found:
                uses[id(found[role_id])] += 1

    broken = scopes.sort(tree.broken)
    organizations = []
    for document in org_documents:
        records, doubled = _resolve(
            document, folders[document.path], by_scope, broken, profiles[document.path], included[document.path],
            shared=lambda profile: uses[id(profile)] > 1, elsewhere=elsewhere,
        )  # fmt: skip
        organizations.append(records)
        duplicates += doubled
    unread_organization = any(document.kind in ("organization", None) for document in tree.broken)
    loose = None if organizations else _loose_catalogues(by_scope)
    return Assembly(
        tuple(organizations),
        tuple(dict.fromkeys(duplicates)),
        loose,
        tuple(
            document
            for document in tree.documents
            if document.kind == "role_profile" and not document.context and not uses.get(id(document))
        ),
        bool(organizations) and not unread_organization,
    )


def _is_organization(document: SourceDocument) -> bool:
    return document.kind == "organization"


def _organization(document: SourceDocument) -> Organization:
    assert isinstance(document.record, Organization)
    return document.record


def _organizations(documents: Iterable[SourceDocument]) -> tuple[list[SourceDocument], list[Duplicate]]:
    """The document of each organisation to be answered for, and second declarations of one id."""
    declared = [document for document in documents if _is_organization(document) and not document.context]
    copies = [document for document in declared if os.path.basename(document.path) == ACTIVE_COPY]
    originals = [document for document in declared if document not in copies]
    first: dict[str, SourceDocument] = {}
    duplicates = []
    for document in originals:
        org_id = _organization(document).org_id
        if org_id in first:
            duplicates.append(
                Duplicate("organization", org_id, document.place("org_id"), first[org_id].place("org_id"))
            )
        first.setdefault(org_id, document)
    for copy in copies:
        first.setdefault(_organization(copy).org_id, copy)
    return list(first.values()), duplicates


class _Scopes:
    """Folders by the organisations that lie in them."""

    def __init__(self, org_folders: set[str]) -> None:
        self._org_folders = org_folders

    def home(self, folder: str) -> str | None:
        """The nearest folder from here upwards in which an organisation lies."""
        while folder not in self._org_folders:
            parent = os.path.dirname(folder)
            if parent == folder:
                return None
            folder = parent
        return folder

    def sort(self, documents: Iterable[DocumentT]) -> Callable[[str], Iterator[list[DocumentT]]]:
        """A function from an organisation's folder to the documents it sees, nearest group first."""
        homes: dict[str | None, list[DocumentT]] = defaultdict(list)
        shared: list[DocumentT] = []
        for document in documents:
            (shared if document.shared else homes[self.home(os.path.dirname(document.path))]).append(document)

        def groups(folder: str) -> Iterator[list[DocumentT]]:
            if not self._org_folders:
                yield homes.get(None, [])
                yield shared
                return
            yield homes.get(folder, [])
            parent = os.path.dirname(folder)
            outside = homes.get(self.home(parent), [])
            yield [document for document in outside if document.path.startswith(parent + os.sep)]
            yield shared

        return groups


def _included(organization: Organization) -> dict[str, tuple[str | int, ...]]:
    """Every role the hierarchy names, as a key or as a subordinate, and the route to where it does."""
    named: dict[str, tuple[str | int, ...]] = {role_id: ("hierarchy", role_id) for role_id in organization.hierarchy}
    for role_id, post in organization.hierarchy.items():
        for number, subordinate in enumerate(post.subordinates):
            named.setdefault(subordinate, ("hierarchy", role_id, "subordinates", number))
    return named


def _profiles(
    by_scope: Callable[[str], Iterator[list[SourceDocument]]], folder: str
) -> tuple[dict[str, SourceDocument], list[Duplicate]]:
    found: dict[str, SourceDocument] = {}
    duplicates = []
    for group in by_scope(folder):
        here: dict[str, SourceDocument] = {}
        for document in group:
            if not isinstance(document.record, RoleProfile):
                continue
            role_id = document.record.role_id
            if role_id in here:
                duplicates.append(
                    Duplicate("role", role_id, document.place("role_id"), here[role_id].place("role_id"))
                )
            here.setdefault(role_id, document)
        found = {**here, **found}
    return found, duplicates


def _resolve(
    document: SourceDocument,
    folder: str,
    by_scope: Callable[[str], Iterator[list[SourceDocument]]],
    broken: Callable[[str], Iterator[list[BrokenDocument]]],
    profiles: Mapping[str, SourceDocument],
    included: Mapping[str, tuple[str | int, ...]],
    *,
    shared: Callable[[SourceDocument], bool],
    elsewhere: Mapping[str, list[str]],
) -> tuple[OrgRecords, list[Duplicate]]:
    organization = _organization(document)
    posts: dict[str, RolePost] = {}
    without_profile: dict[str, Place] = {}
    for role_id, route in included.items():
        source = profiles.get(role_id)
        if source is None:
            without_profile[role_id] = document.place(*route, key=len(route) == 2)
            continue
        assert isinstance(source.record, RoleProfile)
        profile = apply_override(source.record, organization.overrides.get(role_id))
        posts[role_id] = RolePost(role_id, source, profile, document, shared(source))
    groups = list(by_scope(folder))
    catalogues = _Catalogues(groups)
    unread = [each for group in broken(folder) for each in group]
    missed = frozenset(each.name for each in unread if each.kind in _CATALOGUES or each.claims & included.keys())
    contributing = [document, *(post.document for post in posts.values()), *catalogues.documents]
    records = OrgRecords(
        organization.org_id,
        document,
        organization,
        posts,
        without_profile,
        catalogues.definitions(DomainCatalog, "domains", Domain),
        catalogues.aliases(),
        catalogues.definitions(PlanCatalog, "plans", Plan),
        catalogues.definitions(ToolCatalog, "tools", Tool),
        catalogues.definitions(SkillCatalog, "skills", Skill),
        catalogues.proficiency_scale(),
        frozenset(claim for each in unread for claim in each.claims),
        frozenset(each.kind for each in unread if each.kind),
        {
            role_id: others
            for role_id, orgs in elsewhere.items()
            if (others := tuple(org_id for org_id in orgs if org_id != organization.org_id))
        },
        frozenset(each.name for each in contributing) | missed,
        missed,
        _digest(contributing),
    )
    return records, catalogues.duplicates


class _Catalogues:
    """The catalogue entries an organisation sees."""

    def __init__(self, groups: list[list[SourceDocument]]) -> None:
        self._groups = groups
        self.documents = [
            document
            for group in groups
            for document in group
            if isinstance(document.record, DomainCatalog | PlanCatalog | ToolCatalog | SkillCatalog)
        ]
        self.duplicates: list[Duplicate] = []

    def definitions(
        self, catalogue: type[Record], section: str, entry: type[RecordT]
    ) -> dict[str, Definition[RecordT]]:
        found: dict[str, Definition[RecordT]] = {}
        for distance, group in enumerate(self._groups):
            here: dict[str, Definition[RecordT]] = {}
            for document in group:
                if not isinstance(document.record, catalogue):
                    continue
                for entry_id, record in getattr(document.record, section).items():
                    assert isinstance(record, entry)
                    definition = Definition(entry_id, record, document, section, own=distance == 0)
                    if entry_id in here:
                        self.duplicates.append(
                            Duplicate(section[:-1], entry_id, definition.place(), here[entry_id].place())
                        )
                    here.setdefault(entry_id, definition)
            found = {**found, **{entry_id: each for entry_id, each in here.items() if entry_id not in found}}
        return found

    def aliases(self) -> dict[str, AliasTarget]:
        found: dict[str, AliasTarget] = {}
        for document in self.documents:
            if isinstance(document.record, DomainCatalog):
                for alias, target in document.record.aliases.items():
                    found.setdefault(alias, AliasTarget(target, document.place("aliases", alias)))
                for number, alias in enumerate(document.record.unmapped):
                    found.setdefault(alias, AliasTarget(None, document.place("unmapped", number)))
        return found

    def proficiency_scale(self) -> tuple[str, ...]:
        scales = [
            document.record.proficiency_scale
            for document in self.documents
            if isinstance(document.record, SkillCatalog) and document.record.proficiency_scale
        ]
        return scales[0] if scales else ()


def _digest(documents: Iterable[SourceDocument]) -> str:
    """Of names and contents: without the names, moving a file would change every `why` and not the digest."""
    lines = sorted({f"{document.name}\0{document.digest}\n" for document in documents})
    return "sha256:" + hashlib.sha256("".join(lines).encode()).hexdigest()


def _loose_catalogues(by_scope: Callable[[str], Iterator[list[SourceDocument]]]) -> OrgRecords:
    """The catalogues of a tree without an organisation, as one without roles would see them."""
    catalogues = _Catalogues(list(by_scope("")))
    nobody = Organization(org_id="none", hierarchy={})
    document = SourceDocument("", "", "organization", nobody, (0, {}), "")
    return OrgRecords(
        nobody.org_id, document, nobody, {}, {},
        catalogues.definitions(DomainCatalog, "domains", Domain),
        catalogues.aliases(),
        catalogues.definitions(PlanCatalog, "plans", Plan),
        catalogues.definitions(ToolCatalog, "tools", Tool),
        catalogues.definitions(SkillCatalog, "skills", Skill),
    )  # fmt: skip
