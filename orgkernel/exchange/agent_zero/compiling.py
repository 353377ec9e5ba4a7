"""Compile an organization into the bundle that a host reads (`orgkernel.runtime.bundle`).

Everything that a host would have to decide is decided here, from the organization's own manifests: who takes which
domain, what the access decision allows each role when no circumstances are known, and whom it may dispatch. The law
`bundle_equals_decisions` compares both. The result is deterministic: one snapshot always gives the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from orgkernel.decisions.access.listing import what_can
from orgkernel.decisions.dispatch_order import rank_candidates
from orgkernel.exchange.agent_zero.brief import render_brief
from orgkernel.exchange.agent_zero.host_names import HostNames, name_tools
from orgkernel.exchange.agent_zero.specification import JsonObject, organization_form, role_form
from orgkernel.graph.questions import OrgView
from orgkernel.manifest import v1
from orgkernel.manifest.role import build_role_manifest
from orgkernel.records.role_profile import RoleProfile
from orgkernel.runtime.bundle import SCHEMA, VERSION, checksum_of
from orgkernel.runtime.tiers import ABOVE_PRIMARY, TIERS
from orgkernel.triggers import parse_trigger


def render_bundle(bundle: Mapping[str, Any]) -> str:
    """The text of a bundle's file."""
    return json.dumps(bundle, ensure_ascii=False, indent=1) + "\n"


def compile_bundle(view: OrgView, compiled_by: str) -> JsonObject:
    """The bundle of an organization without errors. `compiled_by` names this program and its version."""
    names = name_tools(view)
    manifests = {role_id: build_role_manifest(view, role_id) for role_id in view.roles}
    roles = {role_id: _role(view, manifest, names) for role_id, manifest in manifests.items()}
    bundle = {
        "_schema": SCHEMA,
        "_version": VERSION,
        "digest": view.digest,
        "checksum": "",
        "compiled_by": compiled_by,
        "organization": _organization(view),
        "domains": {domain: _domain(view, domain) for domain in view.records.domains},
        "aliases": {word: alias.target for word, alias in view.records.aliases.items()},
        "dispatch": _takers(view),
        "roles": roles,
        "tools": _tools(view, names, roles),
        "signals": {},
    }
    return bundle | {"checksum": checksum_of(bundle)}


def _takers(view: OrgView) -> dict[str, str | None]:
    """Each domain and the role that takes it: declared domains, and domains that only aliases name."""
    aliases = view.records.aliases.values()
    domains = dict.fromkeys((*view.records.domains, *(alias.target for alias in aliases)))
    takers = {domain: rank_candidates(view, domain)[:1] for domain in domains if domain is not None}
    return {domain: best[0].role_id if best else None for domain, best in takers.items()}


def _organization(view: OrgView) -> JsonObject:
    organization = view.records.organization
    document = organization_form(view)
    return {
        "org_id": view.org_id,
        "org_name": organization.name,
        "description": organization.description,
        "mission": document["mission"],
        "mode": organization.mode,
        "document": document,
    }


def _domain(view: OrgView, domain: str) -> JsonObject:
    record = view.records.domains[domain].record
    return {
        "aliases": [word for word, alias in view.records.aliases.items() if alias.target == domain],
        "broader": list(view.domain_and_broader(domain)[1:]),
        "passthrough": record.passthrough,
        "examples": list(record.examples),
        "triggers": list(record.triggers),
    }


def _role(view: OrgView, manifest: v1.RoleManifest, names: HostNames) -> JsonObject:
    role_id = manifest.role_id
    profile = view.records.posts[role_id].profile
    items = (*manifest.tools, *manifest.essential_tools)
    essential = names.essential(view, role_id)
    usable = [names.of(item.id) for item in items if item.allowed_actions]
    host_tools = list(dict.fromkeys([*usable, *essential]))
    rows = what_can(view, f"role:{role_id}", kinds=("role",))
    delegates_to = [
        row.resource.partition(":")[2] for row in rows if row.outcome == "allow" and "dispatch" in row.actions
    ]
    return {
        "role_id": role_id,
        "role_name": manifest.role_name,
        "role_type": manifest.role_type,
        "description": manifest.description,
        "brief": render_brief(manifest, host_tools, delegates_to),
        "reports_to": view.superiors.get(role_id),
        "chain": [member.id for member in manifest.chain_of_command],
        "subordinates": [member.id for member in manifest.subordinates if view.is_role(member.id)],
        "can_delegate": profile.can_delegate,
        "delegates_to": delegates_to,
        "domains": [domain.id for domain in manifest.domains],
        "plans": [plan.id for plan in manifest.plans],
        "tools": {item.id: _grant(item) for item in items},
        "host_tools": host_tools,
        "essential": essential,
        "pace": _pace(profile),
        "max_turns": profile.doctrine.max_turns_without_progress,
        "doctrine": {name: getattr(profile.doctrine, name) for name in profile.doctrine.__struct_fields__},
        "profile": role_form(view, role_id),
    }


def _grant(item: v1.ToolItem) -> JsonObject:
    return {
        "level": item.level,
        "preferred": item.preference == "primary",
        "actions": {action: action in item.allowed_actions for action in item.actions},
        "ask": list(item.ask_actions),
        "conditional": item.conditional,
    }


def _pace(profile: RoleProfile) -> JsonObject:
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


def _tools(view: OrgView, names: HostNames, roles: Mapping[str, JsonObject]) -> JsonObject:
    essential = {name for role in roles.values() for name in role["essential"]}
    tools: JsonObject = {}
    for name, tool_id in names.tools.items():
        declared = view.records.tools.get(tool_id)
        tools[name] = {
            "tool": tool_id,
            "name": (declared.record.name if declared else "") or tool_id,
            "roles": [role_id for role_id, role in roles.items() if name in role["host_tools"]],
            "essential": name in essential,
        }
    return tools
