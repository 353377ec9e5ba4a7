"""Handing SALUTE reports in: a credential of the scope `report`, and of an agent only for the roles it fills."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from manifest_api.answering import AnswersOfApp
from manifest_api.feed import Feed
from manifest_api.guards.caller import Caller, require_scope
from manifest_api.problems import BAD_REPORT, OTHER_REPORTER, Refused
from manifest_api.questions import only, read_body
from manifest_api.routes.documented import body_of, remembered
from manifest_api.shapes import InvalidValue
from manifest_api.store_requests import json_response, with_store
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.registry import ACTIVE
from orgkernel.runtime.salute import ReportError, read_report
from orgkernel.state.records import ReportReceipt

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
    responses=remembered("ReportReceipt", 400, 401, 404, 409, 415),
    openapi_extra=body_of("SaluteReport", _EXAMPLE),
    dependencies=[only()],
)
async def post_report(request: Request, answers: AnswersOfApp) -> Response:
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
    report["unit"] = {**report["unit"], "organization": _admit(answers.kernel, caller, report["unit"])}
    receipt: ReportReceipt = await with_store(
        request,
        lambda store: store.reports.record(report, actor=caller.credential, agent_id=caller.agent_id or ""),
    )
    feed: Feed = request.app.state.feed
    feed.wake()
    return json_response(receipt)


def org_of(kernel: Kernel, org: str) -> str:
    """The organization a name means; also one that has errors: its roles report all the same."""
    return org if org in kernel.state.refused else kernel.organization(org).snapshot.org_id


def _admit(kernel: Kernel, caller: Caller, unit: dict[str, Any]) -> str:
    """The organization of a report, if the caller may report for its role; raises `Refused`."""
    org_id = org_of(kernel, unit.get("organization") or ACTIVE)
    role_id = unit["role_id"]
    if org_id in kernel.state.refused and caller.agent_id is None:
        return org_id  # nobody knows its roles at present; a report is not lost for that
    snapshot = kernel.organization(org_id).snapshot
    snapshot.require_role(role_id)
    if caller.agent_id is not None:
        fills = [edge.target for edge in snapshot.index.roles_filled_by(caller.agent_id)]
        if role_id not in fills:
            raise Refused(
                OTHER_REPORTER,
                f"the credential belongs to agent {quote(caller.agent_id)}, which does not fill role {quote(role_id)}",
                f"it fills {listing(fills)}" if fills else f"it fills no role of {quote(org_id)}",
            )
    return org_id
