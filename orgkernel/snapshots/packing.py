"""Pack snapshots into bytes and restore them, without the locations of files on this machine.

Documents stay packed and are unpacked one by one on request.

INVARIANT: an unpacked snapshot answers, reports and counts exactly like the packed one
(tests/property/test_cache_laws.py).
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from orgkernel.diagnostics import Diagnostic, Place
from orgkernel.documents.records import PREFIX, RECORDS, Organization
from orgkernel.graph.assemble import Elsewhere, Including, list_parts
from orgkernel.graph.columns import EdgeColumns, PackedColumns
from orgkernel.graph.governance import apply_governance, map_roles_to_layers
from orgkernel.graph.org_index import OrgIndex
from orgkernel.graph.records import OrgRecords, RolePost
from orgkernel.graph.visible_documents import VisibleDocuments
from orgkernel.loading.files import LocatedFile, Root
from orgkernel.loading.formats import complete
from orgkernel.loading.sources import (
    NOTHING_UNKNOWN,
    BrokenDocument,
    FileResult,
    LoadedFile,
    LoadedFiles,
    Lookup,
    PackedParts,
    SourceDocument,
    build_tree,
)
from orgkernel.prepared_types import prepared
from orgkernel.snapshots.consequences import take_out_of_service
from orgkernel.snapshots.snapshot import NOTHING_FOUND, FoundBefore, FoundInDocuments, OrgSnapshot, Snapshot

T = TypeVar("T")


class DamagedEntry(ValueError):
    """Raised for bytes that are not the expected value. The caller reads the files instead."""


class OutdatedEntry(Exception):
    """Raised if something that a snapshot refers to has changed, although its files have not."""


class PackedDocument(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A document whose parts stay packed until they are used."""

    kind: str
    record: bytes
    marks: bytes
    unknown: bytes = NOTHING_UNKNOWN


