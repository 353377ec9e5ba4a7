"""The abilities of a role or an agent: its plans, tools and skills as items of its manifest, each tool with its
effective level.

The items use the rows of the access decision's own list, so every action that an item lists as allowed is allowed by
the decision in the same circumstances.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from orgkernel.decisions.access.decide import ask
from orgkernel.decisions.access.evaluation import Evaluation, evaluate
from orgkernel.decisions.access.layers.grants import list_counting_grants
from orgkernel.decisions.access.listing import what_can
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.access.resource import FULL, Resource
from orgkernel.decisions.access.stored import is_stored_about
from orgkernel.decisions.access.subject import Subject
from orgkernel.decisions.access.tables import get_access_tables
from orgkernel.decisions.evidence.state_records import ToolUsage
from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.decisions.reasons import Why, cite_edge, cite_place
from orgkernel.documents.records import LETTERS, LEVELS, PlanStep, ToolLevel
from orgkernel.graph.memo import per_view_and_key
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import Edge
from orgkernel.manifest import v1
from orgkernel.runtime.url_secrets import mask_urls
from orgkernel.runtime.utc import as_utc

NOWHERE = AccessContext()
"""A context without any stated circumstances."""

# The size of the cache: hundreds of tools times a dozen ways of having each.
_ITEMS_KEPT = 10_000


class Abilities(NamedTuple):
    """The abilities of a role."""

    plans: tuple[v1.PlanItem, ...]
    tools: tuple[v1.ToolItem, ...]
    essential: tuple[v1.ToolItem, ...]
    requestable: tuple[v1.RequestableTool, ...]


def build_role_abilities(
    view: OrgView,
    role_id: str,
    tools: Sequence[Edge],
    essential: Sequence[str],
    state: StateView,
    context: AccessContext,
) -> Abilities:
    """The plans and tools of a role, with the effective level of each tool. A plan is runnable if its tools can be used."""
    holder = get_access_tables(view).find_subject(f"role:{role_id}")
    # An undeclared tool is an error for the role, and has no effect.
    bound = [build_tool_item(view, edge) for edge in tools if edge.target in view.records.tools]
    always = list(build_essential_items(view, essential, tools))
    if holder is not None:
        listed = frozenset(item.id for item in (*bound, *always))
        given = find_granted_tools(view, holder, state, context, listed)
        bound += (build_granted_item(view, tool_id) for tool_id in given)
        bound = [build_effective_item(view, item, holder, state, context) for item in bound]
        always = [build_effective_item(view, item, holder, state, context) for item in always]
    usable = frozenset(
        item.id
        for item in (*bound, *always)
        if item.allowed_actions or item.ask_actions or item.conditional or not item.actions
    )
    plans = tuple(build_plan_item(view, edge, usable) for edge in view.list_plans(role_id))
    wanted = dict.fromkeys(item.id for item in bound if item.id not in usable)
    wanted.update((tool, None) for plan in plans for tool in plan.missing_tools)
    asks = () if holder is None else tuple(find_requestable_tools(view, holder, state, context, wanted))
    return Abilities(plans, tuple(bound), tuple(always), asks)


def build_granted_item(view: OrgView, tool_id: str) -> v1.ToolItem:
    """A tool that the role has only through a stored grant."""
    return _build_item(
        view, tool_id, "granted", "none", "grants and restrictions",
        cite_place(f"tool {tool_id} is declared", view.records.tools[tool_id].place()),
    )  # fmt: skip


def build_plan_item(view: OrgView, edge: Edge, equipped: frozenset[str]) -> v1.PlanItem:
    """A plan that the role follows, and whether the role is equipped for it."""
    declared = view.records.plans.get(edge.target)
    plan = declared.record if declared else None
    missing = tuple(each for each in view.list_tools_needed_by(edge.target) if each.target not in equipped)
    return v1.PlanItem(
        id=edge.target,
        name=(plan.name if plan else "") or edge.target,
        description=plan.description if plan else "",
        domains=tuple(served.target for served in view.list_domains_served_by(edge.target)),
        steps=tuple(
            step.step if isinstance(step, PlanStep) else step for step in (plan.steps if plan else ())
        ),
        runnable=plan is not None and not missing,
        missing_tools=tuple(needed.target for needed in missing),
        stale_after_turns=plan.stale_after_turns if plan else None,
        why=(cite_edge(edge), *map(cite_edge, missing)),
    )


def build_tool_item(view: OrgView, edge: Edge) -> v1.ToolItem:
    """A tool that the role is equipped with."""
    preference, _, level = edge.attribute.partition(":")
    return _build_item(view, edge.target, preference, level, "role binding", cite_edge(edge))


def _build_item(
    view: OrgView, tool_id: str, preference: Any, level: Any, decided_by: str, why: Why
) -> v1.ToolItem:
    """A tool at a level. Only its `why` differs between roles, so the rest is cached."""
    item = _get_shared_item(view, (tool_id, preference, level, decided_by))
    # Callers can change mappings, so each item gets its own.
    return replace(item, why=(why,), actions=dict(item.actions), names=dict(item.names))


@per_view_and_key(most=_ITEMS_KEPT)
def _get_shared_item(view: OrgView, entry: tuple[str, Any, Any, str]) -> v1.ToolItem:
    tool_id, preference, level, decided_by = entry
    declared = view.records.tools.get(tool_id)
    tool = declared.record if declared else None
    actions = tool.required_levels if tool else {}
    return v1.ToolItem(
        id=tool_id,
        name=(tool.name if tool else "") or tool_id,
        description=tool.description if tool else "",
        type=tool.type if tool else None,
        provider=mask_urls(tool.provider) if tool else "",
        side_effects=tool.side_effects if tool else None,
        level=level,
        letters=LETTERS[level],
        preference=preference,
        actions=dict(actions),
        allowed_actions=tuple(name for name, needed in actions.items() if _is_sufficient(level, needed)),
        falls_back_to=tool.falls_back_to if tool else (),
        names=dict(tool.names) if tool else {},
        input_schema=tool.input_schema if tool else None,
        decided_by=decided_by,
        why=(),
    )


def _is_sufficient(level: ToolLevel, needed: ToolLevel) -> bool:
    return LEVELS.index(level) >= LEVELS.index(needed)


def build_essential_items(
    view: OrgView, essential: Sequence[str], tools: Sequence[Edge]
) -> Iterator[v1.ToolItem]:
    """Tools that the role always has, although its profile does not list them."""
    listed = {edge.target for edge in tools}
    for tool_id in essential:
        if tool_id not in listed:
            why = cite_place(
                f"tool {tool_id} is essential", view.records.tools[tool_id].place("essential", key=True)
            )
            yield _build_item(view, tool_id, "essential", "full", "essential tool", why)


def build_skill_item(view: OrgView, edge: Edge, levels: Mapping[str, int] | None = None) -> v1.SkillItem:
    """A skill that the role requires. With the levels of an agent, it also has the agent's level and the gap."""
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
        held_proficiency=None if levels is None else levels.get(edge.target),
        gap=None if levels is None else max(0, int(step) - levels.get(edge.target, 0)),
        why=(cite_edge(edge),),
    )


