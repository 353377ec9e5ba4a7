"""Dispatch: which role takes a task of a domain, and why (design §6, "Dispatch"; specification, "Role Selection").

Error policy: passes through. Whatever cannot be answered, an unknown domain included, is `not_applicable` with the
reason, and nothing changes for the host.

The order: the exact domain before broader ones; a specialist before an executive before a commander; the
organization's `domain_routing`; the role with fewer domains; the order of the hierarchy. Roles that lack a needed tool
are passed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import Literal

import msgspec

from orgkernel.decisions.candidates import Candidate, Candidates, candidate_of, positions
from orgkernel.decisions.preference import find_difference, routing_order
from orgkernel.decisions.reasons import Reason, Why, why_edge, why_place
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import Edge

SHOWN_CANDIDATES = 5
MOST_REMEMBERED = 4096


class Considered(msgspec.Struct, frozen=True):
    """A role that could have been chosen, and why it was not."""

    role_id: str
    code: str
    text: str
    why: tuple[Why, ...]


class DispatchDecision(msgspec.Struct, frozen=True):
    """Who takes a task.

    >>> from orgkernel import Kernel
    >>> decision = Kernel.open().dispatch("software_dev", "conversational")
    >>> decision.outcome, decision.reasons[0].text
    ('not_applicable', 'no role handles domain `conversational`')
    """

    outcome: Literal["role", "not_applicable"]
    asked: str
    domain: str | None
    """The domain the asked word means here."""
    role_id: str | None
    role_name: str | None
    plans: tuple[str, ...]
    """Plans the role follows for that domain."""
    allowed_plans: tuple[str, ...]
    """All plans the role follows."""
    tools: tuple[str, ...]
    """Tools the role is equipped with, in order of preference."""
    escalation: tuple[str, ...]
    """The chain of command above the role, nearest first."""
    reasons: tuple[Reason, ...]
    considered: tuple[Considered, ...]
    """The next candidates, best first."""
    considered_count: int
    """How many candidates there were besides the chosen one."""
    snapshot: str
    """Digest of the organization the answer came from."""


def decide_dispatch(
    view: OrgView, word: str, *, needs: Sequence[str] = (), all_considered: bool = False
) -> DispatchDecision:
    """Who takes a task of a domain.

    `word` is a domain or an alias of one; `needs` are tools the taker must be equipped with. Never raises for names
    that nothing declares.
    """
    if all_considered:
        return _decide(view, word, needs, everybody=True)
    # A view never changes, and a host asks the same few questions again and again.
    decided: dict[tuple[str, tuple[str, ...]], DispatchDecision] = view.remember("dispatch", dict)
    question = (word, tuple(needs))
    decision = decided.get(question)
    if decision is None:
        decision = _decide(view, word, question[1], everybody=False)
        if len(decided) >= MOST_REMEMBERED:
            decided.clear()
        decided[question] = decision
    return decision


def _decide(view: OrgView, word: str, needs: Sequence[str], everybody: bool) -> DispatchDecision:
    domain = view.resolve_domain(word)
    candidates = _candidates(view, domain) if domain is not None else None
    fitting = candidates.equipped_with(view, needs) if candidates is not None else 0
    if domain is None or candidates is None or not fitting:
        return _not_applicable(view, word, domain, candidates, needs, everybody)
    first = next(positions(fitting))
    chosen = candidates.at(view, first)
    # The next best who could have taken it, then those that lack a tool.
    others = (
        (*positions(fitting ^ 1 << first), *positions(candidates.all ^ fitting))
        if everybody
        else _next(candidates, fitting, first)
    )
    role_id = chosen.edge.source
    plans = tuple(edge.target for edge in view.plans_of(role_id))
    served = chosen.edge.target
    listed_others = [candidates.at(view, number, needs) for number in others]
    return DispatchDecision(
        "role", word, domain, role_id, view.records.posts[role_id].profile.name,
        tuple(plan for plan in plans if any(edge.target in (domain, served) for edge in view.domains_served_by(plan))),
        plans,
        tuple(edge.target for edge in view.tools_of(role_id)),
        tuple(edge.target for edge in view.chain_above(role_id)),
        (*_resolution(view, word, domain), *_choice(view, domain, chosen, listed_others, candidates.at(view, 0))),
        _considered(view, chosen, listed_others),
        len(candidates) - 1,
        view.digest,
    )  # fmt: skip


def _next(candidates: Candidates, fitting: int, chosen: int) -> list[int]:
    ranked = chain(positions(fitting ^ 1 << chosen), positions(candidates.all ^ fitting))
    return list(islice(ranked, SHOWN_CANDIDATES))


def find_tie(view: OrgView, domain: str) -> tuple[Edge, Edge] | None:
    """The chosen role's edge and the next one's, when only the order of the hierarchy decides between them."""
    candidates = _candidates(view, domain)
    if len(candidates) < 2:
        return None
    first, second = candidates.at(view, 0), candidates.at(view, 1)
    return (first.edge, second.edge) if first.merits == second.merits else None


def _candidates(view: OrgView, domain: str) -> Candidates:
    """Everybody who could take a domain; worked out once."""
    return view.remember(("candidates", domain), lambda: Candidates(view, domain, routing_order))


def explain_loss(view: OrgView, chosen: Edge, other: Edge) -> Considered:
    """Why the second of two roles that handle the same domain comes after the first, given the edges that say so."""
    preferred = routing_order(view, chosen.target)
    better, worse = (candidate_of(view, edge, preferred) for edge in (chosen, other))
    return _considered(view, better, [worse])[0]


def _resolution(view: OrgView, word: str, domain: str | None) -> tuple[Reason, ...]:
    if domain == word or domain is None:
        return ()
    text = f"{quote(word)} means domain {quote(domain)}"
    return (Reason("ALIAS", text, (why_place(text, view.records.aliases[word].place),)),)


def _choice(
    view: OrgView, domain: str, chosen: Candidate, others: Sequence[Candidate], nearest: Candidate
) -> tuple[Reason, ...]:
    edge = chosen.edge
    role = f"role {quote(edge.source)}"
    reasons = []
    if chosen.distance:
        line = view.domain_and_broader(domain)
        passed_over = nearest.distance < chosen.distance
        text = f"no role takes {quote(domain)} itself{' with the tools needed' * passed_over}, {quote(edge.target)} is broader"
        places = (view.records.domains[each].place("broader") for each in line[: chosen.distance])
        reasons.append(Reason("BROADER_DOMAIN", text, tuple(why_place(text, place) for place in places)))
    reasons.append(Reason("HANDLES_DOMAIN", f"{role} handles domain {quote(edge.target)}", (why_edge(edge),)))
    rival = others[0] if others and not others[0].lacks else None
    if rival is not None:
        code, text, why = find_difference(view, chosen, rival)
        reasons.append(Reason(code, f"{role} is preferred to {quote(rival.edge.source)}: {text}", why))
    else:
        reasons.append(Reason("ONLY_CANDIDATE", f"no other role can take it as well as {role}"))
    return tuple(reasons)


def _considered(
    view: OrgView, chosen: Candidate | None, others: Iterable[Candidate]
) -> tuple[Considered, ...]:
    listed = []
    for other in others:
        why: tuple[Why, ...] = ()
        if other.lacks or chosen is None:
            code, text = "LACKS_TOOL", f"it is not equipped with {listing(other.lacks)}"
        else:
            code, text, why = find_difference(view, chosen, other)
            text = f"role {quote(chosen.edge.source)} is preferred: {text}"
        places = tuple(dict.fromkeys((why_edge(other.edge), *why)))
        listed.append(Considered(other.edge.source, code, text, places))
    return tuple(listed)


def _not_applicable(
    view: OrgView,
    word: str,
    domain: str | None,
    candidates: Candidates | None,
    needs: Sequence[str],
    everybody: bool,
) -> DispatchDecision:
    records = view.records
    others: list[Candidate] = []
    if candidates:
        shown = len(candidates) if everybody else min(len(candidates), SHOWN_CANDIDATES)
        others = [candidates.at(view, number, needs) for number in range(shown)]
        lacking = listing(_lacking(view, candidates, needs))
        reason = Reason(
            "NO_ROLE_EQUIPPED", f"no role that handles {quote(domain)} is equipped with all of {lacking}"
        )
    elif domain is not None and domain in records.domains:
        text = f"no role handles domain {quote(domain)}"
        reason = Reason(
            "NO_ROLE_HANDLES",
            text,
            (why_place(f"domain {domain} is declared", records.domains[domain].place()),),
        )
    elif word in records.aliases:
        alias = records.aliases[word]
        text = f"{quote(word)} is listed as meaning no domain here"
        if alias.target is not None:
            text = f"{quote(word)} means {quote(alias.target)}, which no catalog declares"
        reason = Reason("DOMAIN_UNMAPPED", text, (why_place(text, alias.place),))
    else:
        hint = did_you_mean(word, [*records.domains, *records.aliases])
        text = f"no catalog declares domain {quote(word)}"
        reason = Reason("DOMAIN_UNKNOWN", f"{text}; {hint}" if hint else text)
    return DispatchDecision(
        "not_applicable", word, domain, None, None, (), (), (), (),
        (*_resolution(view, word, domain), reason),
        _considered(view, None, others),
        len(candidates or ()),
        view.digest,
    )  # fmt: skip


def _lacking(view: OrgView, candidates: Candidates, needs: Sequence[str]) -> list[str]:
    """The needed tools that somebody lacks, those that the best candidates lack first."""
    missing = {
        tool: candidates.all ^ candidates.equipped_with(view, (tool,)) for tool in dict.fromkeys(needs)
    }
    firsts = {tool: next(positions(bits)) for tool, bits in missing.items() if bits}
    return sorted(firsts, key=firsts.__getitem__)
