"""Decide how a subject handles an intent: with a procedure, a cognitive skill, a tool, reasoning, or not at all.

The capability tiers are tried in this order, and the answer gives a reason for each one that was skipped. Means that
failed earlier in the same run are skipped too, so a caller whose procedure fails asks again and gets the next. Error
policy: fails closed. If an intent is served only by withheld skills, it is declined instead of handled by reasoning;
otherwise the gate would have no effect. The answer does not permit tools. Each call is decided on its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal

import msgspec

from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.dispatch.by_agent import list_peers
from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.decisions.members.member import CrewMember, check_run, find_member
from orgkernel.decisions.reasons import Reason, Why, cite_edge, cite_place
from orgkernel.decisions.work.capability.procedures import (
    WITHOUT_MODEL_FROM,
    RunnableProcedure,
    ToolCheck,
    check_tool,
    decide_procedure,
    find_performed_procedures,
    find_procedures,
    name_tool,
)
from orgkernel.decisions.work.capability.skills import (
    VisibleSkill,
    build_skill_card,
    find_withheld_reasons,
    get_skills,
)
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.documents.records import USER, ToolLevel
from orgkernel.graph.memo import PerView
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import Edge, EdgeKind

CapabilityTier = Literal["executable_skill", "cognitive_skill", "tool", "reasoning", "decline"]
TIERS: tuple[CapabilityTier, ...] = ("executable_skill", "cognitive_skill", "tool", "reasoning", "decline")
"""The capability tiers in the order in which they are tried."""
FAILABLE = ("executable_skill", "cognitive_skill", "tool", "reasoning")
# The names of the capability tiers in episodes.
_EPISODES: Mapping[str, str] = {
    "executable_skill": "procedure",
    "cognitive_skill": "cognitive_skill",
    "tool": "tool",
}
_NAMED = 5
_WORD = re.compile(r"\w+")
# Sort order: allowed first, then an unstated circumstance, then an approval.
_CERTAINTY = {"allow": 0, "conditional": 1, "ask": 2}


class HandlingRequest(msgspec.Struct, frozen=True):
    """The request: a subject, an intent, and the means that failed before.

    >>> from orgkernel import HandlingRequest
    >>> HandlingRequest("role:co", "coding").intent
    'coding'
    """

    subject: str
    """`role:ID` or `agent:ID`."""
    intent: str
    context: AccessContext = AccessContext()
    on_behalf_of: str | None = None
    via: tuple[str, ...] = ()
    envelope: Mapping[str, ToolLevel] | None = None
    text: str = ""
    """The task in words, which triggers of skills are compared with."""
    failed: tuple[str, ...] = ()
    """The means that were tried in this run and failed, as `TIER:NAME`, such as `executable_skill:publish_post`."""


class PassedOver(msgspec.Struct, frozen=True):
    """A means that serves the intent and was not chosen."""

    tier: CapabilityTier
    name: str
    reasons: tuple[Reason, ...]


class NextWay(msgspec.Struct, frozen=True):
    """The next means if the chosen one fails."""

    tier: Literal["executable_skill", "cognitive_skill", "tool", "own_reasoning", "peer", "superior", "top"]
    name: str
    why: tuple[Why, ...] = ()


class HandlingDecision(msgspec.Struct, frozen=True):
    """The means by which a subject handles an intent.

    >>> from orgkernel import HandlingRequest, Kernel
    >>> Kernel.open().handle("software_dev", HandlingRequest("role:co", "coding")).reasons[0].code
    'INTENT_UNKNOWN'
    """

    tier: CapabilityTier
    name: str
    """The id of the procedure or tool, or the name of the skill; empty for reasoning and decline."""
    subject: str
    intent: str
    reasons: tuple[Reason, ...]
    passed_over: tuple[PassedOver, ...]
    fallbacks: tuple[NextWay, ...]
    """The next means, in this order, if it fails."""
    augmented_by: tuple[str, ...]
    """Skills to load in addition, because their intent or a trigger in the text matches."""
    obligations: tuple[str, ...]
    """The obligations of the caller, each as `WORD:KIND:ID`."""
    level: int | None
    """The level at which the procedure runs."""
    without_model: bool
    """Whether it is a procedure that runs without a model."""
    tools: tuple[ToolCheck, ...]
    """The tools of the procedure's steps, or the actions of the tool."""
    snapshot: str
    state_version: int


class _Way(msgspec.Struct, frozen=True):
    """A means that could be chosen."""

    tier: CapabilityTier
    name: str
    reason: Reason
    obligations: tuple[str, ...] = ()
    level: int | None = None
    tools: tuple[ToolCheck, ...] = ()
    replacements: tuple[Reason, ...] = ()


