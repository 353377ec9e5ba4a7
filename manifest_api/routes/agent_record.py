"""Commissions, certificates, work and personality of agents; the alert, the watch and the vacancies of an organization.

Commissions, personalities, alerts and watches need a credential with the scope `rank`, episodes one with `report`.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from manifest_api.answering import AnswersOfApp
from manifest_api.guards.caller import require_scope
from manifest_api.questions import KNOWN_PARAMETERS, Org, read_body
from manifest_api.routes.agents import AgentPath
from manifest_api.routes.documented import (
    declare_body,
    declare_change,
    declare_responses,
    declare_store_responses,
)
from manifest_api.store_requests import (
    ReasonBody,
    build_json_response,
    with_store,
    write,
    write_with_reason,
)
from orgkernel.decisions.crew.leadership import LeadershipObservation
from orgkernel.decisions.crew.vacancies import VacancyAnswer
from orgkernel.decisions.evidence.crew_records import Episode, KeyRevocation, OrgStatus, Personality
from orgkernel.decisions.evidence.service_record import PersonalityDrift
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.certificates import (
    BirthCertificate,
    CertificateVerification,
    find_certificate,
    renew_certificate,
    revoke_certificate,
    verify_against_store,
)
from orgkernel.operations.commissions import CommissionOrder, CommissionReport, commission_agents
from orgkernel.operations.context import Actor, Context
from orgkernel.operations.crew import (
    EpisodeDraft,
    RecordedEpisode,
    ServiceRecord,
    find_episodes,
    find_service_record,
    observe_personality,
    record_episode,
    set_status,
)
from orgkernel.operations.handoffs import observe_leadership_of
from orgkernel.operations.permissions import Name, Text

router = APIRouter(tags=["agents"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])
org_router = APIRouter(
    tags=["organizations"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS]
)
TraitValue = Annotated[float, msgspec.Meta(ge=0, le=1)]
_NOBODY = Actor("")
_MAX_AGENTS = 10_000


class CommissionBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Agents to commission: all of them or none."""

    agents: Annotated[tuple[CommissionOrder, ...], msgspec.Meta(min_length=1, max_length=_MAX_AGENTS)]
    dry_run: bool = False
    """Only report what would be done."""
    reason: Text = ""


class CertificateBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A certificate that an agent presents."""

    certificate: str
    """The JSON text of the certificate, as it was received."""


class RenewalBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The end of the new certificate, and the new key of an agent whose key was revoked."""

    expires_at: float | None = None
    """Seconds since 1970-01-01 UTC. By default, it ends after 365 days."""
    public_key: str | None = None
    """The new `did:key` of the agent, which keeps its private key itself. By default, a key is created next to the store."""
    reason: Text = ""


class PersonalityBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A measured personality."""

    openness: TraitValue
    conscientiousness: TraitValue
    extraversion: TraitValue
    agreeableness: TraitValue
    neuroticism: TraitValue
    reason: Text = ""


class EpisodePage(msgspec.Struct, frozen=True, kw_only=True):
    """Episodes of an agent, newest first."""

    episodes: tuple[Episode, ...]
    next: int | None
    """The `before` of the next page."""


class AlertBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The alert that is called."""

    alert: Name
    reason: Text = ""


class WatchBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The watch that begins."""

    watch: Name
    reason: Text = ""


class OrganizationStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The current alert and watch of an organization, and the declared ones."""

    alert: OrgStatus | None
    """The recorded alert. If it is null, policies that match alerts make answers conditional."""
    watch: OrgStatus | None
    alerts: tuple[str, ...]
    """The declared ones."""
    watches: tuple[str, ...]
    snapshot: str
    state_version: int


@router.post(
    "/v1/orgs/{org}/agents",
    **declare_change(
        CommissionReport,
        CommissionBody,
        {"agents": [{"agent": "clerk", "role": "record_keeper"}]},
        creates_record=True,
    ),
)
async def post_agents(request: Request, org: Org) -> Response:
    """Commission agents in roles that the roster assigns to them: each gets a key, a signed birth certificate and the
    skills of its role. Doing it again changes nothing.
    """
    return await write(
        request, "rank", CommissionBody, '{"agents": [{"agent": "ID", "role": "ID"}]}',
        lambda context, body: commission_agents(
            context, body.agents, org=org, reason=body.reason, dry_run=body.dry_run
        ),
        201,
    )  # fmt: skip


