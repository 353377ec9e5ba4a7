"""Dispatch by domain: the role that takes a task of a domain, and why (docs/dispatch.md; specification, "Role
Selection").

Error policy: passes through. Every question without an answer, such as an unknown domain, returns `not_applicable` with
the reason, and the host continues unchanged.

Candidates are in the order of `order.py`. Roles that lack a needed tool are passed over.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain, islice
from typing import Literal

import msgspec

from orgkernel.decisions.dispatch.agent_choice import AgentChoice
from orgkernel.decisions.dispatch.order import (
    Candidate,
    find_difference,
    get_handling_edge,
    rank_candidates,
)
from orgkernel.decisions.dispatch.task_state import PreviousTask
from orgkernel.decisions.reasons import Reason, Why, cite_edge, cite_place
from orgkernel.decisions.refusals import NO_RIVAL, say_unequipped
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.graph.memo import per_view_and_key
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import Edge, EdgeKind
from orgkernel.runtime.refusals import say_unhandled_domain, say_unknown_domain, say_unmapped_alias

SHOWN_CANDIDATES = 5
MAX_CACHED = 4096

HoldersByTool = Mapping[str, Collection[str]]
"""The roles that have each needed tool, in the order of the request."""


class Considered(msgspec.Struct, frozen=True):
    """A role that could have been chosen, and the reason why it was not."""

    role_id: str
    code: str
    text: str
    why: tuple[Why, ...]


class RankedCandidate(msgspec.Struct, frozen=True):
    """A role that matches a sentence or serves an intent."""

    role_id: str
    score: float
    """The match from 0 to 1. A role that serves the intent has 1."""
    reasons: tuple[Reason, ...]
    """The words of the sentence that support the role, most important first, with the lines they match."""


class DispatchDecision(msgspec.Struct, frozen=True):
    """The role that takes a task, or the reason why none does.

    >>> from orgkernel import Kernel
    >>> decision = Kernel.open().dispatch("software_dev", "conversational")
    >>> decision.outcome, decision.reasons[0].text
    ('not_applicable', 'no role handles domain `conversational`')
    """

    outcome: Literal["role", "not_applicable"]
    asked: str
    """The domain, intent or sentence of the question."""
    domain: str | None
    """The domain that the word in the question stands for. For a sentence: the role's domain that its words match best."""
    role_id: str | None
    role_name: str | None
    plans: tuple[str, ...]
    """The role's plans for that domain."""
    allowed_plans: tuple[str, ...]
    """All plans of the role."""
    tools: tuple[str, ...]
    """Tools the role is equipped with, in order of preference."""
    escalation: tuple[str, ...]
    """The chain of command above the role, nearest first."""
    reasons: tuple[Reason, ...]
    considered: tuple[Considered, ...]
    """The next candidates, best first."""
    considered_count: int
    """The number of candidates besides the chosen one."""
    snapshot: str
    """The digest of the organization that was used."""
    candidates: tuple[RankedCandidate, ...] = ()
    """For an intent or a sentence: the matching roles, best first, even if none of them takes the task."""
    margin: float | None = None
    """For a sentence: the distance from the best score to the next, as a share of the best. None if there are fewer
    than two.
    """
    crew: AgentChoice | None = None
    """The agents who can take the task now. None without a role, without agents in the documents, or if the question was
    about the documents alone.
    """
    task: PreviousTask | None = None
    """For a sentence that was asked with a previous task: the task to pass with the next one."""


def decide_dispatch(
    view: OrgView, word: str, *, needs: Sequence[str] = (), all_considered: bool = False
) -> DispatchDecision:
    """The role that takes a task of a domain.

    `word` is a domain or an alias of one; `needs` are tools that the role must be equipped with. Undeclared names
    do not raise.
    """
    if all_considered:
        return _decide(view, word, needs, None)
    return _decide_cached(view, (word, tuple(needs)))


