"""Compare two trees of documents, on disk or at a git revision: what every role gained and lost (`orgkernel diff`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.diff.organizations import Version, compare_versions_of
from orgkernel.diff.report import ChangeReport, build_report
from orgkernel.errors import UnknownOrganization
from orgkernel.graph.out_of_service import list_out_of_service, list_unknown_subjects
from orgkernel.kernel.settings import Project
from orgkernel.loading.cache import Cache
from orgkernel.project.versions import TreeVersion, read_versions
from orgkernel.runtime.progress import end_stages, enter_stage


@dataclass(frozen=True, slots=True)
class TreeComparison:
    """The differences between two trees, and what was noticed while they were read."""

    report: ChangeReport
    notes: tuple[str, ...]
    save: Callable[[], None]
    """Writes what was read to the cache, after the answer."""


@dataclass(frozen=True)
class _Read:
    """What was read from one side."""

    name: str
    versions: dict[str, Version]
    errors: dict[str, int]
    """Organizations with errors, and their number of errors."""
    held_back: frozenset[str]
    """Organizations whose errors keep them from answering."""
    unreadable: frozenset[str]
    """Organizations that are declared and cannot be read."""
    other_errors: int = 0
    """The number of errors outside organizations."""
    out_of_service: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For each organization, a sentence about each role and agent that is out of service."""


def compare_trees(
    old: str,
    new: str | None,
    project: Project,
    folder: str,
    org: str | None = None,
    read_as: str | None = None,
    cache: Cache | None = None,
) -> TreeComparison:
    """Read both sides and compare them.

    A side is a path, `git:REV` for the paths of the other side at that revision, or `git:REV:PATH`. Without `new` it is
    the project's work tree. Raises `UsageError` if a side cannot be read at all.
    """
    versions = read_versions(old, new, project, folder, read_as, cache)
    sides = (_read(versions.old), _read(versions.new))
    first, second = sides
    known = {*first.versions, *second.versions, *first.unreadable, *second.unreadable}
    chosen = _chosen(org, known, project)
    skipped = first.unreadable | second.unreadable
    with end_stages():
        enter_stage("comparing the answers of both versions")
        comparisons = tuple(
            compare_versions_of(org_id, first.versions.get(org_id), second.versions.get(org_id))
            for org_id in sorted(chosen - skipped)
        )
    return TreeComparison(
        build_report(comparisons, (each for side in sides for each in _list_incomparable(side, chosen))),
        tuple(note for side in sides for note in _notes(side, chosen, org)),
        versions.save,
    )


def _read(version: TreeVersion) -> _Read:
    latest = version.state.latest
    versions, errors, out_of_service = {}, {}, {}
    for org_id, each in latest.organizations.items():
        versions[org_id] = Version(each.index, each.diagnostics, list_unknown_subjects(each.records))
        out_of_service[org_id] = tuple(out.located_reason for out in list_out_of_service(each.records))
        errors[org_id] = sum(diagnostic.severity is Severity.ERROR for diagnostic in each.diagnostics)
    about_some = {diagnostic for each in latest.organizations.values() for diagnostic in each.diagnostics}
    others = [diagnostic for diagnostic in latest.diagnostics if diagnostic not in about_some]
    refused = version.state.refused.keys()
    return _Read(
        version.name,
        versions,
        {org_id: count for org_id, count in errors.items() if count},
        frozenset(refused & latest.organizations.keys()),
        frozenset(refused - latest.organizations.keys()),
        sum(diagnostic.severity is Severity.ERROR for diagnostic in others),
        out_of_service,
    )


def _chosen(org: str | None, known: set[str], project: Project) -> set[str]:
    if org is None:
        return known
    named = project.active if org == "active" and org not in known and project.active else org
    if named not in known:
        help = did_you_mean(named, known) or (f"organizations are {listing(sorted(known))}" if known else "")
        raise UnknownOrganization(f"neither side has an organization {quote(named)}", help)
    return {named}


def _list_incomparable(read: _Read, chosen: set[str]) -> Iterator[str]:
    """The organizations, roles and agents of a side about which a comparison cannot say that nothing changed."""
    for org_id in sorted(read.unreadable & chosen):
        yield f"{read.name}: organization {quote(org_id)} cannot be read, so it is not compared"
    for org_id in sorted(read.held_back & chosen):
        yield (
            f"{read.name}: organization {quote(org_id)} has {_count_errors(read.errors[org_id])} and does not answer, so only its "
            f"readable parts are compared{_name_unread(read, org_id)}"
        )
    for org_id in sorted(chosen & read.out_of_service.keys() - read.held_back):
        yield from (
            f"{read.name}: {sentence}, so it is not compared" for sentence in read.out_of_service[org_id]
        )


def _notes(read: _Read, chosen: set[str], org: str | None) -> Iterator[str]:
    for org_id, count in read.errors.items():
        if org_id in chosen - read.held_back:
            yield f"{read.name}: organization {quote(org_id)} has {_count_errors(count)} about single roles{_name_unread(read, org_id)}"
    if read.other_errors and org is None:
        yield f"{read.name}: {_count_errors(read.other_errors)} in documents of no organization, such as decision cases"


def _count_errors(count: int) -> str:
    return f"{count} error{'s' * (count != 1)}"


def _name_unread(read: _Read, org_id: str) -> str:
    unread = [each for each in read.versions[org_id].unread if not each.startswith("agent:")]
    return f", without {listing(sorted(unread))}" if unread else ""
