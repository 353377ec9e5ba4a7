"""Whether a time, channel, path or lock could change an answer: rows of lists say so (design §6).

An answer is conditional when the kindest circumstances and the unkindest ones would not both lead to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from orgkernel.decisions.access import codes
from orgkernel.decisions.access.cells import LOCK, Cell
from orgkernel.decisions.access.circumstances import words_of
from orgkernel.decisions.access.decision import Outcome
from orgkernel.decisions.access.holders import Holder
from orgkernel.decisions.access.overlay import Overlay
from orgkernel.decisions.access.policies import AccessPolicy
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.access.run import weigh_run
from orgkernel.decisions.access.stored import is_active, level_in
from orgkernel.decisions.access.tables import AccessTables
from orgkernel.decisions.state_view import Grant, Restriction, StateView


def outcome_of(failing: int) -> Outcome:
    """Deny before ask before allow."""
    if not failing:
        return "allow"
    return "ask" if failing == codes.ASK_APPROVAL else "deny"


def find_conditions(
    tables: AccessTables,
    state: StateView,
    holder: Holder,
    cell: Cell,
    request: AccessRequest,
    outcome: Outcome,
) -> tuple[str, ...]:
    """What could change the outcome, each as `KEY:VALUE`; empty where nothing could."""
    policies = [policy for policy in holder.policies if policy.conditions and _concerns(policy, holder, cell)]
    pathless = cell.kind == "tool" and request.resource == cell.resource
    stored = list(_stored_words(tables, state, holder, cell, request, pathless))
    locks = cell.exclusive and request.action != LOCK
    if not policies and not stored and not locks:
        return ()
    best, worst = (
        _weigh(tables, state, holder, cell, request, policies, pathless, kindly=kindly)
        for kindly in (True, False)
    )
    if locks:
        best &= ~codes.LOCKED
        worst |= codes.LOCKED
    if outcome_of(best) == outcome == outcome_of(worst):
        return ()
    moving = [policy for policy in policies if _could_move(policy, holder, cell, request, outcome)]
    words = [
        word
        for policy in moving or policies
        for condition in policy.conditions
        for word in words_of(condition)
    ]
    return tuple(dict.fromkeys((*words, *stored, *([f"lock:{cell.id}"] if locks else ()))))


def _could_move(
    policy: AccessPolicy, holder: Holder, cell: Cell, request: AccessRequest, outcome: Outcome
) -> bool:
    """Whether its beginning or ceasing to match leads away from the outcome."""
    if outcome == "ask":
        return True
    gives_now = _helps(policy, holder, cell) == policy.holds_in(request.context)
    return gives_now if outcome == "allow" else not gives_now


def _concerns(policy: AccessPolicy, holder: Holder, cell: Cell) -> bool:
    """Whether a policy says anything here, or by matching silences a fallback that does."""
    if not policy.decisive:
        return False
    covers = policy.covers(cell.kind, cell.id, cell.tier)
    says = bool(covers) or (covers is False and policy.ceiling) or cell.id in policy.denied
    return says or any(other.fallback for other in holder.policies)


def _stored_words(
    tables: AccessTables, state: StateView, holder: Holder, cell: Cell, request: AccessRequest, pathless: bool
) -> Iterator[str]:
    now = request.context.now
    for key in holder.keys:
        for grant in state.grants.get(key, ()):
            if (
                is_active(grant, tables.org_id, now)
                and level_in(_wide(grant, pathless), cell, None) is not None
            ):
                if grant.channel is not None:
                    yield f"channel:{grant.channel}"
                if grant.session is not None:
                    yield f"session:{grant.session}"
                yield from _globs(grant.resources, cell) if pathless else ()
        for restriction in state.restrictions.get(key, ()):
            if pathless and is_active(restriction, tables.org_id, now):
                yield from _globs(restriction.resources, cell)


def _globs(resources: Sequence[str], cell: Cell) -> Iterator[str]:
    for resource in resources:
        if resource.startswith(f"{cell.resource}:"):
            yield f"path:{resource[len(cell.resource) + 1 :]}"


def _wide(grant: Grant, pathless: bool) -> Grant:
    """A grant as it is in the channel, session and path it asks for."""
    resources = tuple(map(_whole, grant.resources)) if pathless else grant.resources
    return msgspec.structs.replace(grant, channel=None, session=None, resources=resources)


def _whole(resource: str) -> str:
    return ":".join(resource.split(":", 2)[:2]) if resource.startswith("tool:") else resource


def _weigh(
    tables: AccessTables,
    state: StateView,
    holder: Holder,
    cell: Cell,
    request: AccessRequest,
    policies: Sequence[AccessPolicy],
    pathless: bool,
    *,
    kindly: bool,
) -> int:
    """What fails where everything that depends on circumstances helps, or where all of it hurts."""
    grants: dict[str, tuple[Grant, ...]] = {}
    restrictions: dict[str, tuple[Restriction, ...]] = {}
    for key in holder.keys:
        own = state.grants.get(key, ())
        grants[key] = (
            tuple(_wide(grant, pathless) for grant in own)
            if kindly
            else tuple(grant for grant in own if grant.channel is None and grant.session is None)
        )
        restrictions[key] = tuple(
            msgspec.structs.replace(
                each, resources=tuple(name for name in each.resources if name == _whole(name))
            )
            if kindly and pathless
            else each
            for each in state.restrictions.get(key, ())
        )
    assumed = msgspec.structs.replace(
        state, grants=Overlay(grants, state.grants), restrictions=Overlay(restrictions, state.restrictions)
    )
    there = holder.copied()
    if policies:
        there.assume_deciding(_deciding(tables, holder, cell, policies, kindly=kindly))
    path = None if pathless else tables.find(request.resource)[1]
    return weigh_run(tables, assumed, there, cell, request.action, path, request)[0]


def _deciding(
    tables: AccessTables, holder: Holder, cell: Cell, depending: Sequence[AccessPolicy], *, kindly: bool
) -> tuple[AccessPolicy, ...]:
    """The policies that would decide at the best or at the worst; a fallback counts where it could."""
    always = [policy for policy in holder.policies if policy.decisive and not policy.conditions]
    chosen = [policy for policy in always if not policy.fallback]
    moved = [policy for policy in depending if _helps(policy, holder, cell) == kindly]
    chosen += (policy for policy in moved if not policy.fallback)
    certain = any(not policy.fallback for policy in always)
    fallbacks = [policy for policy in (*always, *moved) if policy.fallback]
    if not certain:
        silenced = any(not policy.fallback for policy in depending)
        chosen += (
            policy
            for policy in fallbacks
            if _helps(policy, holder, cell) == kindly or (not silenced and policy in always)
        )
    return tuple(sorted(set(chosen), key=lambda policy: policy.number))


def _helps(policy: AccessPolicy, holder: Holder, cell: Cell) -> bool:
    """Whether a policy gives here, and takes nothing."""
    if policy.effect != "allow" or cell.id in policy.denied:
        return False
    covers = policy.covers(cell.kind, cell.id, cell.tier)
    return bool(covers) or not policy.ceiling
