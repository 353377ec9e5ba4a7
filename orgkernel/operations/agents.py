"""Change the state of agents: rank, trust, lifecycle, test results. The roster declares agents; the store has their
state.

The first change adds an agent of the roster to the store. Each change needs a right over the agent, so an agent cannot
change its own state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from orgkernel.decisions.access.layers.rank import get_current_rank
from orgkernel.decisions.access.subject import NO_RANK, get_rank_number, get_rank_of_trust
from orgkernel.decisions.access.tables import get_access_tables
from orgkernel.decisions.crew.promotion import check_rank
from orgkernel.decisions.evidence.qualifications import (
    compute_end,
    compute_level_for_score,
    decide_standing,
    has_passed,
)
from orgkernel.decisions.evidence.skill_levels import get_skill_terms
from orgkernel.decisions.evidence.state_view import (
    ALL_ORGANIZATIONS,
    AgentState,
    Lifecycle,
    QualificationResult,
)
from orgkernel.decisions.evidence.tested_parts import find_part_digest, is_part
from orgkernel.decisions.evidence.trust import DEFAULT_WEIGHT, Trust, compute_trust
from orgkernel.diagnostics import Diagnostic
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.documents.records import Qualification
from orgkernel.errors import Conflict, Refused, UnknownRecord
from orgkernel.graph.records import OrgRecords
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.authority import NO_AUTHORITY, require_authority
from orgkernel.operations.context import Context
from orgkernel.operations.organizations import choose_organization, require_one
from orgkernel.operations.rights import UNKNOWN_NAME, Right, open_noted_store
from orgkernel.snapshots.snapshot import OrgSnapshot, require_declared_agent

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store

PREREQUISITE_MISSING = "PREREQUISITE_MISSING"
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
    """Add an agent that a roster declares or will declare. Raises `Refused`, and `Conflict` if it already exists."""
    org_id = choose_organization(context, org)
    require_one(org_id, "an agent")
    right = _find_right_over(context, org_id, agent_id, f"add {_name_agent(agent_id)}", "add itself")
    store = open_noted_store(context, right)
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
    """Give an agent any rank. A higher rank whose requirements are not all met is an override: it needs a reason, and the
    audit log records the unmet requirements.

    Raises `Refused`, `UnknownAgent`, `UnknownRecord`, and `Conflict`: `NOT_ELIGIBLE` with every unmet requirement for an
    override without a reason, `AGENT_LEFT` for a decommissioned agent.
    """
    org_id = choose_organization(context, org)
    require_one(org_id, "a rank")
    what, itself = f"change the rank of {_name_agent(agent_id)}", "change its own rank"
    right = require_agent(context, org_id, agent_id, what, itself)
    store = open_noted_store(context, right)
    _require_rank(context.kernel, org_id, rank)
    _refuse_higher_rank(context, right, org_id, agent_id, rank, None)
    require_not_left(store, org_id, agent_id, "get a rank")
    unmet = _find_unmet_requirements(context, org_id, agent_id, rank)
    if unmet and not reason.strip():
        raise _build_not_eligible(agent_id, rank, unmet)
    note_agent(store, context, org_id, agent_id)
    return store.agents.set_rank(
        agent_id, rank, org_id=org_id, actor=context.actor.name, reason=reason, override=unmet
    )


def _find_unmet_requirements(context: Context, org_id: str, agent_id: str, rank: str) -> list[str]:
    """The requirements that an agent does not meet, of the ranks above its own up to `rank`. If there are several such ranks, each
    sentence names its rank.

    None are known without documents that declare the agent.
    """
    if context.kernel is None:
        return []
    org_access = context.documents.access(org_id)
    subject = get_access_tables(org_access.view).find_subject(f"agent:{agent_id}")
    if subject is None:
        return []
    steps = slice(
        get_current_rank(org_access.view, org_access.state, subject) + 1,
        get_rank_number(org_access.view, rank) + 1,
    )
    now = org_access.build_current_context().now
    ranks = org_access.view.records.ranks[steps]
    return [
        f"for {quote(each.id)}, {check.text}" if len(ranks) > 1 else check.text
        for each in ranks
        for check in check_rank(org_access.view, org_access.state, agent_id, each, now)
        if not check.met
    ]


def _build_not_eligible(agent_id: str, rank: str, unmet: Iterable[str]) -> Conflict:
    return Conflict(
        f"{_name_agent(agent_id)} is not eligible for {quote(rank)}: {'; '.join(unmet)}",
        f"`orgkernel agent promotion {agent_id}` shows every requirement; an override needs a reason",
        "NOT_ELIGIBLE",
    )


def set_trust(
    context: Context, agent_id: str, trust: float, *, org: str | None = None, reason: str = ""
) -> AgentState:
    """Set the trust in an agent, 0 to 1. Raises as `set_rank`."""
    org_id = choose_organization(context, org)
    require_one(org_id, "the trust in an agent")
    what, itself = f"change the trust of {_name_agent(agent_id)}", "change its own trust"
    right = require_agent(context, org_id, agent_id, what, itself)
    store = open_noted_store(context, right)
    stored = store.agents.get(org_id, agent_id)
    _refuse_higher_rank(context, right, org_id, agent_id, None if stored is None else stored.rank, trust)
    note_agent(store, context, org_id, agent_id)
    return store.agents.set_trust(agent_id, trust, org_id=org_id, actor=context.actor.name, reason=reason)


def move_agent(
    context: Context, agent_id: str, lifecycle: Lifecycle, *, org: str | None = None, reason: str = ""
) -> AgentState:
    """Suspend, reactivate or decommission, in one organization or (`*`) in all that have an agent of this name.

    Raises as `set_rank`, and `Conflict` for a move that is not allowed.
    """
    org_id = choose_organization(context, org)
    what, itself = f"change the lifecycle of {_name_agent(agent_id)}", "change its own lifecycle"
    store = open_noted_store(context, require_agent(context, org_id, agent_id, what, itself))
    _require_no_wider_stop(context, org_id, agent_id, lifecycle)
    note_agent(store, context, org_id, agent_id)
    return store.agents.move(agent_id, lifecycle, org_id=org_id, actor=context.actor.name, reason=reason)


def _fill_in_digests(
    records: OrgRecords, declared: Qualification, digests: Mapping[str, str]
) -> dict[str, str]:
    """The digests of a result: an empty one becomes the current digest of the part that the qualification names.

    Raises `Refused` for an empty digest whose name stands for no such part.
    """
    filled = {}
    for name, digest in digests.items():
        part = declared.digests.get(name, "")
        current = find_part_digest(records, part) if is_part(part) else None
        if not digest and current is None:
            parts = [each for each, part in declared.digests.items() if is_part(part)]
            help = f"leave out the digest only of {listing(parts)}" if parts else "write it as `NAME=DIGEST`"
            raise Refused(f"the digest {quote(name)} has no value", help, "BAD_VALUE")
        filled[name] = digest or current or ""
    return filled


def record_result(
    context: Context,
    agent_id: str,
    qualification: str,
    score: float,
    *,
    sample_size: int | None = None,
    digests: Mapping[str, str] = MappingProxyType({}),
    run: str = "",
    org: str | None = None,
    reason: str = "",
) -> QualificationResult:
    """Record the score of a test, which is passed at the declared threshold or above. Raises as `set_rank`.

    A passed result raises the skills of the qualification, each by one step, in the same transaction. Evidence is used once:
    a run has one result, and without a `run` a result that equals an earlier one raises nothing. Raises `Conflict`:
    `PREREQUISITE_MISSING` if a prerequisite qualification is not passed, `RUN_RECORDED` for another result of a run.
    """
    org_id = choose_organization(context, org)
    require_one(org_id, "the result of a test")
    what, itself = f"record a test of {_name_agent(agent_id)}", "record its own test"
    store = open_noted_store(context, require_agent(context, org_id, agent_id, what, itself))
    require_not_left(store, org_id, agent_id, "be tested")
    org_access = context.documents.access(org_id)
    records, now = org_access.view.records, org_access.build_current_context().now
    if qualification not in records.qualifications:
        help = (
            did_you_mean(qualification, records.qualifications) or "declare it in a `qualification_catalog`"
        )
        raise Refused(f"there is no qualification {quote(qualification)}", help, UNKNOWN_NAME)
    declared = records.qualifications[qualification].record
    before = org_access.state.results.get(agent_id, ())
    for each in declared.prerequisites:
        standing = decide_standing(records, before, each, now)
        if not standing.passed:
            raise Conflict(
                f"{_name_agent(agent_id)} has not passed {quote(each)}, and {quote(qualification)} builds on it: {standing.text}",
                f"`orgkernel agent qualify {agent_id} {each} --score SCORE` comes first",
                PREREQUISITE_MISSING,
            )
    digests = _fill_in_digests(records, declared, digests)
    passed = score >= declared.threshold
    result = QualificationResult(
        agent_id,
        qualification,
        score,
        passed,
        now,
        None,
        org_id,
        sample_size=sample_size,
        digests=dict(digests),
    )
    counts = has_passed(records, (result,), qualification, now)
    raised = declared.raised_skills.items() if counts else ()
    return store.results.record(
        agent_id,
        qualification,
        org_id=org_id,
        score=score,
        passed=passed,
        # A level that the result raises lapses at this end, which is why the end is stored.
        expires_at=compute_end(declared, result),
        sample_size=sample_size,
        digests=digests,
        run=run,
        raises=[
            (get_skill_terms(records, skill), compute_level_for_score(score) if highest is None else highest)
            for skill, highest in raised
        ],
        actor=context.actor.name,
        reason=reason,
    )


def invalidate_result(
    context: Context, agent_id: str, result_id: int, *, org: str | None = None, reason: str
) -> QualificationResult:
    """Invalidate a result, with a reason. Raises as `set_rank`."""
    org_id = choose_organization(context, org)
    require_one(org_id, "the result of a test")
    what, itself = f"invalidate a result of {_name_agent(agent_id)}", "invalidate its own result"
    store = open_noted_store(context, require_agent(context, org_id, agent_id, what, itself))
    if all(each.result_id != result_id or each.org_id != org_id for each in store.results.list(agent_id)):
        raise UnknownRecord(
            f"the agent {quote(agent_id)} has no result {result_id}",
            f"`orgkernel agent results {agent_id}` lists them",
        )
    return store.results.invalidate(result_id, org_id=org_id, actor=context.actor.name, reason=reason)


def promote_agent(
    context: Context, agent_id: str, *, override: str = "", org: str | None = None, reason: str = ""
) -> AgentState:
    """Give an agent the next rank if it meets every requirement, or if `override` states a reason.

    Raises as `set_rank`, and `Conflict`: `NOT_ELIGIBLE` with what is missing, `HIGHEST_RANK` if there is no higher rank.
    """
    org_id = choose_organization(context, org)
    require_one(org_id, "a rank")
    what, itself = f"promote {_name_agent(agent_id)}", "promote itself"
    right = require_agent(context, org_id, agent_id, what, itself)
    store = open_noted_store(context, right)
    require_not_left(store, org_id, agent_id, "be promoted")
    path = context.documents.promotion(org_id, agent_id).promotion
    if path is None:
        raise Conflict(f"there is no rank above that of {_name_agent(agent_id)}", code="HIGHEST_RANK")
    if path.outcome != "eligible" and not override.strip():
        unmet = (each.text for each in path.requirements if not each.met)
        raise _build_not_eligible(agent_id, path.rank, unmet)
    _refuse_higher_rank(context, right, org_id, agent_id, path.rank, None)
    note_agent(store, context, org_id, agent_id)
    evidence: dict[str, Any] = {
        "outcome": path.outcome,
        "requirements": [{"met": each.met, "text": each.text} for each in path.requirements],
    }
    if path.outcome != "eligible":
        evidence["override"] = override
    return store.agents.set_rank(
        agent_id, path.rank, org_id=org_id, actor=context.actor.name, reason=reason, promotion=evidence
    )


class ListedAgent(AgentState, frozen=True):
    """An agent with its stored state, and its trust from the outcomes of its work."""

    trust_now: Trust | None = None


def list_agents(context: Context) -> tuple[tuple[ListedAgent, ...], tuple[Diagnostic, ...]]:
    """All agents by id and organization, and the differences between roster and store. Stored values override declared ones."""
    known: dict[tuple[str, str], AgentState] = {
        (each.agent_id, each.org_id): each for each in list_declared_agents(context.kernel)
    }
    for each in context.store.agents.list():
        start = known.get((each.agent_id, each.org_id), each)
        rank = start.rank if each.rank is None else each.rank
        trust = start.trust if each.trust is None else each.trust
        known[each.agent_id, each.org_id] = replace(each, rank=rank, trust=trust)
    drift = () if context.kernel is None else context.kernel.drift()
    return tuple(_build_listed_agent(context.kernel, known[key]) for key in sorted(known)), drift


def list_declared_agents(kernel: Kernel | None) -> tuple[ListedAgent, ...]:
    """The agents of all rosters with their starting values, by id and organization."""
    agent_states = (
        AgentState(agent_id, definition.record.rank, definition.record.trust, org_id=snapshot.org_id)
        for snapshot in _get_snapshots(kernel)
        for agent_id, definition in snapshot.records.agents.items()
    )
    ordered = sorted(agent_states, key=lambda each: (each.agent_id, each.org_id))
    return tuple(_build_listed_agent(kernel, each) for each in ordered)


def _build_listed_agent(kernel: Kernel | None, agent: AgentState) -> ListedAgent:
    """An agent with its trust. The roster of its organization states the weight of the starting trust."""
    served = {} if kernel is None else kernel.state.served
    declared = (
        served[agent.org_id].snapshot.records.agents.get(agent.agent_id) if agent.org_id in served else None
    )
    weight = DEFAULT_WEIGHT if declared is None else declared.record.trust_weight
    trust = compute_trust(agent.trust, weight, agent.successes, agent.failures)
    return ListedAgent(
        agent.agent_id,
        agent.rank,
        agent.trust,
        agent.lifecycle,
        agent.org_id,
        agent.successes,
        agent.failures,
        trust,
    )


def _get_snapshots(kernel: Kernel | None, org_id: str = ALL_ORGANIZATIONS) -> list[OrgSnapshot]:
    """The named organization, or all that are served."""
    if kernel is None:
        return []
    served = kernel.state.served.values() if org_id == ALL_ORGANIZATIONS else [kernel.organization(org_id)]
    return [each.snapshot for each in served]


def require_not_left(store: Store, org_id: str, agent_id: str, what: str) -> None:
    """Raise `Conflict` (`AGENT_LEFT`) for a decommissioned agent."""
    if store.read_view(org_id).get_lifecycle(agent_id) == "decommissioned":
        raise Conflict(
            f"{_name_agent(agent_id)} is decommissioned, and cannot {what}",
            "use another agent: who was decommissioned does not return",
            "AGENT_LEFT",
        )


def require_agent(context: Context, org_id: str, agent_id: str, what: str, itself: str) -> Right | None:
    """The right over an agent. Raises `UnknownAgent` or `UnknownRecord` for an unknown one, and `Refused`."""
    snapshots = _get_snapshots(context.kernel, org_id)
    declared = dict.fromkeys(each for snapshot in snapshots for each in snapshot.records.agents)
    if agent_id not in declared and context.store.agents.get(org_id, agent_id) is None:
        if org_id != ALL_ORGANIZATIONS:
            for snapshot in snapshots:
                require_declared_agent(snapshot.records, agent_id)
        stored = dict.fromkeys(each.agent_id for each in context.store.agents.list())
        help = (
            did_you_mean(agent_id, [*declared, *stored])
            or "list all with `orgkernel agent list`, or add one with `orgkernel agent add`"
        )
        raise UnknownRecord(f"there is no agent {quote(agent_id)}", help)
    return _find_right_over(context, org_id, agent_id, what, itself)


def _find_right_over(context: Context, org_id: str, agent_id: str, what: str, itself: str) -> Right | None:
    return require_authority(context, f"agent:{agent_id}", what, itself=itself, org_id=org_id)


def _name_agent(agent_id: str) -> str:
    return quote(f"agent:{agent_id}")


def _require_rank(kernel: Kernel | None, org_id: str, rank: str) -> None:
    """Raise `Refused` if the ladder of the organization does not declare the rank."""
    ranks = dict.fromkeys(
        each.id for snapshot in _get_snapshots(kernel, org_id) for each in snapshot.records.ranks
    )
    if kernel is not None and rank not in ranks:
        help = did_you_mean(rank, ranks) or (f"ranks are {listing(ranks)}" if ranks else "")
        raise Refused(f"there is no rank {quote(rank)}", help, UNKNOWN_NAME)


def _refuse_higher_rank(
    context: Context, right: Right | None, org_id: str, agent_id: str, rank: str | None, trust: float | None
) -> None:
    """Raise `Refused` (`NO_AUTHORITY`) if a superior would give an agent a rank above its own.

    If neither the store nor the roster states a rank, trust determines it.
    """
    if right is None or right.kind == "owner":
        return
    org_access = context.documents.access(org_id)
    tables = get_access_tables(org_access.view)
    giver, receiver = tables.find_subject(right.member), tables.find_subject(f"agent:{agent_id}")
    own = NO_RANK if giver is None else get_current_rank(org_access.view, org_access.state, giver)
    if rank is not None:
        given = get_rank_number(org_access.view, rank)
    elif trust is None or (receiver is not None and receiver.has_rank):
        return
    else:
        given = get_rank_of_trust(org_access.view, trust)
    if given <= own:
        return
    held = (
        "it has no rank itself"
        if own == NO_RANK
        else f"its own rank is {quote(org_access.view.records.ranks[own].id)}"
    )
    raise Refused(
        f"{quote(right.member)} may not give {_name_agent(agent_id)} the rank {quote(org_access.view.records.ranks[given].id)}, "
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


def note_agent(store: Store, context: Context, org_id: str, agent_id: str) -> None:
    """Add a roster's agent to the store, if it has no stored state yet."""
    if store.agents.get(org_id, agent_id) is None:
        store.agents.add(agent_id, org_id=org_id, actor=context.actor.name, reason="declared by the roster")
