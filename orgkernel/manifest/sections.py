"""Render a manifest for people: every part as rows with an item, its details and the lines that declare it.

The parts come from the manifest type, so a new part cannot be forgotten. A part without a row function here is shown with
the names of its fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import singledispatch
from typing import Any, NamedTuple

import msgspec

from orgkernel.decisions.crew.promotion import PromotionDecision
from orgkernel.decisions.crew.skill_profile import HeldSkill, SkillProfile
from orgkernel.decisions.evidence.qualifications import QualificationStanding
from orgkernel.decisions.evidence.trust import Trust
from orgkernel.decisions.reasons import Why
from orgkernel.manifest import agent_parts as of_agent
from orgkernel.manifest import v1


class SectionRow(NamedTuple):
    """One line of a section."""

    item: str
    details: str
    why: tuple[Why, ...] = ()


Sections = dict[str, list[SectionRow]]
Profile = v1.RoleManifest | v1.AgentManifest

# Fields that are in the heading or the last line, or that identify the manifest itself.
_BESIDE = frozenset(
    {
        "schema", "version", "manifest_of", "role_id", "role_name", "role_type", "agent_id", "callsign", "lifecycle",
        "org_id", "org_name", "description", "why", "snapshot", "state_version",
        # `trust_distribution` starts with it.
        "trust",
    }
)  # fmt: skip
# Parts whose title is not their name. Parts with one title are one section.
_TITLES: Mapping[str, str] = {
    "chain_of_command": "superiors",
    "handoff_targets": "hands work to",
    "handoff_sources": "given work by",
    "not_examples": "not for",
    "essential_tools": "tools",
    "requestable_tools": "requestable",
    "cognitive_skills": "instructions",
    "listed_procedures": "procedures",
    "executable_skills": "procedures",
    "escalation": "escalates",
    "requirements": "requires",
    "standing_orders": "orders",
    "does_not_have": "lacks",
    "latest_report": "report",
    "file_claims": "works on",
    "open_blockers": "asks",
    "recent_activity": "recent",
    "handled_intents": "intents",
    "trust_distribution": "trust",
    "promotion": "ranks",
    "qualifications": "qualified",
    "qualification_status": "tests",
    "skill_profile": "skill profile",
    "procedures": "compiled",
    "current_duty": "duty",
    "service_record": "service",
    "restrictions": "restricted",
    "pace_current": "pace",
}


def build_sections(manifest: Profile) -> Sections:
    """The rows of every part by title, in the order of the manifest. An empty part has no rows."""
    sections: Sections = {}
    for part in manifest.__struct_fields__:
        if part not in _BESIDE:
            rows = sections.setdefault(get_title(part), [])
            rows += _build_part_rows(part, getattr(manifest, part))
    return sections


def get_title(part: str) -> str:
    """The title of a part of a manifest.

    >>> get_title("file_scope"), get_title("chain_of_command")
    ('file scope', 'superiors')
    """
    return _TITLES.get(part, part.replace("_", " "))


def _build_part_rows(part: str, value: Any) -> Iterator[SectionRow]:
    if value is None or value in ((), ""):
        return
    if isinstance(value, tuple):
        for each in value:
            yield from build_rows(each)
    elif isinstance(value, v1.Fact) and value.id == part:
        yield from (row._replace(item="") for row in build_rows(value))  # its name is the title
    elif isinstance(value, msgspec.Struct):
        yield from build_rows(value)
    elif isinstance(value, dict):
        yield from _build_leaf_rows(value)
    else:
        yield SectionRow("", _format_value(value))


@singledispatch
def build_rows(value: Any) -> Iterable[SectionRow]:
    """The rows of a value: for an item its id and name, for any other value its fields."""
    return _build_leaf_rows(value, why=getattr(value, "why", ()))


def _build_leaf_rows(value: Any, name: str = "", why: tuple[Why, ...] = ()) -> Iterator[SectionRow]:
    """A row for each non-empty value inside."""
    if isinstance(value, msgspec.Struct):
        value = {field: getattr(value, field) for field in value.__struct_fields__ if field != "why"}
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _build_leaf_rows(each, f"{name}.{key}" if name else str(key), why)
    elif isinstance(value, list | tuple) and any(
        isinstance(each, msgspec.Struct | Mapping) for each in value
    ):
        for number, each in enumerate(value):
            yield from _build_leaf_rows(each, f"{name}[{number}]", why)
    elif value not in (None, "", (), []):
        yield SectionRow(name, _format_value(value), why)


def _format_value(value: Any) -> str:
    """A value as it is written in a document."""
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


def _optional(*texts: str) -> str:
    return ", ".join(text for text in texts if text)


# -- parts of roles and agents -----------------------------------------------------------------------------------------


@build_rows.register(v1.Item)
def _(item: v1.Item) -> Iterable[SectionRow]:
    is_word = " " not in item.id
    return [SectionRow(item.id if is_word else "", "" if is_word else item.id, item.why)]


@build_rows.register(v1.Named)
def _(item: v1.Named) -> Iterable[SectionRow]:
    return [SectionRow(item.id, item.name, item.why)]


@build_rows.register(v1.Fact)
def _(fact: v1.Fact) -> Iterable[SectionRow]:
    if fact.value is None or fact.value in ((), ""):
        return []
    return [SectionRow(fact.id, _format_value(fact.value), fact.why)]


@build_rows.register(v1.Member)
def _(member: v1.Member) -> Iterable[SectionRow]:
    return [
        SectionRow(
            member.id, member.role_type or ("external" if member.external else "not in service"), member.why
        )
    ]


@build_rows.register(v1.Peer)
def _(peer: v1.Peer) -> Iterable[SectionRow]:
    return [SectionRow(peer.id, f"channel {peer.channel}", peer.why)]


@build_rows.register(v1.DomainItem)
def _(domain: v1.DomainItem) -> Iterable[SectionRow]:
    taken = "takes the tasks" if domain.chosen else "another role takes the tasks"
    return [SectionRow(domain.id, taken, domain.why)]


@build_rows.register(v1.PlanItem)
def _(plan: v1.PlanItem) -> Iterable[SectionRow]:
    state = "runnable" if plan.runnable else f"lacks {', '.join(plan.missing_tools)}"
    return [SectionRow(plan.id, state, plan.why)]


@build_rows.register(v1.ToolItem)
def _(tool: v1.ToolItem) -> Iterable[SectionRow]:
    grants = (
        f"grant {grant.id}" + (f" until {grant.expires_at}" if grant.expires_at else "")
        for grant in tool.grants
    )
    details = _optional(
        f"{tool.letters} {tool.level}",
        tool.preference,
        "needs approval" if tool.ask_actions and not tool.allowed_actions else "",
        f"capped by {', '.join(tool.capped_by)}" if tool.capped_by else "",
        *grants,
        "conditional" if tool.conditional_actions and not tool.allowed_actions else "",
        f"depends on {tool.conditional}" if tool.conditional else "",
    )
    return [SectionRow(tool.id, details, tool.why)]


@build_rows.register(v1.RequestableTool)
def _(tool: v1.RequestableTool) -> Iterable[SectionRow]:
    waived = f" that waives {', '.join(tool.waives)}" if tool.waives else ""
    return [SectionRow(tool.id, f"a grant of {tool.level}{waived}", tool.why)]


@build_rows.register(v1.GrantableTool)
def _(tool: v1.GrantableTool) -> Iterable[SectionRow]:
    return [SectionRow(tool.id, f"up to {tool.level}", tool.why)]


@build_rows.register(v1.SkillItem)
def _(skill: v1.SkillItem) -> Iterable[SectionRow]:
    optional = "optional" if skill.optional else ""
    if skill.gap is None:
        required = f"{skill.proficiency_name or 'level'} ({skill.min_proficiency})"
        return [SectionRow(skill.id, _optional(required, optional), skill.why)]
    held = "not held" if skill.held_proficiency is None else f"level {skill.held_proficiency}"
    return [SectionRow(skill.id, _optional(held, f"{skill.min_proficiency} required", optional), skill.why)]


@build_rows.register(of_agent.CognitiveSkillItem)
def _(skill: of_agent.CognitiveSkillItem) -> Iterable[SectionRow]:
    return [SectionRow(skill.name, skill.description, skill.why)]


@build_rows.register(v1.EscalationItem)
def _(escalation: v1.EscalationItem) -> Iterable[SectionRow]:
    return [SectionRow(escalation.tier, f"to {escalation.id}", escalation.why)]


@build_rows.register(v1.Pace)
def _(pace: v1.Pace) -> Iterable[SectionRow]:
    rows = [
        SectionRow(f"{each.id}{' (now)' * (each.id == pace.current)}", each.trigger or each.action, each.why)
        for each in pace.tiers
    ]
    if pace.current is not None and all(each.id != pace.current for each in pace.tiers):
        rows.append(SectionRow(f"{pace.current} (now)", "", ()))
    return rows


@build_rows.register(v1.ClaimItem)
def _(claim: v1.ClaimItem) -> Iterable[SectionRow]:
    return [SectionRow(", ".join(claim.paths), f"{claim.holder} until {claim.expires_at}", claim.why)]


@build_rows.register(v1.BlockerItem)
def _(blocker: v1.BlockerItem) -> Iterable[SectionRow]:
    return [SectionRow(blocker.agent, blocker.question, blocker.why)]


@build_rows.register(of_agent.ActivityItem)
def _(activity: of_agent.ActivityItem) -> Iterable[SectionRow]:
    details = f"{activity.successes} of {activity.successes + activity.failures}"
    return [SectionRow(f"{activity.kind.replace('_', ' ')} {activity.name}", details)]


@build_rows.register(v1.FindingItem)
def _(finding: v1.FindingItem) -> Iterable[SectionRow]:
    return [SectionRow(finding.id, finding.message, finding.why[:1])]


# -- parts of agents only ----------------------------------------------------------------------------------------------


@build_rows.register(v1.Post)
def _(post: v1.Post) -> Iterable[SectionRow]:
    return [SectionRow(post.id, f"{post.role_type}, watch {', '.join(post.watches)}", post.why)]


@build_rows.register(v1.RankItem)
def _(rank: v1.RankItem) -> Iterable[SectionRow]:
    return [SectionRow(rank.id, _optional(rank.name, f"trust from {rank.trust_from:g}"), rank.why)]


@build_rows.register(Trust)
def _(trust: Trust) -> Iterable[SectionRow]:
    return [SectionRow("", str(trust))]


@build_rows.register(PromotionDecision)
def _(decision: PromotionDecision) -> Iterable[SectionRow]:
    return [
        SectionRow(f"{each.kind} {each.rank}", each.outcome.replace("_", " "), each.why)
        for each in decision.paths
    ]


@build_rows.register(v1.QualificationItem)
def _(test: v1.QualificationItem) -> Iterable[SectionRow]:
    return [SectionRow(test.id, test.name, test.why)]


@build_rows.register(of_agent.QualificationStatus)
def _(status: of_agent.QualificationStatus) -> Iterable[SectionRow]:
    for test in status.tests:
        yield from build_rows(test)
    if status.path is not None:
        met = f"{status.met} of {status.required} requirements met"
        yield SectionRow(status.path.replace("_to_", " to "), met, status.why)


@build_rows.register(QualificationStanding)
def _(test: QualificationStanding) -> Iterable[SectionRow]:
    return [SectionRow(test.qualification, test.text, test.why)]


@build_rows.register(SkillProfile)
def _(profile: SkillProfile) -> Iterable[SectionRow]:
    for held in (*profile.universal, *profile.role, *profile.acquired):
        yield from build_rows(held)


@build_rows.register(HeldSkill)
def _(held: HeldSkill) -> Iterable[SectionRow]:
    return [SectionRow(held.skill, f"level {held.level}, {held.group}", held.why)]


@build_rows.register(of_agent.PersonalityItem)
def _(personality: of_agent.PersonalityItem) -> Iterable[SectionRow]:
    """No rows if the personality has not been observed."""
    if personality.drift_from_seed is None:
        return []
    alarm = "alarm" if personality.alarm else ""
    drift = f"{personality.drift_from_seed:.2f} from the roster, limit {personality.limit:g}"
    return [SectionRow("drift", _optional(drift, alarm), personality.why[:1])]


@build_rows.register(of_agent.OrderItem)
def _(order: of_agent.OrderItem) -> Iterable[SectionRow]:
    return [SectionRow(f"{order.source} {order.target}".strip(), "", order.why)]


@build_rows.register(of_agent.IntentItem)
def _(intent: of_agent.IntentItem) -> Iterable[SectionRow]:
    details = f"{intent.tier.replace('_', ' ')} {intent.by}".strip()
    return [SectionRow(intent.id, details, intent.why[:1])]


@build_rows.register(of_agent.ProcedureItem)
def _(procedure: of_agent.ProcedureItem) -> Iterable[SectionRow]:
    details = f"compiled to level {procedure.compilation_level}, runs at {procedure.runs_at}"
    return [SectionRow(procedure.id, details, procedure.why)]


@build_rows.register(of_agent.ProcedureCounts)
def _(counts: of_agent.ProcedureCounts) -> Iterable[SectionRow]:
    return [SectionRow(level, str(count)) for level, count in counts.by_level.items() if count]


@build_rows.register(of_agent.Duty)
def _(duty: of_agent.Duty) -> Iterable[SectionRow]:
    shown = {
        "watches": duty.watches,
        "current watch": duty.current_watch,
        "on watch": duty.on_watch,
        "alert": duty.alert,
    }
    return _build_leaf_rows(shown)


@build_rows.register(of_agent.WorkRecord)
def _(record: of_agent.WorkRecord) -> Iterable[SectionRow]:
    """No rows if nothing is recorded."""
    if record.born_at:
        yield SectionRow("born", record.born_at)
    if record.success_rate is not None:
        details = f"{record.total_episodes}, {record.success_rate:.0%} successful, {record.trust_trajectory}"
        yield SectionRow("episodes", details)
    for move in record.promotions:
        yield SectionRow(f"{move.before or 'no rank'} → {move.after}", f"{move.at}, by {move.actor}")
