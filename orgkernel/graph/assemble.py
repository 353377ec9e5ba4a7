"""Assemble organizations from documents, with lookup from near to far (docs/documents.md).

An organization sees, in this order, the documents of its own folder, those of the parent folder (several organizations
can share one `roles/`), and the shared catalogs. For each id it sees the nearest entry.
"""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property

import msgspec
from msgspec.msgpack import encode

from orgkernel.diagnostics import Place
from orgkernel.documents.records import Organization, RoleProfile
from orgkernel.graph.governance import apply_governance, map_roles_to_layers
from orgkernel.graph.records import OrgRecords, RolePost
from orgkernel.graph.visible_documents import Duplicate, Group, Visibility, VisibleDocuments
from orgkernel.loading.shipped import get_shipped_folder
from orgkernel.loading.sources import BrokenDocument, LoadedFiles, PackedParts, SourceDocument

_INSTALLED = tuple(
    os.path.join(each, "")
    for each in (get_shipped_folder("ontology"), os.path.dirname(os.path.dirname(__file__)))
)
"""The folders of the shipped ontology and of the package, which contain the catalogs for other hosts."""


class Including:
    """The organizations that include each role, computed on first use."""

    def __init__(self, organizations: Callable[[], Iterable[tuple[str, Iterable[str]]]]) -> None:
        self._organizations = organizations

    @cached_property
    def by_role(self) -> Mapping[str, list[str]]:
        """The ids of the organizations that include each role, in their order."""
        org_ids_by_role: dict[str, list[str]] = defaultdict(list)
        for org_id, role_ids in self._organizations():
            for role_id in role_ids:
                org_ids_by_role[role_id].append(org_id)
        return dict(org_ids_by_role)


