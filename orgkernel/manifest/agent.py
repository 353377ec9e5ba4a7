"""Assemble an agent's manifest: its permissions in all its roles together, at its rank, with the stored state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from orgkernel.decisions.access.decision import AccessRow
from orgkernel.decisions.access.layers.rank import get_current_rank
from orgkernel.decisions.access.listing import what_can
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.access.stored import is_active
from orgkernel.decisions.access.subject import Subject, get_rank_number
from orgkernel.decisions.access.tables import get_access_tables
from orgkernel.decisions.crew.promotion import PromotionDecision, decide_promotion
from orgkernel.decisions.crew.skill_profile import build_skill_profile
from orgkernel.decisions.evidence.crew_records import RankMove
from orgkernel.decisions.evidence.qualifications import find_latest, has_passed
from orgkernel.decisions.evidence.role_skills import find_skills_of_roles
from orgkernel.decisions.evidence.skill_levels import compute_current_levels
from orgkernel.decisions.evidence.state_records import ToolUsage
from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.decisions.members.member import find_member
from orgkernel.decisions.reasons import Why, cite_edge, cite_place
from orgkernel.diagnostics import Diagnostic
from orgkernel.documents.records import LEVELS, Promotion, RosterMember
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import Edge, EdgeKind
from orgkernel.manifest import agent_parts as parts
from orgkernel.manifest import v1
from orgkernel.manifest.abilities import (
    build_effective_item,
    build_essential_items,
    build_granted_item,
    build_skill_item,
    build_tool_item,
    find_granted_tools,
    find_requestable_tools,
    note_use,
)
from orgkernel.manifest.role import (
    build_finding_item,
    cite_handoff_target,
    get_latest_report,
    get_reported_tier,
    list_handoff_sources,
)
from orgkernel.manifest.v1 import NextRank, QualificationItem, RankItem, RequirementItem
from orgkernel.manifest.work import build_depth_limit, list_blockers_of, list_claims_of
from orgkernel.runtime.utc import as_utc


def build_agent_manifest(
    view: OrgView,
    agent_id: str,
    findings: Sequence[Diagnostic],
    state: StateView,
    context: AccessContext,
    promotions: tuple[RankMove, ...] = (),
    usage: Sequence[ToolUsage] | None = None,
) -> v1.AgentManifest:
    """The complete current profile of an agent. `promotions` are its recorded changes of rank, and `usage` its recorded calls
    by tool. Raises KeyError if no roster declares it.
    """
    definition = view.records.agents[agent_id]
    member: RosterMember = definition.record
    holder = get_access_tables(view).find_subject(f"agent:{agent_id}")
    assert holder is not None  # raises if the roster does not declare it
    request = AccessRequest(holder.subject, "", "", context)
    rows = what_can(view, holder.subject, request=request, state=state, kinds=("credential", "data", "role"))
    tools = note_use(
        tuple(_build_tools(view, holder, state, context)),
        (agent_id,),
        state,
        usage or (),
        is_complete=usage is not None,
    )
    capped = [item.id for item in tools if not (item.allowed_actions or item.conditional) and item.actions]
    place = definition.place()
    roles = holder.identity.roles
    targets = tuple(
        v1.Item(id=target, why=tuple(dict.fromkeys(_cite_all(view, roles, target))))
        for target in _list_allowed(rows, "role", "handoff")
    )
    at_work = find_member(view, state, holder.subject, context)
    procedures = tuple(parts.list_procedures_of_agent(view, at_work))
    promotion = decide_promotion(view, state, agent_id, context.now)
    identity = state.identities.get(agent_id)
    levels = compute_current_levels(view.records, state, agent_id, context.now)
    return v1.AgentManifest(
        agent_id=agent_id,
        did=None if identity is None else identity.did,
        callsign=member.callsign,
        description=member.description,
        org_id=view.org_id,
        org_name=view.records.organization.name,
        why=(cite_place(f"agent {agent_id} is in the crew", place),),
        roles=tuple(_list_posts(view, agent_id)),
        departments=tuple(_list_departments(view, roles)),
        lifecycle=state.get_lifecycle(agent_id),
        lifecycle_why=(cite_place(_describe_lifecycle(state, agent_id), place),),
        asset_tag=parts.build_asset_tag(view, agent_id, roles),
        recall_tier=parts.build_recall(view, roles, get_current_rank(view, state, holder)),
        rank=_build_rank_item(view, get_current_rank(view, state, holder)),
        next_rank=_build_next_rank(view, state, promotion, context.now),
        trust=promotion.trust.mean,
        trust_why=(cite_place(f"trust of agent {agent_id}: {promotion.trust}", definition.place("trust")),),
        promotion=promotion,
        qualification_status=parts.build_qualification_status(view, state, agent_id, promotion, context.now),
        skill_profile=build_skill_profile(view, state, agent_id, context.now),
        personality=parts.build_personality(view, state, agent_id),
        standing_orders=tuple(parts.list_orders(view, roles)),
        cognitive_skills=tuple(parts.list_open_skills(view, at_work)),
        handled_intents=tuple(parts.list_intents_of_agent(view, state, holder, context)),
        executable_skills=procedures,
        procedures=parts.count_procedures(procedures),
        current_duty=parts.build_duty(view, state, agent_id, roles),
        service_record=parts.build_work_record(state, agent_id, promotions),
        recent_activity=parts.list_activity(state, (agent_id,)),
        trust_distribution=promotion.trust,
        skills=tuple(
            build_skill_item(view, each.edge, levels)
            for each in find_skills_of_roles(view, holder.identity.roles).values()
        ),
        qualifications=tuple(_list_qualifications(view, state, holder, context.now)),
        tools=tools,
        requestable_tools=tuple(
            find_requestable_tools(
                view, holder, state, context, _find_wanted_tools(view, agent_id, tools, capped)
            )
        ),
        credentials=tuple(_build_items(view, rows, roles, "credential", "credentials")),
        data=tuple(_build_items(view, rows, roles, "data", "data")),
        handoff_targets=targets,
        handoff_sources=tuple(_iterate_sources(view, roles)),
        depth_left=build_depth_limit(view, hands_off=bool(targets)),
        file_claims=tuple(list_claims_of(state, (holder.subject,), context.now)),
        open_blockers=tuple(list_blockers_of(state, (agent_id,))),
        restrictions=tuple(
            v1.Item(
                id=each.restriction_id,
                why=(
                    cite_place(
                        f"restriction {each.restriction_id} limits {key} to {each.level}"
                        + (f", because {each.reason}" if each.reason else ""),
                        place,
                    ),
                ),
            )
            for key in holder.keys
            for each in state.restrictions.get(key, ())
            if is_active(each, view.org_id, context.now)
        ),
        pace_current=get_reported_tier(state, holder.keys, context.now),
        latest_report=get_latest_report(state, holder.subject),
        findings=tuple(build_finding_item(each) for each in findings if each.subject == f"agent:{agent_id}"),
        snapshot=view.digest,
        state_version=state.version,
    )


def _list_posts(view: OrgView, agent_id: str) -> Iterator[v1.Post]:
    for edge in view.list_roles_filled_by(agent_id):
        profile = view.records.posts[edge.target].profile
        yield v1.Post(
            id=edge.target,
            name=profile.name,
            role_type=profile.role_type,
            watches=view.list_watches(agent_id, edge.target),
            why=(cite_edge(edge),),
        )


def _list_departments(view: OrgView, roles: Iterable[str]) -> Iterator[v1.Item]:
    """The departments of its roles, without duplicates, each with the first role in it."""
    edges = {
        edge.target: edge for role_id in roles for edge in view.list_edges_from(EdgeKind.BELONGS_TO, role_id)
    }
    for department, edge in edges.items():
        yield v1.Item(id=department, why=(cite_edge(edge),))


def _iterate_sources(view: OrgView, roles: Iterable[str]) -> Iterator[v1.Item]:
    """The sources of its roles, without duplicates, each with the lines for all roles."""
    lines_by_source: dict[str, dict[Why, None]] = {}
    for role_id in roles:
        for each in list_handoff_sources(view, role_id):
            lines_by_source.setdefault(each.id, {}).update(dict.fromkeys(each.why))
    return (v1.Item(id=source, why=tuple(why)) for source, why in lines_by_source.items())


def _build_rank_item(view: OrgView, step: int) -> RankItem | None:
    ranks = view.records.ranks
    return RankItem(**_build_rank_fields(view, step)) if 0 <= step < len(ranks) else None


def _build_next_rank(
    view: OrgView, state: StateView, decision: PromotionDecision, now: float
) -> NextRank | None:
    """The next rank, and the requirements for the promotion."""
    path = decision.promotion
    if path is None:
        return None
    declared = view.records.promotions.get(path.rank)
    promotion = Promotion() if declared is None else declared.record
    results = state.results.get(decision.agent_id, ())
    return NextRank(
        **_build_rank_fields(view, get_rank_number(view, path.rank)),
        requirements=tuple(
            RequirementItem(
                skills=each.skills, min_proficiency=each.min_proficiency, min_count=each.min_count
            )
            for each in promotion.requirements
        ),
        qualifications=promotion.qualifications,
        missing_qualifications=tuple(
            each for each in promotion.qualifications if not has_passed(view.records, results, each, now)
        ),
        eligible=path.outcome == "eligible",
        checks=path.requirements,
    )


def _build_rank_fields(view: OrgView, step: int) -> dict[str, Any]:
    rank, ladder = view.records.ranks[step], view.records.ladder
    declared = (
        () if ladder is None else (cite_place(f"rank {rank.id} is declared", ladder.place("ranks", step)),)
    )
    return {
        "id": rank.id, "name": rank.name or rank.id, "description": rank.description, "trust_from": rank.trust_from,
        "agency": rank.agency, "recall_tier": rank.recall_tier, "why": declared,
    }  # fmt: skip


def _list_qualifications(
    view: OrgView, state: StateView, holder: Subject, now: float
) -> Iterator[QualificationItem]:
    results = state.results.get(holder.identity.id, ())
    for name in dict.fromkeys(each.qualification for each in results):
        if not has_passed(view.records, results, name, now):
            continue
        declared = view.records.qualifications.get(name)
        record = None if declared is None else declared.record
        latest = find_latest(results, name)
        assert latest is not None  # it counts
        text = f"qualification {name} passed at {as_utc(latest.at)}"
        yield QualificationItem(
            id=name,
            name=name if record is None else record.name or name,
            description="" if record is None else record.description,
            tier=None if record is None else record.tier,
            threshold=None if record is None else record.threshold,
            score=latest.score,
            passed_at=as_utc(latest.at),
            why=() if declared is None else (cite_place(text, declared.place()),),
        )


def _build_tools(
    view: OrgView, holder: Subject, state: StateView, context: AccessContext
) -> Iterator[v1.ToolItem]:
    """The tools of its roles, each once at the highest level, and tools that it has only through grants."""
    best: dict[str, Edge] = {}
    for role_id in holder.identity.roles:
        for edge in view.list_tools(role_id):
            held = best.get(edge.target)
            if held is None or _get_level(edge) > _get_level(held):
                best[edge.target] = edge
    items = [build_tool_item(view, edge) for edge in best.values()]
    essential = sorted(each.partition(":")[2] for each in holder.essential)
    items += build_essential_items(view, essential, list(best.values()))
    listed = frozenset(item.id for item in items)
    items += (
        build_granted_item(view, tool_id)
        for tool_id in find_granted_tools(view, holder, state, context, listed)
    )
    for item in items:
        yield _add_gates(
            view, build_effective_item(view, item, holder, state, context), holder, state, context.now
        )


def _add_gates(
    view: OrgView, item: v1.ToolItem, holder: Subject, state: StateView, now: float
) -> v1.ToolItem:
    """A tool with the requirements in its declaration, and whether the agent has passed its tests."""
    tool, _ = get_access_tables(view).find(f"tool:{item.id}")
    gates = {
        "department": tool.departments,
        "rank": tool.rank_levels,
        "restricted_to": tool.restricted_to,
        "qualification": tool.qualifications,
    }
    results = state.results.get(holder.identity.id, ())
    passed = [each for each in tool.qualifications if has_passed(view.records, results, each, now)]
    dates = [latest_result.at for each in passed if (latest_result := find_latest(results, each)) is not None]
    return replace(
        item,
        gated_by=tuple(name for name, declared in gates.items() if declared),
        qualified=len(passed) == len(tool.qualifications),
        qualified_at=as_utc(max(dates)) if dates and len(dates) == len(tool.qualifications) else None,
    )


def _get_level(edge: Edge) -> int:
    return LEVELS.index(edge.attribute.partition(":")[2])


def _find_wanted_tools(
    view: OrgView, agent_id: str, tools: Sequence[v1.ToolItem], capped: Sequence[str]
) -> dict[str, None]:
    """Tools that it needs: tools with a lowered level, and missing tools of its roles' plans."""
    has = {item.id for item in tools}
    tool_ids = dict.fromkeys(capped)
    for post in view.list_roles_filled_by(agent_id):
        for plan in view.list_plans(post.target):
            needed = (edge.target for edge in view.list_tools_needed_by(plan.target))
            tool_ids.update((tool, None) for tool in needed if tool not in has)
    return tool_ids


