"""The agents who can take a dispatched task now, in the order of `AGENT_ORDER` (docs/dispatch.md, "Agents").

Documents choose the role; documents and stored state choose the agent.

Error policy: fails closed. An agent is not available if a condition is not met or cannot be known. If no agent of the role is
left, the agents of its deputy are judged in the same way, by the entry rank and the skills of the deputy role. If none is left
there either, the agents of the lowest superior with an agent who can act decide what becomes of the task. They need neither skills nor tools for
it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import pairwise, starmap
from typing import Final, NamedTuple

from msgspec.structs import replace

from orgkernel.decisions.access.decide import decide_with_reasons
from orgkernel.decisions.access.decision import Outcome
from orgkernel.decisions.access.listing import what_can
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.access.subject import get_rank_id, get_rank_number
from orgkernel.decisions.dispatch.agent_choice import AgentChoice, AvailableAgent, UnavailableAgent
from orgkernel.decisions.dispatch.by_domain import SHOWN_CANDIDATES, DispatchDecision
from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.decisions.members.member import CrewMember, find_member, get_held_level
from orgkernel.decisions.members.stand_ins import list_stand_ins
from orgkernel.decisions.members.tool_use import decide_any_tool_use
from orgkernel.decisions.reasons import Reason, cite_edge, cite_place
from orgkernel.decisions.refusals import NO_RANK, say_unassigned
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import Edge


class _Judged(NamedTuple):
    """An available agent with what the order compares."""

    edge: Edge
    member: CrewMember
    rank_id: str | None
    approvals: tuple[str, ...]
    proficiency: int
    load: int


class AgentCriterion(NamedTuple):
    """A comparison of two available agents. The lower value comes first."""

    code: str
    measure: Callable[[_Judged], float]
    describe: Callable[[_Judged], str]


def _describe_approvals(judged: _Judged) -> str:
    return f"needs an approval for {listing(judged.approvals)}" if judged.approvals else "needs no approval"


def _describe_load(judged: _Judged) -> str:
    return f"has {judged.load} file claims, other open work and open questions"


def _describe_rank(judged: _Judged) -> str:
    return f"has rank {quote(judged.rank_id)}" if judged.rank_id else f"has {NO_RANK}"


AGENT_ORDER: Final[tuple[AgentCriterion, ...]] = (
    AgentCriterion("FEWER_APPROVALS", lambda each: len(each.approvals), _describe_approvals),
    AgentCriterion(
        "HIGHER_PROFICIENCY",
        lambda each: -each.proficiency,
        lambda each: f"has levels that add up to {each.proficiency} in the skills of the role",
    ),
    AgentCriterion("LESS_LOAD", lambda each: each.load, _describe_load),
    AgentCriterion("HIGHER_RANK", lambda each: -each.member.rank, _describe_rank),
)
"""The first difference decides. Agents without a difference are in the order of the roster (`ROSTER_ORDER`)."""


def choose_agents(
    view: OrgView,
    state: StateView,
    decision: DispatchDecision,
    needs: Sequence[str],
    context: AccessContext,
    *,
    all_considered: bool = False,
) -> DispatchDecision:
    """The answer of dispatch with the agents who can take the task now.

    `needs` are the tools that the task needs; `context` states the time. An answer without a role, and an organization
    without agents, stay as they are.
    """
    role_id = decision.role_id
    if role_id is None or not (view.records.agents or view.records.withheld_agents):
        return decision
    tools = _find_task_tools(view, decision, needs)
    role_agents = find_agents(view, state, role_id, tools, context)
    shown = None if all_considered else SHOWN_CANDIDATES
    choice = AgentChoice(
        agent_id=role_agents.available[0].agent_id if role_agents.available else None,
        acting_role=role_agents.acting_role,
        agents=role_agents.available[:shown],
        agent_count=len(role_agents.available),
        unavailable=role_agents.unavailable[:shown],
        unavailable_count=len(role_agents.unavailable),
        reasons=role_agents.reasons,
        state_version=state.version,
    )
    return replace(decision, crew=choice)


class RoleAgents(NamedTuple):
    """The agents who can act for a role now, in order, and the others with their reasons."""

    acting_role: str | None
    """The role that they fill; None if there are none."""
    available: tuple[AvailableAgent, ...]
    unavailable: tuple[UnavailableAgent, ...]
    reasons: tuple[Reason, ...]


def find_agents(
    view: OrgView,
    state: StateView,
    role_id: str,
    tools: Collection[str],
    context: AccessContext,
    without: Collection[str] = (),
) -> RoleAgents:
    """The agents who can act for a role now with these tools: its own, those of its deputy, or those of its nearest superior
    with an agent who can act. The agents in `without` are left out.
    """
    available, unavailable = judge_agents(view, state, role_id, tools, context, without)
    if available:
        return RoleAgents(role_id, available, unavailable, ())
    reasons: tuple[Reason, ...] = (_explain_unavailable(view, role_id, unavailable),)
    for each in list_stand_ins(view, role_id):
        # A superior decides what becomes of the task, and needs neither its skills nor its tools.
        needed = tools if each.is_deputy else None
        available, of_stand_in = judge_agents(view, state, each.role_id, needed, context, without)
        if each.is_deputy:
            unavailable += of_stand_in
            reasons += (each.reason,)
            if not available:
                reasons += (_explain_unavailable(view, each.role_id, of_stand_in),)
        elif available:
            reasons += (each.reason,)
        if available:
            return RoleAgents(each.role_id, available, unavailable, reasons)
    text = f"no superior of role {quote(role_id)} has an agent who can act now"
    chain = tuple(map(cite_edge, view.list_chain_above(role_id)))
    return RoleAgents(None, (), unavailable, (*reasons, Reason("NO_AGENT_ABOVE", text, chain)))


def list_peers(
    view: OrgView,
    state: StateView,
    agent_id: str | None,
    roles: Sequence[str],
    tools: Collection[str],
    context: AccessContext,
) -> tuple[tuple[Edge, AvailableAgent], ...]:
    """The other agents who can use these tools now: of the same roles, of their deputies, and of the roles with the same
    superior, in this order. Each with the edge that assigns its role.
    """
    # The nearest help first: those who do the same work, then those who are declared to stand in, then colleagues.
    near = [*roles]
    near += [each.role_id for role in roles for each in list_stand_ins(view, role) if each.is_deputy]
    near += [other for role in roles for other in _list_siblings(view, role)]
    peers: dict[str, tuple[Edge, AvailableAgent]] = {}
    own = () if agent_id is None else (agent_id,)
    for role in dict.fromkeys(near):
        edges = {edge.source: edge for edge in view.list_agents_in(role)}
        for each in judge_agents(view, state, role, tools, context, own)[0]:
            request = AccessRequest(f"agent:{each.agent_id}", "", "", context)
            # An agent who has to wait for a lock can take a task, and cannot help now.
            if all(decide_any_tool_use(view, state, request, tool).outcome != "deny" for tool in tools):
                peers.setdefault(each.agent_id, (edges[each.agent_id], each))
    return tuple(peers.values())


def _list_siblings(view: OrgView, role_id: str) -> Iterator[str]:
    superior = view.superiors.get(role_id)
    if superior is not None and view.is_role(superior):
        yield from (other for other in view.roles if view.superiors.get(other) == superior)


def _explain_unavailable(view: OrgView, role_id: str, unavailable: Sequence[UnavailableAgent]) -> Reason:
    if unavailable:
        text = f"no agent of role {quote(role_id)} can take the task now"
        return Reason("NO_AGENT_AVAILABLE", text, tuple(map(cite_edge, view.list_agents_in(role_id))))
    declared = cite_place(f"role {role_id} is declared", view.get_place(role_id))
    return Reason("ROLE_VACANT", say_unassigned(role_id), (declared,))


def _find_task_tools(view: OrgView, decision: DispatchDecision, needs: Sequence[str]) -> tuple[str, ...]:
    """The tools that the task needs, and those of its first plan that the role is equipped with.

    A tool that the plan needs and the role lacks is a finding about the documents (ORG304), not about an agent.
    """
    planned = (edge.target for edge in view.list_tools_needed_by(decision.plans[0])) if decision.plans else ()
    equipped = frozenset(decision.tools)
    return tuple(dict.fromkeys((*needs, *(tool for tool in planned if tool in equipped))))


def judge_agents(
    view: OrgView,
    state: StateView,
    role_id: str,
    tools: Collection[str] | None,
    context: AccessContext,
    without: Collection[str] = (),
) -> tuple[tuple[AvailableAgent, ...], tuple[UnavailableAgent, ...]]:
    """The available agents of a role in order, and the others with their reasons. `tools` is None for a superior, who decides what
    becomes of the task.
    """
    judged: list[_Judged] = []
    unavailable: list[UnavailableAgent] = []
    for edge in view.list_agents_in(role_id):
        if edge.source in without:
            continue
        each = _judge(view, state, edge, tools, context)
        if isinstance(each, _Judged):
            judged.append(each)
        else:
            unavailable.append(UnavailableAgent(edge.source, each))
    # The sort is stable, so agents without a difference stay in the order of the roster.
    judged.sort(key=lambda each: [criterion.measure(each) for criterion in AGENT_ORDER])
    reasons = [*starmap(_compare, pairwise(judged)), None]
    available = (
        AvailableAgent(
            each.edge.source, each.approvals, each.proficiency, each.load, each.rank_id,
            () if reason is None else (reason,),
        )
        for each, reason in zip(judged, reasons if judged else (), strict=True)
    )  # fmt: skip
    return tuple(available), tuple(unavailable)


def _judge(
    view: OrgView, state: StateView, edge: Edge, tools: Collection[str] | None, context: AccessContext
) -> _Judged | tuple[Reason, ...]:
    """An agent as the order compares it, or every reason why it cannot take the task."""
    member = find_member(view, state, f"agent:{edge.source}", context)
    if isinstance(member, Reason):
        return (replace(member, why=(*member.why, cite_edge(edge))),)
    reasons = [*find_off_watch(view, state, edge), *_find_low_rank(view, member, edge)]
    approvals: list[str] = []
    if tools is not None:
        reasons += _find_suspended_skills(view, member, edge)
        outcomes = {tool: _decide_use(view, state, member, tool, context) for tool in tools}
        reasons += (
            _explain_closed_tool(view, state, edge, tool, context)
            for tool, outcome in outcomes.items()
            if outcome == "deny"
        )
        approvals = [tool for tool, outcome in outcomes.items() if outcome == "ask"]
    if reasons:
        return tuple(reasons)
    levels = (_get_level(view, member, skill.target) for skill in view.list_skills(edge.target))
    load = _count_load(state, edge.source, context.now)
    return _Judged(edge, member, get_rank_id(view, member.rank), tuple(approvals), sum(levels), load)


def find_off_watch(view: OrgView, state: StateView, edge: Edge) -> Iterator[Reason]:
    """An agent fills its role only in the watches of its assignment. Without a recorded watch, all are on duty."""
    recorded = state.status.get("watch")
    if recorded is None or recorded.value not in view.records.organization.watches:
        return
    watches = view.list_watches(edge.source, edge.target)
    if recorded.value not in watches:
        text = (
            f"agent {quote(edge.source)} fills role {quote(edge.target)} in watch {listing(watches)}, "
            f"and the current watch is {quote(recorded.value)}"
        )
        yield Reason("OFF_WATCH", text, (cite_edge(edge),))


def _find_low_rank(view: OrgView, member: CrewMember, edge: Edge) -> Iterator[Reason]:
    post = view.records.posts[edge.target]
    entry = post.profile.entry_rank
    if entry is not None and member.rank < get_rank_number(view, entry):
        held = get_rank_id(view, member.rank)
        has = f"rank {quote(held)}" if held else NO_RANK
        text = f"agent {quote(edge.source)} has {has}, and role {quote(edge.target)} takes {quote(entry)} or above"
        why = cite_place(f"entry rank of role {edge.target}", post.place("entry_rank"))
        yield Reason("RANK_BELOW_ROLE", text, (why,))


def _find_suspended_skills(view: OrgView, member: CrewMember, edge: Edge) -> Iterator[Reason]:
    """A low level only decides who comes first: agents learn the skills of a role by working in it."""
    for skill in view.list_skills(edge.target):
        if skill.attribute.startswith("required") and _is_suspended(member, skill.target):
            text = f"skill {quote(skill.target)} of agent {quote(edge.source)}, which role {quote(edge.target)} requires, is suspended"
            yield Reason("SKILL_SUSPENDED", text, (cite_edge(skill),))


def _get_level(view: OrgView, member: CrewMember, skill: str) -> int:
    """The current level of a skill of an agent. Without a record it is 1, the level that a commission gives."""
    if _is_suspended(member, skill):
        return 0
    return get_held_level(view, member, skill) if skill in member.skills else 1


def _is_suspended(member: CrewMember, skill: str) -> bool:
    record = member.skills.get(skill)
    return record is not None and record.suspended


def _decide_use(
    view: OrgView, state: StateView, member: CrewMember, tool: str, context: AccessContext
) -> Outcome:
    """Whether an agent may use a tool, or one that replaces it, now or in other circumstances.

    A lock that another agent holds, and a path that is not stated yet, are such circumstances.
    """
    request = AccessRequest(member.name, "", f"tool:{tool}", context)
    # A list also has what only other circumstances would allow, so an agent that waits for a lock stays available.
    rows = what_can(view, member.name, request=request, state=state)
    if rows:
        return "ask" if all(row.outcome == "ask" for row in rows) else "conditional"
    return decide_any_tool_use(view, state, request, tool).outcome


def _explain_closed_tool(
    view: OrgView, state: StateView, edge: Edge, tool: str, context: AccessContext
) -> Reason:
    """Why an agent may not use a tool. What is stored has no line, so the line of the roster is always named."""
    declared = view.records.tools.get(tool)
    action = next(iter(declared.record.actions), "use") if declared else "use"
    request = AccessRequest(f"agent:{edge.source}", action, f"tool:{tool}", context)
    _, reasons = decide_with_reasons(view, request, state)
    because = "; ".join(reason.text for reason in reasons)
    places = dict.fromkeys((cite_edge(edge), *(why for reason in reasons for why in reason.why)))
    text = f"agent {quote(edge.source)} may not use tool {quote(tool)} now: {because}"
    return Reason("TOOL_NOT_ALLOWED", text, tuple(places))


def _count_load(state: StateView, agent_id: str, now: float) -> int:
    claims = state.claims.find_by_holder(f"agent:{agent_id}")
    handoffs = state.handoffs.get(agent_id, ())
    ends = (*(each.expires_at for each in claims), *(each.expires_at for each in handoffs))
    return sum(end > now for end in ends) + len(state.blockers.get(agent_id, ()))


def _compare(better: _Judged, worse: _Judged) -> Reason:
    """Why one of two available agents comes first."""
    first, second = quote(better.edge.source), quote(worse.edge.source)
    places = (cite_edge(better.edge), cite_edge(worse.edge))
    for criterion in AGENT_ORDER:
        if criterion.measure(better) != criterion.measure(worse):
            difference = f"{first} {criterion.describe(better)}, and {second} {criterion.describe(worse)}"
            return Reason(criterion.code, f"agent {first} comes before {second}: {difference}", places)
    return Reason("ROSTER_ORDER", f"agent {first} comes before {second} in the roster", places)
