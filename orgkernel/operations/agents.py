"""Change the state of agents: rank, trust, lifecycle, test results. The roster declares agents, the store has their state.

The first change adds an agent of the roster to the store. Each change needs a right over the agent, so nobody changes
their own state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orgkernel.decisions.access.layers.rank import rank_now
from orgkernel.decisions.access.subject import NO_RANK, rank_number, rank_of_trust
from orgkernel.decisions.access.tables import tables_of
from orgkernel.decisions.state_view import ALL_ORGANIZATIONS, AgentState, Lifecycle, QualificationResult
from orgkernel.diagnostics import Diagnostic
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.errors import Conflict, Refused, UnknownAgent, UnknownRecord
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.authority import NO_AUTHORITY, require_authority
from orgkernel.operations.context import Context
from orgkernel.operations.organizations import choose_organization, require_one
from orgkernel.operations.rights import UNKNOWN_NAME, Right, noted_in
from orgkernel.snapshots.snapshot import OrgSnapshot

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store

_AT_WORK: tuple[Lifecycle, ...] = ("active", "probationary")


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
    org_id = choose_organization(context, org)
    require_one(org_id, "an agent")
    right = _right_over(context, org_id, agent_id, f"add {_named(agent_id)}", "add itself")
    store = noted_in(context, right)
    if rank is not None:
        _require_rank(context.kernel, org_id, rank)
    _refuse_higher_rank(context, right, org_id, agent_id, rank, trust)
    return store.agents.add(
        agent_id,
        org_id=org_id,
        actor=context.actor.name,
        rank=rank,
        trust=trust,
        lifecycle=lifecycle,
        reason=reason,
    )


def set_rank(
    context: Context, agent_id: str, rank: str, *, org: str | None = None, reason: str = ""
) -> AgentState:
    """Promote or demote an agent; raises `Refused`, `UnknownAgent` and `UnknownRecord`."""
    org_id = choose_organization(context, org)
    require_one(org_id, "a rank")
    what, itself = f"change the rank of {_named(agent_id)}", "change its own rank"
    right = _require_agent(context, org_id, agent_id, what, itself)
    store = noted_in(context, right)
    _require_rank(context.kernel, org_id, rank)
    _refuse_higher_rank(context, right, org_id, agent_id, rank, None)
    _note(store, context, org_id, agent_id)
    return store.agents.set_rank(agent_id, rank, org_id=org_id, actor=context.actor.name, reason=reason)


def set_trust(
    context: Context, agent_id: str, trust: float, *, org: str | None = None, reason: str = ""
) -> AgentState:
    """Set the trust in an agent, 0 to 1; raises as `set_rank`."""
    org_id = choose_organization(context, org)
    require_one(org_id, "the trust in an agent")
    what, itself = f"change the trust of {_named(agent_id)}", "change its own trust"
    right = _require_agent(context, org_id, agent_id, what, itself)
    store = noted_in(context, right)
    stored = store.agents.get(org_id, agent_id)
    _refuse_higher_rank(context, right, org_id, agent_id, None if stored is None else stored.rank, trust)
    _note(store, context, org_id, agent_id)
    return store.agents.set_trust(agent_id, trust, org_id=org_id, actor=context.actor.name, reason=reason)


def move_agent(
    context: Context, agent_id: str, lifecycle: Lifecycle, *, org: str | None = None, reason: str = ""
) -> AgentState:
    """Suspend, reactivate or decommission, in one organization or (`*`) in all that have an agent of this name.

    Raises as `set_rank`, and `Conflict` for a move that is not allowed.
    """
    org_id = choose_organization(context, org)
    what, itself = f"change the lifecycle of {_named(agent_id)}", "change its own lifecycle"
    store = noted_in(context, _require_agent(context, org_id, agent_id, what, itself))
    _require_no_wider_stop(context, org_id, agent_id, lifecycle)
    _note(store, context, org_id, agent_id)
    return store.agents.move(agent_id, lifecycle, org_id=org_id, actor=context.actor.name, reason=reason)


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
    org_id = choose_organization(context, org)
    require_one(org_id, "the result of a test")
    what, itself = f"record a test of {_named(agent_id)}", "record its own test"
    store = noted_in(context, _require_agent(context, org_id, agent_id, what, itself))
    found = context.documents.organization(org_id).snapshot.records.qualifications
    declared = {name: definition.record for name, definition in found.items()}
    if qualification not in declared:
        help = did_you_mean(qualification, declared) or "declare it in a `qualification_catalog`"
        raise Refused(f"there is no qualification {quote(qualification)}", help, UNKNOWN_NAME)
    return store.results.record(
        agent_id, qualification, org_id=org_id, score=score, passed=score >= declared[qualification].threshold,
        actor=context.actor.name, reason=reason,
    )  # fmt: skip


def list_agents(context: Context) -> tuple[tuple[AgentState, ...], tuple[Diagnostic, ...]]:
    """All agents by id and organization, and where roster and store differ. Stored values win, the rest is as declared."""
    known = {(each.agent_id, each.org_id): each for each in declared_agents(context.kernel)}
    for each in context.store.agents.list():
        start = known.get((each.agent_id, each.org_id), each)
        rank = start.rank if each.rank is None else each.rank
        trust = start.trust if each.trust is None else each.trust
        known[each.agent_id, each.org_id] = AgentState(
            each.agent_id, rank, trust, each.lifecycle, each.org_id
        )
    drift = () if context.kernel is None else context.kernel.drift()
    return tuple(known[key] for key in sorted(known)), drift


def declared_agents(kernel: Kernel | None) -> tuple[AgentState, ...]:
    """The agents of all rosters with their starting values, by id and organization."""
    found = (
        AgentState(agent_id, definition.record.rank, definition.record.trust, org_id=snapshot.org_id)
        for snapshot in _snapshots(kernel)
        for agent_id, definition in snapshot.records.agents.items()
    )
    return tuple(sorted(found, key=lambda each: (each.agent_id, each.org_id)))


def _snapshots(kernel: Kernel | None, org_id: str = ALL_ORGANIZATIONS) -> list[OrgSnapshot]:
    """The organization that is named, or all that are served."""
    if kernel is None:
        return []
    served = kernel.state.served.values() if org_id == ALL_ORGANIZATIONS else [kernel.organization(org_id)]
    return [each.snapshot for each in served]


def _require_agent(context: Context, org_id: str, agent_id: str, what: str, itself: str) -> Right | None:
    """The right over an agent; raises `UnknownAgent` or `UnknownRecord` for one nobody knows, and `Refused`."""
    declared = dict.fromkeys(
        each for snapshot in _snapshots(context.kernel, org_id) for each in snapshot.records.agents
    )
    if agent_id not in declared and context.store.agents.get(org_id, agent_id) is None:
        if context.kernel is not None and org_id != ALL_ORGANIZATIONS:
            help = did_you_mean(agent_id, declared) or (f"agents are {listing(declared)}" if declared else "")
            raise UnknownAgent(f"organization {quote(org_id)} has no agent {quote(agent_id)}", help)
        stored = dict.fromkeys(each.agent_id for each in context.store.agents.list())
        help = (
            did_you_mean(agent_id, [*declared, *stored])
            or "list all with `orgkernel agent list`, or add one with `orgkernel agent add`"
        )
        raise UnknownRecord(f"there is no agent {quote(agent_id)}", help)
    return _right_over(context, org_id, agent_id, what, itself)


def _right_over(context: Context, org_id: str, agent_id: str, what: str, itself: str) -> Right | None:
    return require_authority(context, f"agent:{agent_id}", what, itself=itself, org_id=org_id)


def _named(agent_id: str) -> str:
    return quote(f"agent:{agent_id}")


def _require_rank(kernel: Kernel | None, org_id: str, rank: str) -> None:
    """Raise `Refused` if the ladder of the organization does not declare the rank."""
    ranks = dict.fromkeys(
        each.id for snapshot in _snapshots(kernel, org_id) for each in snapshot.records.ranks
    )
    if kernel is not None and rank not in ranks:
        help = did_you_mean(rank, ranks) or (f"ranks are {listing(ranks)}" if ranks else "")
        raise Refused(f"there is no rank {quote(rank)}", help, UNKNOWN_NAME)


def _refuse_higher_rank(
    context: Context, right: Right | None, org_id: str, agent_id: str, rank: str | None, trust: float | None
) -> None:
    """Raise `Refused` (`NO_AUTHORITY`) if a superior would give an agent a higher rank than its own.

    Trust gives a rank to an agent for which neither the store nor the roster states one.
    """
    if right is None or right.kind == "owner":
        return
    desk = context.documents.access(org_id)
    tables = tables_of(desk.view)
    giver, receiver = tables.subject(right.member), tables.subject(f"agent:{agent_id}")
    own = NO_RANK if giver is None else rank_now(desk.view, desk.state, giver)
    if rank is not None:
        given = rank_number(desk.view, rank)
    elif trust is None or (receiver is not None and receiver.has_rank):
        return
    else:
        given = rank_of_trust(desk.view, trust)
    if given <= own:
        return
    held = (
        "it has no rank itself"
        if own == NO_RANK
        else f"its own rank is {quote(desk.view.records.ranks[own].id)}"
    )
    raise Refused(
        f"{quote(right.member)} may not give {_named(agent_id)} the rank {quote(desk.view.records.ranks[given].id)}, "
        f"because {held}",
        "a superior of that rank, the owner or an operator may",
        NO_AUTHORITY,
    )


def _require_no_wider_stop(context: Context, org_id: str, agent_id: str, lifecycle: Lifecycle) -> None:
    """Raise `Conflict` if an agent that is stopped in all organizations would be put to work in one of them."""
    shared = context.store.agents.get(ALL_ORGANIZATIONS, agent_id)
    if (
        shared is None
        or org_id == ALL_ORGANIZATIONS
        or lifecycle not in _AT_WORK
        or shared.lifecycle in _AT_WORK
    ):
        return
    raise Conflict(
        f"the agent {quote(agent_id)} is {shared.lifecycle} in all organizations",
        f"`orgkernel agent move {agent_id} {lifecycle} --all-orgs` changes that",
        "MOVE_NOT_ALLOWED",
    )


def _note(store: Store, context: Context, org_id: str, agent_id: str) -> None:
    """Add a roster's agent to the store, if nothing is stored about it yet."""
    if store.agents.get(org_id, agent_id) is None:
        store.agents.add(agent_id, org_id=org_id, actor=context.actor.name, reason="declared by the roster")
