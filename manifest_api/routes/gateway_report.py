"""How the tools of a gateway were used: the same report as `orgkernel gateway report`, without the edits of documents."""

from __future__ import annotations

import os
import time
from itertools import islice
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from manifest_api.problems import NO_GATEWAY, NO_SDK, RequestRefused
from manifest_api.questions import KNOWN_PARAMETERS, Org
from manifest_api.routes.documented import declare_store_responses
from manifest_api.store_requests import build_json_response, with_store
from orgkernel.decisions.evidence.state_records import AuditFilter
from orgkernel.errors import UsageError
from orgkernel.kernel.kernel import Kernel
from orgkernel.mcp.gateway.use_summary import UseSummary
from orgkernel.mcp.server import require_sdk
from orgkernel.operations.upkeep import read_audit

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store
    from orgkernel.mcp.gateway.pins import Pins

router = APIRouter(tags=["audit"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])
_DAY = 86_400.0
_MAX_ROWS = 50_000
"""Rows of each kind that are read, so that one question cannot keep the store busy. The newest are read."""


@router.get("/v1/orgs/{org}/gateway-report", responses=declare_store_responses(UseSummary, 404, 409, 501))
async def get_gateway_report(
    request: Request,
    org: Org,
    days: Annotated[float, Query(gt=0, le=366, description="Calls of the last days.")] = 30,
    at_least: Annotated[
        float,
        Query(
            ge=0,
            le=366,
            description="Propose no removal for a role whose first call is less than these days ago.",
        ),
    ] = 7,
    often: Annotated[
        int,
        Query(
            ge=1, le=10_000, description="Number of refusals of a tool after which to propose asking for it."
        ),
    ] = 5,
) -> Response:
    """Report the tokens that each role is spared, the calls with their refusals by reason, and proposals to narrow roles.

    Nothing is changed. `orgkernel gateway report` also prints the edits of the documents.
    """
    kernel: Kernel = request.app.state.answers.kernel
    org_id = kernel.organization(org).snapshot.org_id
    now = time.time()

    def read(store: Store) -> UseSummary:
        pins = _find_pins(request)
        from orgkernel.mcp.gateway.report import ReportTerms, summarize_use

        terms = ReportTerms(since=now - days * _DAY, now=now, at_least=at_least * _DAY, often=often)
        decisions, uses = (
            islice(read_audit(store, AuditFilter(since=terms.since, kind=kind)), _MAX_ROWS)
            for kind in ("decision", "usage")
        )
        return summarize_use(kernel, org_id, pins, decisions, uses, terms)

    return build_json_response(await with_store(request, read))


def _find_pins(request: Request) -> Pins:
    """The accepted tools: of the gateway of this server, or of the file in its folder."""
    try:
        require_sdk("listing tools as the gateway does")
    except UsageError as error:
        raise RequestRefused(NO_SDK, error.message, error.help) from None
    from orgkernel.mcp.gateway.pins import FILE, Pins

    pins: Pins | None = request.app.state.pins
    if pins is not None:
        pins.refresh()
        return pins
    if not os.path.exists(FILE):
        raise RequestRefused(
            NO_GATEWAY,
            "this server has no gateway, and no `gateway.lock.json` in its folder",
            "start the server in the folder with this file, or run `orgkernel gateway report`",
        )
    return Pins(FILE)