@router.get(
    "/v1/orgs/{org}/agents/{agent}/certificate", responses=declare_store_responses(BirthCertificate, 404, 409)
)
async def get_certificate(request: Request, org: Org, agent: AgentPath) -> Response:
    """Get the signed birth certificate of an agent. It can be verified without this server, except for its revocation."""
    return build_json_response(
        await _ask_store(request, lambda context: find_certificate(context, agent, org=org))
    )


@router.post(
    "/v1/orgs/{org}/agents/{agent}/certificate/verify",
    responses=declare_store_responses(CertificateVerification, 400, 401, 404, 409, 415),
    openapi_extra=declare_body(CertificateBody, {"certificate": '{"type": "orgkernel:birth_certificate"}'}),
)
async def post_certificate_verification(request: Request, org: Org, agent: AgentPath) -> Response:
    """Verify a certificate that an agent presents: its content, signature and end, whether it was revoked, and whether the
    agent is suspended or decommissioned.
    """
    require_scope(request, "read")
    body = await read_body(request, CertificateBody, '{"certificate": "…"}')
    return build_json_response(
        await _ask_store(
            request, lambda context: verify_against_store(context, body.certificate, agent_id=agent, org=org)
        )
    )


@router.post(
    "/v1/orgs/{org}/agents/{agent}/certificate/renew",
    **declare_change(BirthCertificate, RenewalBody, {"reason": "it expires next week"}),
)
async def post_certificate_renewal(request: Request, org: Org, agent: AgentPath) -> Response:
    """Issue a new certificate for an agent. The agent keeps its key, or gets a new one if its key was revoked."""
    return await write(
        request, "rank", RenewalBody, '{"reason": "…"}',
        lambda context, body: renew_certificate(
            context, agent, expires_at=body.expires_at, public_key=body.public_key, org=org, reason=body.reason
        ),
    )  # fmt: skip


@router.post(
    "/v1/orgs/{org}/agents/{agent}/certificate/revoke",
    **declare_change(KeyRevocation, ReasonBody, {"reason": "the private key was copied"}),
)
async def post_certificate_revocation(request: Request, org: Org, agent: AgentPath) -> Response:
    """Revoke the key of an agent, and all certificates for it, at once. It cannot be undone."""
    return await write_with_reason(
        request, "rank", lambda context, reason: revoke_certificate(context, agent, org=org, reason=reason)
    )


@router.post(
    "/v1/orgs/{org}/agents/{agent}/episodes",
    **declare_change(
        RecordedEpisode,
        EpisodeDraft,
        {"outcome": "success", "id": "run-7", "intent": "file_note"},
        creates_record=True,
    ),
)
async def post_episode(request: Request, org: Org, agent: AgentPath) -> Response:
    """Record a piece of work of an agent. An agent's own credential is refused, because trust is computed from it."""
    return await write(
        request, "report", EpisodeDraft, '{"outcome": "success"}',
        lambda context, draft: record_episode(context, agent, draft, org=org),
        201,
    )  # fmt: skip


