"""What the run adds that a subject is part of: delegation, depth, PACE, the lock and the input (design §6).

The envelope starts as the permissions of whoever triggered the run, and each hop may only narrow it. Under
`delegation: strict` the tools of everybody on the path narrow it too.
"""

from __future__ import annotations

from collections.abc import Mapping

from orgkernel.decisions.access import codes
from orgkernel.decisions.access.cells import DISPATCH, ESCALATE, FULL, LEVEL, LOCK, Cell
from orgkernel.decisions.access.evaluate import Recorder, Verdict, level_left, weigh
from orgkernel.decisions.access.holders import Holder
from orgkernel.decisions.access.reported import tier_now
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.access.tables import AccessTables
from orgkernel.decisions.state_view import PaceTier, StateView, ToolLock
from orgkernel.records.access_policies import STAR
from orgkernel.records.levels import ToolLevel
from orgkernel.runtime.tiers import NO_NEW_DISPATCH, NO_NEW_WORK, TIERS


def weigh_run(
    tables: AccessTables,
    state: StateView,
    holder: Holder,
    cell: Cell,
    action: str,
    path: str | None,
    request: AccessRequest,
    recorder: Recorder | None = None,
) -> Verdict:
    """The three values for a request as a whole."""
    context = request.context
    required = cell.required.get(action, 0)
    verdict = weigh(tables, state, holder, cell, action, required, path, context, recorder)
    failing, granted, ceiling, sources, given = verdict
    dispatches = cell.delegating or (cell.kind == "role" and action == DISPATCH)

    if request.on_behalf_of is not None or request.via or request.envelope is not None:
        top, fails = _delegated(tables, state, holder, cell, action, required or FULL, path, request)
        ceiling = min(ceiling, top)
        failing |= fails
    depth = max(context.depth, len(request.via))
    if depth or dispatches:
        limits = tables.view.records.organization.limits
        if depth > limits.max_spawn_depth or (dispatches and depth >= limits.max_spawn_depth):
            ceiling = 0
            failing |= codes.DEPTH_EXCEEDED
        full = context.children >= limits.max_children or context.concurrent >= limits.max_concurrent
        if dispatches and full:
            ceiling = 0
            failing |= codes.CHILD_LIMIT
    if recorder is not None:
        recorder.note("delegation", granted, ceiling, failing)

    tier = tier_now(state, holder, context)
    if tier is not None and _pace_forbids(tier, holder, cell, action, dispatches):
        ceiling = 0
        failing |= codes.PACE_CAP
    if recorder is not None:
        recorder.note("pace", granted, ceiling, failing)
        recorder.note("file and sacred scope", granted, ceiling, failing)
        recorder.note("pre-flight", granted, ceiling, failing)

    if cell.exclusive:
        lock = find_lock(state, tables.org_id, cell, context)
        held = lock is not None and lock.holder == holder.subject
        if not held and (lock is not None or action != LOCK):
            ceiling = 0
            failing |= codes.LOCKED
    if recorder is not None:
        recorder.note("exclusive lock", granted, ceiling, failing)

    if (
        context.input is not None
        and action != LOCK
        and cell.validator is not None
        and not cell.validator.is_valid(context.input)
    ):
        failing |= codes.INPUT_INVALID
    if recorder is not None:
        recorder.note("input", granted, ceiling, failing)
    return failing, granted, ceiling, sources, given


def find_lock(state: StateView, org_id: str, cell: Cell, context: AccessContext) -> ToolLock | None:
    """Who holds an exclusive tool now."""
    lock = state.locks.get(cell.id)
    if (
        lock is None
        or lock.org_id != org_id
        or (lock.expires_at is not None and lock.expires_at <= context.now)
    ):
        return None
    return lock


def _pace_forbids(tier: PaceTier, holder: Holder, cell: Cell, action: str, dispatches: bool) -> bool:
    """In contingent no new dispatch, in emergency no new work; essential tools and escalating stay allowed."""
    if tier not in TIERS:
        raise ValueError(f"no PACE tier {tier}")
    if not holder.is_crew or action == ESCALATE:
        return False
    if dispatches:
        return tier in NO_NEW_DISPATCH
    return tier in NO_NEW_WORK and cell.kind == "tool" and cell.resource not in holder.essential


def _delegated(
    tables: AccessTables,
    state: StateView,
    holder: Holder,
    cell: Cell,
    action: str,
    required: int,
    path: str | None,
    request: AccessRequest,
) -> tuple[int, int]:
    """The ceiling of the delegation, and the bits of what fails by it."""
    ceiling, failing = FULL, 0
    limiting = [request.on_behalf_of] if request.on_behalf_of is not None else []
    strict = tables.view.records.organization.limits.delegation == "strict"
    for subject in (*limiting, *request.via):
        parent = tables.holder(subject)
        if parent is None:
            # INVARIANT: a name that is given and not declared denies, also where it would not narrow anything.
            ceiling = 0
            failing |= codes.UNKNOWN_PRINCIPAL
            continue
        if not (strict or subject in limiting) or is_neutral(tables, parent):
            continue
        if cell.resource in holder.essential:
            continue
        verdict = weigh(tables, state, parent, cell, action, required, path, request.context)
        ceiling = min(ceiling, level_left(verdict))
        if verdict[0] & ~(codes.ASK_APPROVAL | cell.unknown):
            failing |= codes.PARENT_CAP
        failing |= verdict[0] & codes.ASK_APPROVAL
    if request.envelope is not None and cell.resource not in holder.essential:
        passed = level_passed(request.envelope, cell)
        ceiling = min(ceiling, passed)
        if passed < required:
            failing |= codes.PARENT_CAP
    return ceiling, failing


def is_neutral(tables: AccessTables, parent: Holder) -> bool:
    """Whether nothing is declared about what somebody outside the crew may do: no policies are no cap."""
    return not parent.is_crew and not tables.declares_policies


def level_passed(envelope: Mapping[str, ToolLevel], cell: Cell) -> int:
    """What an envelope passes on of a resource; what it does not name it does not pass on."""
    return max(
        (
            LEVEL[level]
            for name, level in envelope.items()
            if name == cell.resource or (name.endswith(STAR) and cell.resource.startswith(name[:-1]))
        ),
        default=0,
    )
