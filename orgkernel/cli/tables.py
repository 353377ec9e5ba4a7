"""Manifests as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

from orgkernel.cli.columns import TextTable
from orgkernel.cli.output import PLAIN_WIDTH, has_colors, terminal_width
from orgkernel.decisions.reasons import Why
from orgkernel.diagnostics.wording import printable
from orgkernel.manifest.agent_parts import PersonalityItem, WorkRecord
from orgkernel.manifest.v1 import (
    AgentManifest,
    BlockerItem,
    ClaimItem,
    OrganizationManifest,
    RequestableTool,
    RoleManifest,
    SkillItem,
    ToolItem,
)

_PLACES = "declared in"
# The least width for the columns beside the places.
_LEAST_BESIDE = 50
TableRow = tuple[str, str, tuple[Why, ...]]


def render_role(manifest: RoleManifest) -> str:
    """A role as one table, one row per item, with its line."""
    title = f"{manifest.role_name} ({manifest.role_id}), {manifest.role_type} of {manifest.org_id}"
    return _render_sections(manifest, title, _role_sections(manifest)) + f"\nsnapshot {manifest.snapshot}\n"


def render_agent(manifest: AgentManifest) -> str:
    """An agent: its status, its roles, and the effective level of each tool."""
    name = f"{manifest.callsign or manifest.agent_id} ({manifest.agent_id})"
    rank = manifest.rank.id if manifest.rank else "no rank"
    title = f"{name}, {rank}, {manifest.lifecycle}, of {manifest.org_id}"
    end = f"\nsnapshot {manifest.snapshot}, state version {manifest.state_version}\n"
    return _render_sections(manifest, title, _agent_sections(manifest)) + end


def _render_sections(
    manifest: RoleManifest | AgentManifest, title: str, sections: Mapping[str, list[TableRow]]
) -> str:
    home = _home(manifest.why)
    table = new_table("", "item", "details", _PLACES)
    for section, rows in sections.items():
        label = section
        for item, what, why in rows:
            table.add_row(label, printable(item), printable(what), _places(why, home))
            label = ""
    return _head(title, manifest.description, home) + draw(table)


def _tool_words(tool: ToolItem) -> str:
    """The effective level of a tool, and what reduced it."""
    words = [f"{tool.letters} {tool.level}", tool.preference]
    if tool.ask_actions and not tool.allowed_actions:
        words.append("needs approval")
    if tool.capped_by:
        words.append(f"capped by {', '.join(tool.capped_by)}")
    words += (
        f"grant {grant.id}" + (f" until {grant.expires_at}" if grant.expires_at else "")
        for grant in tool.grants
    )
    if tool.conditional_actions and not tool.allowed_actions:
        words.append("conditional")
    if tool.conditional:
        words.append(f"depends on {tool.conditional}")
    return ", ".join(words)


def _request_words(tool: RequestableTool) -> str:
    return f"a grant of {tool.level}" + (f" that waives {', '.join(tool.waives)}" if tool.waives else "")


def render_organization(manifest: OrganizationManifest) -> str:
    """An organization: its roles, then the role for each domain."""
    home = _home(manifest.why)
    roles = new_table("role", "type", "reports to", "domains", "plans", "tools")
    for role in manifest.roles:
        superior = role.chain_of_command[0].id if role.chain_of_command else "–"
        roles.add_row(
            role.role_id, role.role_type, superior,
            ", ".join(item.id for item in role.domains) or "–", str(len(role.plans)), str(len(role.tools)),
        )  # fmt: skip
    domains = new_table("domain", "role", _PLACES)
    for domain in manifest.domains:
        domains.add_row(domain.id, domain.role_id or "nobody", _places(domain.why, home))
    title = f"{manifest.org_name} ({manifest.org_id}), {manifest.count} role{'s' * (manifest.count != 1)}"
    head = _head(title, manifest.description, home)
    return f"{head}{draw(roles)}\n{draw(domains)}\nsnapshot {manifest.snapshot}\n"


def _home(why: tuple[Why, ...]) -> str:
    """The folder of the organization's file. Places are shown relative to it."""
    return why[0].file.rpartition("/")[0]


def _head(title: str, description: str, home: str) -> str:
    places = f"Places are relative to {home}/ unless they begin with another folder." if home else ""
    return "".join(f"{printable(line)}\n" for line in (title, description, places) if line) + "\n"


def new_table(*headings: str) -> TextTable:
    """An empty table with these headings, without lines. A broken path could neither be clicked nor pasted."""
    return TextTable(*headings, whole=_PLACES)


