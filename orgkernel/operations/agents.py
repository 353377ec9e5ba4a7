"""Change the state of agents: rank, trust, lifecycle, test results. The roster declares agents, the store has their state.

The first change adds an agent of the roster to the store. Each change needs a right over the agent, so nobody changes
their own state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orgkernel.decisions.state_view import AgentState, Lifecycle, QualificationResult
from orgkernel.diagnostics import Diagnostic
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.errors import Refused, UnknownAgent, UnknownRecord
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.authority import require_authority
from orgkernel.operations.context import Context
from orgkernel.operations.rights import UNKNOWN_NAME, Right, noted_in
from orgkernel.snapshots.snapshot import OrgSnapshot

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store


def add_agent(
    context: Context,
    agent_id: str,
    *,
    rank: str | None = None,
    trust: float | None = None,
    lifecycle: Lifecycle = "active",
    org: str | None = None,
    reason: str = "",
) -> AgentState:
    """Add an agent that a roster declares, or will; raises `Refused`, and `Conflict` when it is there already."""
    store = noted_in(context, _right_over(context, org, agent_id, f"add {_named(agent_id)}", "add itself"))
    if rank is not None:
        _require_rank(context.kernel, org, rank)
    return store.agents.add(
        agent_id, actor=context.actor.name, rank=rank, trust=trust, lifecycle=lifecycle, reason=reason
    )


def set_rank(
    context: Context, agent_id: str, rank: str, *, org: str | None = None, reason: str = ""
) -> AgentState:
    """Promote or demote an agent; raises `Refused`, `UnknownAgent` and `UnknownRecord`."""
    what, itself = f"change the rank of {_named(agent_id)}", "change its own rank"
    store = noted_in(context, _require_agent(context, org, agent_id, what, itself))
    _require_rank(context.kernel, org, rank)
    _note(store, context, agent_id)
    return store.agents.set_rank(agent_id, rank, actor=context.actor.name, reason=reason)


def set_trust(
    context: Context, agent_id: str, trust: float, *, org: str | None = None, reason: str = ""
) -> AgentState:
    """Note how far an agent is trusted, 0 to 1; raises as `set_rank`."""
    what, itself = f"change the trust of {_named(agent_id)}", "change its own trust"
    store = noted_in(context, _require_agent(context, org, agent_id, what, itself))
    _note(store, context, agent_id)
    return store.agents.set_trust(agent_id, trust, actor=context.actor.name, reason=reason)


def move_agent(
    context: Context, agent_id: str, lifecycle: Lifecycle, *, org: str | None = None, reason: str = ""
) -> AgentState:
    """Suspend, reactivate or decommission; raises as `set_rank`, and `Conflict` for a move that is not allowed."""
    what, itself = f"change the lifecycle of {_named(agent_id)}", "change its own lifecycle"
    store = noted_in(context, _require_agent(context, org, agent_id, what, itself))
    _note(store, context, agent_id)
    return store.agents.move(agent_id, lifecycle, actor=context.actor.name, reason=reason)


def record_result(
    context: Context,
    agent_id: str,
    qualification: str,
    score: float,
    *,
    org: str | None = None,
    reason: str = "",
) -> QualificationResult:
    """Record the score of a test, which is passed from the declared threshold on; raises as `set_rank`."""
    what, itself = f"record a test of {_named(agent_id)}", "record its own test"
    store = noted_in(context, _require_agent(context, org, agent_id, what, itself))
    declared = {
        name: definition.record
        for snapshot in reversed(_snapshots(context.documents, org))
        for name, definition in snapshot.records.qualifications.items()
    }
    if qualification not in declared:
        help = did_you_mean(qualification, declared) or "declare it in a `qualification_catalog`"
        raise Refused(f"there is no qualification {quote(qualification)}", help, UNKNOWN_NAME)
    return store.results.record(
        agent_id, qualification, score=score, passed=score >= declared[qualification].threshold,
        actor=context.actor.name, reason=reason,
    )  # fmt: skip


def list_agents(context: Context) -> tuple[tuple[AgentState, ...], tuple[Diagnostic, ...]]:
    """All agents by id, and where roster and store differ. Stored values win; missing ones are as declared."""
    by_id = declared_agents(context.kernel)
    for each in context.store.agents.list():
        start = by_id.get(each.agent_id, each)
        rank = start.rank if each.rank is None else each.rank
        trust = start.trust if each.trust is None else each.trust
        by_id[each.agent_id] = AgentState(each.agent_id, rank, trust, each.lifecycle)
    drift = () if context.kernel is None else context.kernel.drift()
    return tuple(by_id[agent_id] for agent_id in sorted(by_id)), drift


def declared_agents(kernel: Kernel | None) -> dict[str, AgentState]:
    """The agents of all rosters with their starting values, by id."""
    found: dict[str, AgentState] = {}
    for snapshot in _snapshots(kernel):
        for agent_id, definition in snapshot.records.agents.items():
            found.setdefault(agent_id, AgentState(agent_id, definition.record.rank, definition.record.trust))
    return dict(sorted(found.items()))


def _snapshots(kernel: Kernel | None, org: str | None = None) -> list[OrgSnapshot]:
    """The organization that is named, or all that are served."""
    if kernel is None:
        return []
    served = kernel.state.served.values() if org is None else [kernel.organization(org)]
    return [each.snapshot for each in served]


def _require_agent(context: Context, org: str | None, agent_id: str, what: str, itself: str) -> Right | None:
    """The right over an agent; raises `UnknownAgent` or `UnknownRecord` for one nobody knows, and `Refused`."""
    snapshots = _snapshots(context.kernel, org)
    declared = dict.fromkeys(each for snapshot in snapshots for each in snapshot.records.agents)
    if agent_id not in declared:
        if org is not None and snapshots:
            help = did_you_mean(agent_id, declared) or (f"agents are {listing(declared)}" if declared else "")
            org_id = snapshots[0].org_id
            raise UnknownAgent(f"organization {quote(org_id)} has no agent {quote(agent_id)}", help)
        stored = [each.agent_id for each in context.store.agents.list()]
        if agent_id not in stored:
            help = (
                did_you_mean(agent_id, [*declared, *stored])
                or "list all with `orgkernel agent list`, or add one with `orgkernel agent add`"
            )
            raise UnknownRecord(f"there is no agent {quote(agent_id)}", help)
    return _right_over(context, org, agent_id, what, itself)


def _right_over(context: Context, org: str | None, agent_id: str, what: str, itself: str) -> Right | None:
    org_id = (
        None if org is None or context.kernel is None else context.kernel.organization(org).snapshot.org_id
    )
    return require_authority(context, f"agent:{agent_id}", what, itself=itself, org_id=org_id)


def _named(agent_id: str) -> str:
    return quote(f"agent:{agent_id}")


def _require_rank(kernel: Kernel | None, org: str | None, rank: str) -> None:
    """Raise `Refused` if no ladder declares the rank."""
    ranks = dict.fromkeys(each.id for snapshot in _snapshots(kernel, org) for each in snapshot.records.ranks)
    if kernel is not None and rank not in ranks:
        help = did_you_mean(rank, ranks) or (f"ranks are {listing(ranks)}" if ranks else "")
        raise Refused(f"there is no rank {quote(rank)}", help, UNKNOWN_NAME)


def _note(store: Store, context: Context, agent_id: str) -> None:
    """Add a roster's agent to the store, if nothing is stored about it yet."""
    if store.agents.get(agent_id) is None:
        store.agents.add(agent_id, actor=context.actor.name, reason="declared by the roster")
