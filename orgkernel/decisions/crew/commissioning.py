"""Commission an agent in a role: seven steps, each decided from the documents, with its reasons.

Nothing is stored here. Error policy: fails closed. An agent that no roster assigns to the role is refused, with the lines
to add.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from orgkernel.decisions.access.layers.rank import get_current_rank
from orgkernel.decisions.access.listing import what_can
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.access.tables import get_access_tables
from orgkernel.decisions.evidence.qualifications import has_passed
from orgkernel.decisions.evidence.role_skills import plan_commission
from orgkernel.decisions.evidence.skill_levels import compute_current_levels
from orgkernel.decisions.evidence.state_view import STOPPED, StateView
from orgkernel.decisions.reasons import Reason, Why, cite_edge, cite_place, explain_out_of_service
from orgkernel.decisions.work.capability.orders import compose_orders
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.documents.records import CrewRoster
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import Edge, EdgeKind
from orgkernel.graph.spoken_names import suggest_role

StepName = Literal["post", "skills", "tools", "qualifications", "procedures", "standing_orders", "agency"]
CommissionStepOutcome = Literal["done", "already", "found", "lacking"]
"""The outcome of a step: the commission stores it; it was stored before; it follows from the documents; something is
missing.
"""


class CommissionStep(msgspec.Struct, frozen=True):
    """One of the seven steps."""

    step: StepName
    outcome: CommissionStepOutcome
    text: str
    items: tuple[str, ...] = ()
    """The skills, tools with their levels, qualifications or other things that the step concerns."""
    missing: tuple[str, ...] = ()
    """The missing things, each as a sentence."""
    why: tuple[Why, ...] = ()


class CommissionDecision(msgspec.Struct, frozen=True):
    """Whether an agent can be commissioned in a role, and what it then has."""

    outcome: Literal["commission", "already", "refused"]
    agent_id: str
    org_id: str
    role_id: str
    reasons: tuple[Reason, ...]
    help: str
    """The remedy of a refusal."""
    steps: tuple[CommissionStep, ...]
    skills: tuple[str, ...]
    """The skills of the role and the universal ones, prerequisites first."""
    snapshot: str
    state_version: int


def decide_commission(
    view: OrgView, agent_id: str, role_id: str, state: StateView, now: float
) -> CommissionDecision:
    """The seven steps for an agent in a role."""
    refusal = _find_refusal(view, agent_id, role_id, state)
    if refusal is not None:
        reason, help = refusal
        return CommissionDecision(
            "refused", agent_id, view.org_id, role_id, (reason,), help, (), (), view.digest, state.version
        )
    fills = next(edge for edge in view.list_roles_filled_by(agent_id) if edge.target == role_id)
    held = state.skills.get(agent_id, ())
    plan = plan_commission(view, (role_id,), compute_current_levels(view.records, state, agent_id, now))
    given = plan.skills
    lacking = [
        f"skill {quote(skill)} presupposes {quote(needed)}, which the agent does not have at its level"
        for skill, needed in plan.skipped
    ]
    # Only if every part is stored: an agent that was registered by other means, or got new skills to learn, has some of
    # them.
    is_there = (
        agent_id in state.agents
        and agent_id in state.identities
        and any(each.role_id == role_id for each in state.commissions.get(agent_id, ()))
        and {*given} <= {each.skill for each in held}
    )
    steps = (
        _plan_post(view, agent_id, role_id, state, fills),
        _plan_skills(view, agent_id, role_id, state, given, lacking),
        _plan_tools(view, agent_id, state, now),
        _plan_qualifications(view, agent_id, role_id, state, now),
        _plan_procedures(view, role_id),
        _plan_standing_orders(view, role_id),
        _plan_agency(view, agent_id, state),
    )
    reason = Reason(
        "ASSIGNED_BY_ROSTER", f"the roster assigns {quote(agent_id)} to {quote(role_id)}", (cite_edge(fills),)
    )
    return CommissionDecision(
        "already" if is_there else "commission", agent_id, view.org_id, role_id, (reason,), "", steps, given,
        view.digest, state.version,
    )  # fmt: skip


def _find_refusal(view: OrgView, agent_id: str, role_id: str, state: StateView) -> tuple[Reason, str] | None:
    """The reason why an agent cannot be commissioned, and its remedy; None if it can."""
    for subject, code in ((f"role:{role_id}", "ROLE_UNKNOWN"), (f"agent:{agent_id}", "AGENT_UNDECLARED")):
        if (out := explain_out_of_service(view.records, subject)) is not None:
            return Reason(code, *out), "correct the error"
    if not view.is_role(role_id):
        help = suggest_role(view, role_id)
        return Reason("ROLE_UNKNOWN", f"organization {quote(view.org_id)} has no role {quote(role_id)}"), help
    lines = f"{{role: {role_id}}}"
    if agent_id not in view.records.agents:
        why = _locate_rosters(view)
        help = f"add this line under `agents` of a roster, then try again: `{agent_id}: {{assignments: [{lines}]}}`"
        text = f"no roster of organization {quote(view.org_id)} declares the agent {quote(agent_id)}"
        return Reason("AGENT_UNDECLARED", text, why), help
    if role_id not in (edge.target for edge in view.list_roles_filled_by(agent_id)):
        declared = view.records.agents[agent_id]
        why = (cite_place(f"agent {agent_id} is in the crew", declared.place()),)
        text = f"the roster does not assign {quote(agent_id)} to {quote(role_id)}"
        return Reason("ROLE_NOT_ASSIGNED", text, why), f"add `{lines}` to its `assignments`, then try again"
    lifecycle = state.get_lifecycle(agent_id)
    if lifecycle in STOPPED:
        text = f"{quote(agent_id)} is {lifecycle}"
        help = (
            f"`orgkernel agent move {agent_id} active` puts it to work again"
            if lifecycle == "suspended"
            else "that is final; declare another agent"
        )
        return Reason("AGENT_INACTIVE", text), help
    return None


def _locate_rosters(view: OrgView) -> tuple[Why, ...]:
    """The lines where rosters list their agents."""
    places = {
        definition.document.place("agents", key=True)
        for definition in view.records.agents.values()
        if isinstance(definition.document.record, CrewRoster)
    }
    return tuple(cite_place("the roster lists its agents", place) for place in sorted(places))


# -- the steps ---------------------------------------------------------------------------------------------------------


def _plan_post(view: OrgView, agent_id: str, role_id: str, state: StateView, fills: Edge) -> CommissionStep:
    profile = view.records.posts[role_id].profile
    chain = view.list_chain_above(role_id)
    department = f" in department {quote(profile.department)}" if profile.department else ""
    above = f", reports to {listing(edge.target for edge in chain)}" if chain else ", has no superior"
    text = f"fills {quote(role_id)}{department}{above}; authority level {profile.authority_level}"
    known = any(each.role_id == role_id for each in state.commissions.get(agent_id, ()))
    return CommissionStep(
        "post", "already" if known else "done", text, tuple(edge.target for edge in chain), (),
        (cite_edge(fills), *map(cite_edge, chain[:1])),
    )  # fmt: skip


def _plan_skills(
    view: OrgView,
    agent_id: str,
    role_id: str,
    state: StateView,
    given_skills: tuple[str, ...],
    lacking: Sequence[str],
) -> CommissionStep:
    held = {each.skill for each in state.skills.get(agent_id, ())}
    # A skill that the agent already holds keeps its level; only new ones begin at 1.
    new = [each for each in given_skills if each not in held]
    why = tuple(cite_edge(edge) for edge in view.list_skills(role_id) if edge.target in given_skills)
    if not given_skills and not lacking:
        return CommissionStep("skills", "found", "the role requires no skills, and none is universal")
    outcome: CommissionStepOutcome = "lacking" if lacking else "done" if new else "already"
    text = f"has {_format_count(len(given_skills), 'skill')}, {len(new)} of them new at level 1"
    return CommissionStep("skills", outcome, text, given_skills, tuple(lacking), why)


def _plan_tools(view: OrgView, agent_id: str, state: StateView, now: float) -> CommissionStep:
    subject = f"agent:{agent_id}"
    request = AccessRequest(subject, "", "", AccessContext(now=now))
    # The profile of the role says what it lists. What the agent gets also depends on its rank, its tests and its other
    # roles.
    rows = what_can(view, subject, request=request, state=state, kinds=("tool",))
    allowed: dict[str, str] = {}
    asks: dict[str, None] = {}
    for row in rows:
        tool = row.resource.partition(":")[2]
        if row.outcome == "allow":
            allowed[tool] = row.level
        elif row.outcome in ("ask", "conditional"):
            asks[tool] = None
    equipped = {edge.target: edge for edge in find_tools_of_roles(view, agent_id)}
    missing = [
        f"tool {quote(tool)} cannot be used now; `orgkernel why {subject} use tool:{tool}` shows why"
        for tool in equipped
        if tool not in allowed and tool not in asks
    ]
    text = f"may use {_format_count(len(allowed), 'tool')}"
    if asks:
        text += f", and {_format_count(len(asks), 'tool')} with an approval or in some circumstances"
    items = tuple(f"{tool} ({level})" for tool, level in allowed.items())
    why = tuple(cite_edge(equipped[tool]) for tool in (*allowed, *asks) if tool in equipped)
    return CommissionStep("tools", "lacking" if missing else "found", text, items, tuple(missing), why)


def _plan_qualifications(
    view: OrgView, agent_id: str, role_id: str, state: StateView, now: float
) -> CommissionStep:
    needed: dict[str, Edge] = {}
    for tool in view.list_tools(role_id):
        for edge in view.list_edges_from(EdgeKind.NEEDS_QUALIFICATION, tool.target):
            needed.setdefault(edge.target, edge)
    results = state.results.get(agent_id, ())
    passed = tuple(each for each in needed if has_passed(view.records, results, each, now))
    missing = tuple(
        f"qualification {quote(each)}, which tool {quote(edge.source)} needs, is not passed"
        for each, edge in needed.items()
        if each not in passed
    )
    text = (
        f"has passed {len(passed)} of {_format_count(len(needed), 'qualification')} that its tools need"
        if needed
        else "its tools need no qualification"
    )
    return CommissionStep(
        "qualifications", "lacking" if missing else "found", text, passed, missing, tuple(map(cite_edge, needed.values()))
    )  # fmt: skip


def _plan_procedures(view: OrgView, role_id: str) -> CommissionStep:
    plans = view.list_plans(role_id)
    performs = view.list_edges_from(EdgeKind.PERFORMS, role_id)
    has = {edge.target for edge in view.list_tools(role_id)} | {*view.list_essential_tools(role_id)}
    missing = [
        f"plan {quote(plan.target)} needs tool {quote(tool.target)}, which the role does not have"
        for plan in plans
        for tool in view.find_missing_tools(role_id, plan.target)
    ]
    for edge in performs:
        needed = {tool.target for tool in view.list_edges_from(EdgeKind.CALLS, edge.target)} - has
        missing += (
            f"procedure {quote(edge.target)} needs tool {quote(tool)}, which the role does not have"
            for tool in sorted(needed)
        )
    text = f"performs {_format_count(len(performs), 'procedure')} and follows {_format_count(len(plans), 'plan')}"
    return CommissionStep(
        "procedures", "lacking" if missing else "found", text,
        tuple(edge.target for edge in (*performs, *plans)), tuple(missing), tuple(map(cite_edge, (*performs, *plans))),
    )  # fmt: skip


def _plan_standing_orders(view: OrgView, role_id: str) -> CommissionStep:
    orders = compose_orders(view, role_id)
    if not orders.sections:
        return CommissionStep("standing_orders", "found", "there are no standing orders for the role")
    sources = [f"{part.source} {part.target}".rstrip() for part in orders.sections]
    text = f"is given the standing orders of {listing(dict.fromkeys(sources))}, digest {orders.digest[:19]}…"
    return CommissionStep("standing_orders", "found", text, tuple(sources), (), orders.why)


def _plan_agency(view: OrgView, agent_id: str, state: StateView) -> CommissionStep:
    ranks = view.records.ranks
    holder = get_access_tables(view).find_subject(f"agent:{agent_id}")
    step = -1 if holder is None else get_current_rank(view, state, holder)
    if not 0 <= step < len(ranks):
        return CommissionStep("agency", "found", "there are no ranks, so none limits it")
    rank = ranks[step]
    agency = f", agency {quote(rank.agency)}" if rank.agency else ""
    member = view.records.agents[agent_id]
    place = member.place("rank") if member.record.rank is not None else member.place()
    return CommissionStep(
        "agency", "found", f"begins at rank {quote(rank.id)}{agency}", (rank.id,), (),
        (cite_place(f"the rank of {agent_id}", place),),
    )  # fmt: skip


def _format_count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def find_tools_of_roles(view: OrgView, agent_id: str) -> Iterator[Edge]:
    """The tools in the profiles of an agent's roles."""
    for edge in view.list_roles_filled_by(agent_id):
        yield from view.list_tools(edge.target)
