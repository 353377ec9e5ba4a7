"""The effective permissions of a holder on a tool: the level left after all layers, and the layer that decided.

Every action that an item lists as allowed is allowed by the access decision in the same circumstances: the items show the
rows of the decision's own list (design §1, promise 2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from orgkernel.decisions.access.decide import ask
from orgkernel.decisions.access.evaluation import Evaluation, evaluate
from orgkernel.decisions.access.listing import what_can
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.access.resource import Resource
from orgkernel.decisions.access.subject import Subject
from orgkernel.decisions.access.tables import tables_of
from orgkernel.decisions.reasons import why_place
from orgkernel.decisions.state_view import StateView
from orgkernel.graph.questions import OrgView
from orgkernel.manifest import v1
from orgkernel.records.levels import LETTERS, LEVELS
from orgkernel.runtime.utc import as_utc


def _decisive(evaluation: Evaluation) -> str:
    """The layer that decided the level: the one that granted it, or the one that took the rest."""
    notes, stopping = evaluation.trace or [], evaluation.tables.order.stopping
    left = evaluation.left
    if left == evaluation.granted:
        found = (note.layer.name for note in notes if note.granted == left)
    else:
        found = (
            note.layer.name for note in notes if (0 if note.failing & stopping else note.ceiling) <= left
        )
    return next(found, notes[-1].layer.name)


def _capping(evaluation: Evaluation) -> tuple[str, ...]:
    """The layers that took something."""
    order = evaluation.tables.order
    found = []
    top, failed = len(LEVELS) - 1, 0
    for note in evaluation.trace or ():
        stops = note.failing & ~failed & (order.stopping | order.asking)
        if note.ceiling < top or stops:
            found.append(note.layer.name)
        top, failed = note.ceiling, note.failing
    return tuple(found)


def effective_item(
    view: OrgView, item: v1.ToolItem, holder: Subject, state: StateView, context: AccessContext
) -> v1.ToolItem:
    """A bound tool with its effective level."""
    tables = tables_of(view)
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
        allowed_actions=_in_order(tool, [row.actions for row in rows if row.outcome == "allow"]),
        ask_actions=_in_order(tool, [row.actions for row in rows if row.outcome == "ask"]),
        decided_by=item.decided_by
        if level == item.level and not evaluation.failing
        else _decisive(evaluation),
        capped_by=_capping(evaluation),
        grants=_held(evaluation),
        conditional="; ".join(dict.fromkeys(each for row in rows for each in row.conditions)) or None,
    )


def _is_touched(view: OrgView, holder: Subject, tool: Resource, state: StateView) -> bool:
    """Whether a layer other than the binding applies. For most tools of most roles none does."""
    limits = view.records.organization.limits
    return bool(
        tool.departments
        or tool.restricted_to
        or tool.rank_levels
        or tool.qualifications
        or tool.exclusive
        or not tool.enabled
        or holder.policies
        or any(key in state.grants or key in state.restrictions for key in holder.keys)
        or (holder.is_agent and state.agents)
        or (tool.delegating and (holder.is_worker or not (limits.max_spawn_depth and limits.max_children and limits.max_concurrent)))
    )  # fmt: skip


def _in_order(tool: Resource, groups: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Actions in the order that the tool declares, without taking the lock."""
    found = {action for group in groups for action in group}
    declared = () if tool.tool is None else tool.tool.required_levels
    return tuple(action for action in declared if action in found)


def _held(evaluation: Evaluation) -> tuple[v1.HeldGrant, ...]:
    return tuple(
        v1.HeldGrant(id=each.grant_id, level=each.level, expires_at=as_utc(each.expires_at))
        for each in evaluation.given.grants
    )


def granted_tools(
    view: OrgView, holder: Subject, state: StateView, context: AccessContext, listed: frozenset[str]
) -> tuple[str, ...]:
    """Tools that a holder has only by stored grants."""
    if not any(key in state.grants for key in holder.keys):
        return ()
    asked = AccessRequest(holder.subject, "", "", context)
    rows = what_can(view, holder.subject, request=asked, state=state)
    tools = (row.resource.partition(":")[2] for row in rows if row.outcome != "deny")
    return tuple(tool for tool in dict.fromkeys(tools) if tool not in listed)


def requestable(
    view: OrgView, holder: Subject, state: StateView, context: AccessContext, wanted: Iterable[str]
) -> Iterator[v1.RequestableTool]:
    """The tools among these that a grant would allow: only grantable reasons stand against them."""
    tables = tables_of(view)
    order = tables.order
    missing = order.codes["NOT_BOUND_TO_ROLE"].bit
    liftable = sum(order.waivable.values()) | missing | order.asking
    for tool_id in wanted:
        asked = ask(tables, AccessRequest(holder.subject, "use", f"tool:{tool_id}", context), state)
        if asked.resource.unknown:
            continue
        failing = evaluate(asked).failing
        if failing and not failing & ~liftable:
            waives = tuple(sorted(name for name, bit in order.waivable.items() if failing & bit))
            definition = view.records.tools[tool_id]
            why = why_place(f"tool {tool_id} is declared", definition.place())
            yield v1.RequestableTool(id=tool_id, level=LEVELS[asked.required], waives=waives, why=(why,))
