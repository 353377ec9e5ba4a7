"""Compile an organization into the bundle that a host reads (`orgkernel.runtime.bundle`).

All decisions of the host are made here, from the organization's own manifests: who takes which domain, what the
access decision allows each role when no circumstances are known, and whom it may hand work to. The law
`bundle_equals_decisions` compares both. The result is deterministic: one snapshot always gives the same bytes.

A tool without a name for Agent-Zero is called by its id there, like tools of MCP servers and a user's own tools.
`find_remarks` finds decisions that a bundle cannot express, because they depend on unknown circumstances or on an
approval: a bundle has one answer for all circumstances.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from orgkernel.decisions.access.layers.file_scope import WRITE_OUT_OF_FILE_SCOPE
from orgkernel.decisions.access.listing import what_can
from orgkernel.decisions.access.resource import LOCK
from orgkernel.decisions.dispatch.order import rank_candidates
from orgkernel.decisions.dispatch.role_texts import get_text_index
from orgkernel.diagnostics.wording import listing
from orgkernel.documents.records import RoleProfile
from orgkernel.exchange.agent_zero.brief import render_brief
from orgkernel.exchange.agent_zero.specification import JsonObject, build_organization_form, build_role_form
from orgkernel.graph.questions import OrgView
from orgkernel.manifest import v1
from orgkernel.manifest.role import build_role_manifest
from orgkernel.runtime.bundle import SCHEMA, VERSION, compute_checksum_of
from orgkernel.runtime.text_index import encode_index
from orgkernel.runtime.tiers import ABOVE_PRIMARY, TIERS
from orgkernel.runtime.trigger_parser import parse_trigger

RUNTIME = "agent_zero"
# Tools that every role of this host needs, whatever a catalog says: the only tool that ends a turn, and the only one
# that delegates work.
ANSWER = "response"
HAND_ON = "call_subordinate"


@dataclass(frozen=True, slots=True)
class HostNames:
    """The names of an organization's tools in the host."""

    by_tool: Mapping[str, str]
    tools: Mapping[str, str]
    """Tool ids, keyed by their names in the host."""

    def of(self, tool_id: str) -> str:
        """The host's name for a tool. A tool that no catalog declares is called by its id."""
        return self.by_tool.get(tool_id) or get_tool_part(tool_id)

    def essential(self, view: OrgView, role_id: str, delegates_to: Sequence[str]) -> list[str]:
        """Host names of the tools that a role always has. A role can call the roles that it may hand work to."""
        names = [self.of(tool_id) for tool_id in view.list_essential_tools(role_id)]
        delegates = view.records.posts[role_id].profile.can_delegate or delegates_to
        return list(dict.fromkeys([*names, ANSWER, *([HAND_ON] if delegates else [])]))


def name_tools(view: OrgView) -> HostNames:
    """Host names of all tools that the organization sees.

    If several tools share a name, the name means the first tool that a role is equipped with, else the first
    declared one.
    """
    by_tool = {
        tool_id: get_tool_part(definition.record.names.get(RUNTIME) or tool_id)
        for tool_id, definition in view.records.tools.items()
    }
    held = {tool_id for tool_id in by_tool if view.list_holders(tool_id)}
    explicit = {
        tool_id for tool_id, definition in view.records.tools.items() if RUNTIME in definition.record.names
    }
    ranked = sorted(by_tool, key=lambda tool_id: (tool_id not in held, tool_id not in explicit))
    tools: dict[str, str] = {}
    for tool_id in ranked:
        tools.setdefault(by_tool[tool_id], tool_id)
    in_order = {name: tools[name] for name in dict.fromkeys(by_tool.values())}
    for always in (ANSWER, HAND_ON):
        in_order.setdefault(always, always)
    return HostNames(by_tool, in_order)


def get_tool_part(name: str) -> str:
    """The tool part of a name that may have a method, as in `scheduler:list_tasks`. Hooks see only the tool part."""
    return name.partition(":")[0]


