"""The effective permissions of a holder on a tool: the level left after all layers, and the layer that decided.

Every action that an item lists as allowed is allowed by the access decision in the same circumstances: the items show the
rows of the decision's own list (design §1, promise 2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from orgkernel.decisions.access import codes
from orgkernel.decisions.access.cells import Cell
from orgkernel.decisions.access.evaluate import STOPPING, Verdict, level_left
from orgkernel.decisions.access.holders import Holder
from orgkernel.decisions.access.listing import what_can
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.access.run import weigh_run
from orgkernel.decisions.access.stored import WAIVABLE, WAIVED
from orgkernel.decisions.access.tables import tables_of
from orgkernel.decisions.reasons import why_place
from orgkernel.decisions.state_view import StateView
from orgkernel.graph.questions import OrgView
from orgkernel.manifest import v1
from orgkernel.records.levels import LETTERS, LEVELS
from orgkernel.runtime.utc import as_utc


class _Layers:
    """The level after each layer, recorded during the decision."""

    def __init__(self) -> None:
        self.notes: list[tuple[str, int, int, int]] = []

    def note(self, layer: str, granted: int, ceiling: int, failing: int) -> None:
        self.notes.append((layer, granted, ceiling, failing))

    @property
    def decisive(self) -> str:
        """The layer that decided the level: the one that granted it, or the last one that reduced it."""
        *_, (_, granted, ceiling, failing) = self.notes
        left = 0 if failing & STOPPING else min(granted, ceiling)
        if left == granted:
            return next((layer for layer, given, _, _ in self.notes if given == granted), self.notes[-1][0])
        for layer, _, top, fails in self.notes:
            if (0 if fails & STOPPING else top) <= left:
                return layer
        return self.notes[-1][0]

    @property
    def capping(self) -> tuple[str, ...]:
        """The layers that reduced the level."""
        found = []
        before = (len(LEVELS) - 1, 0)
        for layer, _, ceiling, failing in self.notes:
            if ceiling < before[0] or (failing & ~before[1]) & (STOPPING | codes.ASK_APPROVAL):
                found.append(layer)
            before = ceiling, failing
        return tuple(found)


def effective_item(
    view: OrgView, item: v1.ToolItem, holder: Holder, state: StateView, context: AccessContext
) -> v1.ToolItem:
    """A bound tool with its effective level."""
    tables = tables_of(view)
    cell, _ = tables.find(f"tool:{item.id}")
    if cell.unknown or not _is_touched(view, holder, cell, state):
        return item
    layers = _Layers()
    whole = AccessRequest(holder.subject, "use", cell.resource, context)
    verdict = weigh_run(tables, state, holder, cell, "use", None, whole, layers)
    rows = what_can(
        view, holder.subject, request=AccessRequest(holder.subject, "", cell.resource, context), state=state
    )
    level = LEVELS[level_left(verdict)]
    return replace(
        item,
        level=level,
        letters=LETTERS[level],
        declared_level=LEVELS[holder.bound.get(cell.resource, 0)],
        allowed_actions=_in_order(cell, [row.actions for row in rows if row.outcome == "allow"]),
        ask_actions=_in_order(cell, [row.actions for row in rows if row.outcome == "ask"]),
        decided_by=item.decided_by if level == item.level and not verdict[0] else layers.decisive,
        capped_by=layers.capping,
        grants=_held(verdict),
        conditional="; ".join(dict.fromkeys(each for row in rows for each in row.conditions)) or None,
    )


def _is_touched(view: OrgView, holder: Holder, cell: Cell, state: StateView) -> bool:
    """Whether a layer other than the binding applies. For most tools of most roles none does."""
    limits = view.records.organization.limits
    return bool(
        cell.is_capped
        or cell.exclusive
        or not cell.enabled
        or holder.policies
        or any(key in state.grants or key in state.restrictions for key in holder.keys)
        or (holder.is_agent and state.agents)
        or (cell.delegating and (holder.is_worker or not (limits.max_spawn_depth and limits.max_children and limits.max_concurrent)))
    )  # fmt: skip


def _in_order(cell: Cell, groups: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Actions in the order that the tool declares, without taking the lock."""
    found = {action for group in groups for action in group}
    declared = () if cell.tool is None else cell.tool.required_levels
    return tuple(action for action in declared if action in found)


def _held(verdict: Verdict) -> tuple[v1.HeldGrant, ...]:
    return tuple(
        v1.HeldGrant(id=each.grant_id, level=each.level, expires_at=as_utc(each.expires_at))
        for each in verdict[4].grants
    )


def granted_tools(
    view: OrgView, holder: Holder, state: StateView, context: AccessContext, listed: frozenset[str]
) -> tuple[str, ...]:
    """Tools that a holder has only by stored grants."""
    if not any(key in state.grants for key in holder.keys):
        return ()
    asked = AccessRequest(holder.subject, "", "", context)
    rows = what_can(view, holder.subject, request=asked, state=state)
    tools = (row.resource.partition(":")[2] for row in rows if row.outcome != "deny")
    return tuple(tool for tool in dict.fromkeys(tools) if tool not in listed)


def requestable(
    view: OrgView, holder: Holder, state: StateView, context: AccessContext, wanted: Iterable[str]
) -> Iterator[v1.RequestableTool]:
    """The tools among these that a grant would allow: only grantable reasons stand against them."""
    tables = tables_of(view)
    for tool_id in wanted:
        cell, _ = tables.find(f"tool:{tool_id}")
        if cell.unknown:
            continue
        asked = AccessRequest(holder.subject, "use", cell.resource, context)
        failing = weigh_run(tables, state, holder, cell, "use", None, asked)[0]
        if failing and not failing & ~(WAIVABLE | codes.NOT_BOUND_TO_ROLE | codes.ASK_APPROVAL):
            waives = tuple(sorted(name for name, bit in WAIVED.items() if failing & bit))
            definition = view.records.tools[tool_id]
            why = why_place(f"tool {tool_id} is declared", definition.place())
            yield v1.RequestableTool(
                id=tool_id, level=LEVELS[cell.required["use"]], waives=waives, why=(why,)
            )