def _role_sections(manifest: RoleManifest) -> Mapping[str, list[TableRow]]:
    now = manifest.pace.current
    return {
        "superiors": [
            (each.id, each.role_type or "external", each.why) for each in manifest.chain_of_command
        ],
        "subordinates": [(each.id, each.role_type or "external", each.why) for each in manifest.subordinates],
        "peers": [(each.id, f"channel {each.channel}", each.why) for each in manifest.peers],
        "domains": [
            (each.id, "takes the tasks" if each.chosen else "another role takes the tasks", each.why)
            for each in manifest.domains
        ],
        "plans": [
            (each.id, "runnable" if each.runnable else f"lacks {', '.join(each.missing_tools)}", each.why)
            for each in manifest.plans
        ],
        "tools": [
            (each.id, _tool_words(each), each.why) for each in (*manifest.tools, *manifest.essential_tools)
        ],
        "requestable": [(each.id, _request_words(each), each.why) for each in manifest.requestable_tools],
        "skills": [(each.id, _skill_words(each), each.why) for each in manifest.skills],
        "escalates": [(each.tier, f"to {each.id}", each.why) for each in manifest.escalation],
        "pace": [
            (f"{each.id}{' (now)' * (each.id == now)}", each.trigger or each.action, each.why)
            for each in manifest.pace.tiers
        ],
        "doctrine": [(each.id, _value(each.value), each.why) for each in manifest.doctrine],
        "requires": [(each.id, _value(each.value), each.why) for each in manifest.requirements if each.value],
        "dispatches": _names(manifest.dispatch_targets),
        "works on": _claims(manifest.file_claims),
        "asks": _blockers(manifest.open_blockers),
        "lacks": _names(manifest.does_not_have),
        "findings": [(each.id, each.message, each.why[:1]) for each in manifest.findings],
    }


def _agent_sections(manifest: AgentManifest) -> Mapping[str, list[TableRow]]:
    return {
        "identity": [("did", manifest.did, ())] if manifest.did else [],
        "roles": [
            (each.id, f"{each.role_type}, watch {', '.join(each.watches)}", each.why)
            for each in manifest.roles
        ],
        "trust": [("", str(manifest.trust_distribution), ())],
        "ranks": [
            (f"{each.kind} {each.rank}", each.outcome.replace("_", " "), each.why)
            for each in manifest.promotion.paths
        ],
        "personality": _personality(manifest.personality),
        "orders": [
            (f"{each.source} {each.target}".strip(), "", each.why) for each in manifest.standing_orders
        ],
        "intents": [
            (each.id, f"{each.tier.replace('_', ' ')} {each.by}".strip(), each.why[:1])
            for each in manifest.handled_intents
        ],
        "instructions": [(each.name, each.description, each.why) for each in manifest.cognitive_skills],
        "procedures": [
            (each.id, f"compiled to level {each.compilation_level}, runs at {each.runs_at}", each.why)
            for each in manifest.executable_skills
        ],
        "skills": [(each.id, _held_words(each), each.why) for each in manifest.skills],
        "tools": [(each.id, _tool_words(each), each.why) for each in manifest.tools],
        "requestable": [(each.id, _request_words(each), each.why) for each in manifest.requestable_tools],
        "credentials": _names(manifest.credentials),
        "data": _names(manifest.data),
        "dispatches": _names(manifest.dispatch_targets),
        "works on": _claims(manifest.file_claims),
        "asks": _blockers(manifest.open_blockers),
        "qualified": _names(manifest.qualifications),
        "restricted": _names(manifest.restrictions),
        "service": _service(manifest.service_record),
        "recent": [
            (
                f"{each.kind.replace('_', ' ')} {each.name}",
                f"{each.successes} of {each.successes + each.failures}",
                (),
            )
            for each in manifest.recent_activity
        ],
        "findings": [(each.id, each.message, each.why[:1]) for each in manifest.findings],
    }


def _claims(claims: Sequence[ClaimItem]) -> list[TableRow]:
    return [(", ".join(each.paths), f"{each.holder} until {each.expires_at}", ()) for each in claims]


def _blockers(blockers: Sequence[BlockerItem]) -> list[TableRow]:
    return [(each.agent, each.question, ()) for each in blockers]


def _personality(personality: PersonalityItem) -> list[TableRow]:
    """Nothing where nobody observed it."""
    if personality.drift_from_seed is None:
        return []
    alarm = ", alarm" if personality.alarm else ""
    text = f"{personality.drift_from_seed:.2f} from the roster, limit {personality.limit:g}{alarm}"
    return [("drift", text, personality.why[:1])]


def _service(service: WorkRecord) -> list[TableRow]:
    """Nothing where nothing is recorded."""
    rows: list[TableRow] = [("born", service.born_at, ())] if service.born_at else []
    if service.success_rate is not None:
        text = f"{service.total_episodes}, {service.success_rate:.0%} successful, {service.trust_trajectory}"
        rows.append(("episodes", text, ()))
    rows += [
        (f"{each.before or 'no rank'} → {each.after}", f"{each.at}, by {each.actor}", ())
        for each in service.promotions
    ]
    return rows


def _names(items: Iterable[Any]) -> list[TableRow]:
    return [("", each.id, each.why) for each in items]


def _skill_words(skill: SkillItem) -> str:
    optional = ", optional" if skill.optional else ""
    return f"{skill.proficiency_name or 'level'} ({skill.min_proficiency}){optional}"


def _held_words(skill: SkillItem) -> str:
    held = "not held" if skill.held_proficiency is None else f"level {skill.held_proficiency}"
    return f"{held}, {skill.min_proficiency} required{', optional' if skill.optional else ''}"


def _value(value: Any) -> str:
    """A setting as written in a document."""
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


def _places(why: tuple[Why, ...], home: str) -> str:
    places = (f"{each.file.removeprefix(f'{home}/')}:{each.line}" for each in why)
    return "\n".join(map(printable, dict.fromkeys(places)))


def draw(table: TextTable) -> str:
    """A table as text."""
    lines = table.lines(terminal_width() or PLAIN_WIDTH, _LEAST_BESIDE)
    colors = has_colors()
    return "".join(
        f"{click.style(line, bold=True) if colors and is_heading else line}\n" for line, is_heading in lines
    )
