"""A snapshot with a few profiles exchanged, where we know how far their change reaches.

What a profile says in words and limits (`TEXTS`) makes no edge, and only rules about the profile and its post read it.
What it says it is able to do (`capabilities`) makes edges, which are exchanged in columns and tables, and a dozen rules
about organizations and the tree may have to run again (`rules/reach.py`). Everything else is taken over. Whenever a
change may reach further, there is no patch, and the tree is linked and checked again as a whole. INVARIANT: a patched
snapshot is the one that would be built (laws `warm_equals_cold` and `patched_equals_rebuilt`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import overload

from msgspec.structs import replace as changed

from orgkernel.diagnostics import Severity
from orgkernel.graph.assemble import digest_documents
from orgkernel.graph.exchange import Exchange, exchange_edges
from orgkernel.graph.extract import extract_post
from orgkernel.graph.records import RolePost
from orgkernel.graph.schema import EdgeKind
from orgkernel.index.org_index import OrgIndex
from orgkernel.loading.sources import FileRead, SourceDocument, Tree
from orgkernel.records.role_profile import RoleProfile
from orgkernel.rules.catalog import rules_of
from orgkernel.rules.reach import REACH, Difference, changed_kinds
from orgkernel.rules.rule import Scope
from orgkernel.snapshots.build import digest_tree
from orgkernel.snapshots.patch_findings import exchange_findings
from orgkernel.snapshots.snapshot import OrgSnapshot, Snapshot

# Fields that only rules about the profile itself read.
TEXTS = (
    "description", "does_not_have", "doctrine", "file_scope", "lmc_mode", "requirements", "standing_orders", "version",
)  # fmt: skip
_PATCHED = (*TEXTS, "capabilities")


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
        return None  # several organizations in one file
    if any(not any(change.role_id in theirs for theirs in posts.values()) for change in changes):
        return None  # a stray
    organizations: dict[str, OrgSnapshot] = {}
    reached: set[str] = set()
    for org_id, each in snapshot.organizations.items():
        organizations[org_id] = each
        if posts[org_id]:
            relinked = _relinked(each, posts[org_id], changes)
            if relinked is None:
                return None
            organizations[org_id], differences = relinked
            reached |= {rule.code for rule in rules_of(Scope.ORGANIZATION)}
            reached |= {
                code for code, test in REACH.items() for difference in differences if test(difference)
            }
    exchanged = exchange_findings(
        snapshot, organizations, new_tree, [(change.new, change.role_id) for change in changes], posts, reached,
        severities, asked,
    )  # fmt: skip
    if exchanged is None:
        return None
    organizations, diagnostics = exchanged
    digest = digest_tree(organizations.values(), new_tree)
    for change in changes:
        change.new.seal()
    return Snapshot(organizations, diagnostics, new_tree, digest, suppresses=False)


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
    if changed(was, **{field: getattr(now, field) for field in _PATCHED}) != now:
        return None
    return _Change(number, before, after, now.role_id)


def _exchange_documents(tree: Tree, changes: Iterable[_Change], rows: Mapping[int, FileRead]) -> Tree:
    documents = list(tree.documents)
    for change in changes:
        documents[documents.index(change.old)] = change.new
    return replace(tree, documents=tuple(documents), files=_Exchanged(tree.files, rows))


def _posts_of(organization: OrgSnapshot, changes: Iterable[_Change]) -> dict[str, RolePost]:
    """The posts of an organization that have a new profile."""
    found = {}
    for change in changes:
        post = organization.records.posts.get(change.role_id)
        if post is not None and post.document is change.old:
            found[change.role_id] = post.with_document(change.new)
    return found


def _relinked(
    organization: OrgSnapshot, posts: Mapping[str, RolePost], changes: Iterable[_Change]
) -> tuple[OrgSnapshot, list[Difference]] | None:
    """The organization with these posts, and what they say otherwise; None where their edges cannot be exchanged."""
    records = organization.records
    everybody = {**records.posts, **posts}
    made_of = [records.document, *(post.document for post in everybody.values()), *records.catalogs]
    records = replace(records, posts=everybody, digest=digest_documents(made_of))
    exchanges: list[Exchange] = []
    kinds = []
    columns = organization.columns
    for change in changes:
        if change.role_id not in posts:
            continue
        runs = extract_post(records, posts[change.role_id])
        exchange = exchange_edges(columns, change.role_id, change.new.name, runs)
        if exchange is None or exchange.is_long:
            return None
        exchanges.append(exchange)
        kinds.append(exchange.kinds | _changed_abilities(change))
        columns = exchange.after
    index = OrgIndex(records, columns, like=organization.index, exchanges=exchanges)
    differences = [
        Difference(
            organization.index,
            index,
            [each.before.edge(number) for number in each.removed],
            [each.after.edge(number) for number in each.added],
            others,
        )
        for each, others in zip(exchanges, kinds, strict=True)
        if others
    ]
    return OrgSnapshot(records, columns, index, organization.diagnostics), differences


def _changed_abilities(change: _Change) -> frozenset[EdgeKind]:
    was, now = change.old.record, change.new.record
    assert isinstance(was, RoleProfile)
    assert isinstance(now, RoleProfile)
    return changed_kinds(was.capabilities, now.capabilities)
