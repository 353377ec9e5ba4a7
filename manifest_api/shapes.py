"""The types of HTTP answers and bodies, except manifests and decisions."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from orgkernel.decisions.dispatch.task_state import DispatchContext
from orgkernel.manifest.v1 import Coverage, Named
from orgkernel.operations.permissions import Name

Standing = Literal["served", "stale", "refused"]
MAX_NEEDS = 100
MAX_TEXT_LENGTH = 100_000


class RelatedPlace(msgspec.Struct, frozen=True, kw_only=True):
    """A related place of a finding."""

    text: str
    file: str
    line: int
    column: int


class DiagnosticRow(msgspec.Struct, frozen=True, kw_only=True):
    """A finding, with the same fields as in `orgkernel check --format json`."""

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
    """The status of an organization.

    `served` answers from the documents on disk. `stale` answers from its last good version, because the documents on
    disk have errors. `refused` does not answer, because it has errors and no earlier good version.
    """

    org_id: str
    standing: Standing
    snapshot: str | None
    """Digest of the version that answers."""
    errors: int
    """Findings of the version on disk."""
    reason: str
    """The first error with its place, and the roles and agents that it takes out of service while the others answer."""


class OrganizationLine(OrganizationStanding, frozen=True, kw_only=True):
    """An organization as an item of the list."""

    org_name: str
    description: str
    roles: int


class OrganizationList(msgspec.Struct, frozen=True, kw_only=True):
    """The organizations, or a page of them."""

    organizations: tuple[OrganizationLine, ...]
    count: int
    """Number of organizations on all pages."""
    active: str | None
    """The organization that `active` means. It is null if there is none or if there are several."""
    next: str | None
    """Cursor of the next page. It is null on the last page."""
    snapshot: str


class RoleLine(msgspec.Struct, frozen=True, kw_only=True):
    """A role in the org chart."""

    role_id: str
    role_name: str
    role_type: str
    reports_to: str | None
    department: str | None
    domains: tuple[str, ...]
    crew_tier: str
    """`crew`, `utility`, `infrastructure` or `external`."""
    layer: str | None
    """The hand-off layer."""
    handoff_targets: tuple[str, ...]
    """The roles that it may hand work to."""
    findings: int
    """The number of findings about it in the version that answers."""


class OrganizationDetail(OrganizationLine, frozen=True, kw_only=True):
    """An organization with its chart. Its manifest has more."""

    mode: str
    departments: tuple[Named, ...]
    domains: tuple[Coverage, ...]
    roots: tuple[str, ...]
    chart: tuple[RoleLine, ...]
    tools: tuple[str, ...]
    """Ids of all declared tools, the shared ones included."""
    agents_without_role: tuple[str, ...]
    """Agents of the crew without an assignment, as ORG602 reports them."""


class FindingList(msgspec.Struct, frozen=True, kw_only=True):
    """The findings in the documents on disk, and the status of the organizations."""

    diagnostics: tuple[DiagnosticRow, ...]
    count: int
    """Number of findings on all pages."""
    errors: int
    warnings: int
    not_fresh: tuple[OrganizationStanding, ...]
    """The organizations that are stale or refused."""
    next: str | None
    """Cursor of the next page. It is null on the last page."""
    store_problem: str | None
    """The reason why the documents could not be compared with the store. It is null if they could, or if there is no
    store.
    """
    reading_problem: str | None
    """The reason why the findings could be older than the documents on disk. It is null if the last reload
    succeeded.
    """
    snapshot: str


class RegistrySnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """The versions that answer."""

    snapshot: str
    """Digest of all documents when they were last read."""
    organizations: tuple[OrganizationStanding, ...]


class Readiness(msgspec.Struct, frozen=True, kw_only=True):
    """Whether questions are answered. `degraded` means that some are not, or that some answers are stale."""

    status: Literal["ready", "degraded"]
    reading: Literal["ok", "failed", "overrun"]
    """Whether the last attempt to read the documents succeeded. `overrun` means that it has not ended in time."""
    store: Literal["none", "ok", "low", "unproven"]
    """`none` if there is no store yet. `low` if its disk or its budget is nearly used up. `unproven` if checkpoints of its
    audit cannot be written.
    """
    store_problem: str
    """A description of the problem: a low resource, or checkpoints that cannot be written. Empty otherwise."""
    errors: int
    """Findings in all documents, including those outside organizations."""
    organizations: tuple[OrganizationStanding, ...]


class Liveness(msgspec.Struct, frozen=True, kw_only=True):
    """The process runs."""

    status: Literal["alive"] = "alive"


class ProgramVersion(msgspec.Struct, frozen=True, kw_only=True):
    """The version of the program and of the manifest format."""

    program: Literal["orgkernel"] = "orgkernel"
    version: str
    crew_manifest: str


class ProblemCode(msgspec.Struct, frozen=True):
    """The meaning of a problem code."""

    code: str
    status: int
    title: str
    text: str

    @property
    def sentence(self) -> str:
        """The title as the detail of one answer."""
        return self.title[:1].lower() + self.title[1:]


class InvalidValue(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the request that is not valid."""

    where: str
    message: str


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A problem document (RFC 9457). `code` is stable, and `help` names the remedy."""

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
    """A task to dispatch: exactly one of `domain`, `intent` and `text`."""

    domain: Name | msgspec.UnsetType = msgspec.UNSET
    intent: Name | msgspec.UnsetType = msgspec.UNSET
    text: Annotated[str, msgspec.Meta(max_length=MAX_TEXT_LENGTH)] | msgspec.UnsetType = msgspec.UNSET
    """The task in plain words."""
    needs: Annotated[tuple[Name, ...], msgspec.Meta(max_length=MAX_NEEDS)] = ()
    all_considered: bool = False
    as_documents: bool = False
    """Whether the stored state is ignored. The answer then names no agents."""
    context: DispatchContext = DispatchContext()
    """What came before `text`: the `task` of the answer to the message before it."""