def decide_handling(view: OrgView, state: StateView, request: HandlingRequest) -> HandlingDecision:
    """The means by which a subject handles an intent now."""
    holder = find_member(view, state, request.subject, request.context)
    above = (*request.via, *(() if request.on_behalf_of is None else (request.on_behalf_of,)))
    # A run whose principals are away or undeclared must not act at all, whatever the subject could do by itself.
    if (wrong := check_run(view, state, above)) is not None:
        return _answer(view, state, request, _decline(wrong), [], None)
    if isinstance(holder, Reason):
        return _answer(view, state, request, _decline(holder), [], None)
    ways: list[_Way] = []
    passed: list[PassedOver] = []
    # The order is that of cost and certainty: a procedure needs no model, a skill needs one, a tool needs a plan for
    # it.
    for candidate in _find_ways(view, state, holder, request):
        if isinstance(candidate, PassedOver):
            passed.append(candidate)
        elif _build_key(candidate.tier, candidate.name) in request.failed:
            reason = Reason(
                "FAILED_BEFORE", f"{_list_words(candidate.tier)} {quote(candidate.name)} failed in this run"
            )
            passed.append(PassedOver(candidate.tier, candidate.name, (reason,)))
        else:
            ways.append(candidate)
    # Reasoning comes last, and it can depend on what was passed over: it replaces a procedure that could not run.
    reasoning = _try_reasoning(view, holder, request, passed)
    if reasoning is not None and "reasoning" not in request.failed:
        ways.append(reasoning)
    elif reasoning is not None:
        failed = Reason("FAILED_BEFORE", "reasoning failed in this run")
        passed.append(PassedOver("reasoning", "", (failed,)))
    if not ways:
        return _answer(
            view, state, request, _decline(_explain_decline(view, holder, request, passed)), passed, holder
        )
    first, *others = ways
    fallbacks = tuple(_list_fallbacks(view, state, holder, request, others))
    return _answer(view, state, request, first, passed, holder, fallbacks)


def _answer(
    view: OrgView,
    state: StateView,
    request: HandlingRequest,
    way: _Way,
    skipped_ways: list[PassedOver],
    holder: CrewMember | None,
    fallbacks: tuple[NextWay, ...] = (),
) -> HandlingDecision:
    if holder is not None and way.tier == "decline":
        fallbacks = tuple(_list_helpers(view, state, holder, request))
    recorded = (f"record_episode:{_EPISODES[way.tier]}:{way.name}",) if way.name else ()
    without = (way.level or 0) >= WITHOUT_MODEL_FROM
    more = (
        ()
        if holder is None or way.tier == "decline"
        else tuple(_find_augmenting_skills(view, holder, request, way))
    )
    loaded = tuple(f"load_skill:{name}" for name in more)
    return HandlingDecision(
        way.tier, way.name, request.subject, request.intent, (way.reason, *way.replacements), tuple(skipped_ways), fallbacks,
        more, (*way.obligations, *loaded, *recorded), way.level, without, way.tools, view.digest, state.version,
    )  # fmt: skip


def _build_key(tier: str, name: str) -> str:
    return f"{tier}:{name}"


def _list_words(tier: str) -> str:
    return tier.replace("_", " ")


def _decline(reason: Reason) -> _Way:
    return _Way("decline", "", reason)


# -- the tiers ---------------------------------------------------------------------------------------------------------


def _find_ways(
    view: OrgView, state: StateView, holder: CrewMember, request: HandlingRequest
) -> Iterator[_Way | PassedOver]:
    """All means of the subject that serve the intent, tier by tier, best first."""
    yield from _try_procedures(view, state, holder, request)
    yield from _try_skills(view, holder, request)
    yield from _try_tools(view, state, holder, request)


def _build_request(request: HandlingRequest) -> AccessRequest:
    return AccessRequest(
        request.subject, "", "", request.context, request.on_behalf_of, request.via, request.envelope
    )


def _try_procedures(
    view: OrgView, state: StateView, holder: CrewMember, request: HandlingRequest
) -> Iterator[_Way | PassedOver]:
    runnable: list[RunnableProcedure] = []
    performed = find_performed_procedures(view, holder.roles)
    for procedure in find_procedures(view, request.intent):
        if procedure.id not in performed:
            continue
        decision = decide_procedure(view, state, holder, _build_request(request), procedure)
        if isinstance(decision, Reason):
            yield PassedOver("executable_skill", procedure.id, (decision,))
        else:
            runnable.append(decision)
    # The higher the level, the less a model has to decide.
    for each in sorted(runnable, key=lambda one: -one.level):
        name = each.procedure.id
        text = f"procedure {quote(name)} serves {quote(request.intent)} and runs at level {each.level}"
        line = _locate_intent(view, holder, request.intent, f"procedure:{name}", text)
        yield _Way(
            "executable_skill", name, Reason("PROCEDURE_RUNS", text, line), each.obligations, each.level,
            each.checks, each.replacements,
        )  # fmt: skip


