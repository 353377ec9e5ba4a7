"""The findings of a patched snapshot: those that a few changed profiles can have made others are found again.

Rules about a profile or its post run for those that changed. A rule about organizations or the tree runs again as a whole
where a change reaches it, or where one of its findings is at a line of a changed file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from orgkernel.diagnostics import Diagnostic, Severity
from orgkernel.diagnostics.diagnostic import sort_diagnostics
from orgkernel.graph.assemble import Assembly
from orgkernel.graph.records import RolePost
from orgkernel.loading.sources import SourceDocument, Tree
from orgkernel.rules.catalog import rules_of
from orgkernel.rules.rule import Scope
from orgkernel.snapshots.build import reported_files
from orgkernel.snapshots.check import with_severities
from orgkernel.snapshots.snapshot import OrgSnapshot, Snapshot

# What stands twice is found by going through all documents, which a patch does not.
_OF_ALL_DOCUMENTS = ("ORG217",)

_Posts = Mapping[str, RolePost]


def exchange_findings(
    snapshot: Snapshot,
    organizations: Mapping[str, OrgSnapshot],
    tree: Tree,
    changed: Sequence[tuple[SourceDocument, str]],
    posts: Mapping[str, _Posts],
    reached: Collection[str],
    severities: Mapping[str, Severity | None],
    asked: frozenset[str],
) -> tuple[dict[str, OrgSnapshot], tuple[Diagnostic, ...]] | None:
    """The relinked organizations with their findings, and all findings to report; None where others may have changed.

    `changed` are the documents and the roles they are profiles of, `posts` theirs by organization, and `reached` the
    codes of rules that have to run again.
    """
    touched = {each.records.document.name for org_id, each in organizations.items() if posts[org_id]}
    stale = _Stale(changed, touched, reached)
    everything = [
        *snapshot.diagnostics,
        *(found for each in organizations.values() for found in each.diagnostics),
    ]
    if not stale.include(everything):
        return None
    raised = {}
    for org_id, each in organizations.items():
        found_here = [*_judge(each, posts[org_id]), *_judge_whole(each, stale.again)]
        raised[org_id] = with_severities(found_here, severities)
    found_now = [
        *(found for theirs in raised.values() for found in theirs),
        *with_severities(_judge_documents(changed), severities),
        *with_severities(_judge_tree(organizations, tree, stale.again), severities),
    ]
    now = {}
    for org_id, each in organizations.items():
        theirs = [
            *raised[org_id],
            *(found for found in found_now if found.place.file in each.records.files),
        ]
        kept = [found for found in each.diagnostics if not stale.is_stale(found)]
        now[org_id] = each
        if theirs or len(kept) != len(each.diagnostics):
            now[org_id] = replace(each, diagnostics=sort_diagnostics([*kept, *theirs]))
    kept = [found for found in snapshot.diagnostics if not stale.is_stale(found)]
    if found_now:
        reported = reported_files(tree, [each.records for each in organizations.values()], asked)
        kept += [found for found in found_now if found.place.file in reported]
    return now, sort_diagnostics(kept)


def _judge(organization: OrgSnapshot, posts: _Posts) -> Iterable[Diagnostic]:
    if not posts:
        return
    for rule in rules_of(Scope.PROFILE):
        yield from rule.run(posts.values())


def _judge_whole(organization: OrgSnapshot, codes: Collection[str]) -> Iterable[Diagnostic]:
    for rule in rules_of(Scope.CATALOG) + rules_of(Scope.ORGANIZATION):
        if rule.code in codes:
            yield from rule.run(organization.index)


def _judge_documents(changed: Iterable[tuple[SourceDocument, str]]) -> Iterable[Diagnostic]:
    for document, _ in changed:
        for rule in rules_of(Scope.DOCUMENT):
            yield from rule.run(document)


def _judge_tree(
    organizations: Mapping[str, OrgSnapshot], tree: Tree, codes: Collection[str]
) -> Iterable[Diagnostic]:
    again = [rule for rule in rules_of(Scope.TREE) if rule.code in codes]
    if not again:
        return
    records = tuple(each.records for each in organizations.values())
    included = {id(post.document) for each in records for post in each.posts.values()}
    strays = tuple(
        document
        for document in tree.documents
        if document.kind == "role_profile" and not document.context and id(document) not in included
    )
    # A patched tree has organizations, and everything in it could be read.
    assembly = Assembly(records, (), None, strays, strays_are_known=True)
    for rule in again:
        yield from rule.run(assembly)


class _Stale:
    """Which findings are found anew."""

    def __init__(
        self, changed: Sequence[tuple[SourceDocument, str]], organizations: set[str], reached: Collection[str]
    ) -> None:
        self.again = set(reached)
        """Codes of the rules that run again as a whole."""
        self._files = {document.name for document, _ in changed}
        # A role of the same id in an organization with another profile is none of ours.
        self._theirs = self._files | organizations
        self._subjects = {f"role:{role_id}" for _, role_id in changed}
        self._of_posts = {rule.code for rule in rules_of(Scope.PROFILE)}
        self._of_documents = {rule.code for rule in rules_of(Scope.DOCUMENT)}
        scopes = (Scope.CATALOG, Scope.ORGANIZATION, Scope.TREE)
        whole = {rule.code for scope in scopes for rule in rules_of(scope)}
        self._of_whole = whole.difference(_OF_ALL_DOCUMENTS)

    def is_stale(self, found: Diagnostic) -> bool:
        if found.code in self.again:
            return True
        if found.code in self._of_documents:
            return found.place.file in self._files
        is_theirs = found.subject in self._subjects and found.place.file in self._theirs
        return found.code in self._of_posts and is_theirs

    def include(self, everything: Iterable[Diagnostic]) -> bool:
        """Whether all findings at lines of changed files can be found anew; whole rules of such are run again."""
        for found in everything:
            places = {found.place.file, *(each.place.file for each in found.related)}
            if self.is_stale(found) or places.isdisjoint(self._files):
                continue
            if found.code not in self._of_whole:
                return False
            self.again.add(found.code)
        return True
