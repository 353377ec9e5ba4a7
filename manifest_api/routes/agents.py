"""Agents, what each may do, and its state. Changes need a credential with the scope `rank`."""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from manifest_api.answering import AnswersOfApp
from manifest_api.problems import BAD_CURSOR, RequestRefused
from manifest_api.questions import (
    KNOWN_PARAMETERS,
    AgentQuery,
    AsOf,
    Org,
    OrgOrAll,
    declare_path_id,
    open_kernel_as_of,
)
from manifest_api.routes.documented import declare_change, declare_responses
from manifest_api.store_requests import write
from orgkernel.decisions.evidence.state_view import AgentState, Lifecycle, QualificationResult
from orgkernel.errors import UnknownAgent
from orgkernel.kernel.kernel import Kernel
from orgkernel.manifest.crew import AgentList
from orgkernel.manifest.v1 import AgentManifest
from orgkernel.operations.agents import move_agent, record_result, set_rank
from orgkernel.operations.permissions import Name, Text

router = APIRouter(tags=["agents"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])
AgentPath = Annotated[str, declare_path_id("an agent", "butler")]


class RankChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Promote or demote."""

    rank: Name
    reason: Text = ""


class LifecycleChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Change the state of an agent."""

    lifecycle: Lifecycle
    reason: Text = ""


class ResultBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The score of an agent in a test."""

    qualification: Name
    score: float
    sample_size: Annotated[int, msgspec.Meta(ge=1, lt=10**9)] | None = None
    """How many cases the score rests on."""
    digests: dict[Name, Name] = {}
    """Digests of what was tested, by name: the model, prompt, tool schemas, policy, test set …"""
    run: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """The run of the test. The same result of the same run is stored once."""
    reason: Text = ""


@router.get(
    "/v1/orgs/{org}/agents", responses=declare_responses(AgentList, 404, 409, 503, paged=True, org=True)
)
async def get_agents(
    request: Request, answers: AnswersOfApp, question: AgentQuery, org: Org, as_of: AsOf = None
) -> Response:
    """List the agents of an organization that match every filter, with their current state."""

    def ask(kernel: Kernel) -> AgentList:
        try:
            then = open_kernel_as_of(kernel, as_of)
            return then.agents(org, question.wanted, after=question.cursor, limit=question.limit)
        except UnknownAgent as error:  # the only agent asked for is the cursor's
            raise RequestRefused(BAD_CURSOR, error.message, "start again without a cursor") from None

    return await answers.respond(request, ask, org)


@router.get(
    "/v1/orgs/{org}/agents/{agent}", responses=declare_responses(AgentManifest, 404, 409, 503, org=True)
)
async def get_agent(
    request: Request, answers: AnswersOfApp, org: Org, agent: AgentPath, as_of: AsOf = None
) -> Response:
    """Get the manifest of an agent: its roles, and everything that it may do now."""
    # Recorded calls of tools are in it, and a call makes no new version of the state.
    has_store = request.app.state.store_access.held() is not None
    return await answers.respond(
        request,
        lambda kernel: open_kernel_as_of(kernel, as_of).agent_manifest(org, agent),
        org,
        keeps=not has_store,
    )


@router.post(
    "/v1/orgs/{org}/agents/{agent}/rank",
    **declare_change(AgentState, RankChange, {"rank": "commander", "reason": "passed the review"}),
)
async def post_rank(request: Request, org: Org, agent: AgentPath) -> Response:
    """Give an agent any rank. A higher rank whose requirements it does not meet needs a `reason`.

    The credential of an agent cannot do this for itself.
    """
    return await write(
        request, "rank", RankChange, '{"rank": "commander"}',
        lambda context, change: set_rank(context, agent, change.rank, org=org, reason=change.reason),
    )  # fmt: skip


@router.post(
    "/v1/orgs/{org}/agents/{agent}/lifecycle",
    **declare_change(AgentState, LifecycleChange, {"lifecycle": "suspended", "reason": "odd behavior"}),
)
async def post_lifecycle(request: Request, org: OrgOrAll, agent: AgentPath) -> Response:
    """Suspend, reactivate or decommission an agent, at `/v1/orgs/*` in all organizations.

    The credential of an agent cannot do this for itself.
    """
    return await write(
        request, "rank", LifecycleChange, '{"lifecycle": "suspended"}',
        lambda context, change: move_agent(context, agent, change.lifecycle, org=org, reason=change.reason),
    )  # fmt: skip


@router.post(
    "/v1/orgs/{org}/agents/{agent}/results",
    **declare_change(
        QualificationResult, ResultBody, {"qualification": "first_aid", "score": 0.93}, creates_record=True
    ),
)
async def post_result(request: Request, org: Org, agent: AgentPath) -> Response:
    """Record the score of an agent in a test. The agent's own credential is refused.

    The declared threshold decides whether it passed.
    """
    return await write(
        request, "rank", ResultBody, '{"qualification": "ID", "score": 0.93}',
        lambda context, test: record_result(
            context, agent, test.qualification, test.score, sample_size=test.sample_size, digests=test.digests,
            run=test.run,            org=org, reason=test.reason,
        ),
        201,
    )  # fmt: skip
