"""Decide whether an agent may take a bill role, start the bill, or do one of its steps, from the documents and the
state.

Error policy: fails closed. An undeclared condition is not met by any agent.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from orgkernel.decisions.access.identity import identify
from orgkernel.decisions.access.layers.rank import get_current_rank
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.access.subject import get_rank_id, get_rank_number
from orgkernel.decisions.access.tables import get_access_tables
from orgkernel.decisions.dispatch.by_agent import find_off_watch, judge_agents
from orgkernel.decisions.evidence.qualifications import has_passed
from orgkernel.decisions.evidence.state_view import STOPPED, Lifecycle, StateView
from orgkernel.decisions.members.member import find_member
from orgkernel.decisions.members.stand_ins import list_stand_ins
from orgkernel.decisions.members.tool_use import ToolUsability, decide_tool_use
from orgkernel.decisions.reasons import Reason, Why, cite_edge, cite_place
from orgkernel.decisions.refusals import NO_RANK, say_not_filling
from orgkernel.decisions.work.bills.flow import CHIEF
from orgkernel.decisions.work.capability.skills import find_withheld_reasons, get_skills
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.documents.records import Bill, BillRole, BillStep
from orgkernel.graph.memo import PerView
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind
from orgkernel.loading.sources import SourceDocument

AWAY: tuple[Lifecycle, ...] = ("registered", *STOPPED)


def read_bill(document: SourceDocument) -> Bill:
    """The bill in a document."""
    assert isinstance(document.record, Bill)
    return document.record


def find_misfits(
    view: OrgView, state: StateView, document: SourceDocument, bill_role: str, agent_id: str, now: float
) -> tuple[Reason, ...]:
    """Every condition of a bill role that an agent does not currently meet."""
    return tuple(iterate_misfits(view, state, document, bill_role, agent_id, now))


def iterate_misfits(
    view: OrgView, state: StateView, document: SourceDocument, bill_role: str, agent_id: str, now: float
) -> Iterator[Reason]:
    """The same one by one, for callers to whom the first one is enough."""
    wanted, who = read_bill(document).roles[bill_role], f"agent {quote(agent_id)}"
    subject = get_access_tables(view).find_subject(f"agent:{agent_id}")
    filled = view.list_roles_filled_by(agent_id)
    if subject is None or not filled:
        yield Reason("AGENT_FILLS_NO_ROLE", f"{who} fills no role of the organization")
        return
    if is_away(state, agent_id):
        yield Reason("AGENT_AWAY", f"{who} is {state.get_lifecycle(agent_id)}")

    def why(field: str, *route: str | int) -> tuple[Why, ...]:
        return (
            cite_place(
                f"{field} of bill role {bill_role}", document.place("roles", bill_role, field, *route)
            ),
        )

    roles = [edge.target for edge in filled]
    if wanted.role is not None and wanted.role not in roles:
        yield Reason("ROLE_NOT_FILLED", say_not_filling(who, wanted.role), why("role"))
    if wanted.department is not None and wanted.department not in find_departments(view, roles):
        text = f"{who} fills no role in department {quote(wanted.department)}"
        yield Reason("OUTSIDE_DEPARTMENT", text, why("department"))
    edges = [edge for edge in filled if _is_for(view, wanted, edge.target)]
    # An agent with several fitting roles is on duty if it is in one of them.
    off_watch = [reason for edge in edges for reason in find_off_watch(view, state, edge)]
    if edges and len(off_watch) == len(edges):
        yield off_watch[0]
    if wanted.min_rank is not None:
        needed, held = get_rank_number(view, wanted.min_rank), get_current_rank(view, state, subject)
        if needed < 0 or held < needed:
            held_id = get_rank_id(view, held)
            has = NO_RANK if held_id is None else f"rank {quote(held_id)}"
            text = f"{who} has {has}, and the bill role takes {quote(wanted.min_rank)} or above"
            yield Reason("RANK_BELOW_BILL_ROLE", text, why("min_rank"))
    results = state.results.get(agent_id, ())
    for number, each in enumerate(wanted.qualifications):
        if not has_passed(view.records, results, each, now):
            text = f"{who} has no passing result in {quote(each)} that is still valid"
            yield Reason("TEST_NOT_PASSED", text, why("qualifications", number))


def find_fit_agents(
    view: OrgView, state: StateView, bill_role: BillRole, crew: Mapping[str, frozenset[str]], now: float
) -> list[str]:
    """The agents of a crew, each with the roles that it fills, for which `find_misfits` gives no reason.

    It builds no reasons, because a crew can have thousands of agents, and leaves each at its first unmet condition.
    """
    fit = [agent for agent, roles in crew.items() if bill_role.role is None or bill_role.role in roles]
    if bill_role.department is not None:
        inside = _map_roles_by_department(view).get(bill_role.department, frozenset())
        fit = [agent for agent in fit if not inside.isdisjoint(crew[agent])]
    fit = [agent for agent in fit if not is_away(state, agent)]
    find_subject = get_access_tables(view).find_subject
    needed = None if bill_role.min_rank is None else get_rank_number(view, bill_role.min_rank)
    # The number of a rank that the ladder does not have is -1. Compared as a number, every agent would be above it.
    if needed is not None and needed < 0:
        return []
    return [
        agent
        for agent in fit
        if (subject := find_subject(f"agent:{agent}")) is not None
        and (needed is None or get_current_rank(view, state, subject) >= needed)
        and all(
            has_passed(view.records, state.results.get(agent, ()), each, now)
            for each in bill_role.qualifications
        )
    ]


@PerView
def _map_roles_by_department(view: OrgView) -> dict[str, frozenset[str]]:
    roles: dict[str, set[str]] = {}
    for role_id, post in view.records.posts.items():
        if department := post.profile.department:
            roles.setdefault(department, set()).add(role_id)
    return {department: frozenset(each) for department, each in roles.items()}


@PerView
def map_roles_by_agent(view: OrgView) -> dict[str, frozenset[str]]:
    """The roles of each agent that fills one, by agent in alphabetical order."""
    roles: dict[str, set[str]] = {}
    for edge in view.list_edges_of_kind(EdgeKind.FILLS):
        if edge.source in view.records.agents:
            roles.setdefault(edge.source, set()).add(edge.target)
    return {agent_id: frozenset(roles[agent_id]) for agent_id in sorted(roles)}


def find_departments(view: OrgView, roles: Iterable[str]) -> frozenset[str]:
    """The departments of roles."""
    posts = (view.records.posts.get(role_id) for role_id in roles)
    return frozenset(post.profile.department for post in posts if post and post.profile.department)


def find_fitting_roles(view: OrgView, bill_role: BillRole) -> tuple[str, ...]:
    """The roles whose holders could take a bill role, judged by the documents of roles."""
    return tuple(role_id for role_id in view.roles if _is_for(view, bill_role, role_id))


def _is_for(view: OrgView, bill_role: BillRole, role_id: str) -> bool:
    """Whether a bill role takes holders of a role, judged by the documents."""
    post = view.records.posts.get(role_id)
    department = None if post is None else post.profile.department
    return bill_role.role in (None, role_id) and bill_role.department in (None, department)


def find_bill_authorities(view: OrgView, bill: Bill) -> tuple[str, ...]:
    """The roles that may start a bill manually, in the order of the hierarchy."""
    named = bill.activation.authority
    names = (named, *(each.role for each in bill.roles.values()))
    # A role out of service has lost its department and its superior, so the heads found without it could be wrong.
    if named == CHIEF and not view.records.withheld.keys().isdisjoint(names):
        return ()  # whose chiefs are meant is not known
    # An organization can have a role with the id of the word for "department heads". Then the role is meant.
    base = _find_chiefs(view, bill) if named == CHIEF and not view.is_role(CHIEF) else {named}
    above = {superior for role_id in base for superior in view.list_superiors_above(role_id)}
    return tuple(role_id for role_id in view.roles if role_id in base or role_id in above)


def _find_chiefs(view: OrgView, bill: Bill) -> set[str]:
    """The heads of the departments that the bill roles name, or of all departments if they name none."""
    wanted = {each.department for each in bill.roles.values() if each.department is not None}
    wanted |= find_departments(view, (each.role for each in bill.roles.values() if each.role is not None))
    department = {role_id: view.records.posts[role_id].profile.department for role_id in view.roles}
    return {
        role_id
        for role_id, own in department.items()
        if own is not None
        and (not wanted or own in wanted)
        # The head of a department is the member whose superior is outside of it; no field names it. Of a superior that is
        # out of service, the department is not known.
        and view.superiors.get(role_id) not in view.records.withheld
        and department.get(view.superiors.get(role_id, "")) != own
    }


def may_activate(view: OrgView, state: StateView, bill: Bill, subject: str) -> bool:
    """Whether a subject, or the trigger of the bill, may start it."""
    trigger = bill.activation.trigger
    # A bill that a trigger starts can still be started by a person or a role with the authority.
    if trigger != "manual" and subject == trigger:
        return True
    return is_owner(view, subject) or does_fill_one(view, state, subject, find_bill_authorities(view, bill))


def is_owner(view: OrgView, subject: str) -> bool:
    """Whether a subject is the owner of the organization."""
    identity = identify(view, subject) if subject.startswith("person:") else None
    return identity is not None and identity.is_owner


def is_away(state: StateView, agent_id: str) -> bool:
    """Whether an agent is not at work: not yet, temporarily or permanently."""
    return state.get_lifecycle(agent_id) in AWAY


def does_fill_one(view: OrgView, state: StateView, subject: str, roles: Iterable[str]) -> bool:
    """Whether an agent at work fills one of these roles."""
    kind, _, agent_id = subject.partition(":")
    if kind != "agent" or is_away(state, agent_id):
        return False
    return not {edge.target for edge in view.list_roles_filled_by(agent_id)}.isdisjoint(roles)


class StepFitness(NamedTuple):
    """Whether an agent can do a step now, besides the conditions of its bill role."""

    obstacles: tuple[Reason, ...]
    use: ToolUsability | None
    """Its use of the tool of the step; None for a step without a tool."""


def judge_step(
    view: OrgView,
    state: StateView,
    document: SourceDocument,
    number: int,
    agent_id: str,
    context: AccessContext,
) -> StepFitness:
    """The reasons why an agent cannot do a step now, and how it would use the tool of the step."""
    reasons: list[Reason] = []
    step = read_bill(document).steps[number]
    roles = [edge.target for edge in view.list_roles_filled_by(agent_id)]
    who = f"agent {quote(agent_id)}"
    member = find_member(view, state, f"agent:{agent_id}", context)
    if isinstance(member, Reason):
        # An undeclared agent, or one not at work, does not meet the bill role, which reports it.
        reasons += [member] if member.code == "PACE_CAP" else []
    elif step.skill in (gated := get_skills(view)):
        reasons += find_withheld_reasons(view, member, gated[step.skill])
    if step.skill is not None and (reason := _find_missing_skill(view, state, step, agent_id)):
        place = document.place("steps", number, "skill")
        reasons.append(Reason(*reason, (cite_place(f"skill of step {step.id}", place),)))
    if step.channel is not None and not may_speak(view, step.channel, roles):
        text = f"{who} has no role that may speak in channel {quote(step.channel)}"
        place = document.place("steps", number, "channel")
        reasons.append(Reason("CHANNEL_CLOSED", text, (cite_place(f"channel of step {step.id}", place),)))
    use = None
    if step.tool is not None:
        request = AccessRequest(f"agent:{agent_id}", "", "", context)
        use = decide_tool_use(view, state, request, step.tool, step.tool_action)
        if use.outcome == "deny":
            text = f"{who} may not {step.tool_action} tool {quote(step.tool)} now: {listing(use.codes)}"
            places = tuple(why for reason in use.reasons for why in reason.why)
            reasons.append(Reason("TOOL_NOT_ALLOWED", text, places))
    return StepFitness(tuple(reasons), use)


def find_helper(
    view: OrgView,
    state: StateView,
    document: SourceDocument,
    bill_role: str,
    number: int,
    context: AccessContext,
    without: Collection[str],
) -> Reason | None:
    """Who helps if no assigned agent can do a step: another agent that fits the bill role and can do it, or else the
    nearest superior of the roles that the bill role takes.
    """
    step = read_bill(document).steps[number]
    place = cite_place(f"step {step.id}", document.place("steps", number))
    # Sorted, so the same question always names the same helper.
    for agent_id in sorted(view.records.agents):
        if agent_id in without or find_misfits(view, state, document, bill_role, agent_id, context.now):
            continue
        if not judge_step(view, state, document, number, agent_id, context).obstacles:
            text = (
                f"agent {quote(agent_id)} fits bill role {quote(bill_role)} and can do step {quote(step.id)}"
            )
            return Reason(
                "PEER_CAN_DO_IT", text, (place, *map(cite_edge, view.list_roles_filled_by(agent_id)))
            )
    for role_id in find_fitting_roles(view, read_bill(document).roles[bill_role]):
        for each in list_stand_ins(view, role_id):
            # Deputies fill roles too, so those of them who fit were found among the agents above.
            if not each.is_deputy and judge_agents(view, state, each.role_id, None, context)[0]:
                return each.reason
    return None


def _find_missing_skill(
    view: OrgView, state: StateView, step: BillStep, agent_id: str
) -> tuple[str, str] | None:
    assert step.skill is not None
    # A skill with instructions has no level. Its own gates were checked by the caller.
    if step.skill in view.records.cognitive_skills and step.skill not in view.records.skills:
        return None
    skill, who = quote(step.skill), f"agent {quote(agent_id)}"
    held = (each for each in state.skills.get(agent_id, ()) if each.org_id == view.org_id)
    record = next((each for each in held if each.skill == step.skill), None)
    if record is not None and record.suspended:
        return "SKILL_SUSPENDED", f"skill {skill} of {who} is suspended"
    required = any(
        edge.target == step.skill
        for filled in view.list_roles_filled_by(agent_id)
        for edge in view.list_skills(filled.target)
    )
    # An agent may begin without a record what its role requires: agents learn the skills of a role by working in it.
    if step.skill in view.records.skills and (record is not None or required):
        return None
    return "SKILL_NOT_HELD", f"{who} does not hold skill {skill}, and none of its roles requires it"


def may_speak(view: OrgView, channel: str, roles: Iterable[str]) -> bool:
    """Whether one of these roles may speak in a channel. In a channel without pairs, every role may."""
    declared = view.records.organization.communication_channels.get(channel)
    if declared is None:
        return False
    return not declared.allowed_pairs or not {
        role_id for pair in declared.allowed_pairs for role_id in pair
    }.isdisjoint(roles)
