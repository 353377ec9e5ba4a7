"""Assemble a role's manifest from the answers of a view."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from orgkernel.decisions.access.layers.pace import find_report
from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.dispatch.by_domain import decide_dispatch
from orgkernel.decisions.evidence.state_records import ToolUsage
from orgkernel.decisions.evidence.state_view import EMPTY_STATE, StateView
from orgkernel.decisions.handoff.edges import do_edges_forbid
from orgkernel.decisions.members.member import find_member
from orgkernel.decisions.reasons import Why, cite_edge, cite_place
from orgkernel.diagnostics import Diagnostic
from orgkernel.documents.records import PacePlan, RoleProfile
from orgkernel.documents.role_fields import ROLE_FIELDS, fields_shown_in, value_in
from orgkernel.graph.memo import per_view_and_key
from orgkernel.graph.questions import OrgView, find_essential_tools
from orgkernel.graph.records import RolePost
from orgkernel.graph.schema import Edge, EdgeKind
from orgkernel.manifest import v1
from orgkernel.manifest.abilities import NOWHERE, build_role_abilities, build_skill_item, note_use
from orgkernel.manifest.agent_parts import CognitiveSkillItem, list_activity, list_open_skills
from orgkernel.manifest.why import build_cited_item, build_facts, list_settings, listed, locate_setting
from orgkernel.manifest.work import build_depth_limit, list_blockers_of, list_claims_of
from orgkernel.runtime.tiers import TIERS

_Command = tuple[Edge, tuple[Why, ...]]
# An organization of 100,000 roles has about this many superiors. Reading a profile costs as much as building the item.
_SUPERIORS_KEPT = 20_000
_IDENTITY = tuple(fields_shown_in("identity", "setting"))
_LISTS = tuple(field for field in ROLE_FIELDS if field.shown in ("ids", "texts"))


def build_role_manifest(
    view: OrgView,
    role_id: str,
    findings: Sequence[Diagnostic] = (),
    state: StateView = EMPTY_STATE,
    context: AccessContext = NOWHERE,
    usage: Mapping[str, Sequence[ToolUsage]] = MappingProxyType({}),
) -> v1.RoleManifest:
    """The complete current profile of a role. `findings` are those of its organization, and `usage` the recorded calls of
    tools by agent.

    Raises KeyError for an unknown role.
    """
    post = view.records.posts[role_id]
    profile = post.profile
    chain = view.list_chain_above(role_id)
    reasons_of_superiors = [_cite_superior(view, edge) for edge in chain]
    under = [(edge, _cite_superior(view, edge)) for edge in view.list_subordinates(role_id)]
    tools = view.list_tools(role_id)
    essential = find_essential_tools(view, post, tools)
    targets = tuple(_build_handoff_targets(view, role_id, under if profile.can_delegate else ()))
    agents = view.list_sources_to(EdgeKind.FILLS, role_id)
    abilities = build_role_abilities(view, role_id, tools, essential, state, context)
    return v1.RoleManifest(
        role_id=role_id,
        role_name=profile.name,
        role_type=profile.role_type,
        org_id=view.org_id,
        org_name=view.records.organization.name,
        description=profile.description,
        why=(
            *map(cite_edge, view.list_edges_to(EdgeKind.INCLUDES, role_id)),
            cite_place(f"profile of role {role_id}", post.document.place("role_id")),
        ),
        identity=tuple(_list_identity_facts(post, profile)),
        department=_get_department(view, role_id),
        layer=_get_layer(post, profile.layer),
        chain_of_command=tuple(
            _build_superior(view, edge.target, why)
            for edge, why in zip(chain, reasons_of_superiors, strict=True)
        ),
        subordinates=tuple(_build_member(view, edge.source, why) for edge, why in under),
        peers=tuple(_list_peers(view, role_id)),
        handoff_targets=targets,
        handoff_sources=tuple(_handoff_sources(view, role_id, chain, reasons_of_superiors)),
        depth_left=build_depth_limit(view, hands_off=bool(targets)),
        domains=tuple(_list_domains(view, role_id)),
        intents=tuple(_list_intents(view, role_id)),
        plans=abilities.plans,
        tools=note_use(
            abilities.tools, agents, state, [each for agent in agents for each in usage.get(agent, ())]
        ),
        essential_tools=abilities.essential,
        requestable_tools=abilities.requestable,
        skills=tuple(build_skill_item(view, edge) for edge in view.list_skills(role_id)),
        cognitive_skills=_list_cognitive_skills(view, role_id, state, context),
        may_grant=tuple(_may_grant(post, profile)),
        escalation=tuple(_build_escalation(view, edge) for edge in view.list_escalations(role_id)),
        pace=v1.Pace(
            tiers=tuple(_list_tiers(post, profile.pace_plan)),
            current=get_reported_tier(state, (f"role:{role_id}",), context.now),
        ),
        doctrine=tuple(list_settings(post, profile.doctrine, "doctrine")),
        requirements=tuple(list_settings(post, profile.requirements, "requirements")),
        agents=tuple(
            v1.Item(id=edge.source, why=(cite_edge(edge),)) for edge in view.list_agents_in(role_id)
        ),
        latest_report=get_latest_report(state, f"role:{role_id}"),
        file_claims=tuple(
            list_claims_of(state, (f"role:{role_id}", *(f"agent:{each}" for each in agents)), context.now)
        ),
        open_blockers=tuple(list_blockers_of(state, agents)),
        recent_activity=list_activity(state, agents),
        findings=tuple(build_finding_item(each) for each in findings if each.subject == f"role:{role_id}"),
        snapshot=view.digest,
        state_version=state.version,
        **_build_lists(post, profile),
    )


def _build_lists(post: RolePost, profile: RoleProfile) -> dict[str, Any]:
    """The parts of a manifest that are lists in the profile, with an item for each text."""
    return {field.part: listed(post, field.route, value_in(profile, field)) for field in _LISTS}


def _may_grant(post: RolePost, profile: RoleProfile) -> Iterator[v1.GrantableTool]:
    for number, use in enumerate(profile.may_grant):
        why = cite_place(f"may_grant[{number}]", post.place("may_grant", number))
        yield v1.GrantableTool(id=use.tool, level=use.level, why=(why,))


def _list_cognitive_skills(
    view: OrgView, role_id: str, state: StateView, context: AccessContext
) -> tuple[CognitiveSkillItem, ...]:
    if not view.records.cognitive_skills:
        return ()
    return tuple(list_open_skills(view, find_member(view, state, f"role:{role_id}", context)))


def _list_intents(view: OrgView, role_id: str) -> Iterator[v1.Item]:
    """Each intent once, with all means by which the role serves it: its profile, skills, procedures."""
    by_intent: dict[str, list[Edge]] = {}
    for edge in view.list_edges_from(EdgeKind.SERVES_INTENT, role_id):
        by_intent.setdefault(edge.target, []).append(edge)
    for intent, edges in by_intent.items():
        yield v1.Item(id=intent, why=tuple(map(cite_edge, edges)))


def get_reported_tier(state: StateView, keys: Iterable[str], now: float) -> str | None:
    """The PACE tier for access decisions if the caller states none."""
    report = find_report(state, keys, now)
    return None if report is None else report.tier


def get_latest_report(state: StateView, subject: str) -> dict[str, Any] | None:
    """The latest SALUTE report of a role or an agent, of any age."""
    reports = state.reports.get(subject)
    return dict(reports[0].body) if reports else None


def build_finding_item(diagnostic: Diagnostic) -> v1.FindingItem:
    """A diagnostic as an item of a manifest."""
    return v1.FindingItem(
        id=diagnostic.code,
        why=(
            cite_place(diagnostic.message, diagnostic.place),
            *(cite_place(each.text, each.place) for each in diagnostic.related),
        ),
        name=diagnostic.name,
        severity=diagnostic.severity.value,
        message=diagnostic.message,
        help=diagnostic.help,
        file=diagnostic.place.file,
        line=diagnostic.place.line,
        column=diagnostic.place.column,
    )


def _list_identity_facts(post: RolePost, profile: RoleProfile) -> Sequence[v1.Fact]:
    rights = {"authority_level": profile.authority_level, "can_delegate": profile.can_delegate}
    return build_facts(post, ("chain_of_command",), rights) + build_facts(
        post, (), {field.route[-1]: value_in(profile, field) for field in _IDENTITY}
    )


def _get_department(view: OrgView, role_id: str) -> v1.Named | None:
    for edge in view.list_edges_from(EdgeKind.BELONGS_TO, role_id):
        declared = view.records.organization.departments.get(edge.target)
        return v1.Named(id=edge.target, name=declared.name if declared else "", why=(cite_edge(edge),))
    return None


def _get_layer(post: RolePost, layer: str | None) -> v1.Item | None:
    return (
        None
        if layer is None
        else build_cited_item(layer, f"role {post.role_id} is in layer {layer}", post.place("layer"))
    )


def _cite_superior(view: OrgView, edge: Edge) -> tuple[Why, ...]:
    """The deciding edge, and the line of the profile if it states the same superior."""
    why = [cite_edge(edge)]
    post = view.records.posts.get(edge.source)
    if post and edge.attribute == "hierarchy" and post.profile.chain_of_command.reports_to == edge.target:
        why.append(cite_place(str(edge), post.place("chain_of_command", "reports_to")))
    return tuple(why)


def _build_member(view: OrgView, role_id: str, why: tuple[Why, ...]) -> v1.Member:
    return v1.Member(id=role_id, why=why, **_build_member_fields(view, role_id))


def _build_superior(view: OrgView, role_id: str, why: tuple[Why, ...]) -> v1.Member:
    return v1.Member(id=role_id, why=why, **_build_superior_fields(view, role_id))


@per_view_and_key(most=_SUPERIORS_KEPT)
def _build_superior_fields(view: OrgView, role_id: str) -> dict[str, Any]:
    """The fields of a superior. They are cached, because every subordinate's manifest contains them."""
    return _build_member_fields(view, role_id)


