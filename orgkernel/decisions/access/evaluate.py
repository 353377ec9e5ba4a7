"""How an access decision is made (design §6, "Access").

Error policy: fails closed. A name that is given and that nothing declares denies, and so does any error on the way,
with `EVALUATION_ERROR` (policies and governance §3.6).

Three values accumulate for a resource. What is *granted* only grows: role bindings and stored grants give to roles and
agents, allow policies and stored grants to people, system origins and webhooks. The *ceiling* only falls: visibility,
rank, qualification, `ceiling` policies, restrictions, position, delegation, PACE and the lock. What is *stopped* stays
so: a deny or ask policy, and unknown names. Since joins and meets can be taken in any order, the layers are only the
order in which an explanation tells them. A layer nothing is declared for leaves all three as they are.
"""

from __future__ import annotations

from typing import Protocol

from orgkernel.decisions.access import codes
from orgkernel.decisions.access.cells import FULL, Cell
from orgkernel.decisions.access.command import command_sources
from orgkernel.decisions.access.holders import Holder, rank_now
from orgkernel.decisions.access.qualified import missing_qualifications
from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.access.stored import NOTHING_GIVEN, Given, gather_grants, lowest_restriction
from orgkernel.decisions.access.tables import AccessTables
from orgkernel.decisions.state_view import StateView

WORKING = ("active", "probationary")


# The bits of everything that keeps the subject from the level required; what is granted; the ceiling; the bits of what
# grants the level; what stored grants add. A plain tuple: the answer is made a million times a second.
Verdict = tuple[int, int, int, int, Given]


class Recorder(Protocol):
    """What an explanation is told while a decision is made: the state of the values after each layer."""

    def note(self, layer: str, granted: int, ceiling: int, failing: int) -> None:
        """A layer has been passed, and these are the values now."""


STOPPING = (
    codes.UNKNOWN_PRINCIPAL | codes.AGENT_INACTIVE | codes.TOOL_UNKNOWN | codes.CREDENTIAL_UNKNOWN | codes.DATA_UNKNOWN
    | codes.ROLE_UNKNOWN | codes.RESOURCE_UNKNOWN | codes.ACTION_UNKNOWN | codes.TOOL_DISABLED | codes.POLICY_DENY
    | codes.INPUT_INVALID
)  # fmt: skip


