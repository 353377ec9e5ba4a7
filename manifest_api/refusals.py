"""Problem documents for exceptions."""

from __future__ import annotations

import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from manifest_api import problems
from manifest_api.answering import SNAPSHOT, Answers
from manifest_api.openapi import list_methods
from manifest_api.problems import (
    RequestRefused,
    build_problem_response,
    build_refusal_response,
    build_store_problem,
)
from manifest_api.shapes import DiagnosticRow, InvalidValue, OrganizationStanding
from manifest_api.status import build_finding, build_standings
from manifest_api.store_log import log_store_failure
from orgkernel.decisions.evidence.state_view import ALL_ORGANIZATIONS
from orgkernel.diagnostics.wording import listing, printable, quote
from orgkernel.errors import (
    AmbiguousActive,
    NotServed,
    OrgkernelError,
    Refused,
    StoreError,
    UnknownOrganization,
    UnknownRole,
    UsageError,
)
from orgkernel.kernel.names import ACTIVE

logger = logging.getLogger("orgkernel.server")

_KIND_OF_STATUS = {
    404: problems.UNKNOWN_ROUTE,
    405: problems.METHOD_NOT_ALLOWED,
    413: problems.BODY_TOO_LARGE,
}


def install_refusals(app: FastAPI) -> None:
    """Answer every exception that a route is expected to raise. `Faults` answers the others."""
    for exception, answer in (
        (OrgkernelError, refuse_by_kernel),
        (RequestRefused, _refuse_by_route),
        (RequestValidationError, _refuse_parameters),
        (HTTPException, _refuse_by_framework),
    ):
        app.add_exception_handler(exception, answer)


async def refuse_by_kernel(request: Request, error: Exception) -> Response:
    """The problem for an error of the kernel or the store."""
    assert isinstance(error, OrgkernelError)
    answers: Answers = request.app.state.answers
    org = request.path_params.get("org", ACTIVE)
    kernel = answers.kernel
    headers = {SNAPSHOT: kernel.state.latest.digest}
    kind = problems.KINDS.get(error.code, problems.BAD_REQUEST)
    organizations: tuple[OrganizationStanding, ...] = ()
    diagnostics: tuple[DiagnosticRow, ...] = ()
    match error:
        case UnknownRole():
            headers |= answers.stale(_is_stale(answers, org))
        case UnknownOrganization() if org == ALL_ORGANIZATIONS:
            return build_problem_response(
                problems.NO_ORGANIZATION,
                f"{quote(ALL_ORGANIZATIONS)} does not mean all organizations here",
                "name the organization",
                headers=headers,
            )
        case AmbiguousActive():
            organizations = build_standings(kernel.state)
        case NotServed():
            findings = kernel.refusal(org)
            diagnostics = tuple(map(build_finding, findings[: problems.MAX_SHOWN_FINDINGS]))
            headers["Link"] = '</v1/diagnostics>; rel="describedby"'
            if len(findings) > problems.MAX_SHOWN_FINDINGS:
                more = f"`GET /v1/diagnostics` lists all {len(findings)} findings"
                return build_problem_response(
                    kind, error.message, more, diagnostics=diagnostics, headers=headers
                )
        case UsageError():
            pass
        case StoreError():
            log_store_failure(f"the store failed: {error.message}")
            return build_store_problem(error)
        case Refused():
            return build_store_problem(error)
        case _:
            raise error
    return build_problem_response(
        kind, error.message, error.help,
        organizations=organizations, diagnostics=diagnostics, headers=headers,
    )  # fmt: skip


def _is_stale(answers: Answers, org: str) -> bool:
    """Whether the organization answers from an old version."""
    try:
        return answers.kernel.organization(org).stale
    except OrgkernelError:
        return False


async def _refuse_by_route(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestRefused)
    return build_refusal_response(error)


async def _refuse_parameters(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    errors = tuple(_build_invalid_value(each) for each in error.errors())
    where = listing(each.where for each in errors)
    return build_problem_response(
        problems.INVALID_REQUEST, problems.say_invalid(where), "see `/docs`", errors=errors
    )


def _build_invalid_value(error: dict[str, Any]) -> InvalidValue:
    message = printable(str(error["msg"]))
    return InvalidValue(where=".".join(map(str, error["loc"])), message=message[:1].lower() + message[1:])


async def _refuse_by_framework(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    kind = _KIND_OF_STATUS.get(error.status_code, problems.BAD_REQUEST)
    headers = dict(error.headers or {})
    if kind is problems.METHOD_NOT_ALLOWED:
        headers["Allow"] = ", ".join(list_methods(request.scope))
        detail = f"the path {quote(request.url.path)} does not have the method {quote(request.method)}"
    elif kind is problems.UNKNOWN_ROUTE:
        detail = f"the path {quote(request.url.path)} does not exist"
    else:
        detail = problems.BAD_REQUEST.sentence
    return build_problem_response(kind, detail, "`/docs` lists the routes", headers=headers)