def _build_member_fields(view: OrgView, role_id: str) -> dict[str, Any]:
    post = view.records.posts.get(role_id)
    if post is None:
        return {
            "name": role_id,
            "role_type": None,
            "authority_level": None,
            "external": role_id in view.external,
        }
    profile = post.profile
    return {"name": profile.name, "role_type": profile.role_type, "authority_level": profile.authority_level}


def _list_peers(view: OrgView, role_id: str) -> Iterator[v1.Peer]:
    for edge in view.list_edges_from(EdgeKind.SPEAKS_WITH, role_id):
        yield v1.Peer(
            id=edge.target,
            channel=edge.attribute,
            why=(cite_edge(edge),),
            **_build_member_fields(view, edge.target),
        )
    for edge in view.list_edges_to(EdgeKind.SPEAKS_WITH, role_id):
        yield v1.Peer(
            id=edge.source,
            channel=edge.attribute,
            why=(cite_edge(edge),),
            **_build_member_fields(view, edge.source),
        )


def _build_handoff_targets(view: OrgView, role_id: str, under: Iterable[_Command]) -> Iterator[v1.Member]:
    """The roles that a role may hand work to: its direct subordinates if it can delegate, and others."""
    targets: dict[str, list[Why]] = {}
    for edge, why in under:
        targets.setdefault(edge.source, []).extend(why)
    for edge in view.list_edges_from(EdgeKind.MAY_HAND_WORK_TO, role_id):
        targets.setdefault(edge.target, []).append(cite_edge(edge))
    return (
        _build_member(view, target, tuple(all_why))
        for target, all_why in targets.items()
        if _may_hand_to(view, role_id, target)
    )


