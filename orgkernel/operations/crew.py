"""Record the alert and the watch of an organization, the episodes of agents and their observed personality."""

from __future__ import annotations

from typing import Annotated

import msgspec

from orgkernel.decisions.evidence.crew_records import (
    AgentIdentity,
    Commission,
    Episode,
    EpisodeOutcome,
    OrgStatus,
    OrgStatusKind,
    Personality,
    RankMove,
)
from orgkernel.decisions.evidence.service_record import (
    PersonalityDrift,
    ServiceSummary,
    decide_drift,
    summarize_service,
)
from orgkernel.decisions.evidence.skill_levels import SkillTerms, get_skill_terms
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.errors import Refused
from orgkernel.graph.questions import OrgView
from orgkernel.operations.authority import NO_AUTHORITY, require_authority
from orgkernel.operations.context import Context
from orgkernel.operations.organizations import choose_organization, require_one
from orgkernel.operations.rights import UNKNOWN_NAME, Right, find_member, open_noted_store
from orgkernel.runtime.utc import as_utc
from orgkernel.snapshots.snapshot import require_declared_agent

# -- the alert and the watch -------------------------------------------------------------------------------------------


def set_status(
    context: Context, kind: OrgStatusKind, value: str, *, org: str | None = None, reason: str = ""
) -> OrgStatus:
    """Record the alert or the watch. Only the owner, the root of the chain of command or an operator can.

    Raises `Refused`.
    """
    org_id = choose_organization(context, org)
    require_one(org_id, f"the {kind}")
    view = context.documents.organization(org_id).snapshot.index
    right = _find_superior_right(context, view, kind)
    record = view.records.organization
    declared = record.alerts if kind == "alert" else record.watches
    if value not in declared:
        help = did_you_mean(value, declared) or f"it declares {listing(declared)}"
        raise Refused(
            f"organization {quote(org_id)} does not declare the {kind} {quote(value)}", help, UNKNOWN_NAME
        )
    return open_noted_store(context, right).crew.set_status(
        org_id, kind, value, actor=context.actor.name, reason=reason
    )


def _find_superior_right(context: Context, view: OrgView, kind: OrgStatusKind) -> Right | None:
    """The right of the owner, or of a subject whose role has no superior in the organization. Raises `Refused`."""
    member = find_member(context.kernel, context.actor)
    if member is None:
        return None
    if member.is_owner_of(view.org_id):
        return member.owner_right
    for known, identity in member.known:
        for role in identity.roles if known is view else ():
            if role in view.list_roots():
                return Right(member.subject, "superior", f"role {role} has no superior in {view.org_id}")
    raise Refused(
        f"{quote(member.subject)} may not call the {kind}",
        f"the owner, an operator or a holder of {listing(view.list_roots())} may",
        NO_AUTHORITY,
    )


# -- episodes ----------------------------------------------------------------------------------------------------------

_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
_Names = Annotated[tuple[_Name, ...], msgspec.Meta(max_length=64)]


class EpisodeDraft(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A piece of work that an agent has done. Only a reference to its content is stored."""

    outcome: EpisodeOutcome
    id: _Name | None = None
    """The caller's id: recording the same episode again changes nothing. Default: a new id."""
    role: _Name | None = None
    """The role in which the agent worked."""
    intent: _Name | None = None
    tier: _Name | None = None
    """The capability tier that did the work."""
    cognitive_skill: _Name | None = None
    procedure: _Name | None = None
    skills: _Names = ()
    """The exercised skills, which the agent must have."""
    tools: _Names = ()
    """The called tools."""
    reference: Annotated[str, msgspec.Meta(max_length=500)] = ""
    """The location of the content, such as a URL."""
    digest: Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{64})?$")] = ""
    """The SHA-256 of the content."""


class RecordedEpisode(msgspec.Struct, frozen=True):
    """An episode, and whether it is new."""

    episode: Episode
    outcome: str
    """`stored`, or `known` if the same episode was recorded before."""


def record_episode(
    context: Context, agent_id: str, draft: EpisodeDraft, *, org: str | None = None
) -> RecordedEpisode:
    """Store a piece of work, exercise its skills, and count trust and outcomes, all in one transaction.

    An agent cannot record its own work, because trust follows from it. Raises `Refused`, `UnknownAgent` and `UnknownRecord`.
    """
    org_id = choose_organization(context, org)
    require_one(org_id, "an episode")
    view = context.documents.organization(org_id).snapshot.index
    require_declared_agent(view.records, agent_id)
    right = require_authority(
        context, f"agent:{agent_id}", f"record the work of {quote(f'agent:{agent_id}')}",
        itself="record its own work", org_id=org_id,
    )  # fmt: skip
    terms = _require_names(view, agent_id, draft)
    store = open_noted_store(context, right)
    episode = Episode(
        draft.id or store.context.new_id("ep"), org_id, agent_id, draft.outcome, store.context.clock(), draft.role,
        draft.intent, draft.tier, draft.cognitive_skill, draft.procedure, draft.skills, draft.tools, draft.reference,
        draft.digest,
    )  # fmt: skip
    stored, is_new = store.crew.record_episode(episode, terms, actor=context.actor.name)
    return RecordedEpisode(stored, "stored" if is_new else "known")


