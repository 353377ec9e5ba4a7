"""What the HTTP surface says besides manifests and decisions: lists, findings, readiness, and what it is asked."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from orgkernel.manifest.v1 import Coverage, Named
from orgkernel.operations.permissions import Name

Standing = Literal["served", "stale", "refused"]
MOST_NEEDS = 100


class RelatedPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Another place that explains a finding."""

    text: str
    file: str
    line: int
    column: int


class DiagnosticRow(msgspec.Struct, frozen=True, kw_only=True):
    """A diagnostic; the same fields as `orgkernel check --format json`."""

    code: str
    name: str
    severity: Literal["error", "warning", "info"]
    message: str
    file: str
    line: int
    column: int
    help: str
    subject: str
    related: tuple[RelatedPlace, ...]


class OrganizationStanding(msgspec.Struct, frozen=True, kw_only=True):
    """Whether an organization answers, and from which version.

    `served` answers from what is on disk, `stale` from its last good version because what is on disk has errors,
    `refused` not at all because it has errors and never had a good version.
    """

    org_id: str
    standing: Standing
    snapshot: str | None
    """Digest of the version that answers."""
    errors: int
    """In the version on disk."""
    reason: str
    """The first error with its place; empty for an organization that is served."""


class OrganizationLine(OrganizationStanding, frozen=True, kw_only=True):
    """An organization as an item of the list."""

    org_name: str
    description: str
    roles: int


class OrganizationList(msgspec.Struct, frozen=True, kw_only=True):
    """Every organization that was read, or a page of them."""

    organizations: tuple[OrganizationLine, ...]
    count: int
    """Organizations on all pages."""
    active: str | None
    """The organization that `active` means; null when it means none or several."""
    next: str | None
    """Cursor of the next page; null on the last."""
    snapshot: str


class RoleLine(msgspec.Struct, frozen=True, kw_only=True):
    """A role as a line of the org chart."""

    role_id: str
    role_name: str
    role_type: str
    reports_to: str | None
    department: str | None
    domains: tuple[str, ...]


class OrganizationDetail(OrganizationLine, frozen=True, kw_only=True):
    """An organization with its chart; the whole of it is its manifest."""

    mode: str
    departments: tuple[Named, ...]
    domains: tuple[Coverage, ...]
    roots: tuple[str, ...]
    chart: tuple[RoleLine, ...]


class FindingList(msgspec.Struct, frozen=True, kw_only=True):
    """What was found in the documents on disk, and what that means for the organizations."""

    diagnostics: tuple[DiagnosticRow, ...]
    count: int
    """Findings on all pages."""
    errors: int
    warnings: int
    not_fresh: tuple[OrganizationStanding, ...]
    """The organizations that are stale or refused."""
    next: str | None
    """Cursor of the next page; null on the last."""
    store_problem: str | None
    """Why the documents could not be compared with what is stored; null where they were, or nothing is stored."""
    snapshot: str


class RegistrySnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """The versions that answer."""

    snapshot: str
    """Digest of everything on disk when it was last read."""
    organizations: tuple[OrganizationStanding, ...]


class Readiness(msgspec.Struct, frozen=True, kw_only=True):
    """Whether questions are answered; `degraded` means: some, or not from what is on disk."""

    status: Literal["ready", "degraded"]
    reading: Literal["ok", "failed"]
    """Whether the disk could be read the last time it was tried."""
    errors: int
    """In all documents on disk, those of no organization included."""
    organizations: tuple[OrganizationStanding, ...]


class Liveness(msgspec.Struct, frozen=True, kw_only=True):
    """The process runs."""

    status: Literal["alive"] = "alive"


class ProgramVersion(msgspec.Struct, frozen=True, kw_only=True):
    """Which program answers, and in which version of the manifest's format."""

    program: Literal["orgkernel"] = "orgkernel"
    version: str
    crew_manifest: str


class ProblemCode(msgspec.Struct, frozen=True):
    """What a problem's code means."""

    code: str
    status: int
    title: str
    text: str


class InvalidValue(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the request that does not fit."""

    where: str
    message: str


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why there is no answer (RFC 9457); `code` is stable, `help` says what to do."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    help: str = ""
    errors: tuple[InvalidValue, ...] = ()
    organizations: tuple[OrganizationStanding, ...] = ()
    diagnostics: tuple[DiagnosticRow, ...] = ()


class TaskQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A task to be taken by somebody."""

    domain: Name
    needs: Annotated[tuple[Name, ...], msgspec.Meta(max_length=MOST_NEEDS)] = ()
    all_considered: bool = False