def cite_handoff_target(view: OrgView, role_id: str, target: str) -> Iterator[Why]:
    """The lines that let a role hand work to another one: its place below the role, or an edge between the two."""
    chain = view.list_chain_above(target)
    for number, edge in enumerate(chain):
        if edge.target == role_id:
            for each in chain[: number + 1]:
                yield from _cite_superior(view, each)
    for edge in view.list_edges_from(EdgeKind.MAY_HAND_WORK_TO, role_id):
        if edge.target == target:
            yield cite_edge(edge)


def list_handoff_targets(view: OrgView, role_id: str) -> tuple[str, ...]:
    """The ids of the roles that a role may hand work to, as its manifest lists them, without reasons."""
    under = view.list_subordinates(role_id) if view.records.posts[role_id].profile.can_delegate else ()
    targets = [edge.source for edge in under]
    targets += [edge.target for edge in view.list_edges_from(EdgeKind.MAY_HAND_WORK_TO, role_id)]
    return tuple(target for target in dict.fromkeys(targets) if _may_hand_to(view, role_id, target))


def _may_hand_to(view: OrgView, sender: str, receiver: str) -> bool:
    """Whether neither the position of the sender nor the layers of the two forbid the hand-off."""
    posts = view.records.posts
    if sender not in posts or receiver not in posts:
        return True
    return posts[sender].profile.position != "worker" and not do_edges_forbid(view.records, sender, receiver)


