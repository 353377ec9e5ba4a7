"""Parts of an agent's manifest about its person, skills and work: their shapes, and the functions that build them.

Source: the crew capability specification, section 10, "The Complete Crew Member Capability Profile". Each part has the lines that declare it. Parts from the store have the time when they were recorded instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.access.subject import Subject
from orgkernel.decisions.crew.promotion import PromotionDecision
from orgkernel.decisions.evidence.crew_records import OutcomeKind, Personality, RankMove
from orgkernel.decisions.evidence.qualifications import QualificationStanding, build_qualification_record
from orgkernel.decisions.evidence.service_record import Trajectory, decide_drift, summarize_service
from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.decisions.members.member import CrewMember
from orgkernel.decisions.reasons import Reason, Why, cite_edge, cite_place
from orgkernel.decisions.work.capability.handling import (
    CapabilityTier,
    HandlingDecision,
    HandlingRequest,
    decide_handling,
)
from orgkernel.decisions.work.capability.orders import OrderSource, compose_orders
from orgkernel.decisions.work.capability.procedures import (
    LEVEL_NAMES,
    compute_procedure_level,
    find_performed_procedures,
)
from orgkernel.decisions.work.capability.skills import (
    SkillCard,
    build_skill_card,
    find_withheld_reasons,
    get_skills,
)
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import Edge, EdgeKind
from orgkernel.runtime.utc import as_utc

BASELINE_TIER = 1
SHIPPED = "ontology/"
"""The beginning of the paths of documents that come with orgkernel."""
RECALL_TIERS = ("basic", "enhanced", "full", "oracle")
RECENT = 20
"""The number of kinds of work that are listed as recent."""


class PersonalityItem(msgspec.Struct, frozen=True, kw_only=True):
    """The personality in the roster, and the distance of the latest observation from it."""

    seed: Personality
    observed: Personality | None
    observed_at: str | None
    drift_from_seed: float | None
    """The Euclidean distance, 0 to about 2.24."""
    limit: float
    """The limit above which an alarm is raised."""
    alarm: bool
    why: tuple[Why, ...]


class RecallItem(msgspec.Struct, frozen=True, kw_only=True):
    """The effective memory-recall tier: the highest of its rank and of the clearance of its roles."""

    tier: str
    why: tuple[Why, ...]
    """Every statement of this tier."""


class AssetTag(msgspec.Struct, frozen=True, kw_only=True):
    """The tag of an agent that is equipment (`crew_tier` other than `crew`). It has no identity of its own."""

    asset_id: str
    """The id as `ORG/AGENT`."""
    tier: str
    slots: tuple[str, ...]
    """The roles that it fills."""
    why: tuple[Why, ...]


class CognitiveSkillItem(SkillCard, frozen=True, kw_only=True):
    """A skill with instructions (SKILL.md). Its id is its name."""

    id: str


class OrderItem(msgspec.Struct, frozen=True, kw_only=True):
    """The standing orders of one source. The text is at `GET /v1/orgs/{org}/roles/{role}/standing-orders`."""

    id: str
    """The id as `SOURCE:TARGET`."""
    source: OrderSource
    target: str
    role: str
    """The role through which they bind the agent."""
    file: str
    sha256: str
    why: tuple[Why, ...]


class IntentItem(msgspec.Struct, frozen=True, kw_only=True):
    """An intent that one of the agent's roles serves, with the means by which the agent would handle it now."""

    id: str
    tier: CapabilityTier
    """The capability tier of the means."""
    by: str
    """The id of the procedure or tool, or the name of the skill; empty for reasoning and decline."""
    text: str
    """The reason for the choice."""
    description: str
    """The description of the means, or of the role that serves the intent."""
    why: tuple[Why, ...]


