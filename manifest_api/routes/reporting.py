"""Handing SALUTE reports in: a credential of the scope `report`, and of an agent only for the roles it fills."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from manifest_api.feed import Feed
from manifest_api.guards.caller import require_scope
from manifest_api.problems import BAD_REPORT, Refused
from manifest_api.questions import only, read_body
from manifest_api.routes.documented import body_of, stored
from manifest_api.shapes import InvalidValue
from manifest_api.store_requests import json_response, operate
from orgkernel.diagnostics.wording import quote
from orgkernel.operations.reports import hand_in_report
from orgkernel.runtime.salute import ReportError, read_report

router = APIRouter(tags=["salute"])
_EXAMPLE = {
    "_schema": "orgkernel:salute_report",
    "_version": "1.0",
    "status": {"state": "active", "progress": 0.4, "pace_level": "primary", "health": "nominal"},
    "activity": {"current_task": "mend the parser"},
    "unit": {"role_id": "steward", "organization": "household", "agent_number": 0},
    "time": {"timestamp": "2027-01-31T12:00:00Z"},
}


@router.post(
    "/v1/salute",
    response_class=Response,
    responses=stored("ReportReceipt", 400, 401, 404, 409, 415),
    openapi_extra=body_of("SaluteReport", _EXAMPLE),
    dependencies=[only()],
)
async def post_report(request: Request) -> Response:
    """Hand in a report. The same one a second time changes nothing; the credential of an agent reports for its roles."""
    caller = require_scope(request, "report")
    said: dict[str, Any] = await read_body(
        request, dict[str, Any], '{"_schema": "orgkernel:salute_report", …}', BAD_REPORT
    )
    try:
        report = read_report(said)
    except ReportError as error:
        where = f"body.{error.where.replace('/', '.')}".rstrip(".")
        raise Refused(
            BAD_REPORT,
            f"the report cannot be read at {quote(where)}",
            "`orgkernel schema salute_report` prints what a report looks like",
            [InvalidValue(where=where, message=error.text)],
        ) from None
    receipt = await operate(request, caller, lambda context: hand_in_report(context, report))
    feed: Feed = request.app.state.feed
    feed.wake()
    return json_response(receipt)