def render_bundle(bundle: Mapping[str, Any]) -> str:
    """Render a bundle as the content of its file, a line for each section: programs read it, and each host has a copy."""
    sections = (
        f"{json.dumps(name)}: {json.dumps(section, ensure_ascii=False, separators=(',', ':'))}"
        for name, section in bundle.items()
    )
    return "{\n" + ",\n".join(sections) + "\n}\n"


def compile_bundle(view: OrgView, compiled_by: str) -> JsonObject:
    """The bundle of an organization without errors. `compiled_by` names this program and its version."""
    names = name_tools(view)
    manifests = {role_id: build_role_manifest(view, role_id) for role_id in view.roles}
    roles = {role_id: _build_role(view, manifest, names) for role_id, manifest in manifests.items()}
    bundle = {
        "_schema": SCHEMA,
        "_version": VERSION,
        "digest": view.digest,
        "checksum": "",
        "compiled_by": compiled_by,
        "organization": _build_organization(view),
        "domains": {domain: _build_domain(view, domain) for domain in view.records.domains},
        "aliases": {word: alias.target for word, alias in view.records.aliases.items()},
        "dispatch": _map_domains_to_roles(view),
        "roles": roles,
        "tools": _build_tools(view, names, roles),
        "signals": {},
        "limits": _build_limits(view),
        "text_index": encode_index(get_text_index(view)),
    }
    return bundle | {"checksum": compute_checksum_of(bundle)}


def _map_domains_to_roles(view: OrgView) -> dict[str, str | None]:
    """Each domain and the role that takes it: declared domains, and domains that only aliases name."""
    aliases = view.records.aliases.values()
    domains = dict.fromkeys((*view.records.domains, *(alias.target for alias in aliases)))
    takers = {domain: rank_candidates(view, domain)[:1] for domain in domains if domain is not None}
    return {domain: best[0].role_id if best else None for domain, best in takers.items()}


def _build_organization(view: OrgView) -> JsonObject:
    organization = view.records.organization
    document = build_organization_form(view)
    return {
        "org_id": view.org_id,
        "org_name": organization.name,
        "description": organization.description,
        "mission": document["mission"],
        "mode": organization.mode,
        "workspace_root": organization.workspace_root,
        "document": document,
    }


def _build_limits(view: OrgView) -> JsonObject:
    limits = view.records.organization.limits
    return {
        "max_spawn_depth": limits.max_spawn_depth,
        "max_children": limits.max_children,
        "max_concurrent": limits.max_concurrent,
        "delegation": limits.delegation,
    }


def _build_domain(view: OrgView, domain: str) -> JsonObject:
    record = view.records.domains[domain].record
    return {
        "aliases": [word for word, alias in view.records.aliases.items() if alias.target == domain],
        "broader": list(view.list_domain_and_broader(domain)[1:]),
        "passthrough": record.passthrough,
        "examples": list(record.examples),
        "triggers": list(record.triggers),
    }


def _build_role(view: OrgView, manifest: v1.RoleManifest, names: HostNames) -> JsonObject:
    role_id = manifest.role_id
    profile = view.records.posts[role_id].profile
    items = (*manifest.tools, *manifest.essential_tools)
    rows = what_can(view, f"role:{role_id}", kinds=("role",))
    delegates_to = [
        row.resource.partition(":")[2] for row in rows if row.outcome == "allow" and "handoff" in row.actions
    ]
    essential = names.essential(view, role_id, delegates_to)
    scoped = _list_scoped_actions(view, role_id) if profile.file_scope else {}
    usable = [
        names.of(item.id)
        for item in items
        if any(each != LOCK for each in item.allowed_actions) or item.id in scoped
    ]
    host_tools = list(dict.fromkeys([*usable, *essential]))
    return {
        "role_id": role_id,
        "role_name": manifest.role_name,
        "role_type": manifest.role_type,
        "description": manifest.description,
        "brief": render_brief(manifest, delegates_to),
        "reports_to": view.superiors.get(role_id),
        "chain": [member.id for member in manifest.chain_of_command],
        "subordinates": [member.id for member in manifest.subordinates if view.is_role(member.id)],
        "can_delegate": profile.can_delegate,
        "delegates_to": delegates_to,
        "domains": [domain.id for domain in manifest.domains],
        "plans": [plan.id for plan in manifest.plans],
        "tools": {item.id: _grant(item, scoped.get(item.id, [])) for item in items},
        "host_tools": host_tools,
        "essential": essential,
        "pace": _build_pace(profile),
        "max_turns": profile.doctrine.max_turns_without_progress,
        "doctrine": {name: getattr(profile.doctrine, name) for name in profile.doctrine.__struct_fields__},
        "file_scope": list(profile.file_scope),
        "profile": build_role_form(view, role_id),
    }


