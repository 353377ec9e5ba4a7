"""The entities of Cedar: everything that an organization declares about who may use what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from orgkernel.exchange.cedar.subjects import crew_entities, outside_entities
from orgkernel.exchange.cedar.words import attribute, holders, reference
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import OrgRecords
from orgkernel.graph.schema import EdgeKind
from orgkernel.records.access_policies import DATA_TIERS, STAR
from orgkernel.records.levels import LEVELS
from orgkernel.records.tool_catalog import EssentialFor, Tool

Entity = dict[str, Any]

# Every action requires a level: a subject without a grant may do nothing.
LEAST = LEVELS[1]


def build_entities(view: OrgView) -> Iterator[Entity]:
    """All entities in document order: groups, roles, agents, subjects outside the crew, tools, credentials, data."""
    records = view.records
    yield from _groups(view)
    yield from crew_entities(view)
    yield from outside_entities(records)
    for tool_id in records.tools:
        yield from _tool(view, tool_id)
    for credential in _credentials(records):
        resource = f"credential:{credential}"
        yield _entity("Credential", credential, {"id": credential, "holders": attribute("Group", resource)})
    yield from _data(records)


def _entity(
    kind: str, name: str, attrs: Entity | None = None, parents: Iterable[dict[str, str]] = ()
) -> Entity:
    return {"uid": reference(kind, name), "attrs": attrs or {}, "parents": list(parents)}


def _groups(view: OrgView) -> Iterator[Entity]:
    """A holder of a tool at one level also has the lower levels."""
    for tool_id in view.records.tools:
        lower: list[dict[str, str]] = []
        for level in LEVELS[1:]:
            group = holders(f"tool:{tool_id}", level)
            yield _entity("Group", group, parents=lower)
            lower = [reference("Group", group)]


def _tool(view: OrgView, tool_id: str) -> Iterator[Entity]:
    tool = view.records.tools[tool_id].record
    attrs: Entity = {
        "id": tool_id,
        "enabled": tool.enabled,
        "delegating": isinstance(tool.essential, EssentialFor) and tool.essential.delegating,
        "qualifications": sorted({end for end, _ in view.ends_from(EdgeKind.NEEDS_QUALIFICATION, tool_id)}),
        "essential_for": [attribute("Group", group) for group in _essential_for(tool)],
    }
    if tool.departments:
        attrs["departments"] = [attribute("Department", each) for each in tool.departments]
    if tool.restricted_to:
        attrs["restricted_to"] = list(tool.restricted_to)
    yield _entity("Tool", tool_id, attrs)
    ranks = view.records.rank_levels_of(tool_id)
    for action, level in _required(tool).items():
        about: Entity = {
            "tool": attribute("Tool", tool_id),
            "level": level,
            "holders": attribute("Group", holders(f"tool:{tool_id}", level)),
            "needs_lock": tool.concurrency == "exclusive" and action != "lock",
        }
        if ranks is not None:
            about["ranks"] = [rank for rank, top in ranks.items() if LEVELS.index(top) >= LEVELS.index(level)]
        yield _entity("ToolAction", f"{tool_id}/{action}", about)


def _required(tool: Tool) -> dict[str, str]:
    """Every name for an action of the tool, and the level that it requires."""
    declared = {action: max(level, LEAST, key=LEVELS.index) for action, level in tool.required_levels.items()}
    whole = max(declared.values(), key=LEVELS.index)
    words: dict[str, str] = {"use": whole, "run": whole, **declared}
    if tool.concurrency == "exclusive":
        # Taking the lock needs the lowest level that any action requires.
        words.setdefault("lock", min(declared.values(), key=LEVELS.index))
    return words


def _essential_for(tool: Tool) -> Iterator[str]:
    if isinstance(tool.essential, EssentialFor):
        if tool.essential.delegating:
            yield "delegating"
        yield from (holders(f"tool:{other}", LEAST) for other in tool.essential.with_tools)
    elif tool.essential:
        yield "crew"


def _credentials(records: OrgRecords) -> list[str]:
    """All credentials. A credential is declared when a role, a tool or a policy names it."""
    named = {each for post in records.posts.values() for each in post.profile.credentials}
    named.update(each for tool in records.tools.values() for each in tool.record.credentials)
    for policy in records.policies.values():
        named.update(each for each in policy.record.permissions.credentials or () if each != STAR)
    return sorted(named)


def _data(records: OrgRecords) -> Iterator[Entity]:
    others = {each for post in records.posts.values() for each in post.profile.data}
    for name in (*DATA_TIERS, *sorted(others.difference(DATA_TIERS))):
        tier = DATA_TIERS.index(name) if name in DATA_TIERS else 0
        attrs = {"tier": tier, "level": max(tier, 1), "holders": attribute("Group", f"data:{name}")}
        yield _entity("Data", name, attrs)
