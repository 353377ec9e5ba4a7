"""Whether the process runs, whether it can answer, and what it is. Never cached: they say what is true now."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from manifest_api.answering import SNAPSHOT, AnswersOfApp
from manifest_api.problems import NOT_READY, problem_response
from manifest_api.routes.documented import PROBLEM, content
from manifest_api.shapes import Liveness, Readiness, Version
from manifest_api.status import build_finding, build_standings, count_severity, not_fresh
from orgkernel import __version__
from orgkernel.diagnostics import Severity
from orgkernel.manifest.v1 import VERSION, encode

router = APIRouter(tags=["health"])


@router.get(
    "/livez",
    response_class=Response,
    responses={200: {"description": "It runs.", "content": content("Liveness")}},
)
async def get_liveness() -> Response:
    """Whether the process runs."""
    return Response(encode(Liveness()), media_type="application/json")


@router.get(
    "/readyz",
    response_class=Response,
    responses={
        200: {"description": "At least one organization is answered for.", "content": content("Readiness")},
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


@router.get(
    "/version",
    response_class=Response,
    responses={200: {"description": "The version.", "content": content("Version")}},
)
async def get_version() -> Response:
    """Which program answers."""
    return Response(
        encode(Version(version=__version__, crew_manifest=VERSION)), media_type="application/json"
    )
