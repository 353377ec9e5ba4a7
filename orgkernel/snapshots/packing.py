"""A snapshot as bytes and back: everything one load found out, without where on this machine it was found.

Documents stay packed inside, and are unpacked one by one when somebody asks. INVARIANT: a snapshot that was unpacked
answers, reports and counts exactly as the one that was packed (tests/property/test_cache_laws.py).
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import msgspec

from orgkernel.diagnostics import Diagnostic, Place
from orgkernel.graph.columns import EdgeColumns, PackedColumns
from orgkernel.graph.exchange import in_order
from orgkernel.graph.records import OrgRecords, RolePost
from orgkernel.graph.scopes import Scope
from orgkernel.graph.shared_roles import Elsewhere, Including
from orgkernel.index.org_index import OrgIndex
from orgkernel.loading.entries import ENCODER, DamagedEntry, decode
from orgkernel.loading.files import Located
from orgkernel.loading.sources import SourceDocument, Tree
from orgkernel.records.organization import Organization
from orgkernel.records.record import PREFIX
from orgkernel.snapshots.packed_files import PackedFiles, pack_files, restore_tree
from orgkernel.snapshots.snapshot import OrgSnapshot, Snapshot


class PackedOrganization(msgspec.Struct, frozen=True, array_like=True):
    """An organization; its documents by number, its findings by number."""

    document: int
    posts: tuple[str, ...]
    """Role ids, in the order of the hierarchy."""
    profiles: bytes
    """For each post the number of the document, 32 bits each."""
    shared_profiles: bytes
    superiors: dict[str, str]
    """Of posts whose profile is shared."""
    without_profile: dict[str, Place]
    catalogs: tuple[int, ...]
    catalog_counts: tuple[int, ...]
    excused: frozenset[str]
    incomplete: frozenset[str]
    unread: frozenset[str]
    digest: str
    columns: PackedColumns
    findings: tuple[int, ...]


class PackedSnapshot(msgspec.Struct, frozen=True, array_like=True):
    """A whole load."""

    files: PackedFiles
    organizations: tuple[PackedOrganization, ...]
    findings: tuple[Diagnostic, ...]
    reported: tuple[int, ...]
    digest: str
    suppresses: bool


_SNAPSHOT = msgspec.msgpack.Decoder(PackedSnapshot)


def pack_snapshot(snapshot: Snapshot) -> bytes:
    """The bytes of a snapshot; the same for the same content, wherever it lies."""
    numbers = {id(document): number for number, document in enumerate(snapshot.tree.documents)}
    findings: dict[Diagnostic, int] = {}

    def numbered(found: Sequence[Diagnostic]) -> tuple[int, ...]:
        return tuple(findings.setdefault(each, len(findings)) for each in found)

    organizations = tuple(
        PackedOrganization(
            numbers[id(each.records.document)],
            tuple(each.records.posts),
            array("I", [numbers[id(post.document)] for post in each.records.posts.values()]).tobytes(),
            bytes(post.shared_profile for post in each.records.posts.values()),
            {
                role_id: post.superior
                for role_id, post in each.records.posts.items()
                if post.superior is not None
            },
            dict(each.records.without_profile),
            tuple(numbers[id(document)] for document in each.records.catalogs),
            each.records.catalog_counts,
            each.records.excused,
            each.records.incomplete,
            each.records.unread,
            each.records.digest,
            in_order(each.columns).pack(),
            numbered(each.diagnostics),
        )
        for each in snapshot.organizations.values()
    )
    reported = numbered(snapshot.diagnostics)
    files = pack_files(snapshot.tree.files)
    return ENCODER.encode(
        PackedSnapshot(files, organizations, tuple(findings), reported, snapshot.digest, snapshot.suppresses)
    )


def decode_snapshot(packed: bytes | memoryview) -> PackedSnapshot:
    """The parts of a snapshot, to restore it or to take what some of its files yielded. Raises `DamagedEntry`."""
    return decode(_SNAPSHOT, packed)


def restore_snapshot(packed: PackedSnapshot, located: Sequence[Located]) -> Snapshot:
    """The snapshot again, of the same files where they lie now. Raises `DamagedEntry` for parts that do not fit."""
    try:
        return _restore(packed, located)
    except (msgspec.MsgspecError, ValueError, LookupError, TypeError, AssertionError) as error:
        raise DamagedEntry(f"its parts do not fit: {type(error).__name__}") from None


def verify_snapshot(snapshot: Snapshot) -> None:
    """Unpack everything once, for whoever answers for long. Raises `DamagedEntry` for parts that are something else."""
    try:
        for document in snapshot.tree.documents:
            if document.record.kind != f"{PREFIX}{document.kind}":  # type: ignore[attr-defined]
                raise DamagedEntry("a document of another kind")
            _verify_marks(document.marks)
            if document.unknown:
                document.has(*document.unknown[0][0])
        for organization in snapshot.organizations.values():
            for _ in organization.columns:
                pass
    except (msgspec.MsgspecError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise DamagedEntry(f"its parts are something else: {type(error).__name__}") from None


def _verify_marks(marks: Any) -> None:
    if isinstance(marks, int):
        return
    mark, below = marks
    if not isinstance(mark, int) or not isinstance(below, dict | list):
        raise DamagedEntry("places of another shape")
    for each in below.values() if isinstance(below, dict) else below:
        if isinstance(below, list):
            _verify_marks(each)
        elif isinstance(each[0], int):
            _verify_marks(each[1])
        else:
            raise DamagedEntry("places of another shape")


def _restore(packed: PackedSnapshot, located: Sequence[Located]) -> Snapshot:
    tree = restore_tree(packed.files, located)
    findings = packed.findings
    including = Including(lambda: [(each.org_id, (*each.posts, *each.without_profile)) for each in restored])
    scopes: dict[tuple[tuple[int, ...], tuple[int, ...]], Scope] = {}
    restored: list[OrgRecords] = []
    organizations = {}
    for org in packed.organizations:
        seen = (org.catalogs, org.catalog_counts)
        if seen not in scopes:
            catalogs = [_at(tree, number) for number in org.catalogs]
            scopes[seen] = Scope.of_catalogs(catalogs, org.catalog_counts)
        records = _records(org, tree, scopes[seen], including)
        restored.append(records)
        columns = EdgeColumns.unpack(org.columns)
        organizations[records.org_id] = OrgSnapshot(
            records, columns, OrgIndex(records, columns), tuple(findings[number] for number in org.findings)
        )
    reported = tuple(findings[number] for number in packed.reported)
    return Snapshot(organizations, reported, tree, packed.digest, packed.suppresses)


def _at(tree: Tree, number: int) -> SourceDocument:
    if number < 0:
        raise IndexError
    return tree.documents[number]


def _records(packed: PackedOrganization, tree: Tree, scope: Scope, including: Including) -> OrgRecords:
    document = _at(tree, packed.document)
    organization = document.record
    assert isinstance(organization, Organization)
    profiles = array("I", packed.profiles)
    if any(tree.documents[number].kind != "role_profile" for number in profiles):
        raise DamagedEntry("a post without a profile")
    superior_of, override_of = packed.superiors.get, organization.overrides.get
    posts = {
        role_id: RolePost(
            role_id,
            tree.documents[number],
            document,
            bool(shared),
            superior_of(role_id),
            override_of(role_id),
        )
        for role_id, number, shared in zip(packed.posts, profiles, packed.shared_profiles, strict=True)
    }
    made_of = [document, *(tree.documents[number] for number in profiles), *scope.catalogs]
    return OrgRecords(
        organization.org_id,
        document,
        organization,
        posts,
        packed.without_profile,
        excused=packed.excused,
        incomplete=packed.incomplete,
        elsewhere=Elsewhere(including, organization.org_id),
        files=frozenset(each.name for each in made_of) | packed.unread,
        unread=packed.unread,
        digest=packed.digest,
        **scope.definitions,
    )