class PackedFile(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The results of one file, without its location."""

    root: int
    name: str
    digest: str
    is_orgkernel_document: bool
    has_orgkernel_siblings: bool
    documents: tuple[PackedDocument, ...]
    broken: tuple[BrokenDocument, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    skipped: bool = False


class PackedOrganization(msgspec.Struct, frozen=True, array_like=True):
    """An organization, with its documents and findings as numbers."""

    document: int
    posts: tuple[str, ...]
    """The role ids, in the order of the hierarchy."""
    profiles: bytes
    """For each post the number of its document, 32 bits each."""
    shared_profiles: bytes
    superiors: dict[str, str]
    """The superiors of posts with a shared profile."""
    without_profile: dict[str, Place]
    catalogs: tuple[int, ...]
    catalog_counts: tuple[int, ...]
    excused: frozenset[str]
    incomplete: frozenset[str]
    unread: frozenset[str]
    other_files: frozenset[str]
    """Its files beyond those of posts and catalogs: unreadable ones, and those of roles that are out of service."""
    digest: str
    columns: PackedColumns
    findings: tuple[int, ...]
    may_answer: bool = True
    withheld: tuple[tuple[str, int], ...] = ()
    """The roles that are out of service, each with the number of the error."""


class PackedFindings(msgspec.Struct, frozen=True, array_like=True):
    """The findings of rules about single documents, for the next load."""

    checked: bytes = b""
    """The numbers of the documents that were checked, 32 bits each."""
    findings: tuple[tuple[int, tuple[int, ...]], ...] = ()
    """Of those with findings, the number and the numbers of the findings."""


class PackedSnapshot(msgspec.Struct, frozen=True, array_like=True):
    """A complete load."""

    files: tuple[PackedFile, ...]
    organizations: tuple[PackedOrganization, ...]
    findings: tuple[Diagnostic, ...]
    reported: tuple[int, ...]
    digest: str
    looked_up: tuple[tuple[Lookup, bool], ...] = ()
    in_documents: PackedFindings = PackedFindings()
    in_profiles: PackedFindings = PackedFindings()


_SNAPSHOT = msgspec.msgpack.Decoder(prepared(PackedSnapshot))
# Sorted, because sets have no fixed order and equal content must give equal bytes.
_ENCODER = msgspec.msgpack.Encoder(order="deterministic")


def pack_snapshot(snapshot: Snapshot) -> bytes:
    """The bytes of a snapshot. Equal content gives equal bytes, at any location."""
    numbers = {id(document): number for number, document in enumerate(snapshot.tree.documents)}
    findings: dict[Diagnostic, int] = {}

    def number_findings(diagnostics: Sequence[Diagnostic]) -> tuple[int, ...]:
        return tuple(findings.setdefault(each, len(findings)) for each in diagnostics)

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
            _find_other_files(each.records),
            each.records.digest,
            each.columns.pack(),
            number_findings(each.diagnostics),
            each.may_answer,
            tuple(
                zip(
                    each.records.withheld, number_findings(tuple(each.records.withheld.values())), strict=True
                )
            ),
        )
        for each in snapshot.organizations.values()
    )
    reported = number_findings(snapshot.diagnostics)
    files = tuple(map(_pack_file, snapshot.tree.files))
    looked_up = tuple(snapshot.tree.looked_up.items())

    def pack_findings(known: FoundInDocuments) -> PackedFindings:
        checked = [
            (number, known[document])
            for number, document in enumerate(snapshot.tree.documents)
            if document in known
        ]
        return PackedFindings(
            array("I", [number for number, _ in checked]).tobytes(),
            tuple((number, number_findings(diagnostics)) for number, diagnostics in checked if diagnostics),
        )

    in_documents, in_profiles = map(pack_findings, snapshot.found_before)
    return _ENCODER.encode(
        PackedSnapshot(
            files,
            organizations,
            tuple(findings),
            reported,
            snapshot.digest,
            looked_up,
            in_documents,
            in_profiles,
        )
    )


def _find_other_files(records: OrgRecords) -> frozenset[str]:
    """The files of an organization beyond those of its readable documents in service."""
    profiles = (post.document for post in records.posts.values())
    parts = list_parts([records.document, *profiles, *records.catalogs])
    return records.files.difference(each.name for each in parts)


def _pack_file(file: LoadedFile) -> PackedFile:
    read = file.read
    return PackedFile(
        file.located.number,
        file.located.name,
        file.digest,
        file.is_orgkernel_document,
        file.has_orgkernel_siblings,
        tuple(PackedDocument(each.kind, *each.packed) for each in read.documents),
        tuple(replace(each, path="", shared=False) for each in read.broken),
        read.diagnostics,
        read.skipped,
    )


def decode_snapshot(packed: bytes | memoryview) -> PackedSnapshot:
    """The parts of a snapshot, to restore it or to reuse the results of some files. Raises `DamagedEntry`."""
    return decode(_SNAPSHOT, packed)


def decode(decoder: msgspec.msgpack.Decoder[T], packed: bytes | memoryview) -> T:
    """The value in some bytes. Raises `DamagedEntry`, also for values that are nested too deeply for Python."""
    try:
        return decoder.decode(packed)
    except (msgspec.MsgspecError, RecursionError, ValueError, OverflowError, MemoryError) as error:
        raise DamagedEntry(f"its content cannot be decoded: {type(error).__name__}") from None


class PickedFiles(NamedTuple):
    """What is the same as in a packed snapshot."""

    files: dict[str, LoadedFile]
    """What files yielded, by path."""
    found_before: FoundBefore
    """The findings about their documents."""


NOTHING_PICKED = PickedFiles({}, NOTHING_FOUND)


def pick_files(
    packed: PackedSnapshot, wanted: Mapping[tuple[int, str], tuple[LocatedFile, str]], roots: Sequence[Root]
) -> PickedFiles:
    """What the files yielded whose content is the wanted one; wanted are, by root and name, place and digest.

    `roots` are those of the request, without those of sources. Raises `DamagedEntry`.
    """
    picked: dict[str, LoadedFile] = {}
    documents: list[SourceDocument | None] = []
    for file in packed.files:
        located, digest = wanted.get((file.root, file.name), (None, ""))
        if located is None or digest != file.digest:
            documents += [None] * len(file.documents)
            continue
        read = picked[located.path] = _restore_file(file, located)
        documents += read.read.documents
    # Files in the format of others mean something together: their documents have other numbers and other findings.
    if any(root.areas for root in roots) or any(file.root >= len(roots) for file in packed.files):
        return PickedFiles(picked, NOTHING_FOUND)
    try:
        return PickedFiles(picked, _unpack_found_before(packed, documents))
    except (LookupError, ValueError):
        raise DamagedEntry("findings that it does not have") from None


def restore_snapshot(packed: PackedSnapshot, located_files: Sequence[LocatedFile]) -> Snapshot:
    """The restored snapshot, with the current locations of its files.

    Raises `DamagedEntry` for parts that do not match, and `OutdatedEntry`.
    """
    try:
        return _restore(packed, located_files)
    except (msgspec.MsgspecError, ValueError, LookupError, TypeError, AssertionError) as error:
        raise DamagedEntry(f"its parts do not match: {type(error).__name__}") from None


def verify_snapshot(snapshot: Snapshot) -> None:
    """Unpack every part once, for a long-running process. Raises `DamagedEntry` for a part that cannot be decoded."""
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
        raise DamagedEntry(f"its parts cannot be decoded: {type(error).__name__}") from None


def _verify_marks(marks: Any) -> None:
    if isinstance(marks, int):
        return
    mark, below = marks
    if not isinstance(mark, int) or not isinstance(below, dict | list):
        raise DamagedEntry("places of an unexpected form")
    for each in below.values() if isinstance(below, dict) else below:
        if isinstance(below, list):
            _verify_marks(each)
        elif isinstance(each[0], int):
            _verify_marks(each[1])
        else:
            raise DamagedEntry("places of an unexpected form")


def _restore(packed: PackedSnapshot, located_files: Sequence[LocatedFile]) -> Snapshot:
    if [(each.root, each.name) for each in packed.files] != [
        (each.number, each.name) for each in located_files
    ]:
        raise DamagedEntry("it is for other files")
    files = list(map(_restore_file, packed.files, located_files))
    tree = build_tree(files, complete(files))
    if tree.looked_up != dict(packed.looked_up):
        raise OutdatedEntry
    findings = packed.findings
    including = Including(
        lambda: [(each.org_id, (*each.posts, *each.without_profile, *each.withheld)) for each in restored]
    )
    visible_by_catalogs: dict[tuple[tuple[int, ...], tuple[int, ...]], VisibleDocuments] = {}
    restored: list[OrgRecords] = []
    organizations = {}
    for org in packed.organizations:
        seen = (org.catalogs, org.catalog_counts)
        if seen not in visible_by_catalogs:
            catalogs = [_get_document(tree, number) for number in org.catalogs]
            visible_by_catalogs[seen] = VisibleDocuments.rebuild_from_catalogs(catalogs, org.catalog_counts)
        records = _unpack_records(org, tree, visible_by_catalogs[seen], including)
        if org.withheld:
            records = take_out_of_service(
                records, {role_id: findings[number] for role_id, number in org.withheld}
            )
        restored.append(records)
        columns = EdgeColumns.unpack(org.columns)
        organizations[records.org_id] = OrgSnapshot(
            records,
            columns,
            OrgIndex(records, columns),
            tuple(findings[number] for number in org.findings),
            org.may_answer,
        )
    reported = tuple(findings[number] for number in packed.reported)
    return Snapshot(
        organizations, reported, tree, packed.digest, _unpack_found_before(packed, tree.documents)
    )


def _unpack_found_before(packed: PackedSnapshot, documents: Sequence[SourceDocument | None]) -> FoundBefore:
    return FoundBefore(
        _unpack_findings(packed.in_documents, packed.findings, documents),
        _unpack_findings(packed.in_profiles, packed.findings, documents),
    )


def _unpack_findings(
    known: PackedFindings, findings: Sequence[Diagnostic], documents: Sequence[SourceDocument | None]
) -> FoundInDocuments:
    """The findings about documents by their numbers, of those that are at hand."""
    unpacked: dict[SourceDocument, tuple[Diagnostic, ...]] = {}
    numbers_of = dict(known.findings).get
    for number in array("I", known.checked):
        if (document := documents[number]) is not None:
            unpacked[document] = tuple(findings[each] for each in numbers_of(number, ()))
    return unpacked


def _restore_file(file: PackedFile, located_file: LocatedFile) -> LoadedFile:
    name, path, root = located_file.name, located_file.path, located_file.root
    documents = []
    for each in file.documents:
        if each.kind not in RECORDS:
            raise DamagedEntry("a document of a kind that does not exist")
        parts = PackedParts(each.record, each.marks, each.unknown)
        documents.append(
            SourceDocument(name, path, each.kind, parts, file.digest, root.shared, root.context, root.format)
        )
    broken = tuple(replace(each, name=name, path=path, shared=root.shared) for each in file.broken)
    read = FileResult(tuple(documents), broken, file.diagnostics, file.skipped)
    return LoadedFile(
        located_file, file.digest, file.is_orgkernel_document, file.has_orgkernel_siblings, read
    )


def _get_document(tree: LoadedFiles, number: int) -> SourceDocument:
    if number < 0:
        raise IndexError
    return tree.documents[number]


def _unpack_records(
    packed: PackedOrganization, tree: LoadedFiles, visible: VisibleDocuments, including: Including
) -> OrgRecords:
    document = _get_document(tree, packed.document)
    organization = document.record
    assert isinstance(organization, Organization)
    profiles = array("I", packed.profiles)
    if any(tree.documents[number].kind != "role_profile" for number in profiles):
        raise DamagedEntry("a post without a profile")
    superior_of, override_of = packed.superiors.get, organization.overrides.get
    governance = visible.definitions["governance"]
    layer_of = map_roles_to_layers(governance).get
    posts = {
        role_id: RolePost(
            role_id,
            tree.documents[number],
            document,
            bool(shared),
            superior_of(role_id),
            override_of(role_id),
            layer_of(role_id),
        )
        for role_id, number, shared in zip(packed.posts, profiles, packed.shared_profiles, strict=True)
    }
    made_of = list_parts([document, *(tree.documents[number] for number in profiles), *visible.catalogs])
    return OrgRecords(
        organization.org_id,
        document,
        apply_governance(organization, governance),
        posts,
        packed.without_profile,
        excused=packed.excused,
        incomplete=packed.incomplete,
        elsewhere=Elsewhere(including, organization.org_id),
        files=frozenset(each.name for each in made_of) | packed.other_files,
        unread=packed.unread,
        digest=packed.digest,
        **visible.definitions,
    )
