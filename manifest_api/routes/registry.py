"""The registry itself: findings, versions, and health. Answers of the health routes are never cached."""

from __future__ import annotations

import logging
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from manifest_api.answering import SNAPSHOT, AnswersOfApp
from manifest_api.problems import (
    DRAINING,
    MAX_SHOWN_FINDINGS,
    NOT_READY,
    build_problem_response,
    build_store_problem,
)
from manifest_api.questions import DEFAULT_FINDINGS, KNOWN_PARAMETERS, MAX_FINDINGS, Cursor, start_of_page
from manifest_api.routes.documented import PROBLEM, build_content, declare_responses
from manifest_api.shapes import FindingList, Liveness, ProgramVersion, Readiness, RegistrySnapshot
from manifest_api.status import build_finding, build_standings, count_severity, list_not_fresh
from manifest_api.store_access import StoreAccess
from manifest_api.store_log import log_store_failure
from manifest_api.store_requests import build_json_response
from orgkernel import __version__
from orgkernel.diagnostics import Diagnostic, Severity
from orgkernel.errors import StoreError
from orgkernel.kernel.kernel import Kernel
from orgkernel.manifest.v1 import VERSION, encode

logger = logging.getLogger("orgkernel.server")
router = APIRouter(tags=["registry"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])
health_router = APIRouter(tags=["health"], default_response_class=Response)


@router.get("/v1/diagnostics", responses=declare_responses(FindingList, 409, paged=True))
async def get_diagnostics(
    request: Request,
    answers: AnswersOfApp,
    cursor: Cursor = None,
    limit: Annotated[
        int, Query(ge=1, le=MAX_FINDINGS, description="Maximum number of findings on a page.")
    ] = DEFAULT_FINDINGS,
) -> Response:
    """List the findings in the documents on disk and the differences from the store, and which organizations are stale
    or refused.
    """
    return await answers.respond(
        request, lambda kernel: _list_diagnostics(kernel, cursor, limit, answers.reading_problem)
    )


@router.get("/v1/snapshot", responses=declare_responses(RegistrySnapshot))
async def get_snapshot(request: Request, answers: AnswersOfApp) -> Response:
    """Get the digests of the versions that answer."""

    def ask(kernel: Kernel) -> RegistrySnapshot:
        state = kernel.state
        return RegistrySnapshot(snapshot=state.latest.digest, organizations=build_standings(state))

    return await answers.respond(request, ask)


@health_router.get("/livez", responses={200: {"description": "It runs.", "content": build_content(Liveness)}})
async def get_liveness() -> Response:
    """Check that the process runs."""
    return build_json_response(Liveness())


@health_router.get(
    "/readyz",
    responses={
        200: {"description": "At least one organization is served.", "content": build_content(Readiness)},
        503: {
            "description": "No organization is served, the store cannot be read or has another version, or the server is closing.",
            "content": PROBLEM,
        },
    },
)
async def get_readiness(request: Request, answers: AnswersOfApp) -> Response:
    """Check whether questions are answered, and which organizations are stale or not served, and why.

    The status is 200 if at least one organization is served, so that one bad edit does not take the server out of
    service. It is 503 while the server is closing, and while the store cannot be read or has another version than the server,
    because no question about access is answered without it.
    """
    state = answers.kernel.state
    standings = build_standings(state)
    headers = {SNAPSHOT: state.latest.digest}
    if request.app.state.is_draining:
        return build_problem_response(
            DRAINING, DRAINING.sentence, "send requests to another server", headers=headers
        )
    stored: StoreAccess = request.app.state.store_access
    await stored.refresh()
    try:
        store = stored.held()
    except StoreError as error:
        log_store_failure(f"not ready: {error.message}")
        return build_store_problem(error)
    low = "" if store is None else stored.capacity.find_problem()
    unproven = None if store is None else store.problem
    if unproven is not None:
        log_store_failure(f"checkpoints of the audit cannot be written: {unproven}")
    if not state.served:
        diagnostics = tuple(map(build_finding, state.latest.diagnostics[:MAX_SHOWN_FINDINGS]))
        return build_problem_response(
            NOT_READY, NOT_READY.sentence, "`/v1/diagnostics` lists the findings",
            organizations=standings, diagnostics=diagnostics, headers=headers,
        )  # fmt: skip
    errors = count_severity(state.latest.diagnostics, Severity.ERROR)
    fresh = (
        not list_not_fresh(standings)
        and not errors
        and not answers.reading_failed
        and not low
        and unproven is None
    )
    readiness = Readiness(
        status="ready" if fresh else "degraded",
        reading=answers.reading_problem or "ok",
        store="none" if store is None else "unproven" if unproven is not None else "low" if low else "ok",
        store_problem="checkpoints of the audit cannot be written" if unproven is not None else low,
        errors=errors,
        organizations=standings,
    )
    return Response(encode(readiness), headers=headers, media_type="application/json")


@health_router.get(
    "/version", responses={200: {"description": "The version.", "content": build_content(ProgramVersion)}}
)
async def get_version() -> Response:
    """Get the version of the program."""
    return build_json_response(ProgramVersion(version=__version__, crew_manifest=VERSION))


_READING_PROBLEMS = {
    "failed": "the last reload failed; the log says why",
    "overrun": "the last reload did not end in time",
}


def _list_diagnostics(kernel: Kernel, cursor: str | None, limit: int, reading: str | None) -> FindingList:
    state = kernel.state
    drift, store_problem = _find_drift(kernel)
    diagnostics = (*state.latest.diagnostics, *drift)
    # Findings have no ids that would outlive a version, so a cursor is a position in the list of one.
    stamp = state.latest.digest.removeprefix("sha256:")[:16]
    start = start_of_page(cursor, stamp, len(diagnostics))
    return FindingList(
        diagnostics=tuple(map(build_finding, diagnostics[start : start + limit])),
        count=len(diagnostics),
        errors=count_severity(diagnostics, Severity.ERROR),
        warnings=count_severity(diagnostics, Severity.WARNING),
        not_fresh=list_not_fresh(build_standings(state)),
        next=f"{stamp}-{start + limit}" if start + limit < len(diagnostics) else None,
        store_problem=store_problem,
        reading_problem=_READING_PROBLEMS[reading] if reading else None,
        snapshot=state.latest.digest,
    )


def _find_drift(kernel: Kernel) -> tuple[tuple[Diagnostic, ...], str | None]:
    """The differences between documents and store, or the reason why they are not known."""
    try:
        return kernel.drift(), None
    except StoreError as error:
        return (), error.message
