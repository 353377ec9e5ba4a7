"""Backstage: `catalog-info.yaml` with a System, a Group and an AiResource for each role, skills, and MCP servers as APIs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Any

from orgkernel.exchange.a2a.cards import is_address
from orgkernel.exchange.agents.pages import render_yaml_lines
from orgkernel.exchange.exported import ConvertedFiles, Loss
from orgkernel.exchange.marks import render_mark
from orgkernel.exchange.role_losses import find_role_losses
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind

TARGET = "backstage"
CATALOG_FILE = "catalog-info.yaml"
COVERS = (
    "the organization",
    "roles and their superiors",
    "skills that are written as instructions",
    "MCP servers with an address",
)
EXPRESSED = frozenset({"chain_of_command.reports_to"})
"""Fields of a profile that a role's entities contain, besides its name and description."""
_WHY = {"domains": "Backstage has no routing of work"}
ID = "orgkernel/id"
_VERSION = "backstage.io/v1alpha1"
# Backstage requires a lifecycle, which no document declares.
_LIFECYCLE = "unknown"
_NAME = re.compile(r"[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)*")
_SEPARATORS = re.compile(r"[^A-Za-z0-9]+")
_MAX_NAME_LENGTH, _DIGITS = 63, 8
CatalogEntity = dict[str, Any]


def export_backstage(view: OrgView) -> ConvertedFiles:
    """The entities, each a document of one file. The same documents always give the same bytes."""
    lines = [f"# {render_mark(view.org_id, TARGET)}"]
    for entity in _build_entities(view):
        lines += ["---", *(line for line, _ in render_yaml_lines(entity))]
    text = "\n".join(lines) + "\n"
    return ConvertedFiles({CATALOG_FILE: text}, COVERS, tuple(_list_losses(view)))


def map_names(ids: Iterable[str]) -> dict[str, str]:
    """Map each id to a unique Backstage name: the id itself if it is a valid name.

    Backstage names are case-insensitive.

    >>> map_names(["codegen_xo", "_odd__id"])
    {'codegen_xo': 'codegen_xo', '_odd__id': 'odd-id-b82267ba'}
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    for each in ids:
        name = each
        if not _NAME.fullmatch(each) or len(each) > _MAX_NAME_LENGTH or each.lower() in taken:
            plain = _SEPARATORS.sub("-", each)[: _MAX_NAME_LENGTH - _DIGITS - 1].strip("-")
            digest = hashlib.sha256(each.encode()).hexdigest()[:_DIGITS]
            name = f"{plain}-{digest}" if plain else digest
        names[each] = name
        taken.add(name.lower())
    return names


def _build_entities(view: OrgView) -> Iterator[CatalogEntity]:
    records = view.records
    organization = records.organization
    roles = map_names(view.roles)
    skills = map_names(records.cognitive_skills)
    system = map_names([view.org_id])[view.org_id]
    roots = [role_id for role_id in view.list_roots() if role_id in roles]
    owner = f"group:{roles[roots[0]] if roots else system}"
    yield _build_entity(
        "System", system, view.org_id, organization.name, organization.description, {"owner": owner}
    )
    for role_id, name in roles.items():
        profile = records.posts[role_id].profile
        superior = view.get_superior(role_id)
        spec: CatalogEntity = {
            "type": "role",
            "profile": {"displayName": profile.name},
            "children": [roles[each] for each in view.subordinates.get(role_id, ()) if each in roles],
        }
        if superior in roles:
            spec["parent"] = roles[superior]
        yield _build_entity("Group", name, role_id, profile.name, profile.description, spec)
        agent = {"type": "ai-agent", "lifecycle": _LIFECYCLE, "owner": f"group:{name}", "system": system}
        yield _build_entity("AiResource", name, role_id, profile.name, profile.description, agent)
    yield from _build_skills(view, roles, skills, system, owner)
    tools = {tool_id: each.record for tool_id, each in records.tools.items()}
    servers = [
        tool_id for tool_id, tool in tools.items() if tool.type == "mcp_server" and is_address(tool.provider)
    ]
    for tool_id, name in map_names(servers).items():
        tool = tools[tool_id]
        server = {
            "type": "mcp-server",
            "lifecycle": _LIFECYCLE,
            "owner": owner,
            "system": system,
            "remotes": [{"type": "streamable-http", "url": tool.provider}],
        }
        yield _build_entity("API", name, tool_id, tool.name, tool.description, server)


def _build_skills(
    view: OrgView, roles: dict[str, str], skills: dict[str, str], system: str, owner: str
) -> Iterator[CatalogEntity]:
    # An agent and a skill are of one kind, so a skill that has the name of a role gets another one.
    taken = {name.lower() for name in roles.values()}
    for skill_id, plain in skills.items():
        name = f"{plain[: _MAX_NAME_LENGTH - 6]}-skill" if plain.lower() in taken else plain
        skill = view.records.cognitive_skills[skill_id].record
        agents = [roles[each] for each in view.list_sources_to(EdgeKind.KNOWS, skill_id) if each in roles]
        spec: CatalogEntity = {"type": "skill", "lifecycle": _LIFECYCLE, "owner": owner, "system": system}
        spec |= {"agents": list(dict.fromkeys(agents))} if agents else {}
        for key, field_text in (("license", skill.license), ("compatibility", skill.compatibility), ("allowedTools", skill.allowed_tools)):  # fmt: skip
            if field_text:
                spec[key] = field_text
        yield _build_entity("AiResource", name, skill_id, skill.name, skill.description, spec)


def _build_entity(
    kind: str, name: str, our_id: str, title: str, description: str, spec: CatalogEntity
) -> CatalogEntity:
    metadata: CatalogEntity = {"name": name}
    if title:
        metadata["title"] = title
    if description:
        metadata["description"] = description
    metadata["annotations"] = {ID: our_id}
    return {"apiVersion": _VERSION, "kind": kind, "metadata": metadata, "spec": spec}


def _list_losses(view: OrgView) -> Iterator[Loss]:
    records = view.records
    tools = [each.record for each in records.tools.values()]
    mapped = sum(name != each for each, name in map_names(view.roles).items())
    counted = (
        (
            "role ids that are not valid names in Backstage",
            f"they are changed; the annotation `{ID}` contains the id",
            mapped,
        ),
        (
            "tools without an address",
            "only MCP servers whose `provider` is an address become APIs",
            sum(not (tool.type == "mcp_server" and is_address(tool.provider)) for tool in tools),
        ),
        (
            "skills of the catalog",
            "only skills that are written as instructions are resources",
            len(records.skills),
        ),
        ("access policies", "Backstage has no permissions for tools", len(records.policies)),
        ("agents", "an AiResource describes a role, not the agents that fill it", len(records.agents)),
    )
    yield from (Loss(what, why, count) for what, why, count in counted if count)
    yield from find_role_losses(
        view, expressed=EXPRESSED, why=_WHY, otherwise="Backstage has no field for it"
    )
    yield Loss("lifecycle", f"Backstage requires one, and no document has it: it is `{_LIFECYCLE}`")
