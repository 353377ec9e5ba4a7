"""A snapshot with a few profiles exchanged, where their change reaches nothing but their own findings and places.

What a profile says in words and limits (`TEXTS`) makes no edge, and no rule about a catalogue, an organisation or a tree
reads it; rules about the profile and its post run again for it. Everything else is taken over. Whenever a change may
reach further, there is no patch, and the tree is linked and checked again as a whole. INVARIANT: a patched snapshot is
the one that would be built (law `warm_equals_cold`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import overload

from msgspec.structs import replace as changed

from orgkernel.diagnostics import Diagnostic, Severity
from orgkernel.diagnostics.diagnostic import sort_diagnostics
from orgkernel.graph.assemble import digest_documents
from orgkernel.graph.extract import extract_post
from orgkernel.graph.records import RolePost
from orgkernel.index.org_index import OrgIndex
from orgkernel.kernel.build import digest_tree, reported_files
from orgkernel.kernel.check import with_severities
from orgkernel.kernel.snapshot import OrgSnapshot, Snapshot
from orgkernel.loading.sources import FileRead, SourceDocument, Tree
from orgkernel.records.role_profile import RoleProfile
from orgkernel.rules.catalogue import rules_of
from orgkernel.rules.rule import Scope

# Fields that only rules about the profile itself read.
TEXTS = (
    "description", "does_not_have", "doctrine", "file_scope", "lmc_mode", "requirements", "standing_orders", "version",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Change:
    """A profile before and after, and the number of its file."""

    number: int
    old: SourceDocument
    new: SourceDocument
    role_id: str


class _Exchanged(Sequence[FileRead]):
    """Rows of which some are others now."""

    def __init__(self, rows: Sequence[FileRead], others: Mapping[int, FileRead]) -> None:
        self._rows: Sequence[FileRead] = rows
        self._others: dict[int, FileRead] = dict(others)
        if isinstance(rows, _Exchanged):  # one layer, however often it is patched
            self._rows, self._others = rows._rows, {**rows._others, **others}

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, number: int) -> FileRead: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[FileRead]: ...
    def __getitem__(self, number: int | slice) -> FileRead | Sequence[FileRead]:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        return self._others.get(number) or self._rows[number]


def patch_snapshot(
    snapshot: Snapshot,
    rows: Mapping[int, FileRead],
    severities: Mapping[str, Severity | None],
    asked: frozenset[str],
) -> Snapshot | None:
    """The snapshot with these files (by number) read anew; None where their change may reach further than we look."""
    tree = snapshot.tree
    if snapshot.suppresses or tree.broken:
        return None
    changes = []
    for number, row in rows.items():
        change = _change_of(number, tree.files[number], row)
        if change is None:
            return None
        changes.append(change)
    new_tree = _exchange_documents(tree, changes, rows)
    posts = {org_id: _posts_of(each, changes) for org_id, each in snapshot.organizations.items()}
    touched = {each.records.document.name for org_id, each in snapshot.organizations.items() if posts[org_id]}
    if len(touched) != sum(document.name in touched for document in tree.documents):
        return None  # several organisations in one file
    stale = _Stale(changes, touched)
    if any(not any(change.role_id in theirs for theirs in posts.values()) for change in changes):
        return None  # a stray
    organizations: dict[str, OrgSnapshot] = {}
    raised: dict[str, list[Diagnostic]] = {}
    for org_id, each in snapshot.organizations.items():
        organization = _relinked(each, posts[org_id], changes) if posts[org_id] else each
        if organization is None:
            return None
        organizations[org_id] = organization
        raised[org_id] = with_severities(_judge(organization, posts[org_id]), severities)
    about_documents = [
        found for change in changes for rule in rules_of(Scope.DOCUMENT) for found in rule.run(change.new)
    ]
    found_now = [
        *(each for found in raised.values() for each in found),
        *with_severities(about_documents, severities),
    ]
    everything = [
        *snapshot.diagnostics,
        *(found for each in organizations.values() for found in each.diagnostics),
    ]
    if any(stale.reaches_further(found) for found in everything):
        return None
    for org_id, organization in organizations.items():
        theirs = [
            *raised[org_id],
            *(found for found in found_now if found.place.file in organization.records.files),
        ]
        kept = [found for found in organization.diagnostics if not stale.is_stale(found)]
        if theirs or len(kept) != len(organization.diagnostics):
            diagnostics = sort_diagnostics([*kept, *theirs])
            organizations[org_id] = replace(organization, diagnostics=diagnostics)
    kept = [found for found in snapshot.diagnostics if not stale.is_stale(found)]
    records = [each.records for each in organizations.values()]
    reported = reported_files(new_tree, records, asked) if found_now else frozenset()
    kept += [found for found in found_now if found.place.file in reported]
    digest = digest_tree(organizations.values(), new_tree)
    for change in changes:
        change.new.seal()
    return Snapshot(organizations, sort_diagnostics(kept), new_tree, digest, suppresses=False)


def _change_of(number: int, old: FileRead, new: FileRead) -> _Change | None:
    """The change of a file that holds one profile and nothing else to speak of, before and after; None for any other."""
    if old.says_ours != new.says_ours or old.located != new.located:
        return None
    for row in (old, new):
        read = row.read
        if len(read.documents) != 1 or read.broken or read.diagnostics or read.skipped:
            return None
    before, after = old.read.documents[0], new.read.documents[0]
    was, now = before.record, after.record
    if not isinstance(was, RoleProfile) or not isinstance(now, RoleProfile) or now.suppressions:
        return None
    if changed(was, **{field: getattr(now, field) for field in TEXTS}) != now:
        return None
    return _Change(number, before, after, now.role_id)


def _exchange_documents(tree: Tree, changes: Iterable[_Change], rows: Mapping[int, FileRead]) -> Tree:
    documents = list(tree.documents)
    for change in changes:
        documents[documents.index(change.old)] = change.new
    return replace(tree, documents=tuple(documents), files=_Exchanged(tree.files, rows))


def _posts_of(organization: OrgSnapshot, changes: Iterable[_Change]) -> dict[str, RolePost]:
    """The posts of an organisation that have a new profile."""
    found = {}
    for change in changes:
        post = organization.records.posts.get(change.role_id)
        if post is not None and post.document is change.old:
            found[change.role_id] = post.with_document(change.new)
    return found


def _relinked(
    organization: OrgSnapshot, posts: Mapping[str, RolePost], changes: Iterable[_Change]
) -> OrgSnapshot | None:
    """The organisation with these posts; None where one of them says other edges than before."""
    records = organization.records
    everybody = {**records.posts, **posts}
    made_of = [records.document, *(post.document for post in everybody.values()), *records.catalogues]
    records = replace(records, posts=everybody, digest=digest_documents(made_of))
    columns = organization.columns
    for change in changes:
        if change.role_id in posts:
            moved = columns.moved(change.new.name, extract_post(records, posts[change.role_id]))
            if moved is None:
                return None
            columns = moved
    index = OrgIndex(records, columns, like=organization.index)
    return OrgSnapshot(records, columns, index, organization.diagnostics)


def _judge(organization: OrgSnapshot, posts: Mapping[str, RolePost]) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    for post in posts.values():
        for rule in rules_of(Scope.PROFILE):
            found += rule.run(post)
        for rule in rules_of(Scope.POST):
            found += rule.run(organization.index, post)
    return found


class _Stale:
    """Which findings are found anew, and which may be other ones now although nobody looks for them."""

    def __init__(self, changes: Sequence[_Change], organizations: set[str]) -> None:
        self._files = {change.new.name for change in changes}
        # A role of the same id in an organisation with another profile is none of ours.
        self._theirs = self._files | organizations
        self._subjects = {f"role:{change.role_id}" for change in changes}
        self._of_posts = {rule.code for scope in (Scope.PROFILE, Scope.POST) for rule in rules_of(scope)}
        self._of_documents = {rule.code for rule in rules_of(Scope.DOCUMENT)}

    def is_stale(self, found: Diagnostic) -> bool:
        if found.code in self._of_documents:
            return found.place.file in self._files
        is_theirs = found.subject in self._subjects and found.place.file in self._theirs
        return found.code in self._of_posts and is_theirs

    def reaches_further(self, found: Diagnostic) -> bool:
        places = {found.place.file, *(each.place.file for each in found.related)}
        return not self.is_stale(found) and not places.isdisjoint(self._files)
