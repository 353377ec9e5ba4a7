"""SALUTE reports. Submitting a report needs the scope `report`, reading and following the reports the scope `read`."""

from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from manifest_api.answering import AnswersOfApp
from manifest_api.feed import STREAM_SECONDS, EventStream, Feed
from manifest_api.guards.caller import get_caller, require_scope
from manifest_api.problems import BAD_CURSOR, BAD_REPORT, UNKNOWN_RECORD, RequestRefused
from manifest_api.questions import (
    KNOWN_PARAMETERS,
    Cursor,
    Org,
    OrgOrAll,
    declare_path_id,
    declare_word,
    read_body,
)
from manifest_api.routes.documented import declare_change, declare_store_responses
from manifest_api.shapes import InvalidValue
from manifest_api.store_requests import (
    DEFAULT_ROWS,
    RowLimit,
    build_json_response,
    choose_listed_organization,
    find_in_store,
    list_rows_after,
    operate,
    with_store,
)
from orgkernel.decisions.evidence.state_records import ReportReceipt
from orgkernel.decisions.evidence.state_view import PaceTierName, StoredReport
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import SaluteReport
from orgkernel.manifest.v1 import encode
from orgkernel.operations.reports.board import (
    BoardLine,
    Health,
    ReportDetail,
    RoleState,
    build_board,
    build_detail,
    get_intervals,
)
from orgkernel.operations.reports.submission import hand_in_report, resolve_org
from orgkernel.runtime.salute_format import ReportError, read_report

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store

router = APIRouter(tags=["salute"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])
RoleQuery = Annotated[str | None, declare_word("Only this role.")]
ReportingRole = Annotated[str, declare_path_id("a role", "bugfix_specialist")]
_MAX_NUMBER = 2**63 - 1
"""The largest number of a report that the store can have."""
_EXAMPLE = {
    "_schema": "orgkernel:salute_report",
    "_version": "1.0",
    "status": {"state": "active", "progress": 0.4, "pace_level": "primary", "health": "nominal"},
    "activity": {"current_task": "fix the parser"},
    "unit": {"role_id": "steward", "organization": "household", "agent_number": 0},
    "time": {"timestamp": "2027-01-31T12:00:00Z"},
}


class Board(msgspec.Struct, frozen=True, kw_only=True):
    """The latest report of each agent in each role, by organization, role and agent."""

    lines: tuple[BoardLine, ...]
    next: str | None
    """Cursor of the next page. It is null on the last page."""
    last_number: int
    """Number of the latest report, to follow with `/v1/orgs/{org}/salute/stream?after=`."""


class ReportPage(msgspec.Struct, frozen=True, kw_only=True):
    """Reports of one role, latest first."""

    reports: tuple[ReportDetail, ...]
    next: str | None
    """Cursor of the next page. It is null on the last page."""


@router.post("/v1/orgs/{org}/salute", **declare_change(ReportReceipt, SaluteReport, _EXAMPLE))
async def post_report(request: Request, org: Org) -> Response:
    """Submit a report. Submitting it again changes nothing. A report that names another organization is refused.

    The credential of an agent can report for the roles of that agent only.
    """
    caller = require_scope(request, "report")
    body: dict[str, Any] = await read_body(
        request, dict[str, Any], '{"_schema": "orgkernel:salute_report", …}', BAD_REPORT
    )
    try:
        report = read_report(body)
    except ReportError as error:
        where = f"body.{error.where.replace('/', '.')}".rstrip(".")
        raise RequestRefused(
            BAD_REPORT,
            f"the report cannot be read at {quote(where)}",
            "`orgkernel schema salute_report` prints the JSON Schema of a report",
            [InvalidValue(where=where, message=error.text)],
        ) from None
    receipt = await operate(request, caller, lambda context: hand_in_report(context, report, org=org))
    feed: Feed = request.app.state.feed
    feed.wake()
    return build_json_response(receipt)


@router.get("/v1/orgs/{org}/salute", responses=declare_store_responses(Board, 404, 409))
async def get_board(
    request: Request,
    answers: AnswersOfApp,
    org: OrgOrAll,
    role: RoleQuery = None,
    tier: Annotated[PaceTierName | None, Query(description="Only reports with this PACE tier.")] = None,
    health: Annotated[Health | None, Query(description="Only reports with this health.")] = None,
    state: Annotated[RoleState | None, Query(description="Only reports with this state.")] = None,
    stale: Annotated[
        bool | None, Query(description="Only reports that are overdue, or only those that are not.")
    ] = None,
    cursor: Cursor = None,
    limit: RowLimit = DEFAULT_ROWS,
) -> Response:
    """List the latest report of each agent in each role."""
    kernel = answers.kernel
    org_id = choose_listed_organization(request, org)

    def read(store: Store) -> Board:
        last = store.reports.last_number()
        reports = list_rows_after(
            store.reports.latest(org_id, role), _build_cursor, cursor, "line of the board"
        )
        lines = [
            (line, report)
            for line, report in zip(
                build_board(reports, get_intervals(kernel.state), time.time()), reports, strict=True
            )
            if tier in (None, line.pace_level)
            and health in (None, line.health)
            and state in (None, line.state)
            and stale in (None, line.is_stale)
        ]
        more = len(lines) > limit
        return Board(
            lines=tuple(line for line, _ in lines[:limit]),
            next=_build_cursor(lines[limit - 1][1]) if more else None,
            last_number=last,
        )

    return build_json_response(await with_store(request, read, Board(lines=(), next=None, last_number=0)))