class Elsewhere(Mapping[str, tuple[str, ...]]):
    """The other organizations that include each role."""

    def __init__(self, including: Including, org_id: str) -> None:
        self._including = including
        self._org_id = org_id

    def __getitem__(self, role_id: str) -> tuple[str, ...]:
        all_of_them = self._including.by_role.get(role_id, ())
        others = tuple(org_id for org_id in all_of_them if org_id != self._org_id)
        if not others:
            raise KeyError(role_id)
        return others

    def __iter__(self) -> Iterator[str]:
        return (role_id for role_id in self._including.by_role if role_id in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


# The file that tells a host the active organization is a copy, not a second declaration (specification,
# "Directory Structure").
ACTIVE_COPY = "active.json"


class Assembly(msgspec.Struct, frozen=True):
    """All organizations of a tree, and the documents outside of them."""

    organizations: tuple[OrgRecords, ...]
    duplicates: tuple[Duplicate, ...]
    loose_catalogs: OrgRecords | None
    """The catalog entries, if there is no organization to check them with."""
    stray_profiles: tuple[SourceDocument, ...]
    """Profiles that no organization includes."""
    stray_overlays: tuple[SourceDocument, ...]
    """Overlays of roles that no source of their organization contains."""
    strays_are_known: bool
    """Whether every organization could be read, so a profile that none includes is certainly stray."""
    cases: tuple[SourceDocument, ...] = ()
    """Documents with decision cases, except those that are read as context only."""


def assemble(tree: LoadedFiles) -> Assembly:
    """Assemble every organization of a tree."""
    org_documents, duplicates = _find_organizations(tree)
    visibility = Visibility(tree)
    included = {id(document): find_included_roles(_get_organization(document)) for document in org_documents}
    uses: dict[int, int] = defaultdict(int)
    including = Including(
        lambda: [(_get_organization(each).org_id, included[id(each)]) for each in org_documents]
    )
    for document in org_documents:
        visible = visibility.of(os.path.dirname(document.path), document.format)
        for role_id in included[id(document)]:
            if (profile := visible.find_profile(role_id)) is not None:
                uses[id(profile)] += 1
    organizations = tuple(
        _resolve(
            document,
            visibility.of(os.path.dirname(document.path), document.format),
            included[id(document)],
            uses,
            including,
        )
        for document in org_documents
    )
    stray = [
        document
        for document in tree.documents
        if document.kind == "role_profile" and not document.context and not uses.get(id(document))
    ]
    laid_over = {id(part) for document in tree.documents for part in document.parts if part is not document}
    # A profile that no organization includes could belong to one that could not be read, so nothing is called stray
    # then.
    unread_organization = any(document.kind in ("organization", None) for document in tree.broken)
    return Assembly(
        organizations,
        tuple(dict.fromkeys([*duplicates, *visibility.find_duplicates()])),
        None if organizations else _collect_loose_catalogs(tree),
        tuple(document for document in stray if not _is_overlay(document)),
        tuple(document for document in stray if _is_overlay(document) and id(document) not in laid_over),
        bool(organizations) and not unread_organization,
        tuple(each for each in tree.documents if each.kind == "decision_cases" and not each.context),
    )


def _get_organization(document: SourceDocument) -> Organization:
    assert isinstance(document.record, Organization)
    return document.record


def _is_overlay(document: SourceDocument) -> bool:
    return isinstance(document.record, RoleProfile) and document.record.overlay


def _is_copy(document: SourceDocument | BrokenDocument) -> bool:
    return os.path.basename(document.path) == ACTIVE_COPY


def _find_organizations(tree: LoadedFiles) -> tuple[list[SourceDocument], list[Duplicate]]:
    """The document of each organization to answer for, and second declarations of one id.

    A copy answers only if there is no original. An original that could not be read still counts as one.
    """
    declared = [each for each in tree.documents if each.kind == "organization" and not each.context]
    first: dict[str, SourceDocument] = {}
    duplicates = []
    for document in declared:
        org_id = _get_organization(document).org_id
        if _is_copy(document):
            continue
        if org_id in first:
            duplicates.append(
                Duplicate("organization", org_id, document.place("org_id"), first[org_id].place("org_id"))
            )
        first.setdefault(org_id, document)
    # A copy must not answer for an original that is only broken: it could be older than the mistake.
    unread = {
        declared_id
        for each in tree.broken
        if each.kind == "organization" and not _is_copy(each)
        for declared_id in each.declared_ids
    }
    for document in declared:
        if _is_copy(document) and _get_organization(document).org_id not in unread:
            first.setdefault(_get_organization(document).org_id, document)
    return list(first.values()), duplicates


def find_included_roles(organization: Organization) -> dict[str, tuple[str | int, ...]]:
    """Every role in the hierarchy, as a key or as a subordinate, with its route."""
    named: dict[str, tuple[str | int, ...]] = {
        role_id: ("hierarchy", role_id) for role_id in organization.hierarchy
    }
    for role_id, post in organization.hierarchy.items():
        for number, subordinate in enumerate(post.subordinates):
            named.setdefault(subordinate, ("hierarchy", role_id, "subordinates", number))
    return named


def _resolve(
    document: SourceDocument,
    visible: VisibleDocuments,
    included: Mapping[str, tuple[str | int, ...]],
    uses: Mapping[int, int],
    including: Including,
) -> OrgRecords:
    organization = _get_organization(document)
    governance = visible.definitions["governance"]
    posts, without_profile = build_posts(
        document, organization, governance, visible.find_profile, lambda profile: uses[id(profile)] > 1
    )
    missed = visible.find_missed(included)
    contributing = list_parts([document, *(post.document for post in posts.values()), *visible.catalogs])
    return OrgRecords(
        organization.org_id,
        document,
        apply_governance(organization, governance),
        posts,
        without_profile,
        excused=visible.excused,
        incomplete=visible.incomplete,
        elsewhere=Elsewhere(including, organization.org_id),
        files=frozenset(each.name for each in contributing) | missed,
        unread=missed,
        digest=digest_documents(contributing, document),
        **visible.definitions,
    )


def build_posts(
    document: SourceDocument,
    organization: Organization,
    governance: SourceDocument | None,
    find_profile: Callable[[str], SourceDocument | None],
    is_shared: Callable[[SourceDocument], bool],
) -> tuple[dict[str, RolePost], dict[str, Place]]:
    """Every role in the hierarchy: its post, or its place there if it has no profile."""
    posts: dict[str, RolePost] = {}
    without_profile: dict[str, Place] = {}
    superiors = {
        subordinate: superior
        # Reversed, so that of several superiors the first one is written last and stays.
        for superior, post in reversed(organization.hierarchy.items())
        for subordinate in post.subordinates
    }
    overrides = organization.overrides
    layers = map_roles_to_layers(governance)
    for role_id, route in find_included_roles(organization).items():
        source = find_profile(role_id)
        if source is None:
            without_profile[role_id] = document.place(*route, key=len(route) == 2)
            continue
        shared = is_shared(source)
        # A shared profile cannot name the superior in each organization, so the hierarchy of this one says it.
        superior = superiors.get(role_id) if shared else None
        posts[role_id] = RolePost(
            role_id, source, document, shared, superior, overrides.get(role_id), layers.get(role_id)
        )
    return posts, without_profile


def list_parts(documents: Iterable[SourceDocument]) -> list[SourceDocument]:
    """The documents of one file each that some documents are made of."""
    return [part for document in documents for part in document.parts]


def digest_documents(documents: Iterable[SourceDocument], organization: SourceDocument) -> str:
    """A digest of names and contents. Without the names, moving a file would change every `why` but not the digest.

    Names are relative to the folder of the organization, so every process that reads the same documents computes the same
    digest, whatever its current folder. Approvals are bound to the digest.
    """
    home = os.path.join(os.path.dirname(organization.path), "")
    lines = sorted({f"{_name_relative_to(home, document)}\0{document.digest}\n" for document in documents})
    return "sha256:" + hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def _name_relative_to(home: str, document: SourceDocument) -> str:
    """The name of a file relative to a folder. Files that come with orgkernel get a name that does not depend on their location."""
    if document.shared or document.path.startswith(_INSTALLED):
        return os.path.basename(document.path)
    if document.path.startswith(home):  # the same result as below, and much faster
        return document.path[len(home) :]
    return os.path.relpath(document.path, home)


def _collect_loose_catalogs(tree: LoadedFiles) -> OrgRecords:
    """The catalogs of a tree without an organization, as an organization without roles would see them."""
    own = Group((each for each in tree.documents if not each.shared), tree.broken, own=True)
    visible = VisibleDocuments((own, Group(each for each in tree.documents if each.shared)))
    empty = Organization(org_id="none", hierarchy={})
    document = SourceDocument("", "", "organization", PackedParts(encode(empty), encode((0, {}))), "")
    return OrgRecords(
        empty.org_id, document, empty, {}, {}, incomplete=visible.incomplete, **visible.definitions
    )