def _list_allowed(rows: Sequence[AccessRow], kind: str, action: str = "") -> Iterator[str]:
    for row in rows:
        written, _, name = row.resource.partition(":")
        if row.outcome == "allow" and written == kind and (not action or action in row.actions):
            yield name


def _build_items(
    view: OrgView, rows: Sequence[AccessRow], roles: Iterable[str], kind: str, field: str
) -> Iterator[v1.Item]:
    """The credentials or data that it may use, with the line of the role that lists each, or of the organization."""
    listed: dict[str, Why] = {}
    for role_id in roles:
        post = view.records.posts[role_id]
        for number, name in enumerate(getattr(post.profile, field)):
            listed.setdefault(
                name, cite_place(f"role {role_id} has {kind} {name}", post.place(field, number))
            )
    for name in _list_allowed(rows, kind):
        why = listed.get(name)
        if why is None:
            why = cite_place(f"{kind} {name} is given by a grant or a policy", view.records.document.place())
        yield v1.Item(id=name, why=(why,))


def _cite_all(view: OrgView, roles: Iterable[str], target: str) -> Iterator[Why]:
    return (why for role_id in roles for why in cite_handoff_target(view, role_id, target))


def _describe_lifecycle(state: StateView, agent_id: str) -> str:
    lifecycle = state.get_lifecycle(agent_id)
    if agent_id in state.agents:
        return f"agent {agent_id} is recorded as {lifecycle}"
    return f"agent {agent_id} is in the crew, and no other lifecycle is recorded"