def _try_skills(view: OrgView, holder: CrewMember, request: HandlingRequest) -> Iterator[_Way | PassedOver]:
    """Cognitive skills: first those that replace a procedure, then those that serve the intent."""
    performed = find_performed_procedures(view, holder.roles)
    taking_over = {
        each.record.falls_back_to: each
        for each in find_procedures(view, request.intent)
        if each.record.falls_back_to is not None and each.id in performed
    }
    known = get_skills(view)
    named = [known[name] for name in taking_over if name in known]
    named += [
        each for each in known.values() if each.name not in taking_over and _does_serve(each, request.intent)
    ]
    for skill in named:
        reasons = find_withheld_reasons(view, holder, skill)
        if reasons:
            yield PassedOver("cognitive_skill", skill.name, reasons)
            continue
        card = build_skill_card(view, holder, skill)
        if skill.name in taking_over:
            procedure = taking_over[skill.name]
            text = f"skill {quote(skill.name)} takes over for procedure {quote(procedure.id)}"
            reason = Reason("SKILL_TAKES_OVER", text, (cite_place(text, procedure.place("falls_back_to")),))
        else:
            text = f"skill {quote(skill.name)} serves {quote(request.intent)}"
            reason = Reason("SKILL_SERVES", text, (cite_place(text, skill.place("intents")), *card.why))
        yield _Way("cognitive_skill", skill.name, reason, (f"load_skill:{skill.name}",))


def _find_augmenting_skills(
    view: OrgView, holder: CrewMember, request: HandlingRequest, way: _Way
) -> Iterator[str]:
    """Open skills that are added to the chosen means, found by the intent or by a trigger in the text."""
    # With spaces around, a trigger matches whole words only, at the beginning and end of the text too.
    words = f" {' '.join(_WORD.findall(request.text.casefold()))} "
    for skill in get_skills(view).values():
        gates = skill.gates
        if gates.activation == "discovery" or (way.tier, way.name) == ("cognitive_skill", skill.name):
            continue
        fits = request.intent in gates.intents or any(
            f" {' '.join(_WORD.findall(trigger.casefold()))} " in words for trigger in gates.triggers
        )
        if fits and not find_withheld_reasons(view, holder, skill):
            yield skill.name


def _does_serve(skill: VisibleSkill, intent: str) -> bool:
    return intent in skill.gates.intents and skill.gates.is_found_by_intent


def _try_tools(
    view: OrgView, state: StateView, holder: CrewMember, request: HandlingRequest
) -> Iterator[_Way | PassedOver]:
    usable: list[tuple[int, _Way]] = []
    for tool_id in _group_tools_by_intent(view).get(request.intent, ()):
        tool = view.records.tools[tool_id]
        checks: list[ToolCheck] = []
        obligations: list[str] = []
        replacements: list[Reason] = []
        denied: tuple[Reason, ...] = ()
        for action in tool.record.required_levels:
            check, use = check_tool(view, state, _build_request(request), tool_id, action)
            if check.outcome == "deny":
                denied = denied or use.reasons
            else:
                checks.append(check)
                obligations += use.obligations
                replacements += use.reasons[:1] if use.replaces else ()
        if not checks:
            yield PassedOver("tool", tool_id, denied)
            continue
        text = f"tool {quote(tool_id)} serves {quote(request.intent)}"
        place = tool.place("intents", tool.record.intents.index(request.intent))
        reason = Reason("TOOL_SERVES", text, (cite_place(text, place),))
        way = _Way(
            "tool",
            tool_id,
            reason,
            tuple(dict.fromkeys(obligations)),
            None,
            tuple(checks),
            tuple(replacements),
        )
        # A tool with one action that is surely allowed comes before tools that must be asked for.
        usable.append((min(_CERTAINTY[each.outcome] for each in checks), way))
    yield from (way for _, way in sorted(usable, key=lambda each: each[0]))


@PerView
def _group_tools_by_intent(view: OrgView) -> dict[str, tuple[str, ...]]:
    tools_by_intent: dict[str, list[str]] = {}
    for tool in view.records.tools.values():
        for intent in tool.record.intents:
            tools_by_intent.setdefault(intent, []).append(tool.id)
    return {intent: tuple(dict.fromkeys(ids)) for intent, ids in tools_by_intent.items()}


