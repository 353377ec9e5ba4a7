"""What the last change of the documents did: the same comparison as `orgkernel diff`, of two versions of a running server."""

from __future__ import annotations

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from manifest_api.answering import AnswersOfApp
from manifest_api.questions import KNOWN_PARAMETERS, Org
from manifest_api.routes.documented import declare_responses
from orgkernel.diff.organizations import Version, compare_versions_of
from orgkernel.diff.report import ChangeReport, build_report
from orgkernel.kernel.kernel import Kernel
from orgkernel.snapshots.snapshot import OrgSnapshot

router = APIRouter(tags=["registry"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])


class LastChanges(msgspec.Struct, frozen=True, kw_only=True):
    """The comparison of the version that answers with the version that answered before it."""

    org_id: str
    before: str | None
    """Digest of the earlier version. It is null if the server has answered from one version only since it started, or if the
    organization has more than 5,000 roles."""
    snapshot: str
    report: ChangeReport | None


@router.get("/v1/orgs/{org}/changes", responses=declare_responses(LastChanges, 404, 409, 503, org=True))
async def get_changes(request: Request, answers: AnswersOfApp, org: Org) -> Response:
    """Compare the version that answers with the version before it: what every role gained and lost, and the lines that
    cause it.
    """
    return await answers.respond(request, lambda kernel: compare_with_previous(kernel, org), org)


def compare_with_previous(kernel: Kernel, org: str) -> LastChanges:
    """The changes of the last reload that changed an organization."""
    current, previous = kernel.organization(org).snapshot, kernel.find_previous(org)
    if previous is None:
        return LastChanges(org_id=current.org_id, before=None, snapshot=current.digest, report=None)
    comparison = compare_versions_of(current.org_id, _as_version(previous), _as_version(current))
    return LastChanges(
        org_id=current.org_id,
        before=previous.digest,
        snapshot=current.digest,
        report=build_report([comparison]),
    )


def _as_version(snapshot: OrgSnapshot) -> Version:
    unread = frozenset(snapshot.records.without_profile) & snapshot.records.excused
    return Version(snapshot.index, snapshot.diagnostics, unread)