def _find_deciding_layer(evaluation: Evaluation) -> str:
    """The layer that decided the level: the one that granted it, or the one that lowered it."""
    notes, stopping = evaluation.trace or [], evaluation.tables.order.stopping
    left = evaluation.left
    if left == evaluation.granted:
        layer_names = (note.layer.name for note in notes if note.granted == left)
    else:
        layer_names = (
            note.layer.name for note in notes if (0 if note.failing & stopping else note.ceiling) <= left
        )
    return next(layer_names, notes[-1].layer.name)


def _find_capping_layers(evaluation: Evaluation) -> tuple[str, ...]:
    """The layers that lowered the level."""
    order = evaluation.tables.order
    layer_names = []
    top, failed = len(LEVELS) - 1, 0
    for note in evaluation.trace or ():
        stops = note.failing & ~failed & (order.stopping | order.asking)
        if note.ceiling < top or stops:
            layer_names.append(note.layer.name)
        top, failed = note.ceiling, note.failing
    return tuple(layer_names)


def build_effective_item(
    view: OrgView, item: v1.ToolItem, holder: Subject, state: StateView, context: AccessContext
) -> v1.ToolItem:
    """A bound tool with its effective level."""
    tables = get_access_tables(view)
    tool, _ = tables.find(f"tool:{item.id}")
    if tool.unknown or not _is_touched(view, holder, tool, state):
        return item
    evaluation = ask(tables, AccessRequest(holder.subject, "use", tool.resource, context), state)
    evaluation.trace = []
    evaluate(evaluation)
    rows = what_can(
        view, holder.subject, request=AccessRequest(holder.subject, "", tool.resource, context), state=state
    )
    level = LEVELS[evaluation.left]
    return replace(
        item,
        level=level,
        letters=LETTERS[level],
        declared_level=LEVELS[holder.bound.get(tool.resource, 0)],
        allowed_actions=_sort_actions(tool, [row.actions for row in rows if row.outcome == "allow"]),
        ask_actions=_sort_actions(tool, [row.actions for row in rows if row.outcome == "ask"]),
        conditional_actions=_sort_actions(
            tool, [row.actions for row in rows if row.outcome in ("conditional", "deny")]
        ),
        decided_by=item.decided_by
        if level == item.level and not evaluation.failing
        else _find_deciding_layer(evaluation),
        capped_by=_find_capping_layers(evaluation),
        grants=_build_held_grants(evaluation),
        conditional="; ".join(dict.fromkeys(each for row in rows for each in row.conditions)) or None,
    )


