"""The abilities of a role: its plans, tools and skills as items of its manifest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.access.tables import tables_of
from orgkernel.decisions.reasons import Why, why_edge, why_place
from orgkernel.decisions.state_view import StateView
from orgkernel.graph.memo import per_view_and_key
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import Edge
from orgkernel.manifest import v1
from orgkernel.manifest.permissions import effective_item, granted_tools, requestable
from orgkernel.records.levels import LETTERS, LEVELS, ToolLevel
from orgkernel.records.plan_catalog import Step

NOWHERE = AccessContext()
"""No known circumstances."""

# Tools times the ways to have them: an organization has hundreds of the one and a dozen of the others.
_ITEMS_KEPT = 10_000


class Abilities(NamedTuple):
    """The abilities of a role."""

    plans: tuple[v1.PlanItem, ...]
    tools: tuple[v1.ToolItem, ...]
    essential: tuple[v1.ToolItem, ...]
    requestable: tuple[v1.RequestableTool, ...]


def role_abilities(
    view: OrgView,
    role_id: str,
    tools: Sequence[Edge],
    essential: Sequence[str],
    state: StateView,
    context: AccessContext,
) -> Abilities:
    """The plans and tools of a role, with the level left of each tool. A plan is runnable if its tools can be used."""
    holder = tables_of(view).subject(f"role:{role_id}")
    bound = [tool_item(view, edge) for edge in tools]
    always = list(essential_tools(view, essential, tools))
    if holder is not None:
        listed = frozenset(item.id for item in (*bound, *always))
        given = granted_tools(view, holder, state, context, listed)
        bound += (granted_item(view, tool_id) for tool_id in given)
        bound = [effective_item(view, item, holder, state, context) for item in bound]
        always = [effective_item(view, item, holder, state, context) for item in always]
    usable = frozenset(
        item.id
        for item in (*bound, *always)
        if item.allowed_actions or item.ask_actions or item.conditional or not item.actions
    )
    plans = tuple(plan_item(view, edge, usable) for edge in view.plans_of(role_id))
    wanted = dict.fromkeys(item.id for item in bound if item.id not in usable)
    wanted.update((tool, None) for plan in plans for tool in plan.missing_tools)
    asks = () if holder is None else tuple(requestable(view, holder, state, context, wanted))
    return Abilities(plans, tuple(bound), tuple(always), asks)


def granted_item(view: OrgView, tool_id: str) -> v1.ToolItem:
    """A tool that only a stored grant gives."""
    return _item(
        view, tool_id, "granted", "none", "grants and restrictions",
        why_place(f"tool {tool_id} is declared", view.records.tools[tool_id].place()),
    )  # fmt: skip


def plan_item(view: OrgView, edge: Edge, equipped: frozenset[str]) -> v1.PlanItem:
    """A plan that the role follows, and whether the role is equipped for it."""
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
    """A tool that the role is equipped with."""
    preference, _, level = edge.attribute.partition(":")
    return _item(view, edge.target, preference, level, "role binding", why_edge(edge))


def _item(view: OrgView, tool_id: str, preference: Any, level: Any, decided_by: str, why: Why) -> v1.ToolItem:
    """A tool at a level. Only its `why` differs between roles, so the rest is built once."""
    item = _shared_item(view, (tool_id, preference, level, decided_by))
    # Callers may change mappings, so each item has its own.
    return replace(item, why=(why,), actions=dict(item.actions), names=dict(item.names))


@per_view_and_key(most=_ITEMS_KEPT)
def _shared_item(view: OrgView, asked: tuple[str, Any, Any, str]) -> v1.ToolItem:
    tool_id, preference, level, decided_by = asked
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
    """Tools that the role always has, although its profile does not list them."""
    listed = {edge.target for edge in tools}
    for tool_id in essential:
        if tool_id not in listed:
            why = why_place(
                f"tool {tool_id} is essential", view.records.tools[tool_id].place("essential", key=True)
            )
            yield _item(view, tool_id, "essential", "full", "essential tool", why)


def skill_item(view: OrgView, edge: Edge) -> v1.SkillItem:
    """A skill that the role requires."""
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
