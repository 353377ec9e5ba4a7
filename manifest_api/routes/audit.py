"""The audit: what was decided and done, newest first."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from manifest_api.access_shapes import AuditLine, AuditPage
from manifest_api.changing import DEFAULT_ROWS, Limit, told_once, with_store
from manifest_api.problems import BAD_CURSOR, Refused
from manifest_api.questions import Cursor, only
from manifest_api.routes.documented import remembered
from orgkernel.errors import UnknownRecord
from orgkernel.state.audit_queries import AuditFilter, read_rows
from orgkernel.state.records import AuditKind
from orgkernel.state.store import Store

router = APIRouter(tags=["audit"])
_NAMES = ("since", "until", "kind", "activity", "subject", "channel", "record", "cursor", "limit")
_LATEST = 1e15


@router.get(
    "/v1/audit",
    response_class=Response,
    responses=remembered("AuditPage", 409),
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
            rows = list(read_rows(store.rows, wanted, limit + 1, cursor))
        except UnknownRecord as error:
            raise Refused(BAD_CURSOR, error.message, "start again without a cursor") from None
        lines = tuple(AuditLine(row=row.audit_id, digest=row.digest, entry=row.entry) for row in rows[:limit])
        return AuditPage(rows=lines, next=lines[-1].row if len(rows) > limit else None)

    return told_once(await with_store(request, read, AuditPage(rows=(), next=None)))