@per_view_and_key(most=MAX_CACHED)
def _decide_cached(view: OrgView, question: tuple[str, tuple[str, ...]]) -> DispatchDecision:
    """Hosts ask the same few questions about one view, so the answers are cached for it."""
    return _decide(view, *question, SHOWN_CANDIDATES)


def _decide(view: OrgView, word: str, needs: Sequence[str], shown_count: int | None) -> DispatchDecision:
    domain = view.resolve_domain(word)
    ranked = () if domain is None else rank_candidates(view, domain)
    holders_by_tool = {tool: find_holders(view, tool, ranked) for tool in needs}
    fitting: Sequence[Candidate] = ranked
    for holders in holders_by_tool.values():
        fitting = [each for each in fitting if each.role_id in holders]
    if domain is None or not fitting:
        return _build_not_applicable(view, word, domain, ranked, holders_by_tool, shown_count)
    chosen = fitting[0]
    # First the next best roles that could have taken it, then those that lack a tool.
    others = chain(fitting[1:], (each for each in ranked if find_missing_needs(each, holders_by_tool)))
    # A role can list an undeclared plan or tool. ORG302 and ORG303 report it; it must not reach a host as an answer.
    plans = tuple(
        edge.target for edge in view.list_plans(chosen.role_id) if edge.target in view.records.plans
    )
    tools = tuple(
        edge.target for edge in view.list_tools(chosen.role_id) if edge.target in view.records.tools
    )
    # A role of a broader domain plans its work for that domain, so the plans of both fit the task.
    task_domains = (domain, chosen.domain)
    return DispatchDecision(
        outcome="role",
        asked=word,
        domain=domain,
        role_id=chosen.role_id,
        role_name=view.records.posts[chosen.role_id].profile.name,
        plans=tuple(
            plan
            for plan in plans
            if any(edge.target in task_domains for edge in view.list_domains_served_by(plan))
        ),
        allowed_plans=plans,
        tools=tools,
        escalation=view.list_superiors_in_service(chosen.role_id),
        reasons=(
            *_explain_resolution(view, word, domain),
            *_explain_nearest(view, domain, chosen, ranked[0]),
            *_explain_choice(view, chosen, fitting[1] if len(fitting) > 1 else None),
        ),
        considered=tuple(
            _consider(view, chosen, each, holders_by_tool) for each in islice(others, shown_count)
        ),
        considered_count=len(ranked) - 1,
        snapshot=view.digest,
    )


def find_holders(view: OrgView, tool: str, candidates: Sequence[Candidate]) -> Collection[str]:
    """The roles that are equipped with a tool, and the candidates for which it is essential; none if the tool is undeclared."""
    if tool not in view.records.tools:
        return ()
    equipped = view.list_ends_to(EdgeKind.EQUIPPED_WITH, tool)
    holders = {role_id for role_id, attribute in equipped if not attribute.endswith(":none")}
    # An essential tool can depend on the rest of a profile, so it is asked for each candidate.
    if any(tool == each for each, _ in view.essential):
        holders.update(each.role_id for each in candidates if tool in view.list_essential_tools(each.role_id))
    return holders


def find_missing_needs(candidate: Candidate, holders_by_tool: HoldersByTool) -> list[str]:
    """The needed tools that a candidate does not have, in the order of the request."""
    return [tool for tool, holders in holders_by_tool.items() if candidate.role_id not in holders]


def _explain_resolution(view: OrgView, word: str, domain: str | None) -> tuple[Reason, ...]:
    if domain == word or domain is None:
        return ()
    text = f"{quote(word)} means domain {quote(domain)}"
    return (Reason("ALIAS", text, (cite_place(text, view.records.aliases[word].place),)),)


def _explain_nearest(view: OrgView, domain: str, chosen: Candidate, nearest: Candidate) -> tuple[Reason, ...]:
    """The reason why a role of a broader domain is taken, if it is."""
    if not chosen.distance:
        return ()
    with_tools = " with the tools needed" if nearest.distance < chosen.distance else ""
    text = f"no role takes {quote(domain)} itself{with_tools}, {quote(chosen.domain)} is broader"
    passed = view.list_domain_and_broader(domain)[: chosen.distance]
    places = (view.records.domains[each].place("broader") for each in passed)
    return (Reason("BROADER_DOMAIN", text, tuple(cite_place(text, place) for place in places)),)