@router.get(
    "/v1/orgs/{org}/salute/stream",
    responses={
        **declare_store_responses(ReportDetail, 404, 409),
        200: {
            "description": "Events `report`. The id is the number of the report, and the data is a `ReportDetail`.",
            "content": {EventStream.media_type: {"schema": {"type": "string"}}},
        },
    },
)
async def get_stream(
    request: Request,
    answers: AnswersOfApp,
    org: OrgOrAll,
    role: RoleQuery = None,
    after: Annotated[
        int | None,
        Query(
            ge=0,
            le=_MAX_NUMBER,
            description="Start after the report with this number. `Last-Event-ID` takes precedence.",
        ),
    ] = None,
) -> Response:
    """Follow new reports as server-sent events. Without a number, the stream starts with the next report."""
    kernel, feed = answers.kernel, request.app.state.feed
    org_id = choose_listed_organization(request, org)
    begin = _read_last_event(request, after)
    last = await feed.last_number()
    number = last if begin is None else begin

    def encode_wanted(report: StoredReport) -> bytes | None:
        if org_id not in (None, report.org_id) or role not in (None, report.role_id):
            return None
        return encode(
            build_detail(report, get_intervals(kernel.state)(report.org_id, report.role_id), time.time())
        )

    lasts = STREAM_SECONDS
    caller, keys = get_caller(request), request.app.state.keys
    expires_at = caller.expires_at
    if expires_at is not None:
        lasts = max(0.0, min(lasts, expires_at - time.time()))
    # The store has not issued this number: the client read it from another store, or this one was restored from a backup.
    is_reset = number > last
    return EventStream(
        feed,
        last if is_reset else number,
        encode_wanted,
        lambda: keys.is_still_valid(caller),
        is_reset=is_reset,
        lasts=lasts,
    )


@router.get("/v1/orgs/{org}/salute/{role}/latest", responses=declare_store_responses(ReportDetail, 404, 409))
async def get_latest(
    request: Request,
    answers: AnswersOfApp,
    org: Org,
    role: ReportingRole,
    agent: Annotated[str | None, declare_word("Only this agent, by id or number.")] = None,
) -> Response:
    """Get the latest report of a role, from any of its agents."""
    org_id = resolve_org(answers.kernel, org)

    def find(store: Store) -> StoredReport | None:
        reports = [
            report
            for report in store.reports.latest(org_id, role)
            if agent in (None, report.agent_id, str(report.agent_number))
        ]
        return max(reports, key=lambda report: (report.at, report.number), default=None)

    stored_report = await find_in_store(request, find)
    if stored_report is None:
        answers.kernel.organization(org_id).snapshot.require_role(role)
        raise RequestRefused(
            UNKNOWN_RECORD,
            f"role {quote(role)} has not reported",
            f"`GET /v1/orgs/{org_id}/salute` lists the roles that have reported",
        )
    interval = get_intervals(answers.kernel.state)(org_id, role)
    return build_json_response(build_detail(stored_report, interval, time.time()))


@router.get("/v1/orgs/{org}/salute/{role}/history", responses=declare_store_responses(ReportPage, 404, 409))
async def get_history(
    request: Request,
    answers: AnswersOfApp,
    org: Org,
    role: ReportingRole,
    cursor: Cursor = None,
    limit: RowLimit = DEFAULT_ROWS,
) -> Response:
    """List the stored reports of a role, latest first."""
    org_id = resolve_org(answers.kernel, org)
    before = None if cursor is None else _read_number(cursor)
    interval = get_intervals(answers.kernel.state)(org_id, role)

    def read(store: Store) -> ReportPage:
        rows = store.reports.history(org_id, role, before=before, limit=limit + 1)
        shown = tuple(build_detail(each, interval, time.time()) for each in rows[:limit])
        return ReportPage(reports=shown, next=str(shown[-1].number) if len(rows) > limit else None)

    page = await with_store(request, read, ReportPage(reports=(), next=None))
    if not page.reports and org_id not in answers.kernel.state.refused:
        # A role that is no longer declared can still have reports. A name without a declaration and without reports is a mistake.
        answers.kernel.organization(org_id).snapshot.require_role(role)
    return build_json_response(page)


def _read_last_event(request: Request, after: int | None) -> int | None:
    """The number after which a client wants to continue. A browser sends it when it reconnects."""
    header = request.headers.get("last-event-id")
    if not header:
        return after
    return _read_number(header, "`Last-Event-ID`")


def _read_number(text: str, what: str = "the cursor") -> int:
    if not (text.isascii() and text.isdigit()) or int(text[:20]) > _MAX_NUMBER:
        raise RequestRefused(BAD_CURSOR, f"{what} is not the number of a report", "start again without it")
    return int(text)


def _build_cursor(report: StoredReport) -> str:
    """The cursor of a line of the board. It depends only on the agent and role, so new reports do not change it."""
    unit = f"{report.org_id}\n{report.role_id}\n{report.agent_id}\n{report.agent_number}"
    return hashlib.sha256(unit.encode()).hexdigest()[:24]
