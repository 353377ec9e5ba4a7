"""Change the state of agents: rank, trust, lifecycle, test results. The roster declares agents, the store has their state.

The first change adds an agent of the roster to the store. Agents and roles cannot change their own state.
"""

from __future__ import annotations

from orgkernel.decisions.state_view import AgentState, Lifecycle, QualificationResult
from orgkernel.diagnostics import Diagnostic
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.errors import Refused, UnknownAgent, UnknownRecord
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.context import Context
from orgkernel.operations.rights import UNKNOWN_NAME, refuse_itself
from orgkernel.snapshots.snapshot import OrgSnapshot


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
    refuse_itself(context, f"agent:{agent_id}", "add itself")
    if rank is not None:
        _require_rank(context.kernel, org, rank)
    return context.store.agents.add(
        agent_id, actor=context.actor.name, rank=rank, trust=trust, lifecycle=lifecycle, reason=reason
    )


def set_rank(
    context: Context, agent_id: str, rank: str, *, org: str | None = None, reason: str = ""
) -> AgentState:
    """Promote or demote an agent; raises `Refused`, `UnknownAgent` and `UnknownRecord`."""
    _require_agent(context, org, agent_id, "change its own rank")
    _require_rank(context.kernel, org, rank)
    _note(context, agent_id)
    return context.store.agents.set_rank(agent_id, rank, actor=context.actor.name, reason=reason)


def set_trust(
    context: Context, agent_id: str, trust: float, *, org: str | None = None, reason: str = ""
) -> AgentState:
    """Note how far an agent is trusted, 0 to 1; raises as `set_rank`."""
    _require_agent(context, org, agent_id, "change its own trust")
    _note(context, agent_id)
    return context.store.agents.set_trust(agent_id, trust, actor=context.actor.name, reason=reason)


def move_agent(
    context: Context, agent_id: str, lifecycle: Lifecycle, *, org: str | None = None, reason: str = ""
) -> AgentState:
    """Suspend, reactivate or decommission; raises as `set_rank`, and `Conflict` for a move that is not allowed."""
    _require_agent(context, org, agent_id, "change its own lifecycle")
    _note(context, agent_id)
    return context.store.agents.move(agent_id, lifecycle, actor=context.actor.name, reason=reason)


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
    _require_agent(context, org, agent_id, "record its own test")
    declared = {
        name: definition.record
        for snapshot in reversed(_snapshots(context.documents, org))
        for name, definition in snapshot.records.qualifications.items()
    }
    if qualification not in declared:
        help = did_you_mean(qualification, declared) or "declare it in a `qualification_catalog`"
        raise Refused(f"there is no qualification {quote(qualification)}", help, UNKNOWN_NAME)
    return context.store.results.record(
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


def _require_agent(context: Context, org: str | None, agent_id: str, what: str) -> None:
    """Raise `UnknownAgent` or `UnknownRecord` for an agent nobody knows, and `Refused` if it is the actor itself."""
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
    refuse_itself(context, f"agent:{agent_id}", what)


def _require_rank(kernel: Kernel | None, org: str | None, rank: str) -> None:
    """Raise `Refused` if no ladder declares the rank."""
    ranks = dict.fromkeys(each.id for snapshot in _snapshots(kernel, org) for each in snapshot.records.ranks)
    if kernel is not None and rank not in ranks:
        help = did_you_mean(rank, ranks) or (f"ranks are {listing(ranks)}" if ranks else "")
        raise Refused(f"there is no rank {quote(rank)}", help, UNKNOWN_NAME)


def _note(context: Context, agent_id: str) -> None:
    """Add a roster's agent to the store, if nothing is stored about it yet."""
    if context.store.agents.get(agent_id) is None:
        context.store.agents.add(agent_id, actor=context.actor.name, reason="declared by the roster")
