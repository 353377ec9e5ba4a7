"""Audit of changed files: did every worker change only files that its brief owns? The caller states the changes.

An audit can be recorded, in pages: a request holds 64 KiB, and a range can have thousands of files.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from manifest_api.answering import AnswersOfApp
from manifest_api.guards.caller import require_scope
from manifest_api.questions import KNOWN_PARAMETERS, Cursor, Org, read_body
from manifest_api.routes.contracts import read_value
from manifest_api.routes.documented import (
    declare_body,
    declare_change,
    declare_responses,
    declare_store_responses,
)
from manifest_api.store_requests import (
    DEFAULT_ROWS,
    RowLimit,
    build_json_response,
    page_from_store,
    write,
)
from orgkernel.decisions.evidence.state_records import ContractRecord
from orgkernel.decisions.ownership.audit import OwnershipAudit, audit_changes
from orgkernel.decisions.ownership.changes import ChangedFiles, FileChange, RangeCommit
from orgkernel.decisions.ownership.owners import AuditedWorker, require_different
from orgkernel.decisions.ownership.recorded import AUDIT_KIND, ChangePage
from orgkernel.decisions.work.contracts.reading import expect_sound
from orgkernel.documents.records import Brief
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.context import Context
from orgkernel.operations.contracts import select_contracts
from orgkernel.operations.ownership_audits import AuditRequest, BriefToAudit, RecordedAudit, record_audit
from orgkernel.operations.reports.submission import resolve_org

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


FullCommitId = Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{40}|[0-9a-f]{64})$")]
_RECORDED: dict[str, Any] = {
    "briefs": [{"brief": "0b8f6f3e-52b6-4c0a-9d0c-6a1f6c1f7a55"}],
    "base": "a" * 40,
    "head": "b" * 40,
    "files": [{"path": "src/search.py", "change": "modified"}],
    "commits": [{"id": "b" * 40, "paths": ["src/search.py"]}],
}


class AuditPageDraft(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A page of an audit to record. `orgkernel ownership audit --format pages` prints all pages of a range."""

    briefs: Annotated[tuple[BriefToAudit, ...], msgspec.Meta(min_length=1, max_length=100)]
    """The stored briefs of the workers."""
    base: FullCommitId
    """Full id of the commit at which the work began."""
    head: FullCommitId
    """Full id of the commit at which it ended."""
    audit: Annotated[str, msgspec.Meta(min_length=1, max_length=200)] | None = None
    """Id of the audit. It is required from the second page on. Default: a new one."""
    page: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 1
    """Number of the page, from 1."""
    pages: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 1
    """Number of pages."""
    files: Annotated[tuple[FileChange, ...], msgspec.Meta(max_length=20_000)]
    """The files of this page that are not the same at the end as at the beginning."""
    commits: Annotated[tuple[RangeCommit, ...], msgspec.Meta(max_length=20_000)] = ()
    """The commits that changed files of this page, with these files only. They can also name files that a commit changed and
    a later one restored."""


class RecordedAuditPage(msgspec.Struct, frozen=True, kw_only=True):
    """Recorded pages of audits, oldest first."""

    audits: tuple[ContractRecord, ...]
    """Each has a page of an audit about one brief as its body."""
    next: str | None
    """Cursor of the next page of this list. It is null on the last page."""


@router.get("/v1/orgs/{org}/ownership/audits", responses=declare_store_responses(RecordedAuditPage, 404, 409))
async def get_recorded_audits(
    request: Request, org: Org, cursor: Cursor = None, limit: RowLimit = DEFAULT_ROWS
) -> Response:
    """List the recorded audits of an organization, oldest first."""
    kernel: Kernel = request.app.state.answers.kernel
    org_id = resolve_org(kernel, org)
    shown, following = await page_from_store(
        request,
        lambda store: select_contracts(store, org_id, AUDIT_KIND, None, False),
        lambda each: each.record_id,
        cursor,
        limit,
    )
    return build_json_response(RecordedAuditPage(audits=shown, next=following))


@router.post(
    "/v1/orgs/{org}/ownership/audits",
    **declare_change(RecordedAudit, AuditPageDraft, _RECORDED, creates_record=True),
)
async def post_recorded_audit(request: Request, org: Org) -> Response:
    """Record a page of an audit. Results and closes that state changed files need a clean audit of the same commits.

    The sender of the work or an operator records it. The audit is clean once all pages are recorded and none has a
    finding.
    """

    def record(context: Context, draft: AuditPageDraft) -> RecordedAudit:
        audit_request = AuditRequest(briefs=draft.briefs, base=draft.base, head=draft.head, audit=draft.audit)
        page = ChangePage(page=draft.page, pages=draft.pages, files=draft.files, commits=draft.commits)
        return record_audit(context, audit_request, page, context.documents.sacred_files(org), org=org)

    return await write(request, "report", AuditPageDraft, '{"briefs": [{"brief": "…"}]}', record, 201)
