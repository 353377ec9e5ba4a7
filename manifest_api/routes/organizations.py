"""Organizations, their roles, and dispatch."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from msgspec import UNSET
from starlette.responses import Response

from manifest_api.answering import Answers, AnswersOfApp
from manifest_api.guards.caller import require_scope
from manifest_api.metrics import count_decision
from manifest_api.problems import BAD_CURSOR, INVALID_REQUEST, RequestRefused, say_invalid
from manifest_api.questions import (
    DEFAULT_ORGANIZATIONS,
    KNOWN_PARAMETERS,
    MAX_ORGANIZATIONS,
    AsOf,
    CrewQuery,
    CrewQuestion,
    Cursor,
    Org,
    Role,
    open_kernel_as_of,
    read_body,
)
from manifest_api.routes.documented import declare_body, declare_responses
from manifest_api.shapes import InvalidValue, OrganizationDetail, OrganizationList, TaskQuestion
from manifest_api.status import list_organizations, show_organization
from orgkernel.decisions.dispatch.by_domain import DispatchDecision
from orgkernel.decisions.dispatch.routing_report import RoutingReport
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import UnknownOrganization, UnknownRole
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.names import ACTIVE
from orgkernel.manifest.v1 import OrganizationManifest, RoleManifest

router = APIRouter(tags=["organizations"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])
_CREW = declare_responses(OrganizationManifest, 404, 409, 503, paged=True, org=True)


@router.get("/v1/orgs", responses=declare_responses(OrganizationList, 409, paged=True))
async def get_organizations(
    request: Request,
    answers: AnswersOfApp,
    cursor: Cursor = None,
    limit: Annotated[
        int, Query(ge=1, le=MAX_ORGANIZATIONS, description="Maximum number of organizations on a page.")
    ] = DEFAULT_ORGANIZATIONS,
) -> Response:
    """List all organizations and their status."""

    def ask(kernel: Kernel) -> OrganizationList:
        try:
            return list_organizations(kernel, cursor, limit)
        except UnknownOrganization as error:
            raise RequestRefused(BAD_CURSOR, error.message, "start again without a cursor") from None

    return await answers.respond(request, ask)


@router.get("/v1/orgs/{org}", responses=declare_responses(OrganizationDetail, 404, 409, 503, org=True))
async def get_organization(request: Request, answers: AnswersOfApp, org: Org) -> Response:
    """Get an organization with its chart."""
    return await answers.respond(request, lambda kernel: show_organization(kernel, org), org)


@router.get("/v1/orgs/{org}/manifest", responses=_CREW)
async def get_manifest(
    request: Request, answers: AnswersOfApp, org: Org, question: CrewQuery, as_of: AsOf = None
) -> Response:
    """Get the manifest of an organization, with the roles that match every filter."""
    return await _answer_crew(request, answers, org, question, as_of)


@router.get("/api/ontology/crew-manifest", responses=_CREW)
async def get_crew_manifest(
    request: Request, answers: AnswersOfApp, question: CrewQuery, as_of: AsOf = None
) -> Response:
    """Get the manifest of the active organization, at the path of the kernel specification."""
    return await _answer_crew(request, answers, ACTIVE, question, as_of)


@router.get("/v1/orgs/{org}/roles/{role}", responses=declare_responses(RoleManifest, 404, 409, 503, org=True))
async def get_role(request: Request, answers: AnswersOfApp, org: Org, role: Role) -> Response:
    """Get the manifest of a role: everything it has and may do, each fact with its line."""
    # Recorded calls of tools are read from the store, for which the event loop does not wait.
    has_store = request.app.state.store_access.held() is not None
    return await answers.respond(
        request, lambda kernel: kernel.manifest_bytes(org, role), org, quick=not has_store
    )


@router.post(
    "/v1/orgs/{org}/dispatch",
    responses=declare_responses(DispatchDecision, 400, 404, 409, 415, 503, kept=False, org=True),
    openapi_extra=declare_body(TaskQuestion, {"domain": "bugfix", "needs": ["text_editor"]}),
)
async def post_dispatch(request: Request, answers: AnswersOfApp, org: Org) -> Response:
    """Find the role that takes a task of a domain or an intent, or a task in plain words, with the reasons.

    If the organization declares agents, `crew` names those who can take the task now. The answer is `not_applicable` if no
    role takes it.
    """
    require_scope(request, "read")
    question = await read_body(request, TaskQuestion, '{"domain": "bugfix"}')
    task = {
        name: value
        for name, value in (("domain", question.domain), ("intent", question.intent), ("text", question.text))
        if value is not UNSET
    }
    if len(task) != 1:
        wrong = InvalidValue(
            where="body", message="does not have exactly one of `domain`, `intent` and `text`"
        )
        raise RequestRefused(INVALID_REQUEST, say_invalid(quote("body")), "see `/docs`", [wrong])
    previous = question.context.previous
    if previous is not None and "text" not in task:
        wrong = InvalidValue(where="body/context/previous", message="is only for `text`")
        raise RequestRefused(INVALID_REQUEST, say_invalid(quote("body")), "see `/docs`", [wrong])
    outcome = ""

    def ask(kernel: Kernel) -> DispatchDecision:
        nonlocal outcome
        decision = kernel.dispatch(
            org,
            task.get("domain"),
            intent=task.get("intent"),
            text=task.get("text"),
            needs=question.needs,
            all_considered=question.all_considered,
            as_documents=question.as_documents,
            previous=previous,
        )
        outcome = decision.outcome
        return decision

    response = await answers.respond_once(ask, org, quick="domain" in task and not question.all_considered)
    count_decision(request, outcome, "dispatch")
    return response


@router.get(
    "/v1/orgs/{org}/routing-report", responses=declare_responses(RoutingReport, 404, 409, 503, org=True)
)
async def get_routing_report(request: Request, answers: AnswersOfApp, org: Org) -> Response:
    """Get where the declared examples and triggers lead as sentences, and which roles sentences confuse."""
    return await answers.respond(request, lambda kernel: kernel.report_routing(org), org)


async def _answer_crew(
    request: Request, answers: Answers, org: str, question: CrewQuestion, as_of: float | None
) -> Response:
    def ask(kernel: Kernel) -> OrganizationManifest:
        try:
            then = open_kernel_as_of(kernel, as_of)
            return then.crew(
                org, question.wanted, agents=question.agents, after=question.cursor, limit=question.limit
            )
        except UnknownRole as error:  # the only role asked for is the cursor's
            raise RequestRefused(BAD_CURSOR, error.message, "start again without a cursor") from None

    return await answers.respond(request, ask, org)
