"""The registry itself: what was found in the documents, and which versions answer."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from manifest_api.answering import AnswersOfApp
from manifest_api.problems import BAD_CURSOR, Refused
from manifest_api.questions import DEFAULT_FINDINGS, MOST_FINDINGS, Cursor, only
from manifest_api.routes.direct import DirectRoute
from manifest_api.routes.documented import told
from manifest_api.shapes import FindingList, RegistrySnapshot
from manifest_api.status import build_finding, build_standings, count_severity, not_fresh
from orgkernel.diagnostics import Diagnostic, Severity
from orgkernel.errors import StoreError
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.registry_state import State

router = APIRouter(tags=["registry"], route_class=DirectRoute)


@router.get(
    "/v1/diagnostics",
    response_class=Response,
    responses=told("FindingList", 409, paged=True),
    dependencies=[only("cursor", "limit")],
)
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


@router.get(
    "/v1/snapshot", response_class=Response, responses=told("RegistrySnapshot"), dependencies=[only()]
)
async def get_snapshot(request: Request, answers: AnswersOfApp) -> Response:
    """The digests of the versions that answer."""
    return await answers.respond(request, _snapshot)


def _diagnostics(kernel: Kernel, cursor: str | None, limit: int) -> FindingList:
    state = kernel.state
    drift, store_problem = _drift(kernel)
    found = (*state.latest.diagnostics, *drift)
    start = _start(state, cursor, len(found))
    return FindingList(
        diagnostics=tuple(map(build_finding, found[start : start + limit])),
        count=len(found),
        errors=count_severity(found, Severity.ERROR),
        warnings=count_severity(found, Severity.WARNING),
        not_fresh=not_fresh(build_standings(state)),
        next=_cursor(state, start + limit) if start + limit < len(found) else None,
        store_problem=store_problem,
        snapshot=state.latest.digest,
    )


def _drift(kernel: Kernel) -> tuple[tuple[Diagnostic, ...], str | None]:
    """What is stored otherwise, or why that cannot be said: what is wrong with documents is told without a store, too."""
    try:
        return kernel.drift(), None
    except StoreError as error:
        return (), error.message


def _snapshot(kernel: Kernel) -> RegistrySnapshot:
    state = kernel.state
    return RegistrySnapshot(snapshot=state.latest.digest, organizations=build_standings(state))


def _cursor(state: State, start: int) -> str:
    """A position in the list of one version; findings have no ids that would outlive it."""
    return f"{state.latest.digest.removeprefix('sha256:')[:16]}-{start}"


def _start(state: State, cursor: str | None, count: int) -> int:
    if cursor is None:
        return 0
    number = cursor.rpartition("-")[2]
    start = int(number) if number.isascii() and number.isdigit() and len(number) < 10 else 0
    if cursor != _cursor(state, start) or not 0 < start < count:
        raise Refused(
            BAD_CURSOR, "the cursor continues no list of this version", "start again without a cursor"
        )
    return start
