"""What one load yields: immutable, built once, swapped whole (design §4)."""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from orgkernel.diagnostics import Diagnostic, Severity
from orgkernel.diagnostics.diagnostic import sort_diagnostics
from orgkernel.graph.assemble import Assembly, assemble
from orgkernel.graph.columns import EdgeColumns
from orgkernel.graph.extract import extract_edges
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import OrgRecords
from orgkernel.index.org_index import OrgIndex
from orgkernel.kernel.check import check_organization, check_tree, suppress, with_severities
from orgkernel.loading.files import Root
from orgkernel.loading.tree import Tree, read_tree

if TYPE_CHECKING:
    from orgkernel.graph.org_graph import OrgGraph

# Above this many roles rules read the index, because building and asking the graph takes seconds (ADR 0003).
LARGEST_GRAPH = 1_000


@dataclass(frozen=True)
class OrgSnapshot:
    """One organisation as it was read, with everything found about it."""

    records: OrgRecords
    columns: EdgeColumns
    index: OrgIndex
    diagnostics: tuple[Diagnostic, ...] = ()

    @cached_property
    def graph(self) -> OrgGraph:
        """The organisation as a graph; networkx is imported when it is first asked for."""
        from orgkernel.graph.org_graph import OrgGraph

        return OrgGraph(self.records, self.columns)

    def findings_about(self, subject: str) -> tuple[Diagnostic, ...]:
        """What was found about one subject, such as `role:co`."""
        return self._by_subject.get(subject, ())

    @cached_property
    def _by_subject(self) -> Mapping[str, tuple[Diagnostic, ...]]:
        found: dict[str, list[Diagnostic]] = {}
        for each in self.diagnostics:
            found.setdefault(each.subject, []).append(each)
        return {subject: tuple(those) for subject, those in found.items()}

    @property
    def org_id(self) -> str:
        """Id of the organisation."""
        return self.records.org_id

    @property
    def digest(self) -> str:
        """Of the names and contents of everything the organisation is made of."""
        return self.records.digest

    @property
    def has_errors(self) -> bool:
        """Whether anything found about it is an error."""
        return any(found.severity is Severity.ERROR for found in self.diagnostics)


@dataclass(frozen=True)
class Snapshot:
    """Everything that was read at once."""

    organizations: Mapping[str, OrgSnapshot]
    diagnostics: tuple[Diagnostic, ...]
    """All findings to report, in the order a reader goes through the files."""
    tree: Tree
    digest: str

    @property
    def read_anything(self) -> bool:
        """Whether there was a document, readable or not, at the paths."""
        return any(not document.context for document in self.tree.documents) or bool(self.diagnostics)


def build_snapshot(
    roots: Iterable[Root],
    severities: Mapping[str, Severity | None] | None = None,
    asked: frozenset[str] | None = None,
) -> Snapshot:
    """Read, assemble and check.

    `asked` limits what is reported to these files and folders, by their shown names, and to the profiles that an
    organisation among them includes; by default everything is reported that is not read as context only.
    """
    with _without_collection():
        return _build_snapshot(roots, severities or {}, asked)


@contextmanager
def _without_collection() -> Iterator[None]:
    """A load makes millions of objects and hardly any garbage; looking for it would cost a third of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _build_snapshot(
    roots: Iterable[Root], severities: Mapping[str, Severity | None], asked: frozenset[str] | None
) -> Snapshot:
    tree = read_tree(roots)
    assembly = assemble(tree)
    built = {records.org_id: _build(records) for records in assembly.organizations}
    raised: dict[str, list[Diagnostic]] = {}
    for org_id, organization in built.items():
        small = len(organization.records.posts) <= LARGEST_GRAPH
        raised[org_id] = check_organization(
            organization.index, organization.graph if small else organization.index
        )
    beside = check_tree(tree, assembly, _loose_view(assembly))
    everything = [*(found for each in raised.values() for found in each), *beside]
    # Organisations that share a profile each find the same in it: once is enough, and kept by file.
    kept = list(dict.fromkeys(with_severities(suppress(everything, tree), severities)))
    kept_set = set(kept)
    by_file: dict[str, list[Diagnostic]] = {}
    for found in kept:
        by_file.setdefault(found.place.file, []).append(found)
    reported = _reported_files(tree, assembly, asked)
    organizations = {}
    for org_id, organization in built.items():
        theirs = [found for found in with_severities(raised[org_id], severities) if found in kept_set]
        theirs += [found for file in organization.records.files for found in by_file.get(file, ())]
        organizations[org_id] = OrgSnapshot(
            organization.records, organization.columns, organization.index, sort_diagnostics(theirs)
        )
    return Snapshot(
        organizations,
        sort_diagnostics(found for found in kept if found.place.file in reported),
        tree,
        _digest(organizations.values(), tree),
    )


def _build(records: OrgRecords) -> OrgSnapshot:
    columns = EdgeColumns(extract_edges(records))
    return OrgSnapshot(records, columns, OrgIndex(records, columns))


def _loose_view(assembly: Assembly) -> OrgView | None:
    return _build(assembly.loose_catalogues).index if assembly.loose_catalogues else None


def _reported_files(tree: Tree, assembly: Assembly, asked: frozenset[str] | None) -> frozenset[str]:
    context = {document.name for document in tree.documents if document.context}
    reported = {
        name
        for name in tree.paths
        if (name not in context if asked is None else any(covers(each, name) for each in asked))
    }
    for records in assembly.organizations:
        if records.document.name in reported:
            reported |= {post.document.name for post in records.posts.values()}
    return frozenset(reported)


def covers(name: str, file: str) -> bool:
    """Whether a shown name is that of this file, or of a folder the file lies in."""
    return name in ("", ".", file) or file.startswith(f"{name}/")


def _digest(organizations: Iterable[OrgSnapshot], tree: Tree) -> str:
    parts = [organization.digest for organization in organizations]
    parts += sorted(f"{document.name}\0{document.digest}" for document in tree.documents)
    return "sha256:" + hashlib.sha256("\n".join(parts).encode()).hexdigest()