def _list_scoped_actions(view: OrgView, role_id: str) -> dict[str, list[str]]:
    """Tools and their actions that a role may use on paths in its file scope."""
    actions_by_tool: dict[str, list[str]] = {}
    for row in what_can(view, f"role:{role_id}"):
        waits = row.code == WRITE_OUT_OF_FILE_SCOPE.name and all(
            each.startswith("path:") for each in row.conditions
        )
        if row.outcome == "deny" and waits:
            actions_by_tool.setdefault(row.resource.partition(":")[2], []).extend(row.actions)
    return actions_by_tool


def _grant(item: v1.ToolItem, scoped: list[str]) -> JsonObject:
    return {
        "level": item.level,
        "preferred": item.preference == "primary",
        "actions": {action: action in item.allowed_actions for action in item.actions},
        "ask": list(item.ask_actions),
        "conditional": item.conditional,
        "scoped": scoped,
    }


def _build_pace(profile: RoleProfile) -> JsonObject:
    plan = profile.pace_plan
    tiers = {name: getattr(plan, name, None) for name in TIERS}
    return {
        name: {
            "action": tier.action,
            "description": tier.description,
            "escalate_to": tier.escalate_to,
            # A trigger on `primary` has no effect (ORG508).
            "trigger": parse_trigger(tier.trigger).tree if tier.trigger and name in ABOVE_PRIMARY else None,
            "text": tier.trigger or "",
        }
        for name, tier in tiers.items()
        if tier is not None
    }


def _build_tools(view: OrgView, names: HostNames, roles: Mapping[str, JsonObject]) -> JsonObject:
    essential = {name for role in roles.values() for name in role["essential"]}
    tools: JsonObject = {}
    for name, tool_id in names.tools.items():
        declared = view.records.tools.get(tool_id)
        tools[name] = {
            "tool": tool_id,
            "name": (declared.record.name if declared else "") or tool_id,
            "roles": [role_id for role_id, role in roles.items() if name in role["host_tools"]],
            "essential": name in essential,
            "path_arguments": list((declared.record.path_arguments or ()) if declared else ()),
        }
    return tools


_METHOD = (
    "the host's name for it has a method, and a host checks only the whole tool, so a role that may call one method may "
    "call all of them; declare the methods as `actions` of one tool"
)


def find_remarks(compiled: Mapping[str, Any], view: OrgView) -> tuple[str, ...]:
    """One sentence for each reason, with the tools that it concerns."""
    tools_of: dict[str, dict[str, None]] = {}
    for tool_id, declared in view.records.tools.items():
        if ":" in declared.record.names.get(RUNTIME, "") and view.list_holders(tool_id):
            tools_of.setdefault(_METHOD, {})[tool_id] = None
    for role in compiled["roles"].values():
        for tool_id, grant in role["tools"].items():
            for text in _list_texts(grant):
                tools_of.setdefault(text, {})[tool_id] = None
    return tuple(f"{listing(tools)}: {text}" for text, tools in tools_of.items())


def _list_texts(grant: Mapping[str, Any]) -> Iterator[str]:
    if grant["ask"]:
        yield "it needs an approval, which a host cannot ask for, so the host refuses it"
    if grant["conditional"] and not grant["scoped"]:
        allowed = "allowed" if any(grant["actions"].values()) else "refused"
        yield f"it depends on {grant['conditional']}, which a host does not know, so it is {allowed} there"
