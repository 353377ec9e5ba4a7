"""The state of the registry, and the next state after a load: the last good version of every organization."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

import msgspec

from orgkernel.diagnostics import Diagnostic
from orgkernel.diagnostics.wording import printable
from orgkernel.snapshots.snapshot import OrgSnapshot, Snapshot, does_cover_file


class ServedOrganization(msgspec.Struct, frozen=True, dict=True, weakref=True):
    """The answering version of an organization."""

    snapshot: OrgSnapshot
    stale: bool = False
    """Whether a later version was loaded and has errors."""


class RegistryState(msgspec.Struct, frozen=True, dict=True, weakref=True):
    """The state of the registry. It is immutable and replaced as a whole."""

    latest: Snapshot
    served: Mapping[str, ServedOrganization]
    refused: Mapping[str, tuple[Diagnostic, ...]]
    """Organizations whose latest version has errors, each with its findings. Includes those that still answer with an old version."""


class Reload(msgspec.Struct, frozen=True, dict=True, weakref=True):
    """The changes of a reload.

    >>> Reload(updated=("software_dev",), changed=True).kept
    ()
    """

    updated: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    """Organizations whose new version has errors, so the last good one keeps answering."""
    unserved: tuple[str, ...] = ()
    """Organizations that have errors and no good version that could answer."""
    removed: tuple[str, ...] = ()
    changed: bool = False
    """Whether anything differs from before, including findings."""


def compute_next_state(
    latest: Snapshot, served_organizations: Mapping[str, ServedOrganization], before: Snapshot | None = None
) -> tuple[RegistryState, Reload]:
    """The state after a load: good versions replace the old ones; organizations with errors keep the last good one as stale."""
    now: dict[str, ServedOrganization] = {}
    refused: dict[str, tuple[Diagnostic, ...]] = {}
    blamed: set[str] = set()
    for org_id, organization in latest.organizations.items():
        if organization.may_answer:
            now[org_id] = ServedOrganization(organization)
            continue
        refused[org_id] = organization.diagnostics
        if org_id in served_organizations:
            now[org_id] = ServedOrganization(served_organizations[org_id].snapshot, stale=True)
    # An organization that answered before and is missing now could have a broken file. Then its last version stays.
    for org_id, answering in served_organizations.items():
        if org_id in now:
            continue
        file = answering.snapshot.records.document.name
        broken = [
            each
            for each in latest.tree.broken
            if org_id in each.declared_ids or does_cover_file(each.name, file)
        ]
        if broken:
            now[org_id] = ServedOrganization(answering.snapshot, stale=True)
            names = {each.name for each in broken}
            blamed |= names
            refused[org_id] = tuple(
                diagnostic for diagnostic in latest.diagnostics if diagnostic.place.file in names
            )
    # An organization without a good version is refused if its own file cannot be read.
    for org_id, name in _find_unreadable_organizations(latest):
        if org_id not in now and name not in blamed:
            found_there = tuple(
                diagnostic for diagnostic in latest.diagnostics if diagnostic.place.file == name
            )
            refused.setdefault(org_id, found_there)
    report = Reload(
        tuple(
            org_id
            for org_id, each in now.items()
            if not each.stale
            and (
                org_id not in served_organizations
                or served_organizations[org_id].snapshot.digest != each.snapshot.digest
            )
        ),
        tuple(org_id for org_id, each in now.items() if each.stale),
        tuple(org_id for org_id in refused if org_id not in now),
        tuple(org_id for org_id in served_organizations if org_id not in now),
        before is None or before.digest != latest.digest or before.diagnostics != latest.diagnostics,
    )
    return RegistryState(latest, now, refused), report


def _find_unreadable_organizations(latest: Snapshot) -> Iterator[tuple[str, str]]:
    """(organization id, file name) for each organization file that could not be read. The id is a guess from the file.

    A file that is truncated before its id gets the id of its folder, following the layout of templates (docs/documents.md).
    """
    for each in latest.tree.broken:
        folder, stem = os.path.split(os.path.splitext(each.path)[0])
        if each.kind == "organization" or (each.kind is None and stem == "org"):
            stem = printable(stem)
            # `declared_ids` always contains the name of the file, which is only used if the text declares no id.
            ids = each.declared_ids - {stem} or {os.path.basename(folder) if stem == "org" else stem}
            for org_id in sorted(ids):
                yield org_id, each.name