def list_handoff_sources(view: OrgView, role_id: str) -> Iterator[v1.Member]:
    """The roles that may hand work to a role."""
    chain = view.list_chain_above(role_id)
    return _handoff_sources(view, role_id, chain, [_cite_superior(view, edge) for edge in chain])


def _handoff_sources(
    view: OrgView, role_id: str, chain: Sequence[Edge], reasons_of_superiors: Sequence[tuple[Why, ...]]
) -> Iterator[v1.Member]:
    sources: dict[str, list[Why]] = {}
    superior = view.records.posts.get(chain[0].target) if chain else None
    if superior is not None and superior.profile.can_delegate:
        sources[chain[0].target] = list(reasons_of_superiors[0])
    for edge in view.list_edges_to(EdgeKind.MAY_HAND_WORK_TO, role_id):
        sources.setdefault(edge.source, []).append(cite_edge(edge))
    return (
        _build_superior(view, source, tuple(why))
        for source, why in sources.items()
        if _may_hand_to(view, source, role_id)
    )


def _list_domains(view: OrgView, role_id: str) -> Iterator[v1.DomainItem]:
    for edge in view.list_domains(role_id):
        domain = view.records.domains.get(edge.target)
        yield v1.DomainItem(
            id=edge.target,
            description=domain.record.description if domain else "",
            chosen=decide_dispatch(view, edge.target).role_id == role_id,
            why=(cite_edge(edge),),
        )


def _build_escalation(view: OrgView, edge: Edge) -> v1.EscalationItem:
    return v1.EscalationItem(
        id=edge.target,
        tier=edge.attribute,
        why=(cite_edge(edge),),
        **_build_superior_fields(view, edge.target),
    )


def _list_tiers(post: RolePost, plan: PacePlan | None) -> Iterator[v1.TierItem]:
    if plan is None:
        return
    for name, place in zip(TIERS, post.locate(("pace_plan",), TIERS), strict=True):
        tier = getattr(plan, name, None)
        if tier is not None:
            yield v1.TierItem(
                id=name,
                description=tier.description,
                action=tier.action,
                trigger=tier.trigger,
                escalate_to=tier.escalate_to,
                why=(locate_setting(f"pace_plan.{name}", place, when_set=""),),
            )