def _try_reasoning(
    view: OrgView, holder: CrewMember, request: HandlingRequest, skipped_ways: list[PassedOver]
) -> _Way | None:
    """Reasoning, if a profile lists the intent or a procedure of the subject could not run."""
    for role in holder.roles:
        for edge in view.list_edges_from(EdgeKind.SERVES_INTENT, role):
            if edge.target == request.intent and not edge.attribute:
                text = f"role {quote(role)} serves {quote(request.intent)} through its standing orders"
                return _Way("reasoning", "", Reason("ROLE_SERVES", text, (cite_edge(edge),)))
    for each in skipped_ways:
        # A suspended skill was taken from the agent on purpose, so reasoning must not do the same work instead.
        if each.tier == "executable_skill" and each.reasons[0].code != "SKILL_SUSPENDED":
            text = f"procedure {quote(each.name)} serves {quote(request.intent)} and cannot run, so a model reasons"
            line = _locate_intent(view, holder, request.intent, f"procedure:{each.name}", text)
            return _Way("reasoning", "", Reason("PROCEDURE_REASONED", text, line))
    return None


def _locate_intent(view: OrgView, holder: CrewMember, intent: str, by: str, text: str) -> tuple[Why, ...]:
    for role in holder.roles:
        for edge in view.list_edges_from(EdgeKind.SERVES_INTENT, role):
            if edge.target == intent and edge.attribute == by:
                return (cite_edge(edge),)
    return ()


def _explain_decline(
    view: OrgView, holder: CrewMember, request: HandlingRequest, skipped_ways: list[PassedOver]
) -> Reason:
    """The reason for a decline, with the roles that serve the intent."""
    who, intent = quote(holder.name), quote(request.intent)
    serving = dict.fromkeys(view.list_sources_to(EdgeKind.SERVES_INTENT, request.intent))
    if not serving and not skipped_ways and request.intent not in _group_tools_by_intent(view):
        help = did_you_mean(request.intent, view.list_targets_of_kind(EdgeKind.SERVES_INTENT))
        text = f"nothing serves the intent {intent}" + (f"; {help}" if help else "")
        return Reason("INTENT_UNKNOWN", text)
    others = [role for role in serving if role not in holder.roles]
    more = f"; it is served by {listing(others[:_NAMED])}" if others else ""
    if len(others) > _NAMED:
        more += f" and {len(others) - _NAMED} more"
    edges = [_find_serving_edge(view, role, request.intent) for role in others[:_NAMED]]
    why = tuple(map(cite_edge, edges))
    if skipped_ways:
        return Reason("NOTHING_LEFT", f"{who} has nothing left that serves {intent}{more}", why)
    return Reason("INTENT_NOT_SERVED", f"{who} does not serve {intent}{more}", why)


def _find_serving_edge(view: OrgView, role: str, intent: str) -> Edge:
    return next(edge for edge in view.list_edges_from(EdgeKind.SERVES_INTENT, role) if edge.target == intent)


# -- fallbacks ---------------------------------------------------------------------------------------------------------


def _list_fallbacks(
    view: OrgView, state: StateView, holder: CrewMember, request: HandlingRequest, others: list[_Way]
) -> Iterator[NextWay]:
    """The remaining means, then the steps of the toolbox after all tools: reasoning, peers, the superiors, the top."""
    for way in others:
        if way.tier in ("executable_skill", "cognitive_skill", "tool"):
            yield NextWay(way.tier, way.name, way.reason.why)
    yield NextWay("own_reasoning", holder.name)
    yield from _list_helpers(view, state, holder, request)


def _list_helpers(
    view: OrgView, state: StateView, holder: CrewMember, request: HandlingRequest
) -> Iterator[NextWay]:
    """The peers who can use the tools that serve the intent, then the superiors, then the top."""
    tools = _list_serving_tools(view, holder, request.intent)
    agent_id = holder.subject.identity.id if holder.subject.is_agent else None
    if tools:
        peers = list_peers(view, state, agent_id, holder.roles, tools, request.context)
        for edge, _ in peers[:_NAMED]:
            yield NextWay("peer", f"agent:{edge.source}", (cite_edge(edge),))
    top = f"person:{USER}"
    named: set[str] = set()
    for role in holder.roles:
        for edge in view.list_chain_above(role):
            if edge.target in view.records.withheld:
                continue
            if not view.is_role(edge.target):
                top = f"person:{edge.target}"
            elif edge.target not in holder.roles and edge.target not in named:
                named.add(edge.target)
                yield NextWay("superior", f"role:{edge.target}", (cite_edge(edge),))
    yield NextWay("top", top)


def _list_serving_tools(view: OrgView, holder: CrewMember, intent: str) -> tuple[str, ...]:
    """The tools that the work needs: those of the subject's first procedure for the intent, or else the first tool that
    serves it.
    """
    performed = find_performed_procedures(view, holder.roles)
    for procedure in find_procedures(view, intent):
        if procedure.id in performed:
            needs = (need for step in procedure.record.steps for need in step.required_tools)
            return tuple(dict.fromkeys(map(name_tool, needs)))
    return _group_tools_by_intent(view).get(intent, ())[:1]