def _is_touched(view: OrgView, holder: Subject, tool: Resource, state: StateView) -> bool:
    """Whether a layer other than the role binding applies. For most tools of most roles none does."""
    limits = view.records.organization.limits
    return bool(
        tool.departments
        or tool.restricted_to
        or tool.rank_levels
        or tool.qualifications
        or tool.exclusive
        or tool.has_file_scope
        or not tool.enabled
        or (tool.resource in holder.essential and holder.bound.get(tool.resource, FULL) < FULL)
        or holder.policies
        or is_stored_about(state, holder.keys, tool)
        or (holder.is_agent and state.agents)
        or (tool.delegating and (holder.is_worker or not (limits.max_spawn_depth and limits.max_children and limits.max_concurrent)))
    )  # fmt: skip


def _sort_actions(tool: Resource, groups: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """The actions in the order of the tool's declaration, with `lock` last."""
    actions = {action for group in groups for action in group}
    return tuple(action for action in tool.actions if action in actions)


def _build_held_grants(evaluation: Evaluation) -> tuple[v1.HeldGrant, ...]:
    return tuple(
        v1.HeldGrant(id=each.grant_id, level=each.level, expires_at=as_utc(each.expires_at))
        for each in (list_counting_grants(evaluation) if evaluation.given.grants else ())
    )


def find_granted_tools(
    view: OrgView, holder: Subject, state: StateView, context: AccessContext, listed_tools: frozenset[str]
) -> tuple[str, ...]:
    """Tools that a holder has only through stored grants, now or in other circumstances."""
    if not any(key in state.grants for key in holder.keys):
        return ()
    request = AccessRequest(holder.subject, "", "", context)
    rows = what_can(view, holder.subject, request=request, state=state)
    tools = (row.resource.partition(":")[2] for row in rows)
    return tuple(tool for tool in dict.fromkeys(tools) if tool not in listed_tools)


def find_requestable_tools(
    view: OrgView, holder: Subject, state: StateView, context: AccessContext, tool_ids: Iterable[str]
) -> Iterator[v1.RequestableTool]:
    """The tools among these that a grant would allow, because only failures that a grant can remove stand against them."""
    tables = get_access_tables(view)
    order = tables.order
    missing = order.codes["NOT_BOUND_TO_ROLE"].bit
    liftable = sum(order.waivable.values()) | missing | order.asking
    for tool_id in tool_ids:
        evaluation = ask(tables, AccessRequest(holder.subject, "use", f"tool:{tool_id}", context), state)
        if evaluation.resource.unknown:
            continue
        failing = evaluate(evaluation).failing
        if failing and not failing & ~liftable:
            waives = tuple(sorted(name for name, bit in order.waivable.items() if failing & bit))
            definition = view.records.tools[tool_id]
            why = cite_place(f"tool {tool_id} is declared", definition.place())
            yield v1.RequestableTool(id=tool_id, level=LEVELS[evaluation.required], waives=waives, why=(why,))


def note_use(
    items: tuple[v1.ToolItem, ...],
    agents: Iterable[str],
    state: StateView,
    usage: Iterable[ToolUsage] = (),
    *,
    is_complete: bool = False,
) -> tuple[v1.ToolItem, ...]:
    """The tools with what is recorded about their use: calls of the toolbox and the gateway, and tools of episodes.

    Unless the calls are complete, a tool without a recorded one may have been called all the same. A tool that has answered is
    wired.
    """
    called: dict[str, bool] = {}
    for call in usage:
        called[call.tool_id] = called.get(call.tool_id, False) or call.uses > call.failures
    for agent_id in agents:
        for each in state.outcomes.get(agent_id, ()):
            if each.kind == "tool":
                called[each.name] = called.get(each.name, False) or each.successes > 0
    if not called and not is_complete:
        return items
    return tuple(
        replace(
            item,
            used=True if item.id in called else False if is_complete else None,
            wired=True if called.get(item.id) else None,
        )
        for item in items
    )
