"""A snapshot as bytes and back: everything one load found out, without where on this machine it was found.

Documents stay packed inside, and are unpacked one by one when somebody asks. INVARIANT: a snapshot that was unpacked
answers, reports and counts exactly as the one that was packed (tests/property/test_cache_laws.py).
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from orgkernel.diagnostics import Diagnostic, Place
from orgkernel.graph.columns import EdgeColumns, PackedColumns
from orgkernel.graph.elsewhere import Elsewhere, Including
from orgkernel.graph.records import OrgRecords, RolePost
from orgkernel.graph.scopes import Scope
from orgkernel.index.org_index import OrgIndex
from orgkernel.kernel.snapshot import OrgSnapshot, Snapshot
from orgkernel.loading.entries import ENCODER, DamagedEntry, FileEntry, decode, entry_of, read_of
from orgkernel.loading.files import Located
from orgkernel.loading.sources import FileRead, SourceDocument, Tree, tree_of
from orgkernel.records.organization import Organization


class PackedFile(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A file by the position of its root and its shown name."""

    root: int
    name: str
    digest: str
    says_ours: bool
    among_ours: bool
    entry: FileEntry


class PackedPost(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A post; its profile by the number of the document."""

    role_id: str
    document: int
    shared_profile: bool
    superior: str | None


class PackedOrganization(msgspec.Struct, frozen=True, array_like=True):
    """An organisation; its documents by number, its findings by number."""

    document: int
    posts: tuple[PackedPost, ...]
    without_profile: dict[str, Place]
    catalogues: tuple[int, ...]
    catalogue_counts: tuple[int, ...]
    excused: frozenset[str]
    incomplete: frozenset[str]
    files: frozenset[str]
    unread: frozenset[str]
    digest: str
    columns: PackedColumns
    findings: tuple[int, ...]


class PackedSnapshot(msgspec.Struct, frozen=True, array_like=True):
    """A whole load."""

    files: tuple[PackedFile, ...]
    organizations: tuple[PackedOrganization, ...]
    findings: tuple[Diagnostic, ...]
    reported: tuple[int, ...]
    digest: str


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
            tuple(
                PackedPost(post.role_id, numbers[id(post.document)], post.shared_profile, post.superior)
                for post in each.records.posts.values()
            ),
            dict(each.records.without_profile),
            tuple(numbers[id(document)] for document in each.records.catalogues),
            each.records.catalogue_counts,
            each.records.excused,
            each.records.incomplete,
            each.records.files,
            each.records.unread,
            each.records.digest,
            each.columns.pack(),
            numbered(each.diagnostics),
        )
        for each in snapshot.organizations.values()
    )
    reported = numbered(snapshot.diagnostics)
    files = tuple(
        PackedFile(
            file.located.number,
            file.located.name,
            file.digest,
            file.says_ours,
            file.among_ours,
            entry_of(file.read),
        )
        for file in snapshot.tree.files
    )
    return ENCODER.encode(PackedSnapshot(files, organizations, tuple(findings), reported, snapshot.digest))


def decode_snapshot(packed: bytes | memoryview) -> PackedSnapshot:
    """The parts of a snapshot, to restore it or to take what some of its files yielded. Raises `DamagedEntry`."""
    return decode(_SNAPSHOT, packed)


def restore_snapshot(packed: PackedSnapshot, located: Sequence[Located]) -> Snapshot:
    """The snapshot again, of the same files where they lie now. Raises `DamagedEntry` for parts that do not fit."""
    try:
        return _restore(packed, located)
    except (msgspec.MsgspecError, ValueError, LookupError, TypeError, AssertionError) as error:
        raise DamagedEntry(f"its parts do not fit: {type(error).__name__}") from None


def _restore(packed: PackedSnapshot, located: Sequence[Located]) -> Snapshot:
    files = []
    for file, each in zip(packed.files, located, strict=True):
        if (file.root, file.name) != (each.number, each.name):
            raise DamagedEntry("it is about other files")
        root = each.root
        read = read_of(file.entry, each.path, each.name, shared=root.shared, context=root.context)
        files.append(FileRead(each, file.digest, file.says_ours, file.among_ours, read))
    tree = tree_of(files)
    findings = packed.findings
    including = Including(lambda: [(each.org_id, (*each.posts, *each.without_profile)) for each in restored])
    scopes: dict[tuple[tuple[int, ...], tuple[int, ...]], Scope] = {}
    restored: list[OrgRecords] = []
    organizations = {}
    for org in packed.organizations:
        seen = (org.catalogues, org.catalogue_counts)
        if seen not in scopes:
            catalogues = [_at(tree, number) for number in org.catalogues]
            scopes[seen] = Scope.of_catalogues(catalogues, org.catalogue_counts)
        records = _records(org, tree, scopes[seen], including)
        restored.append(records)
        columns = EdgeColumns.unpack(org.columns)
        organizations[records.org_id] = OrgSnapshot(
            records, columns, OrgIndex(records, columns), tuple(findings[number] for number in org.findings)
        )
    reported = tuple(findings[number] for number in packed.reported)
    return Snapshot(organizations, reported, tree, packed.digest)


def _at(tree: Tree, number: int) -> SourceDocument:
    if number < 0:
        raise IndexError
    return tree.documents[number]


def _records(packed: PackedOrganization, tree: Tree, scope: Scope, including: Including) -> OrgRecords:
    document = _at(tree, packed.document)
    organization = document.record
    assert isinstance(organization, Organization)
    posts = {}
    for post in packed.posts:
        profile = _at(tree, post.document)
        if profile.kind != "role_profile":
            raise DamagedEntry("a post without a profile")
        posts[post.role_id] = RolePost(post.role_id, profile, document, post.shared_profile, post.superior)
    return OrgRecords(
        organization.org_id,
        document,
        organization,
        posts,
        packed.without_profile,
        excused=packed.excused,
        incomplete=packed.incomplete,
        elsewhere=Elsewhere(including, organization.org_id),
        files=packed.files,
        unread=packed.unread,
        digest=packed.digest,
        **scope.definitions,
    )