def weigh(  # noqa: PLR0915  (one call for each layer would cost more than the layers)
    tables: AccessTables,
    state: StateView,
    holder: Holder,
    cell: Cell,
    action: str,
    required: int,
    path: str | None,
    context: AccessContext,
    recorder: Recorder | None = None,
) -> Verdict:
    """The three values for what a subject brings along, without the run it is part of: also what it can pass on.

    `required` is 0 for an action that the resource does not have.
    """
    resource = cell.resource
    crew = holder.is_crew
    failing = cell.unknown
    ceiling = FULL
    if holder.is_agent:
        stored = state.agents.get(holder.identity.id)
        if stored is not None and stored.lifecycle not in WORKING:
            failing |= codes.AGENT_INACTIVE
    if recorder is not None:
        recorder.note("identity", 0, ceiling, failing & ~cell.unknown)
    if not required:
        failing |= codes.ACTION_UNKNOWN if not cell.unknown else 0
        required = FULL
    if not cell.enabled:
        failing |= codes.TOOL_DISABLED
    if recorder is not None:
        recorder.note("structure", 0, ceiling, failing)

    # Grants are looked up first, because of what they waive, and told last.
    given = NOTHING_GIVEN
    marked = tables.marked
    # Here and not in a function: what is stored for others should cost next to nothing.
    touched = not (holder.unstored is marked[1] and marked[0] is state) and tables.is_stored_for(
        holder, state
    )
    if holder.assumed is not None:
        given = _assumed(tables, state, holder, cell, path, context)
    elif touched:
        given = gather_grants(state.grants, holder.keys, cell, path, tables.org_id, context)
    waived = given[1]
    essential = resource in holder.essential
    capped = crew and cell.is_capped and not essential

    if capped:
        hidden = cell.departments is not None and cell.departments.isdisjoint(holder.departments)
        if hidden and not waived & codes.NOT_VISIBLE:
            ceiling = 0
            failing |= codes.NOT_VISIBLE
        left_out = cell.restricted_to is not None and cell.restricted_to.isdisjoint(holder.names)
        if left_out and not waived & codes.NOT_IN_RESTRICTED_TO:
            ceiling = 0
            failing |= codes.NOT_IN_RESTRICTED_TO
    if recorder is not None:
        recorder.note("visibility", 0, ceiling, failing)

    sources = 0
    if essential:
        granted = FULL
        sources = codes.ESSENTIAL
    else:
        granted = holder.bound.get(resource, 0)
        if granted >= required:
            sources = codes.BOUND
    lacks = 0
    if cell.kind == "role" and not cell.unknown:
        commands = holder.commands.get((action, resource))
        if commands is None:
            commands = command_sources(tables.view, holder.identity, cell.id, action)
            holder.commands[action, resource] = commands
        if commands[0]:
            granted = FULL
            sources = commands[0]
        lacks = commands[1]
    if recorder is not None:
        recorder.note("role binding", granted, ceiling, failing)

    if capped:
        if cell.rank_levels is not None and not waived & codes.RANK_TOO_LOW:
            rank = rank_now(tables.view, state, holder) if holder.is_agent or holder.assumed else holder.rank
            top = cell.rank_levels[rank]
            ceiling = min(ceiling, top)
            if top < required:
                failing |= codes.RANK_TOO_LOW
        if recorder is not None:
            recorder.note("rank", granted, ceiling, failing)
        unqualified = cell.qualifications and missing_qualifications(
            tables.view.records, state, holder, cell, context.now
        )
        if unqualified and not waived & codes.QUALIFICATION_MISSING:
            ceiling = 0
            failing |= codes.QUALIFICATION_MISSING
        if recorder is not None:
            recorder.note("qualification", granted, ceiling, failing)
    elif recorder is not None:
        recorder.note("rank", granted, ceiling, failing)
        recorder.note("qualification", granted, ceiling, failing)

    if holder.policies:
        deciding = holder.deciding
        if deciding is None:
            deciding = holder.policy_set(context)
        allowed, top, stops = deciding.said.get(resource) or deciding.say(cell)
        if not crew:
            if allowed >= required:
                sources |= codes.BY_POLICY
            granted = max(granted, allowed)
        if top < ceiling and not essential:
            ceiling = top
        if top < required and not essential:
            failing |= codes.POLICY_CEILING
        failing |= stops
    if recorder is not None:
        recorder.note("policies", granted, ceiling, failing)

    if given[0]:
        granted = max(granted, given[0])
        if given[0] >= required:
            sources |= codes.BY_GRANT
            # Somebody has been asked.
            failing &= ~codes.ASK_APPROVAL
    if granted < required and not cell.unknown:
        failing |= lacks or (codes.NOT_BOUND_TO_ROLE if crew else codes.NO_POLICY_MATCH)
    if touched and state.restrictions:
        top, _ = lowest_restriction(state.restrictions, holder.keys, cell, path, tables.org_id, context.now)
        ceiling = min(ceiling, top)
        if top < required:
            failing |= codes.RESTRICTED
    if recorder is not None:
        recorder.note("grants and restrictions", granted, ceiling, failing)

    if cell.delegating and holder.is_worker:
        ceiling = 0
        failing |= codes.POSITION_CAP
    if recorder is not None:
        recorder.note("position", granted, ceiling, failing)
    return failing, granted, ceiling, sources, given


def level_left(verdict: Verdict) -> int:
    """What is left: nothing where it is stopped, the lower of granted and ceiling otherwise."""
    return 0 if verdict[0] & STOPPING else min(verdict[1], verdict[2])


def _assumed(
    tables: AccessTables,
    state: StateView,
    holder: Holder,
    cell: Cell,
    path: str | None,
    context: AccessContext,
) -> Given:
    """What is stored for a holder and what a remedy assumes besides."""
    assert holder.assumed is not None
    stored, keys = state.grants, holder.keys
    if holder.assumed.grants:
        first = (*stored.get(keys[0], ()), *holder.assumed.grants)
        stored = {**{key: stored.get(key, ()) for key in keys}, keys[0]: first}
    if any(key in stored for key in keys):
        return gather_grants(stored, keys, cell, path, tables.org_id, context)
    return NOTHING_GIVEN
