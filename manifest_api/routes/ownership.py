"""Audit of changed files: did every worker change only files that its brief owns? The caller states the changes."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from manifest_api.answering import AnswersOfApp
from manifest_api.guards.caller import require_scope
from manifest_api.questions import KNOWN_PARAMETERS, Org, read_body
from manifest_api.routes.contracts import read_value
from manifest_api.routes.documented import declare_body, declare_responses
from orgkernel.decisions.ownership.audit import OwnershipAudit, audit_changes
from orgkernel.decisions.ownership.changes import ChangedFiles, FileChange, RangeCommit
from orgkernel.decisions.ownership.owners import AuditedWorker, require_different
from orgkernel.decisions.work.contracts.reading import expect_sound
from orgkernel.documents.records import Brief

router = APIRouter(tags=["ownership"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])
_SHORT = '{"files": [{"path": "src/a.py", "change": "modified"}], "workers": []}'
_EXAMPLE = {
    "files": [{"path": "src/search.py", "change": "modified"}],
    "commits": [{"id": "4f2a", "paths": ["src/search.py"], "branches": ["search"]}],
    "workers": [{"name": "search", "has_branch": True, "brief": {"_schema": "orgkernel:brief"}}],
}


class StatedWorker(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A worker and its brief."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    brief: dict[str, Any] | str
    """The brief: an object, or a string with YAML or JSON."""
    has_branch: bool = False
    """Whether the commits of the branch of this name are the worker's. If not, commits name the id of the brief."""


class OwnershipAuditQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Did every worker change only files that its brief owns?"""

    files: Annotated[tuple[FileChange, ...], msgspec.Meta(max_length=20_000)]
    """The files that are not the same at the end as at the beginning."""
    commits: Annotated[tuple[RangeCommit, ...], msgspec.Meta(max_length=20_000)] = ()
    """The commits in between, and what each changed."""
    workers: Annotated[tuple[StatedWorker, ...], msgspec.Meta(min_length=1, max_length=100)]
    union: bool = False
    """Ask only whether some brief owns each file, not who changed it."""


@router.post(
    "/v1/orgs/{org}/ownership/audit",
    responses=declare_responses(OwnershipAudit, 400, 404, 409, 415, 503, kept=False, org=True),
    openapi_extra=declare_body(OwnershipAuditQuestion, _EXAMPLE),
)
async def post_ownership_audit(request: Request, answers: AnswersOfApp, org: Org) -> Response:
    """Find files that a worker changed without owning them, and changed sacred files. Nothing is stored."""
    require_scope(request, "read")
    question = await read_body(request, OwnershipAuditQuestion, _SHORT)
    workers = [
        AuditedWorker(each.name, expect_sound(read_value("brief", each.brief), Brief), each.has_branch)
        for each in question.workers
    ]
    require_different(workers)
    changed = ChangedFiles(files=question.files, commits=question.commits)
    return await answers.respond_once(
        lambda kernel: audit_changes(
            changed, workers, sacred=kernel.sacred_files(org), is_union=question.union
        ),
        org,
    )