def _explain_choice(view: OrgView, chosen: Candidate, rival: Candidate | None) -> tuple[Reason, Reason]:
    role = f"role {quote(chosen.role_id)}"
    handles = Reason(
        "HANDLES_DOMAIN",
        f"{role} handles domain {quote(chosen.domain)}",
        (cite_edge(get_handling_edge(view, chosen)),),
    )
    if rival is None:
        return handles, Reason("ONLY_CANDIDATE", NO_RIVAL)
    code, text, why = find_difference(view, chosen, rival)
    return handles, Reason(code, f"{role} is preferred to {quote(rival.role_id)}: {text}", why)


def _consider(
    view: OrgView, chosen: Candidate | None, other: Candidate, holders_by_tool: HoldersByTool
) -> Considered:
    lacks = find_missing_needs(other, holders_by_tool)
    if lacks or chosen is None:
        text = say_unequipped(lacks)
        return Considered(other.role_id, "LACKS_TOOL", text, (cite_edge(get_handling_edge(view, other)),))
    return explain_loss(view, chosen, other)


def explain_loss(view: OrgView, better: Candidate, worse: Candidate, edge: Edge | None = None) -> Considered:
    """The reason why the second of two candidates comes after the first.

    `edge` made the second one a candidate. Default: the edge by which it handles its domain.
    """
    code, text, why = find_difference(view, better, worse)
    places = tuple(dict.fromkeys((cite_edge(edge or get_handling_edge(view, worse)), *why)))
    return Considered(worse.role_id, code, f"role {quote(better.role_id)} is preferred: {text}", places)


def _build_not_applicable(
    view: OrgView,
    word: str,
    domain: str | None,
    candidates: Sequence[Candidate],
    holders_by_tool: HoldersByTool,
    shown_count: int | None,
) -> DispatchDecision:
    return DispatchDecision(
        outcome="not_applicable",
        asked=word,
        domain=domain,
        role_id=None,
        role_name=None,
        plans=(),
        allowed_plans=(),
        tools=(),
        escalation=(),
        reasons=(
            *_explain_resolution(view, word, domain),
            _explain_no_role(view, word, domain, candidates, holders_by_tool),
        ),
        considered=tuple(_consider(view, None, each, holders_by_tool) for each in candidates[:shown_count]),
        considered_count=len(candidates),
        snapshot=view.digest,
    )


def _explain_no_role(
    view: OrgView,
    word: str,
    domain: str | None,
    candidates: Sequence[Candidate],
    holders_by_tool: HoldersByTool,
) -> Reason:
    records = view.records
    if candidates:
        # Tools that the best candidates lack come first.
        lacking = dict.fromkeys(
            tool for each in candidates for tool in find_missing_needs(each, holders_by_tool)
        )
        text = f"no role that handles {quote(domain)} is equipped with all of {listing(lacking)}"
        return Reason("NO_ROLE_EQUIPPED", text)
    if domain is not None and domain in records.domains:
        declared = cite_place(f"domain {domain} is declared", records.domains[domain].place())
        return Reason("NO_ROLE_HANDLES", say_unhandled_domain(quote(domain)), (declared,))
    if word in records.aliases:
        alias = records.aliases[word]
        text = say_unmapped_alias(quote(word))
        if alias.target is not None:
            text = f"{quote(word)} means {quote(alias.target)}, which no catalog declares"
        return Reason("DOMAIN_UNMAPPED", text, (cite_place(text, alias.place),))
    hint = did_you_mean(word, [*records.domains, *records.aliases])
    text = say_unknown_domain(quote(word))
    return Reason("DOMAIN_UNKNOWN", f"{text}; {hint}" if hint else text)
