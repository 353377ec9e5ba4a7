"""An organisation's records to its edges, each with the place that declared it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgkernel.diagnostics import Place
from orgkernel.graph.extract_access import extract_access_edges
from orgkernel.graph.records import OrgRecords, RolePost
from orgkernel.graph.schema import Edge, EdgeKind
from orgkernel.model.organization import USER
from orgkernel.model.plan_catalog import Step
from orgkernel.model.role_profile import SkillUse

TIERS = ("alternate", "contingent", "emergency")


def extract_edges(records: OrgRecords) -> Iterator[Edge]:
    """Every edge of an organisation, in the order of declaration; ids that nothing declares are kept as written."""
    yield from _hierarchy(records)
    for post in records.posts.values():
        yield from _capabilities(post)
        yield from _relations(records, post)
    yield from _channels(records)
    yield from _catalogues(records)
    yield from extract_access_edges(records)


def external_ids(records: OrgRecords) -> frozenset[str]:
    """Ids that stand for superiors outside the organisation."""
    return frozenset({USER, *records.organization.external})


def _hierarchy(records: OrgRecords) -> Iterator[Edge]:
    document, hierarchy = records.document, records.organization.hierarchy
    commanded: dict[str, Place] = {}
    reporting = []
    for superior, post in hierarchy.items():
        for number, subordinate in enumerate(post.subordinates):
            place = document.place("hierarchy", superior, "subordinates", number)
            commanded.setdefault(subordinate, place)
            reporting.append(Edge(EdgeKind.REPORTS_TO, subordinate, superior, "hierarchy", place))
    for role_id in records.posts:
        own = document.place("hierarchy", role_id, key=True) if role_id in hierarchy else commanded[role_id]
        yield Edge(EdgeKind.INCLUDES, records.org_id, role_id, "", own)
    yield from reporting
    for role_id, role_post in records.posts.items():
        reports_to = role_post.profile.chain_of_command.reports_to
        if reports_to is not None and role_id not in commanded:
            place = role_post.place("chain_of_command", "reports_to")
            yield Edge(EdgeKind.REPORTS_TO, role_id, reports_to, "profile", place)


def _capabilities(post: RolePost) -> Iterator[Edge]:
    role, able = post.role_id, post.profile.capabilities
    # Most edges of an organisation come from these lists: their places are looked up together.
    for domain, place in _distinct(able.bst_domains, post.item_places("capabilities", "bst_domains")):
        yield Edge(EdgeKind.HANDLES, role, domain, "", place)
    for plan, place in _distinct(able.htn_plans, post.item_places("capabilities", "htn_plans")):
        yield Edge(EdgeKind.FOLLOWS, role, plan, "", place)
    for field, attribute in (("tools_primary", "primary:full"), ("tools_secondary", "secondary:full")):
        for tool, place in zip(getattr(able, field), post.item_places("capabilities", field), strict=True):
            yield Edge(EdgeKind.EQUIPPED_WITH, role, tool, attribute, place)
    for number, use in enumerate(able.tools):
        place = post.place("capabilities", "tools", number, "tool")
        yield Edge(EdgeKind.EQUIPPED_WITH, role, use.tool, f"stated:{use.level}", place)
    for number, entry in enumerate(able.skills):
        skill = entry if isinstance(entry, SkillUse) else SkillUse(skill=entry)
        need = "optional" if skill.optional else "required"
        place = post.place("capabilities", "skills", number, "skill")
        yield Edge(EdgeKind.REQUIRES, role, skill.skill, f"{need}:{skill.min_proficiency}", place)
    for intent, place in _distinct(able.intents, post.item_places("capabilities", "intents")):
        yield Edge(EdgeKind.SERVES_INTENT, role, intent, "", place)


def _distinct(ids: Iterable[str], places: Iterable[Place]) -> Iterator[tuple[str, Place]]:
    """Each id once, with its first place: listing something twice says nothing more."""
    first: dict[str, Place] = {}
    for each, place in zip(ids, places, strict=True):
        first.setdefault(each, place)
    yield from first.items()


def _relations(records: OrgRecords, post: RolePost) -> Iterator[Edge]:
    role, profile = post.role_id, post.profile
    if profile.department is not None:
        yield Edge(EdgeKind.BELONGS_TO, role, profile.department, "", post.place("department"))
    for tier_name in TIERS:
        tier = getattr(profile.pace_plan, tier_name, None)
        if tier is not None and tier.escalate_to is not None:
            place = post.place("pace_plan", tier_name, "escalate_to")
            yield Edge(EdgeKind.ESCALATES_TO, role, tier.escalate_to, tier_name, place)
    for number, target in enumerate(profile.dispatch.may_to):
        yield Edge(EdgeKind.MAY_DISPATCH, role, target, "", post.place("dispatch", "may_to", number))
    for number, source in enumerate(profile.dispatch.may_from):
        if source in records.posts and role in records.posts[source].profile.dispatch.may_to:
            continue  # said by both sides
        yield Edge(EdgeKind.MAY_DISPATCH, source, role, "", post.place("dispatch", "may_from", number))


def _channels(records: OrgRecords) -> Iterator[Edge]:
    for channel_id, channel in records.organization.communication_channels.items():
        for number, (one, other) in enumerate(channel.allowed_pairs):
            place = records.document.place("communication_channels", channel_id, "allowed_pairs", number)
            yield Edge(EdgeKind.SPEAKS_WITH, one, other, channel_id, place)


def _catalogues(records: OrgRecords) -> Iterator[Edge]:
    for domain in records.domains.values():
        if domain.record.broader is not None:
            yield Edge(EdgeKind.NARROWER_THAN, domain.id, domain.record.broader, "", domain.place("broader"))
    for plan in records.plans.values():
        for domain_id, place in _distinct(plan.record.domains, plan.item_places("domains")):
            yield Edge(EdgeKind.SERVES, plan.id, domain_id, "", place)
        needed: dict[str, Place] = {}
        for number, tool_id in enumerate(plan.record.tools):
            needed.setdefault(tool_id, plan.place("tools", number))
        for step_number, step in enumerate(plan.record.steps):
            for number, tool_id in enumerate(step.tools if isinstance(step, Step) else ()):
                needed.setdefault(tool_id, plan.place("steps", step_number, "tools", number))
        for tool_id, place in needed.items():
            yield Edge(EdgeKind.NEEDS, plan.id, tool_id, "", place)
    for tool in records.tools.values():
        for number, other_id in enumerate(tool.record.falls_back_to):
            yield Edge(EdgeKind.FALLS_BACK_TO, tool.id, other_id, "", tool.place("falls_back_to", number))
    for skill in records.skills.values():
        for number, other_id in enumerate(skill.record.prerequisites):
            yield Edge(EdgeKind.PRESUPPOSES, skill.id, other_id, "", skill.place("prerequisites", number))
