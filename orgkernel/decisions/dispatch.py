"""Dispatch: which role takes a task of a domain, and why (design §6, "Dispatch"; specification, "Role Selection").

Error policy: passes through. Whatever cannot be answered, an unknown domain included, is `not_applicable` with the
reason, and nothing changes for the host.

The order: the exact domain before broader ones; a specialist before an executive before a commander; the
organisation's `domain_routing`; the role with fewer domains; the order of the hierarchy. Roles that lack a needed tool
are passed over.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

from orgkernel.decisions.reasons import Reason, Why, why_edge, why_place
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import Edge, EdgeKind
from orgkernel.records.role_profile import AUTHORITY_OF_TYPE

SHOWN_CANDIDATES = 5
_LAST = 1 << 30


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
    """Digest of the organisation the answer came from."""


class _Rank(NamedTuple):
    """What candidates are ordered by; the first difference decides."""

    lacking: bool
    distance: int
    authority: int
    routing: int
    domains: int
    declared: int


class _Candidate(NamedTuple):
    rank: _Rank
    edge: Edge
    lacks: tuple[str, ...]


def decide_dispatch(
    view: OrgView, word: str, *, needs: Sequence[str] = (), all_considered: bool = False
) -> DispatchDecision:
    """Who takes a task of a domain.

    `word` is a domain or an alias of one; `needs` are tools the taker must be equipped with. Never raises for names
    that nothing declares.
    """
    if needs or view.resolve_domain(word) is None:
        return _decide(view, word, needs, all_considered)
    # Words that mean something are few, and a view never changes: each is decided once.
    return view.remember(("dispatch", word, all_considered), lambda: _decide(view, word, (), all_considered))


def _decide(view: OrgView, word: str, needs: Sequence[str], all_considered: bool) -> DispatchDecision:
    domain = view.resolve_domain(word)
    candidates = _rank_candidates(view, domain, needs) if domain is not None else []
    if not candidates or candidates[0].rank.lacking:
        return _not_applicable(view, word, domain, candidates, all_considered)
    chosen, others = candidates[0], candidates[1:]
    role_id = chosen.edge.source
    plans = tuple(edge.target for edge in view.plans_of(role_id))
    served = chosen.edge.target
    return DispatchDecision(
        "role", word, domain, role_id, view.records.posts[role_id].profile.name,
        tuple(plan for plan in plans if any(edge.target in (domain, served) for edge in view.domains_served_by(plan))),
        plans,
        tuple(edge.target for edge in view.tools_of(role_id)),
        tuple(edge.target for edge in view.chain_above(role_id)),
        (*_resolution(view, word, domain), *_choice(view, domain, chosen, others)),
        _considered(view, chosen, others, all_considered),
        len(others),
        view.digest,
    )  # fmt: skip


def find_tie(view: OrgView, domain: str) -> tuple[Edge, Edge] | None:
    """The chosen role's edge and the next one's, when only the order of the hierarchy decides between them."""
    candidates = _rank_candidates(view, domain, ())
    if len(candidates) > 1 and candidates[0].rank[:-1] == candidates[1].rank[:-1]:
        return candidates[0].edge, candidates[1].edge
    return None


def _rank_candidates(view: OrgView, domain: str, needs: Sequence[str]) -> Sequence[_Candidate]:
    """Everybody who could take a domain, best first; without needs, worked out once."""
    if needs:
        return _ranked(view, domain, needs)
    return view.remember(("candidates", domain), lambda: tuple(_ranked(view, domain, ())))


def _ranked(view: OrgView, domain: str, needs: Sequence[str]) -> list[_Candidate]:
    order = view.order
    candidates: dict[str, _Candidate] = {}
    for distance, near in enumerate(view.domain_and_broader(domain)):
        preferred = routing_order(view, near)
        for edge in view.handlers_of(near):
            role_id = edge.source
            if role_id in candidates or role_id not in order:
                continue
            lacks = _lacks(view, role_id, needs) if needs else ()
            candidates[role_id] = _candidate(view, edge, distance, preferred, lacks)
    return sorted(candidates.values(), key=lambda candidate: candidate.rank)


def _candidate(
    view: OrgView, edge: Edge, distance: int, preferred: Sequence[str], lacks: tuple[str, ...]
) -> _Candidate:
    role_id = edge.source
    rank = _Rank(
        bool(lacks),
        distance,
        AUTHORITY_OF_TYPE[view.records.posts[role_id].profile.role_type],
        preferred.index(role_id) if role_id in preferred else _LAST,
        len(view.domains_of(role_id)),
        view.order[role_id],
    )
    return _Candidate(rank, edge, lacks)


def explain_loss(view: OrgView, chosen: Edge, other: Edge) -> Considered:
    """Why the second of two roles that handle the same domain comes after the first, given the edges that say so."""
    preferred = routing_order(view, chosen.target)
    better, worse = (_candidate(view, edge, 0, preferred, ()) for edge in (chosen, other))
    return _considered(view, better, [worse], everybody=True)[0]


def _lacks(view: OrgView, role_id: str, needs: Sequence[str]) -> tuple[str, ...]:
    held = {tool.target for tool in view.tools_of(role_id)}.union(view.essential_tools_of(role_id))
    return tuple(dict.fromkeys(tool for tool in needs if tool not in held))


def routing_order(view: OrgView, domain: str) -> tuple[str, ...]:
    """The organisation's preference among the roles of a domain, written under the domain or an alias of it."""
    word = _routing_word(view, domain)
    return () if word is None else view.records.organization.domain_routing[word]