def _require_names(view: OrgView, agent_id: str, draft: EpisodeDraft) -> tuple[SkillTerms, ...]:
    """The terms of the skills. Raises `Refused` for undeclared names."""
    roles = [edge.target for edge in view.list_roles_filled_by(agent_id)]
    if draft.role is not None and draft.role not in roles:
        raise Refused(
            f"the agent {quote(agent_id)} does not fill the role {quote(draft.role)}",
            f"it fills {listing(roles)}" if roles else "",
            UNKNOWN_NAME,
        )
    records = view.records
    for what, names, declared in (
        ("skill", draft.skills, records.skills),
        ("tool", draft.tools, records.tools),
        ("cognitive skill", _list_given(draft.cognitive_skill), records.cognitive_skills),
        ("procedure", _list_given(draft.procedure), records.procedures),
    ):
        for name in names:
            if name not in declared:
                help = did_you_mean(name, declared) or f"declare the {what} first"
                raise Refused(f"there is no {what} {quote(name)}", help, UNKNOWN_NAME)
    return tuple(get_skill_terms(records, skill) for skill in dict.fromkeys(draft.skills))


def _list_given(name: str | None) -> tuple[str, ...]:
    return () if name is None else (name,)


# -- personality -------------------------------------------------------------------------------------------------------


def observe_personality(
    context: Context, agent_id: str, observed: Personality, *, org: str | None = None, reason: str = ""
) -> PersonalityDrift:
    """Record a measured personality. Returns its distance from the one in the roster. Raises as `record_episode`."""
    org_id = choose_organization(context, org)
    require_one(org_id, "a personality")
    require_declared_agent(context.documents.organization(org_id).snapshot.records, agent_id)
    right = require_authority(
        context, f"agent:{agent_id}", f"record the personality of {quote(f'agent:{agent_id}')}",
        itself="record its own personality", org_id=org_id,
    )  # fmt: skip
    open_noted_store(context, right).crew.observe(
        org_id, agent_id, observed, actor=context.actor.name, reason=reason
    )
    context.store.read_view(org_id)  # a server decides with the latest state that it read
    return find_drift_of(context, agent_id, org=org_id)


def find_drift_of(context: Context, agent_id: str, *, org: str | None = None) -> PersonalityDrift:
    """The drift of an agent's personality. Raises `UnknownAgent`."""
    org_id = choose_organization(context, org)
    org_access = context.documents.access(org_id)
    require_declared_agent(org_access.view.records, agent_id)
    return decide_drift(org_access.view, agent_id, org_access.state)


# -- the service record ------------------------------------------------------------------------------------------------


class ServiceRecord(msgspec.Struct, frozen=True):
    """The recorded work and career of an agent."""

    agent_id: str
    org_id: str
    identity: AgentIdentity | None
    """The identity; None for an agent that was never commissioned."""
    born: str | None
    commissions: tuple[Commission, ...]
    lifecycle: str
    service: ServiceSummary
    promotions: tuple[RankMove, ...]
    """Changes of rank, oldest first."""
    personality: PersonalityDrift


def find_service_record(context: Context, agent_id: str, *, org: str | None = None) -> ServiceRecord:
    """The service record of a declared agent. Raises `UnknownAgent`."""
    org_id = choose_organization(context, org)
    require_one(org_id, "a service record")
    org_access = context.documents.access(org_id)
    require_declared_agent(org_access.view.records, agent_id)
    state = org_access.state
    identity = state.identities.get(agent_id)
    start = org_access.view.records.agents[agent_id].record.rank
    return ServiceRecord(
        agent_id,
        org_id,
        identity,
        None if identity is None else as_utc(identity.born_at),
        state.commissions.get(agent_id, ()),
        state.get_lifecycle(agent_id),
        summarize_service(state.service.get(agent_id)),
        context.store.list_rank_changes(org_id, agent_id, start),
        decide_drift(org_access.view, agent_id, state),
    )


def find_episodes(
    context: Context, agent_id: str, *, org: str | None = None, before: int | None = None, limit: int = 50
) -> tuple[Episode, ...]:
    """The episodes of an agent, newest first. Raises `UnknownAgent` if it has none and no roster declares it."""
    org_id = choose_organization(context, org)
    require_one(org_id, "a list of episodes")
    episodes = context.store.crew.episodes(org_id, agent_id, before=before, limit=limit)
    if not episodes:
        require_declared_agent(context.documents.organization(org_id).snapshot.records, agent_id)
    return episodes
