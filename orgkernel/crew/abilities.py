"""What a role can do: its plans, tools and skills as items of its manifest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from orgkernel.crew import v1
from orgkernel.decisions.reasons import Why, why_edge, why_place
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import Edge
from orgkernel.records.levels import LETTERS, LEVELS, ToolLevel
from orgkernel.records.plan_catalog import Step


def plan_item(view: OrgView, edge: Edge, equipped: frozenset[str]) -> v1.PlanItem:
    """A plan the role follows, and whether the role is equipped for it."""
    declared = view.records.plans.get(edge.target)
    plan = declared.record if declared else None
    missing = tuple(each for each in view.tools_needed_by(edge.target) if each.target not in equipped)
    return v1.PlanItem(
        id=edge.target,
        name=(plan.name if plan else "") or edge.target,
        description=plan.description if plan else "",
        domains=tuple(served.target for served in view.domains_served_by(edge.target)),
        steps=tuple(step.step if isinstance(step, Step) else step for step in (plan.steps if plan else ())),
        runnable=plan is not None and not missing,
        missing_tools=tuple(needed.target for needed in missing),
        stale_after_turns=plan.stale_after_turns if plan else None,
        why=(why_edge(edge), *map(why_edge, missing)),
    )


def tool_item(view: OrgView, edge: Edge) -> v1.ToolItem:
    """A tool the role is equipped with."""
    preference, _, level = edge.attribute.partition(":")
    return _item(view, edge.target, preference, level, "role binding", why_edge(edge))


def _item(view: OrgView, tool_id: str, preference: Any, level: Any, decided_by: str, why: Why) -> v1.ToolItem:
    """A tool at a level. Besides who says so it is the same for every role, so the rest is put together once."""
    item = view.remember(
        ("tool item", tool_id, preference, level, decided_by),
        lambda: _build_item(view, tool_id, preference, level, decided_by),
    )
    # Mappings can be changed by whoever gets them: each item has its own.
    return replace(item, why=(why,), actions=dict(item.actions), names=dict(item.names))


def _build_item(view: OrgView, tool_id: str, preference: Any, level: Any, decided_by: str) -> v1.ToolItem:
    declared = view.records.tools.get(tool_id)
    tool = declared.record if declared else None
    actions = tool.required_levels if tool else {}
    return v1.ToolItem(
        id=tool_id,
        name=(tool.name if tool else "") or tool_id,
        description=tool.description if tool else "",
        type=tool.type if tool else None,
        provider=tool.provider if tool else "",
        side_effects=tool.side_effects if tool else None,
        level=level,
        letters=LETTERS[level],
        preference=preference,
        actions=dict(actions),
        allowed_actions=tuple(name for name, needed in actions.items() if _suffices(level, needed)),
        falls_back_to=tool.falls_back_to if tool else (),
        names=dict(tool.names) if tool else {},
        input_schema=tool.input_schema if tool else None,
        decided_by=decided_by,
        why=(),
    )


def _suffices(level: ToolLevel, needed: ToolLevel) -> bool:
    return LEVELS.index(level) >= LEVELS.index(needed)


def essential_tools(view: OrgView, essential: Sequence[str], tools: Sequence[Edge]) -> Iterator[v1.ToolItem]:
    """Tools the role always has although its profile does not list them."""
    listed = {edge.target for edge in tools}
    for tool_id in essential:
        if tool_id not in listed:
            why = why_place(
                f"tool {tool_id} is essential", view.records.tools[tool_id].place("essential", key=True)
            )
            yield _item(view, tool_id, "essential", "full", "essential tool", why)


def skill_item(view: OrgView, edge: Edge) -> v1.SkillItem:
    """A skill the role requires."""
    declared = view.records.skills.get(edge.target)
    skill = declared.record if declared else None
    need, _, step = edge.attribute.partition(":")
    scale = view.records.proficiency_scale
    return v1.SkillItem(
        id=edge.target,
        name=(skill.name if skill else "") or edge.target,
        description=skill.description if skill else "",
        category=skill.category if skill else None,
        min_proficiency=int(step),
        proficiency_name=scale[int(step) - 1] if scale else None,
        optional=need == "optional",
        why=(why_edge(edge),),
    )
