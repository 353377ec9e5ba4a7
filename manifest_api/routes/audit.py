"""The audit: what was decided and done, newest first, and whether that is how it was written."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from manifest_api.access_shapes import AuditLine, AuditPage
from manifest_api.holding_shapes import AuditVerification
from manifest_api.problems import BAD_CURSOR, Refused
from manifest_api.questions import Cursor, only
from manifest_api.routes.documented import stored
from manifest_api.store_requests import DEFAULT_ROWS, Limit, json_response, with_store
from orgkernel.decisions.state_records import AuditFilter, AuditKind
from orgkernel.errors import StoreBusy, UnknownRecord
from orgkernel.operations.upkeep import read_audit, verify

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store

router = APIRouter(tags=["audit"])
_VERIFYING_SECONDS = 600.0
_NAMES = ("since", "until", "kind", "activity", "subject", "channel", "record", "cursor", "limit")
_LATEST = 1e15


@router.get(
    "/v1/audit",
    response_class=Response,
    responses=stored("AuditPage", 409),
    dependencies=[only(*_NAMES)],
)
async def get_audit(
    request: Request,
    since: Annotated[
        float | None, Query(ge=0, le=_LATEST, description="Seconds since 1970-01-01 UTC.")
    ] = None,
    until: Annotated[
        float | None, Query(ge=0, le=_LATEST, description="Seconds since 1970-01-01 UTC.")
    ] = None,
    kind: Annotated[AuditKind | None, Query(description="What the rows are about.")] = None,
    activity: Annotated[
        str | None,
        Query(min_length=1, max_length=200, description="allow, deny, ask; created, used, revoked …"),
    ] = None,
    subject: Annotated[
        str | None,
        Query(min_length=1, max_length=200, description="`KIND:ID`, or `KIND:` for all of a kind."),
    ] = None,
    channel: Annotated[str | None, Query(min_length=1, max_length=200, description="Channel.")] = None,
    record: Annotated[
        str | None, Query(min_length=1, max_length=200, description="Id of a grant, request or key.")
    ] = None,
    cursor: Cursor = None,
    limit: Limit = DEFAULT_ROWS,
) -> Response:
    """Rows that fit every filter, newest first. Each row's digest covers the row before it."""
    wanted = AuditFilter(since, until, kind, activity, subject, channel, record_id=record)

    def read(store: Store) -> AuditPage:
        try:
            rows = list(read_audit(store, wanted, limit + 1, cursor))
        except UnknownRecord as error:
            raise Refused(BAD_CURSOR, error.message, "start again without a cursor") from None
        lines = tuple(AuditLine(row=row.audit_id, digest=row.digest, entry=row.entry) for row in rows[:limit])
        return AuditPage(rows=lines, next=lines[-1].row if len(rows) > limit else None)

    return json_response(await with_store(request, read, AuditPage(rows=(), next=None)))


@router.get(
    "/v1/audit/verification",
    response_class=Response,
    responses=stored("AuditVerification", 409),
    dependencies=[only()],
)
async def get_verification(request: Request) -> Response:
    """Whether every row is there, where it was written, as it was written. One at a time: every row is read."""
    verifying: Lock = request.app.state.verifying

    def check(store: Store) -> AuditVerification:
        if not verifying.acquire(blocking=False):
            raise StoreBusy("the audit is being verified already", "try again when that is done")
        try:
            found = verify(store)
        finally:
            verifying.release()
        return AuditVerification(
            is_whole=not found.findings, rows=found.rows, chains=found.chains, dropped=found.dropped,
            findings=found.findings, more_findings=found.more_findings,
            # Where the store is, clients need not know.
            notes=tuple(note.replace(store.folder.path, "the folder of checkpoints") for note in found.notes),
        )  # fmt: skip

    nothing = AuditVerification(
        is_whole=True, rows=0, chains=0, dropped=0, findings=(), more_findings=0, notes=()
    )
    return json_response(await with_store(request, check, nothing, _VERIFYING_SECONDS))
