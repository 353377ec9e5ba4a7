"""Build a snapshot from documents: assemble, link, check, and group the findings by file."""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain

from msgspec.structs import replace

from orgkernel.diagnostics import Diagnostic, Severity
from orgkernel.diagnostics.diagnostic import sort_diagnostics
from orgkernel.graph.assemble import Assembly, assemble
from orgkernel.graph.columns import EdgeColumns, build_single_run
from orgkernel.graph.extract import extract_edges
from orgkernel.graph.org_index import OrgIndex
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import OrgRecords
from orgkernel.graph.schema import Edge
from orgkernel.loading.files import LocatedFile, Root
from orgkernel.loading.sources import LoadedFile, LoadedFiles
from orgkernel.loading.tree import TextReader, read_tree
from orgkernel.runtime.progress import end_stages, enter_stage
from orgkernel.snapshots.check import (
    apply_severities,
    check_documents,
    check_organization,
    check_profiles,
    check_tree,
    suppress,
)
from orgkernel.snapshots.consequences import (
    digest_faults,
    find_consequences,
    list_command_edges,
    list_declared_by_file,
    list_repeated_roles,
    report_out_of_service,
    take_out_of_service,
)
from orgkernel.snapshots.snapshot import (
    NOTHING_FOUND,
    FoundBefore,
    OrgSnapshot,
    Snapshot,
    list_files_to_report,
)


def build_snapshot(
    roots: Iterable[Root],
    severities: Mapping[str, Severity | None] | None = None,
    selection: frozenset[str] | None = None,
    *,
    located_files: Sequence[LocatedFile] | None = None,
    known_files: Mapping[str, LoadedFile] | None = None,
    read_text: TextReader | None = None,
    found_before: FoundBefore = NOTHING_FOUND,
    refused: Sequence[Diagnostic] = (),
) -> Snapshot:
    """Read, assemble, link and check.

    `selection` limits the reported findings to these files and folders, by their shown names, and to the profiles that an
    organization among them includes; by default, all findings are reported except those in documents that are only read
    as context. `located_files` are the files below the roots, if they are known already. Files in `known_files`
    are not read again, and the findings in `found_before` are reused for unchanged documents. Sources that were `refused`
    before reading are reported as well. `read_text` reads the other files, by default from the disk.
    """
    with _pause_garbage_collection(), end_stages():
        tree = read_tree(roots, located=located_files, known=known_files, read_text=read_text)
        if refused:
            tree = replace(tree, diagnostics=(*tree.diagnostics, *refused))
        return _build_snapshot(tree, severities or {}, selection, found_before)


@contextmanager
def _pause_garbage_collection() -> Iterator[None]:
    """Pause garbage collection: a load creates millions of objects and hardly any garbage, so it would cost a third of
    the time.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _build_snapshot(
    tree: LoadedFiles,
    severities: Mapping[str, Severity | None],
    selection: frozenset[str] | None,
    found_before: FoundBefore,
) -> Snapshot:
    enter_stage(f"building the graph of {len(tree.documents):,} documents")
    assembly = assemble(tree)
    built = {records.org_id: _build(records) for records in assembly.organizations}
    enter_stage(f"checking {len(tree.documents):,} documents")
    in_documents = check_documents(tree, found_before.in_documents)
    in_profiles = check_profiles(assembly, found_before.in_profiles)
    raised = {
        org_id: check_organization(organization.index, in_profiles) for org_id, organization in built.items()
    }
    everything = [
        *chain.from_iterable(raised.values()),
        *chain.from_iterable(in_documents.values()),
        *check_tree(tree, assembly, _build_loose_view(assembly), in_profiles),
    ]
    # Findings about a shared profile are equal for all its organizations, so they are kept once, by file.
    kept = list(dict.fromkeys(apply_severities(suppress(everything, tree), severities)))
    kept_set = set(kept)
    by_file: dict[str, list[Diagnostic]] = {}
    for diagnostic in kept:
        by_file.setdefault(diagnostic.place.file, []).append(diagnostic)
    reported = list_files_to_report(tree, assembly.organizations, selection)
    declared = list_declared_by_file(
        tree, {each.place.file for each in kept if each.severity is Severity.ERROR}
    )
    organizations = {}
    for org_id, organization in built.items():
        theirs = [
            diagnostic
            for diagnostic in apply_severities(raised[org_id], severities)
            if diagnostic in kept_set
        ]
        theirs += [diagnostic for file in organization.records.files for diagnostic in by_file.get(file, ())]
        # The file of a second declaration is not one of the organization's files.
        theirs += list_repeated_roles(organization.records, declared, by_file)
        diagnostics = sort_diagnostics(theirs)
        consequences = find_consequences(organization.index, declared, diagnostics)
        if consequences.withheld and not consequences.is_held_back:
            records = take_out_of_service(organization.records, consequences.withheld)
            built_without = _build(
                replace(records, digest=digest_faults(records.digest, consequences.withheld)),
                list_command_edges(organization.index, consequences.withheld),
            )
            effects = apply_severities(report_out_of_service(records), severities)
            kept += effects
            diagnostics = sort_diagnostics([*diagnostics, *effects])
        else:
            built_without = organization
        organizations[org_id] = replace(
            built_without, diagnostics=diagnostics, may_answer=not consequences.is_held_back
        )
    for document in tree.documents:
        document.drop_unpacked()
    return Snapshot(
        organizations,
        sort_diagnostics(diagnostic for diagnostic in kept if diagnostic.place.file in reported),
        tree,
        _digest_tree(organizations.values(), tree),
        FoundBefore(in_documents, in_profiles),
    )


def _build(records: OrgRecords, more: Iterable[Edge] = ()) -> OrgSnapshot:
    """An organization, with edges of roles that are out of service."""
    columns = EdgeColumns(chain(extract_edges(records), map(build_single_run, more)))
    return OrgSnapshot(records, columns, OrgIndex(records, columns))


def _build_loose_view(assembly: Assembly) -> OrgView | None:
    return _build(assembly.loose_catalogs).index if assembly.loose_catalogs else None


def _digest_tree(organizations: Iterable[OrgSnapshot], tree: LoadedFiles) -> str:
    """The digest of all documents."""
    parts = [organization.digest for organization in organizations]
    parts += sorted(f"{document.name}\0{document.digest}" for document in tree.documents)
    parts += sorted(f"{each}" for each, is_there in tree.looked_up.items() if not is_there)
    return "sha256:" + hashlib.sha256("\n".join(parts).encode()).hexdigest()