def why_routing(view: OrgView, domain: str) -> tuple[Why, ...]:
    """The line of that preference; none where there is none."""
    word = _routing_word(view, domain)
    if word is None:
        return ()
    place = view.records.document.place("domain_routing", word, key=True)
    return (why_place(f"domain_routing of {word}", place),)


def _routing_word(view: OrgView, domain: str) -> str | None:
    routing = view.records.organization.domain_routing
    if domain in routing:
        return domain
    return next((word for word in routing if view.resolve_domain(word) == domain), None)


def _resolution(view: OrgView, word: str, domain: str | None) -> tuple[Reason, ...]:
    if domain == word or domain is None:
        return ()
    text = f"{quote(word)} means domain {quote(domain)}"
    return (Reason("ALIAS", text, (why_place(text, view.records.aliases[word].place),)),)


def _choice(
    view: OrgView, domain: str | None, chosen: _Candidate, others: Sequence[_Candidate]
) -> tuple[Reason, ...]:
    edge = chosen.edge
    role = f"role {quote(edge.source)}"
    reasons = []
    if chosen.rank.distance:
        line = view.domain_and_broader(str(domain))
        passed_over = any(other.rank.distance < chosen.rank.distance for other in others)
        text = f"no role takes {quote(domain)} itself{' with the tools needed' * passed_over}, {quote(edge.target)} is broader"
        places = (view.records.domains[each].place("broader") for each in line[: chosen.rank.distance])
        reasons.append(Reason("BROADER_DOMAIN", text, tuple(why_place(text, place) for place in places)))
    reasons.append(Reason("HANDLES_DOMAIN", f"{role} handles domain {quote(edge.target)}", (why_edge(edge),)))
    rival = next((other for other in others if not other.rank.lacking), None)
    if rival is not None:
        code, text, why = _difference(view, chosen, rival)
        reasons.append(Reason(code, f"{role} is preferred to {quote(rival.edge.source)}: {text}", why))
    else:
        reasons.append(Reason("ONLY_CANDIDATE", f"no other role can take it as well as {role}"))
    return tuple(reasons)


def _difference(view: OrgView, better: _Candidate, worse: _Candidate) -> tuple[str, str, tuple[Why, ...]]:
    """What puts one candidate before another, and the lines that say so of both."""
    first, second = better.edge, worse.edge
    both = [view.records.posts[edge.source] for edge in (first, second)]
    if better.rank.distance != worse.rank.distance:
        text = f"{quote(first.target)} is nearer than {quote(second.target)}"
        return "EXACT_DOMAIN", text, (why_edge(first), why_edge(second))
    if better.rank.authority != worse.rank.authority:
        types = [post.profile.role_type for post in both]
        why = (
            why_place(
                f"role {post.role_id} is {_article(role_type)} {role_type}{'' if post.has('role_type') else ' by default'}",
                post.place("role_type"),
            )
            for post, role_type in zip(both, types, strict=True)
        )
        return (
            "ROLE_TYPE",
            f"{_article(types[0])} {types[0]} comes before {_article(types[1])} {types[1]}",
            tuple(why),
        )
    if better.rank.routing != worse.rank.routing:
        text = f"`domain_routing` of {quote(view.org_id)} says so"
        return "DOMAIN_ROUTING", text, why_routing(view, first.target)
    if better.rank.domains != worse.rank.domains:
        why = (
            why_place(
                f"bst_domains of role {post.role_id} lists {number}",
                post.place("capabilities", "bst_domains", key=True),
            )
            for post, number in zip(both, (better.rank.domains, worse.rank.domains), strict=True)
        )
        return (
            "FEWER_DOMAINS",
            f"it handles fewer domains ({better.rank.domains} against {worse.rank.domains})",
            tuple(why),
        )
    included = (edge for post in both for edge in view.edges_to(EdgeKind.INCLUDES, post.role_id))
    text = "it stands first in the hierarchy, nothing else tells them apart"
    return "DECLARED_FIRST", text, tuple(map(why_edge, included))


def _article(word: str) -> str:
    return "an" if word[0] in "aeiou" else "a"


def _considered(
    view: OrgView, chosen: _Candidate | None, others: Sequence[_Candidate], everybody: bool
) -> tuple[Considered, ...]:
    shown = others if everybody else others[:SHOWN_CANDIDATES]
    listed = []
    for other in shown:
        why: tuple[Why, ...] = ()
        if other.rank.lacking or chosen is None:
            code, text = "LACKS_TOOL", f"it is not equipped with {listing(other.lacks)}"
        else:
            code, text, why = _difference(view, chosen, other)
            text = f"role {quote(chosen.edge.source)} is preferred: {text}"
        places = tuple(dict.fromkeys((why_edge(other.edge), *why)))
        listed.append(Considered(other.edge.source, code, text, places))
    return tuple(listed)


def _not_applicable(
    view: OrgView, word: str, domain: str | None, candidates: Sequence[_Candidate], everybody: bool
) -> DispatchDecision:
    records = view.records
    if candidates:
        lacking = listing(dict.fromkeys(tool for candidate in candidates for tool in candidate.lacks))
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
            text = f"{quote(word)} means {quote(alias.target)}, which no catalogue declares"
        reason = Reason("DOMAIN_UNMAPPED", text, (why_place(text, alias.place),))
    else:
        hint = did_you_mean(word, [*records.domains, *records.aliases])
        text = f"no catalogue declares domain {quote(word)}"
        reason = Reason("DOMAIN_UNKNOWN", f"{text}; {hint}" if hint else text)
    return DispatchDecision(
        "not_applicable", word, domain, None, None, (), (), (), (),
        (*_resolution(view, word, domain), reason),
        _considered(view, None, candidates, everybody),
        len(candidates),
        view.digest,
    )  # fmt: skip