class ProcedureItem(msgspec.Struct, frozen=True, kw_only=True):
    """A procedure that the agent has by its skills or roles."""

    id: str
    name: str
    skill: str | None
    origin: Literal["built_in", "organization"]
    """`built_in` for a procedure of the catalogs that come with orgkernel."""
    compilation_level: int
    """The level that the procedure is compiled to, 1 to 5."""
    runs_at: int
    """The level at which the agent may run it, limited by its rank."""
    intents: tuple[str, ...]
    why: tuple[Why, ...]


class ProcedureCounts(msgspec.Struct, frozen=True, kw_only=True):
    """The procedures of an agent by the level they are compiled to."""

    total: int
    by_level: dict[str, int]


class QualificationStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The tests of an agent, and its path to the next rank."""

    baseline_set: bool
    """Whether each declared baseline test (tier 1) has a first valid run."""
    tests: tuple[QualificationStanding, ...]
    """Tests that the agent has taken."""
    path: str | None
    """The path as `RANK_to_RANK`. Null at the top of the ladder."""
    path_outcome: str | None
    met: int
    """The number of requirements of the path that are met."""
    required: int
    unmet: tuple[str, ...]
    """The missing requirements, as sentences."""
    why: tuple[Why, ...]


class Duty(msgspec.Struct, frozen=True, kw_only=True):
    """The current duty of the agent."""

    roles: tuple[str, ...]
    watches: tuple[str, ...]
    """The watches in which it fills one of its roles."""
    current_watch: str | None
    """The recorded watch of the organization."""
    on_watch: bool | None
    """Whether its watch is the current one. Null if no watch is recorded."""
    alert: str | None
    """The recorded alert of the organization."""
    intents: tuple[str, ...]
    why: tuple[Why, ...]


class CommissionNote(msgspec.Struct, frozen=True, kw_only=True):
    """A recorded commission of the agent in a role."""

    role: str
    at: str | None
    by: str
    snapshot: str


class WorkRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The recorded work of the agent in the organization."""

    born_at: str | None
    total_episodes: int
    successes: int
    failures: int
    success_rate: float | None
    trust_trajectory: Trajectory
    """How the success rate changes. The trust in the agent is a value of its own."""
    trajectory_formula: str
    last_at: str | None
    commissions: tuple[CommissionNote, ...]
    promotions: tuple[RankMove, ...]
    """Recorded changes of rank, oldest first."""


class ActivityItem(msgspec.Struct, frozen=True, kw_only=True):
    """Recorded work of one kind, the latest first."""

    id: str
    """The id as `KIND:NAME`."""
    kind: OutcomeKind
    name: str
    successes: int
    failures: int
    last_at: str | None


def build_recall(view: OrgView, roles: Iterable[str], rank: int) -> RecallItem | None:
    """The effective recall tier of an agent; None if neither its rank nor a role states one."""
    stated: list[tuple[str, Why]] = []
    ladder = view.records.ladder
    tier = view.records.ranks[rank].recall_tier if rank >= 0 else None
    if tier is not None and ladder is not None:
        text = f"recall tier of rank {view.records.ranks[rank].id}"
        stated.append((tier, cite_place(text, ladder.place("ranks", rank, "recall_tier"))))
    for role_id in roles:
        post = view.records.posts[role_id]
        if post.profile.clearance is not None:
            place = post.place("clearance")
            stated.append((post.profile.clearance, cite_place(f"clearance of role {role_id}", place)))
    if not stated:
        return None
    highest = max((tier for tier, _ in stated), key=RECALL_TIERS.index)
    return RecallItem(tier=highest, why=tuple(why for tier, why in stated if tier == highest))


def build_asset_tag(view: OrgView, agent_id: str, roles: tuple[str, ...]) -> AssetTag | None:
    """The tag of an agent that is equipment; None for a member of the crew."""
    definition = view.records.agents[agent_id]
    tier = definition.record.crew_tier
    if tier == "crew":
        return None
    why = cite_place(f"crew tier of agent {agent_id}", definition.place("crew_tier"))
    return AssetTag(asset_id=f"{view.org_id}/{agent_id}", tier=tier, slots=roles, why=(why,))


