"""What changed between two versions of a running server: the same comparison as `orgkernel diff`."""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from manifest_api.answering import AnswersOfApp
from manifest_api.problems import UNKNOWN_VERSION, RequestRefused
from manifest_api.questions import KNOWN_PARAMETERS, Org
from manifest_api.routes.documented import declare_responses
from orgkernel.diff.organizations import Version, compare_versions_of
from orgkernel.diff.report import ChangeReport, build_report
from orgkernel.graph.out_of_service import list_out_of_service, list_unknown_subjects
from orgkernel.kernel.kernel import Kernel
from orgkernel.snapshots.snapshot import OrgSnapshot

router = APIRouter(tags=["registry"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])
_DIGEST = r"^sha256:[0-9a-f]{64}$"


class KeptVersion(msgspec.Struct, frozen=True, kw_only=True):
    """A version of an organization that can be compared."""

    snapshot: str
    until: float | None
    """When a later version replaced it, in seconds since 1970. It is null for the version that answers."""


class VersionChanges(msgspec.Struct, frozen=True, kw_only=True):
    """The comparison of two versions, by default of the version that answers with the one that answered before it."""

    org_id: str
    before: str | None
    """Digest of the earlier version. It is null if the server has answered from one version only since it started, or if the
    organization has more than 5,000 roles."""
    after: str
    """Digest of the later version."""
    snapshot: str
    """Digest of the version that answers."""
    report: ChangeReport | None
    versions: tuple[KeptVersion, ...]
    """The versions to choose from, newest first. The first one answers."""


@router.get("/v1/orgs/{org}/changes", responses=declare_responses(VersionChanges, 404, 409, 503, org=True))
async def get_changes(
    request: Request,
    answers: AnswersOfApp,
    org: Org,
    before: Annotated[
        str | None,
        Query(
            pattern=_DIGEST,
            description="Digest of the earlier version. By default, the one that answered before `after`.",
        ),
    ] = None,
    after: Annotated[
        str | None,
        Query(
            pattern=_DIGEST, description="Digest of the later version. By default, the version that answers."
        ),
    ] = None,
) -> Response:
    """Compare two versions that the server has answered from since it started: what every role gained and lost, and the
    lines that cause it. By default, these are the version that answers and the version before it.
    """
    return await answers.respond(
        request, lambda kernel: compare_kept_versions(kernel, org, before, after), org
    )


def compare_kept_versions(
    kernel: Kernel, org: str, before: str | None = None, after: str | None = None
) -> VersionChanges:
    """The changes between two versions. Raises `RequestRefused` for a version that is not kept."""
    current = kernel.organization(org).snapshot
    earlier = kernel.list_earlier(org)
    snapshots = [current, *(each.snapshot for each in earlier)]
    later = 0 if after is None else _find_version(snapshots, after)
    # Without a choice it is the one before: the next in the list, if there is one.
    former = later + 1 if before is None else _find_version(snapshots, before)
    has_former = former < len(snapshots)
    return VersionChanges(
        org_id=current.org_id,
        before=snapshots[former].digest if has_former else None,
        after=snapshots[later].digest,
        snapshot=current.digest,
        report=_compare(snapshots[former], snapshots[later]) if has_former else None,
        versions=(
            KeptVersion(snapshot=current.digest, until=None),
            *(KeptVersion(snapshot=each.snapshot.digest, until=each.until) for each in earlier),
        ),
    )


def _find_version(snapshots: list[OrgSnapshot], digest: str) -> int:
    for number, snapshot in enumerate(snapshots):
        if snapshot.digest == digest:
            return number
    raise RequestRefused(
        UNKNOWN_VERSION,
        f"this server keeps no version {digest.removeprefix('sha256:')[:12]}",
        "choose one of `versions` in `GET /v1/orgs/{org}/changes`",
    )


def _compare(before: OrgSnapshot, after: OrgSnapshot) -> ChangeReport:
    comparison = compare_versions_of(after.org_id, _as_version(before), _as_version(after))
    incomparable = (
        f"{name}: {out.located_reason}, so it is not compared"
        for name, snapshot in (("before", before), ("after", after))
        for out in list_out_of_service(snapshot.records)
    )
    return build_report([comparison], incomparable)


def _as_version(snapshot: OrgSnapshot) -> Version:
    return Version(snapshot.index, snapshot.diagnostics, list_unknown_subjects(snapshot.records))
