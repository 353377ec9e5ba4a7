"""Compare two trees of documents, on disk or at a git revision: what every role gained and lost (`orgkernel diff`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.diff.changes import Change
from orgkernel.diff.diff import OrganizationVersion, compare_versions
from orgkernel.errors import UnknownOrganization
from orgkernel.kernel.settings import Project
from orgkernel.loading.cache import Cache
from orgkernel.manifest.organization import build_organization_manifest
from orgkernel.manifest.why import get_places
from orgkernel.project.versions import TreeVersion, read_versions


@dataclass(frozen=True, slots=True)
class TreeComparison:
    """The differences between two trees, and notes about reading them."""

    changes: tuple[Change, ...]
    notes: tuple[str, ...]
    save: Callable[[], None]
    """Writes what was read to the cache, after the answer."""


@dataclass(frozen=True)
class _Read:
    """What was read from one side."""

    name: str
    versions: dict[str, OrganizationVersion]
    errors: dict[str, int]
    """Organizations with errors, and their number of errors."""
    unreadable: frozenset[str]
    """Organizations that are declared and cannot be read."""
    unread_roles: dict[str, frozenset[str]] = field(default_factory=dict)
    other_errors: int = 0
    """The number of errors outside organizations."""


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
    first, second = _read(versions.old), _read(versions.new)
    known = {*first.versions, *second.versions, *first.unreadable, *second.unreadable}
    chosen = _chosen(org, known, project)
    skipped = first.unreadable | second.unreadable
    unread = {
        org_id: first.unread_roles.get(org_id, frozenset()) | second.unread_roles.get(org_id, frozenset())
        for org_id in known
    }
    compared = [
        {org_id: each for org_id, each in side.versions.items() if org_id in chosen - skipped}
        for side in (first, second)
    ]
    changes = compare_versions(compared[0], compared[1], unread)
    return TreeComparison(changes, (*_notes(first, chosen, org), *_notes(second, chosen, org)), versions.save)


def _read(version: TreeVersion) -> _Read:
    latest = version.state.latest
    versions, unread_roles, errors = {}, {}, {}
    for org_id, each in latest.organizations.items():
        manifest = build_organization_manifest(each.index, each.index.roles, each.diagnostics)
        versions[org_id] = OrganizationVersion(manifest, get_places(each.index), each.index)
        unread_roles[org_id] = frozenset(each.records.without_profile) & each.records.excused
        errors[org_id] = sum(diagnostic.severity is Severity.ERROR for diagnostic in each.diagnostics)
    about_some = {diagnostic for each in latest.organizations.values() for diagnostic in each.diagnostics}
    others = [diagnostic for diagnostic in latest.diagnostics if diagnostic not in about_some]
    return _Read(
        version.name,
        versions,
        {org_id: count for org_id, count in errors.items() if count},
        frozenset(version.state.refused.keys() - latest.organizations.keys()),
        {org_id: roles for org_id, roles in unread_roles.items() if roles},
        sum(diagnostic.severity is Severity.ERROR for diagnostic in others),
    )


def _chosen(org: str | None, known: set[str], project: Project) -> set[str]:
    if org is None:
        return known
    named = project.active if org == "active" and org not in known and project.active else org
    if named not in known:
        help = did_you_mean(named, known) or (f"organizations are {listing(sorted(known))}" if known else "")
        raise UnknownOrganization(f"neither side has an organization {quote(named)}", help)
    return {named}


def _notes(read: _Read, chosen: set[str], org: str | None) -> Iterator[str]:
    for org_id in sorted(read.unreadable & chosen):
        yield f"{read.name}: organization {quote(org_id)} cannot be read and is not compared"
    for org_id, count in read.errors.items():
        if org_id in chosen:
            unread = read.unread_roles.get(org_id, frozenset())
            without = f", without {listing(sorted(unread))}" if unread else ""
            errors = f"{count} error{'s' * (count != 1)}"
            yield f"{read.name}: organization {quote(org_id)} has {errors}; only the readable parts are compared{without}"
    if read.other_errors and org is None:
        count = read.other_errors
        yield f"{read.name}: {count} error{'s' * (count != 1)} in documents outside organizations"