def build_personality(view: OrgView, state: StateView, agent_id: str) -> PersonalityItem:
    """The personality in the roster, the latest observation, and the distance between them."""
    drift = decide_drift(view, agent_id, state)
    return PersonalityItem(
        seed=drift.seed,
        observed=drift.observed,
        observed_at=as_utc(drift.observed_at),
        drift_from_seed=drift.distance,
        limit=drift.limit,
        alarm=drift.alarm,
        why=drift.why,
    )


def list_orders(view: OrgView, roles: tuple[str, ...]) -> Iterator[OrderItem]:
    """The standing orders of the agent's roles, each once, in the order of precedence."""
    seen = set()
    for role_id in roles:
        composed = compose_orders(view, role_id)
        for part, why in zip(composed.sections, composed.why, strict=True):
            if (part.source, part.target) in seen:
                continue
            seen.add((part.source, part.target))
            yield OrderItem(
                id=f"{part.source}:{part.target}".rstrip(":"),
                source=part.source,
                target=part.target,
                role=role_id,
                file=part.file,
                sha256=part.sha256,
                why=(why,),
            )


def list_open_skills(view: OrgView, holder: CrewMember | Reason) -> Iterator[CognitiveSkillItem]:
    """The cognitive skills that are open now to a member of the crew."""
    if isinstance(holder, Reason):
        return
    for skill in get_skills(view).values():
        if not find_withheld_reasons(view, holder, skill):
            card = build_skill_card(view, holder, skill)
            yield CognitiveSkillItem(id=card.name, **msgspec.structs.asdict(card))


def list_intents_of_agent(
    view: OrgView, state: StateView, holder: Subject, context: AccessContext
) -> Iterator[IntentItem]:
    """The intents of the agent's roles, and the means by which each would be handled now."""
    for intent, edge in _map_serving_edges(view, holder.identity.roles).items():
        decision = decide_handling(view, state, HandlingRequest(holder.subject, intent, context))
        reason = decision.reasons[0] if decision.reasons else None
        yield IntentItem(
            id=intent,
            tier=decision.tier,
            by=decision.name,
            text="" if reason is None else reason.text,
            description=_describe_means(view, decision, edge.source),
            why=tuple(dict.fromkeys((cite_edge(edge), *(() if reason is None else reason.why)))),
        )


def _describe_means(view: OrgView, decision: HandlingDecision, role_id: str) -> str:
    """The description of the means that handles an intent; for reasoning and a decline that of the role."""
    records = view.records
    if decision.tier == "executable_skill":
        return records.procedures[decision.name].record.description
    if decision.tier == "cognitive_skill":
        return get_skills(view)[decision.name].definition.record.description
    if decision.tier == "tool":
        return records.tools[decision.name].record.description
    return records.posts[role_id].profile.description


def _map_serving_edges(view: OrgView, roles: Iterable[str]) -> dict[str, Edge]:
    """The intents that roles serve, each with the edge of the last role that does."""
    return {
        edge.target: edge
        for role_id in roles
        for edge in view.list_edges_from(EdgeKind.SERVES_INTENT, role_id)
    }


def list_procedures_of_agent(view: OrgView, holder: CrewMember | Reason) -> Iterator[ProcedureItem]:
    """The procedures that the roles of a member of the crew perform."""
    if isinstance(holder, Reason):
        return
    performed = find_performed_procedures(view, holder.roles)
    for procedure in view.records.procedures.values():
        record = procedure.record
        if procedure.id in performed:
            yield ProcedureItem(
                id=procedure.id,
                name=record.name or procedure.id,
                skill=record.skill,
                origin="built_in" if procedure.place().file.startswith(SHIPPED) else "organization",
                compilation_level=record.compilation_level,
                runs_at=compute_procedure_level(view, holder, record),
                intents=record.intents,
                why=(cite_place(f"procedure {procedure.id} is declared", procedure.place()),),
            )