@router.get(
    "/v1/orgs/{org}/agents/{agent}/episodes", responses=declare_store_responses(EpisodePage, 404, 409)
)
async def get_episodes(
    request: Request,
    org: Org,
    agent: AgentPath,
    before: Annotated[
        int | None, Query(ge=1, le=2**53, description="The `next` of the previous page.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=1_000, description="Maximum number of episodes on a page.")] = 50,
) -> Response:
    """List the episodes of an agent, newest first."""
    episodes = await _ask_store(
        request, lambda context: find_episodes(context, agent, org=org, before=before, limit=limit)
    )
    following = episodes[-1].number if len(episodes) == limit else None
    return build_json_response(EpisodePage(episodes=episodes, next=following))


@router.get(
    "/v1/orgs/{org}/agents/{agent}/service-record", responses=declare_store_responses(ServiceRecord, 404, 409)
)
async def get_service_record(request: Request, org: Org, agent: AgentPath) -> Response:
    """Get what an agent has done: its birth, episodes, success rate, trust over time and promotions."""
    return build_json_response(
        await _ask_store(request, lambda context: find_service_record(context, agent, org=org))
    )


@router.get(
    "/v1/orgs/{org}/agents/{agent}/personality",
    responses=declare_responses(PersonalityDrift, 404, 409, 503, org=True),
)
async def get_personality(request: Request, answers: AnswersOfApp, org: Org, agent: AgentPath) -> Response:
    """Get the drift of an agent's observed personality from the one in the roster."""
    return await answers.respond(request, lambda kernel: kernel.personality(org, agent), org)


@router.post(
    "/v1/orgs/{org}/agents/{agent}/personality",
    **declare_change(
        PersonalityDrift,
        PersonalityBody,
        {
            "openness": 0.7,
            "conscientiousness": 0.6,
            "extraversion": 0.5,
            "agreeableness": 0.5,
            "neuroticism": 0.3,
        },
        creates_record=True,
    ),
)
async def post_personality(request: Request, org: Org, agent: AgentPath) -> Response:
    """Record a measured personality of an agent. The agent's own credential is refused."""
    return await write(
        request, "rank", PersonalityBody, '{"openness": 0.7, …}',
        lambda context, body: observe_personality(context, agent, _read_personality(body), org=org, reason=body.reason),
        201,
    )  # fmt: skip


@org_router.get(
    "/v1/orgs/{org}/vacancies", responses=declare_responses(VacancyAnswer, 404, 409, 503, org=True)
)
async def get_vacancies(request: Request, answers: AnswersOfApp, org: Org) -> Response:
    """List the roles that no agent at work fills, who covers for them, and who could fill them."""
    return await answers.respond(request, lambda kernel: kernel.vacancies(org), org)


@org_router.get(
    "/v1/orgs/{org}/leadership", responses=declare_store_responses(LeadershipObservation, 404, 409)
)
async def get_leadership(request: Request, org: Org) -> Response:
    """Count who is asked and delegated to, from the recorded hand-offs. It is an observation that nothing depends on."""
    require_scope(request, "read")
    return build_json_response(await _ask_store(request, lambda context: observe_leadership_of(context, org)))


@org_router.get(
    "/v1/orgs/{org}/status", responses=declare_responses(OrganizationStatus, 404, 409, 503, org=True)
)
async def get_status(request: Request, answers: AnswersOfApp, org: Org) -> Response:
    """Get the recorded alert and watch of an organization."""
    return await answers.respond(request, lambda kernel: _build_status(kernel, org), org)


@org_router.post(
    "/v1/orgs/{org}/alert",
    **declare_change(OrgStatus, AlertBody, {"alert": "RED", "reason": "smoke on deck two"}),
)
async def post_alert(request: Request, org: Org) -> Response:
    """Record the alert of an organization. The owner, an operator or the root of the chain of command may."""
    return await write(
        request, "rank", AlertBody, '{"alert": "RED"}',
        lambda context, body: set_status(context, "alert", body.alert, org=org, reason=body.reason),
    )  # fmt: skip


@org_router.post("/v1/orgs/{org}/watch", **declare_change(OrgStatus, WatchBody, {"watch": "beta"}))
async def post_watch(request: Request, org: Org) -> Response:
    """Record the watch of an organization. The owner, an operator or the root of the chain of command may."""
    return await write(
        request, "rank", WatchBody, '{"watch": "beta"}',
        lambda context, body: set_status(context, "watch", body.watch, org=org, reason=body.reason),
    )  # fmt: skip


async def _ask_store(request: Request, question: Any) -> Any:
    """Ask the store a question in a thread."""
    kernel: Kernel = request.app.state.answers.kernel
    return await with_store(request, lambda store: question(Context(kernel, store, _NOBODY)))


def _read_personality(body: PersonalityBody) -> Personality:
    traits = msgspec.structs.asdict(body)
    del traits["reason"]
    return Personality(**traits)


def _build_status(kernel: Kernel, org: str) -> OrganizationStatus:
    org_access = kernel.access(org)
    declared = org_access.view.records.organization
    return OrganizationStatus(
        alert=org_access.state.status.get("alert"),
        watch=org_access.state.status.get("watch"),
        alerts=declared.alerts,
        watches=declared.watches,
        snapshot=org_access.view.digest,
        state_version=org_access.state.version,
    )
