"""The registry itself: what was found in the documents, which versions answer, and whether the process runs and can answer.

What the health routes say is true now, so it is never cached.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from manifest_api.answering import SNAPSHOT, AnswersOfApp
from manifest_api.problems import NOT_READY, problem_response
from manifest_api.questions import DEFAULT_FINDINGS, KNOWN_PARAMETERS, MOST_FINDINGS, Cursor, start_of_page
from manifest_api.routes.documented import PROBLEM, content, told
from manifest_api.shapes import FindingList, Liveness, ProgramVersion, Readiness, RegistrySnapshot
from manifest_api.status import build_finding, build_standings, count_severity, not_fresh
from manifest_api.store_requests import json_response
from orgkernel import __version__
from orgkernel.diagnostics import Diagnostic, Severity
from orgkernel.errors import StoreError
from orgkernel.kernel.kernel import Kernel
from orgkernel.manifest.v1 import VERSION, encode

router = APIRouter(tags=["registry"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])
health_router = APIRouter(tags=["health"], default_response_class=Response)


@router.get("/v1/diagnostics", responses=told(FindingList, 409, paged=True))
async def get_diagnostics(
    request: Request,
    answers: AnswersOfApp,
    cursor: Cursor = None,
    limit: Annotated[
        int, Query(ge=1, le=MOST_FINDINGS, description="Most findings on a page.")
    ] = DEFAULT_FINDINGS,
) -> Response:
    """What was found in the documents on disk, then what is stored otherwise; which organizations are stale or refused."""
    return await answers.respond(request, lambda kernel: _diagnostics(kernel, cursor, limit))


@router.get("/v1/snapshot", responses=told(RegistrySnapshot))
async def get_snapshot(request: Request, answers: AnswersOfApp) -> Response:
    """The digests of the versions that answer."""

    def ask(kernel: Kernel) -> RegistrySnapshot:
        state = kernel.state
        return RegistrySnapshot(snapshot=state.latest.digest, organizations=build_standings(state))

    return await answers.respond(request, ask)


@health_router.get("/livez", responses={200: {"description": "It runs.", "content": content(Liveness)}})
async def get_liveness() -> Response:
    """Whether the process runs."""
    return json_response(Liveness())


@health_router.get(
    "/readyz",
    responses={
        200: {"description": "At least one organization is answered for.", "content": content(Readiness)},
        503: {"description": "None is; what was found is listed.", "content": PROBLEM},
    },
)
async def get_readiness(answers: AnswersOfApp) -> Response:
    """Whether questions are answered, and which organizations are stale or not answered for, and why.

    200 as long as anything can be answered: taking the server out because of one bad edit would make it worse.
    """
    state = answers.kernel.state
    standings = build_standings(state)
    headers = {SNAPSHOT: state.latest.digest}
    if not state.served:
        found = tuple(map(build_finding, state.latest.diagnostics[:20]))
        return problem_response(
            NOT_READY, "no organization can be answered for", "`/v1/diagnostics` shows what was found",
            organizations=standings, diagnostics=found, headers=headers,
        )  # fmt: skip
    errors = count_severity(state.latest.diagnostics, Severity.ERROR)
    fresh = not not_fresh(standings) and not errors and not answers.reading_failed
    readiness = Readiness(
        status="ready" if fresh else "degraded",
        reading="failed" if answers.reading_failed else "ok",
        errors=errors,
        organizations=standings,
    )
    return Response(encode(readiness), headers=headers, media_type="application/json")


@health_router.get(
    "/version", responses={200: {"description": "The version.", "content": content(ProgramVersion)}}
)
async def get_version() -> Response:
    """Which program answers."""
    return json_response(ProgramVersion(version=__version__, crew_manifest=VERSION))


def _diagnostics(kernel: Kernel, cursor: str | None, limit: int) -> FindingList:
    state = kernel.state
    drift, store_problem = _drift(kernel)
    found = (*state.latest.diagnostics, *drift)
    # Findings have no ids that would outlive a version, so a cursor is a position in the list of one.
    stamp = state.latest.digest.removeprefix("sha256:")[:16]
    start = start_of_page(cursor, stamp, len(found))
    return FindingList(
        diagnostics=tuple(map(build_finding, found[start : start + limit])),
        count=len(found),
        errors=count_severity(found, Severity.ERROR),
        warnings=count_severity(found, Severity.WARNING),
        not_fresh=not_fresh(build_standings(state)),
        next=f"{stamp}-{start + limit}" if start + limit < len(found) else None,
        store_problem=store_problem,
        snapshot=state.latest.digest,
    )


def _drift(kernel: Kernel) -> tuple[tuple[Diagnostic, ...], str | None]:
    """What is stored otherwise, or why that cannot be said: what is wrong with documents is told without a store, too."""
    try:
        return kernel.drift(), None
    except StoreError as error:
        return (), error.message