def count_procedures(procedures: tuple[ProcedureItem, ...]) -> ProcedureCounts:
    """The number of procedures at each level."""
    by_level = dict.fromkeys(LEVEL_NAMES, 0)
    for each in procedures:
        by_level[LEVEL_NAMES[each.compilation_level - 1]] += 1
    return ProcedureCounts(total=len(procedures), by_level=by_level)


def build_qualification_status(
    view: OrgView, state: StateView, agent_id: str, promotion: PromotionDecision, now: float
) -> QualificationStatus:
    """The tests that the agent has taken, and its way to the next rank."""
    record = build_qualification_record(view, state, agent_id, now)
    baselines = [
        each
        for each in record.qualifications
        if (declared := view.records.qualifications.get(each.qualification)) is not None
        and declared.record.tier == BASELINE_TIER
    ]
    path = promotion.promotion
    checks = () if path is None else path.requirements
    return QualificationStatus(
        baseline_set=bool(baselines) and all(each.baseline is not None for each in baselines),
        tests=tuple(each for each in record.qualifications if each.runs),
        path=None if path is None else f"{promotion.rank or 'none'}_to_{path.rank}",
        path_outcome=None if path is None else path.outcome,
        met=sum(each.met for each in checks),
        required=len(checks),
        unmet=tuple(each.text for each in checks if not each.met),
        why=() if path is None else path.why,
    )


def build_duty(view: OrgView, state: StateView, agent_id: str, roles: tuple[str, ...]) -> Duty:
    """The roles, watches and intents of the agent, with the recorded watch and alert."""
    definition = view.records.agents[agent_id]
    watches = view.list_watches(agent_id)
    watch, alert = state.status.get("watch"), state.status.get("alert")
    return Duty(
        roles=roles,
        watches=watches,
        current_watch=None if watch is None else watch.value,
        on_watch=None if watch is None else watch.value in watches,
        alert=None if alert is None else alert.value,
        intents=tuple(_map_serving_edges(view, roles)),
        why=tuple(
            cite_place(f"agent {agent_id} fills role {each.role}", definition.place("assignments", number))
            for number, each in view.list_assignments(agent_id)
        ),
    )


def build_work_record(state: StateView, agent_id: str, promotions: tuple[RankMove, ...]) -> WorkRecord:
    """The recorded work of the agent."""
    summary = summarize_service(state.service.get(agent_id))
    identity = state.identities.get(agent_id)
    return WorkRecord(
        born_at=None if identity is None else as_utc(identity.born_at),
        total_episodes=summary.total_episodes,
        successes=summary.successes,
        failures=summary.failures,
        success_rate=summary.success_rate,
        trust_trajectory=summary.trust_trajectory,
        trajectory_formula=summary.trajectory_formula,
        last_at=as_utc(summary.last_at),
        commissions=tuple(
            CommissionNote(role=each.role_id, at=as_utc(each.at), by=each.actor, snapshot=each.snapshot)
            for each in state.commissions.get(agent_id, ())
        ),
        promotions=promotions,
    )


def list_activity(state: StateView, agents: Iterable[str]) -> tuple[ActivityItem, ...]:
    """The recorded kinds of work of these agents together, the latest first."""
    items_by_key: dict[tuple[OutcomeKind, str], ActivityItem] = {}
    counts = (each for agent_id in agents for each in state.outcomes.get(agent_id, ()))
    for each in sorted(counts, key=lambda each: (-each.last_at, each.kind, each.name)):
        known = items_by_key.get((each.kind, each.name))
        items_by_key[each.kind, each.name] = ActivityItem(
            id=f"{each.kind}:{each.name}",
            kind=each.kind,
            name=each.name,
            successes=each.successes + (known.successes if known else 0),
            failures=each.failures + (known.failures if known else 0),
            last_at=known.last_at if known else as_utc(each.last_at),
        )
    return tuple(items_by_key.values())[:RECENT]
