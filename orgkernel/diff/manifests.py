"""The manifests of two versions of an organization, compared part by part.

Two manifests are compared part by part over the whole shape of `crew_manifest`. `normal_form` defines what counts as equal:
the diff is empty if and only if the normal forms are equal. So every edit that changes a manifest is reported, and an edit
that only moves lines is not. The laws apply changes to the old form and reverse them (tests/property/test_diff_laws.py).

A fact that a manifest repeats is reported once, where it is decided: the catalog entry of a tool is not reported for every
role that has the tool, and the name of a role is not reported for every role that commands it. A renamed role is one
change, and everything else is reported as if the role always had its new id.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from orgkernel.diff.changes import Change
from orgkernel.diff.comparison import Side, compare_forms, get_why
from orgkernel.diff.normal_form import build_working_form, normalize
from orgkernel.diff.renames import find_renames, swap_names, swap_organization
from orgkernel.diff.sections import ROLES
from orgkernel.manifest.v1 import OrganizationManifest
from orgkernel.manifest.why import Places, locate_nothing


@dataclass(frozen=True, slots=True)
class OrganizationVersion:
    """An organization on one side of a comparison: the manifest of all its roles, and where its documents set each value."""

    manifest: OrganizationManifest
    places: Places = locate_nothing


def build_whole_change(
    org_id: str, old: OrganizationVersion | None, new: OrganizationVersion | None
) -> Change:
    """The change of an organization that only one tree has."""
    return Change(
        org_id=org_id,
        role_id=None,
        kind="removed" if new is None else "added",
        path=("organizations", org_id),
        before=old and normalize(old.manifest),
        after=new and normalize(new.manifest),
        why_before=old.manifest.why if old else (),
        why_after=new.manifest.why if new else (),
        classification="narrowed" if new is None else "widened",
    )


def compare_manifests(
    old: OrganizationVersion,
    new: OrganizationVersion,
    unread: frozenset[str] = frozenset(),
    only: frozenset[str] | None = None,
) -> Iterator[Change]:
    """The changes between two manifests of one organization, without sentences.

    `unread` are the roles that cannot be read on one side, so they are not compared. `only` limits the roles to compare.
    """
    before = build_working_form(old.manifest, unread, only)
    after = build_working_form(new.manifest, unread, only)
    renamed = find_renames(before, after)
    names = swap_names(renamed)
    old_side = Side(swap_organization(before, names), old.places, names)
    new_side = Side(after, new.places, {})
    for old_id, new_id in renamed.items():
        yield Change(
            org_id=after["org_id"],
            role_id=new_id,
            kind="renamed",
            path=(ROLES, new_id),
            before=old_id,
            after=new_id,
            why_before=get_why(old_side.roles[new_id]),
            why_after=get_why(new_side.roles[new_id]),
        )
    yield from compare_forms(old_side, new_side)
