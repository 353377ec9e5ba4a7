"""Agents, what each may do, and its state. Changes need a credential with the scope `rank`."""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from manifest_api.answering import AnswersOfApp
from manifest_api.questions import KNOWN_PARAMETERS, OrgQuery, id_in_path
from manifest_api.routes.documented import change, told
from manifest_api.store_requests import write
from orgkernel.decisions.state_view import AgentState, Lifecycle, QualificationResult
from orgkernel.decisions.trust import Trust
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.names import ACTIVE
from orgkernel.manifest.v1 import AgentManifest
from orgkernel.operations.agents import move_agent, record_result, set_rank
from orgkernel.operations.permissions import Name, Text

router = APIRouter(tags=["agents"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])
AgentPath = Annotated[str, id_in_path("an agent", "butler")]


class AgentLine(msgspec.Struct, frozen=True, kw_only=True):
    """An agent of a roster, and its state."""

    agent_id: str
    callsign: str
    roles: tuple[str, ...]
    rank: str | None
    """The current rank: the stored one, or else the one that the roster or its role declares."""
    trust: float | None
    """The mean of the distribution."""
    trust_distribution: Trust
    lifecycle: str
    org_id: str


class AgentList(msgspec.Struct, frozen=True, kw_only=True):
    """Agents of an organization."""

    agents: tuple[AgentLine, ...]
    snapshot: str
    state_version: int


class RankChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Promote or demote."""

    rank: Name
    reason: Text = ""


class LifecycleChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Change the state of an agent."""

    lifecycle: Lifecycle
    reason: Text = ""


class ResultBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an agent scored in a test."""

    qualification: Name
    score: float
    sample_size: Annotated[int, msgspec.Meta(ge=1, lt=10**9)] | None = None
    """How many cases the score rests on."""
    digests: dict[Name, Name] = {}
    """What was tested, by name: the digest of the model, prompt, tool schemas, policy, test set …"""
    reason: Text = ""


@router.get("/v1/agents", responses=told(AgentList, 404, 409, 503, org=True))
async def get_agents(request: Request, answers: AnswersOfApp, org: OrgQuery = ACTIVE) -> Response:
    """List the agents of an organization with their current state."""
    return await answers.respond(request, lambda kernel: _list(kernel, org), org)


@router.get("/v1/agents/{agent}", responses=told(AgentManifest, 404, 409, 503, org=True))
async def get_agent(
    request: Request, answers: AnswersOfApp, agent: AgentPath, org: OrgQuery = ACTIVE
) -> Response:
    """Get the manifest of an agent: its roles, and everything that it may do now."""
    return await answers.respond(request, lambda kernel: kernel.agent_manifest(org, agent), org)


@router.post(
    "/v1/agents/{agent}/rank",
    **change(AgentState, RankChange, {"rank": "commander", "reason": "passed the review"}),
)
async def post_rank(request: Request, agent: AgentPath, org: OrgQuery = ACTIVE) -> Response:
    """Promote or demote an agent. The credential of an agent cannot do this for itself."""
    return await write(
        request, "rank", RankChange, '{"rank": "commander"}',
        lambda context, change: set_rank(context, agent, change.rank, org=org, reason=change.reason),
    )  # fmt: skip


@router.post(
    "/v1/agents/{agent}/lifecycle",
    **change(AgentState, LifecycleChange, {"lifecycle": "suspended", "reason": "odd behavior"}),
)
async def post_lifecycle(request: Request, agent: AgentPath, org: OrgQuery = ACTIVE) -> Response:
    """Suspend, reactivate or decommission an agent, with `org=*` in all organizations. The credential of an agent cannot do
    this for itself.
    """
    return await write(
        request, "rank", LifecycleChange, '{"lifecycle": "suspended"}',
        lambda context, change: move_agent(context, agent, change.lifecycle, org=org, reason=change.reason),
    )  # fmt: skip


@router.post(
    "/v1/agents/{agent}/results",
    **change(QualificationResult, ResultBody, {"qualification": "first_aid", "score": 0.93}, made=True),
)
async def post_result(request: Request, agent: AgentPath, org: OrgQuery = ACTIVE) -> Response:
    """Record the score of an agent in a test. Never by its own credential. The declared threshold says whether it passed."""
    return await write(
        request, "rank", ResultBody, '{"qualification": "ID", "score": 0.93}',
        lambda context, test: record_result(
            context, agent, test.qualification, test.score, sample_size=test.sample_size, digests=test.digests,
            org=org, reason=test.reason,
        ),
        201,
    )  # fmt: skip


def _list(kernel: Kernel, org: str) -> AgentList:
    view = kernel.organization(org).snapshot.index
    known = (
        kernel.agent_manifest(org, agent_id)
        for agent_id in view.records.agents
        if view.roles_filled_by(agent_id)
    )
    lines = tuple(
        AgentLine(
            agent_id=each.agent_id,
            callsign=each.callsign,
            roles=tuple(role.id for role in each.roles),
            rank=each.rank.id if each.rank else None,
            trust=each.trust,
            trust_distribution=each.trust_distribution,
            lifecycle=each.lifecycle,
            org_id=each.org_id,
        )
        for each in known
    )
    return AgentList(agents=lines, snapshot=view.digest, state_version=kernel.answer_version.stored_version)
