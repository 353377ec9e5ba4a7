"""The order of dispatch as one table: what puts one candidate before another, and how that is said.

The ranking, the ties that ORG306 reports, the losses that ORG311 reports, the reasons of an answer and the takers in a
host's bundle all read `ORDER` (docs/dispatch.md). A new criterion is a row of it, and a field of `Candidate` to
compare by.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import takewhile
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

from orgkernel.decisions.reasons import Why, why_edge, why_place
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import AUTHORITY_OF_TYPE
from orgkernel.graph.memo import PerView, per_view_and_key
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import Edge, EdgeKind

MOST_RANKED = 4096


class Candidate(msgspec.Struct, frozen=True, gc=False):
    """A role that handles a domain or a broader one, and what it is compared by: the lower value comes first."""

    role_id: str
    domain: str
    """The domain it handles: the one that was asked for, or a broader one."""
    distance: int
    """Steps from the domain that was asked for to this one."""
    authority: int
    """That of its role type."""
    routing: int
    """Its place in the organization's `domain_routing`; all that are not named there share the place after the last."""
    domains: int
    """How many domains it handles."""
    declared: int
    """Its place in the hierarchy."""


# What two candidates differ in, in words, and the lines that say so of both.
Explained = tuple[str, tuple[Why, ...]]


class Criterion(NamedTuple):
    """One thing candidates are compared by."""

    code: str
    preference: str
    """Which role comes first, in the words of `docs/dispatch.md`."""
    field: str
    """The field of `Candidate` that is compared."""
    explain: Callable[[OrgView, Candidate, Candidate], Explained]
    """Why the first of two candidates that differ in it comes before the second."""


def _explain_distance(view: OrgView, better: Candidate, worse: Candidate) -> Explained:
    text = f"{quote(better.domain)} is nearer than {quote(worse.domain)}"
    return text, (why_edge(get_handling_edge(view, better)), why_edge(get_handling_edge(view, worse)))


def _explain_role_type(view: OrgView, better: Candidate, worse: Candidate) -> Explained:
    types, why = [], []
    for each in (better, worse):
        post = view.records.posts[each.role_id]
        role_type = _add_article(post.profile.role_type)
        written = "role_type" if post.has("role_type") else "role_id"
        by_default = "" if written == "role_type" else " by default"
        types.append(role_type)
        why.append(why_place(f"role {each.role_id} is {role_type}{by_default}", post.place(written)))
    return f"{types[0]} comes before {types[1]}", tuple(why)


def _explain_routing(view: OrgView, better: Candidate, worse: Candidate) -> Explained:
    return f"`domain_routing` of {quote(view.org_id)} says so", locate_routing(view, better.domain)


def _explain_fewer_domains(view: OrgView, better: Candidate, worse: Candidate) -> Explained:
    why = (
        why_place(
            f"bst_domains of role {each.role_id} lists {each.domains}",
            view.records.posts[each.role_id].place("capabilities", "bst_domains", key=True),
        )
        for each in (better, worse)
    )
    return f"it handles fewer domains ({better.domains} against {worse.domains})", tuple(why)


def _explain_declared_first(view: OrgView, better: Candidate, worse: Candidate) -> Explained:
    included = (
        edge for each in (better, worse) for edge in view.list_edges_to(EdgeKind.INCLUDES, each.role_id)
    )
    return "it stands first in the hierarchy, nothing else tells them apart", tuple(map(why_edge, included))


ORDER = (
    Criterion(
        "EXACT_DOMAIN",
        "a role that handles the exact domain, before one that handles a broader domain",
        "distance",
        _explain_distance,
    ),
    Criterion(
        "ROLE_TYPE", "a specialist, before an executive, before a commander", "authority", _explain_role_type
    ),
    Criterion(
        "DOMAIN_ROUTING",
        "the role that the organization's `domain_routing` names first",
        "routing",
        _explain_routing,
    ),
    Criterion("FEWER_DOMAINS", "the role that handles fewer domains", "domains", _explain_fewer_domains),
    Criterion(
        "DECLARED_FIRST",
        "the role that is listed first in the hierarchy",
        "declared",
        _explain_declared_first,
    ),
)
"""What decides, most important first. The last decides where nothing that was meant to decide does."""

_rank: Callable[[Candidate], Any] = attrgetter(*(criterion.field for criterion in ORDER))
_merits: Callable[[Candidate], Any] = attrgetter(*(criterion.field for criterion in ORDER[:-1]))


@per_view_and_key(most=MOST_RANKED)
def rank_candidates(view: OrgView, domain: str) -> tuple[Candidate, ...]:
    """Everybody who could take a domain, best first, each by the nearest domain it handles."""
    candidates_by_role: dict[str, Candidate] = {}
    for distance, near in enumerate(view.list_domain_and_broader(domain)):
        for candidate in _find_handlers(view, near, distance):
            candidates_by_role.setdefault(candidate.role_id, candidate)
    return tuple(sorted(candidates_by_role.values(), key=_rank))


def rank_servers(view: OrgView, intent: str) -> tuple[Candidate, ...]:
    """The roles that serve an intent, best first, by the same order; they do not differ in the domain or its routing."""
    order, domains = view.order, _count_domains(view)
    serving = dict.fromkeys(view.list_sources_to(EdgeKind.SERVES_INTENT, intent))
    candidates = [
        Candidate(
            role_id,
            "",
            0,
            AUTHORITY_OF_TYPE[view.records.posts[role_id].profile.role_type],
            0,
            domains.get(role_id, 0),
            order[role_id],
        )
        for role_id in serving
        if role_id in order
    ]
    return tuple(sorted(candidates, key=_rank))


def rank_handlers(view: OrgView) -> Iterator[tuple[str, list[Candidate]]]:
    """Each declared domain that roles handle, with the roles that handle exactly this one, best first."""
    for domain in view.list_targets_of_kind(EdgeKind.HANDLES):
        if domain in view.records.domains:
            yield domain, sorted(_find_handlers(view, domain, 0), key=_rank)


def find_tied(ranked: list[Candidate]) -> list[Candidate]:
    """The first of the ranked, and all that only the order of the hierarchy puts behind it."""
    best = _merits(ranked[0])
    return list(takewhile(lambda each: _merits(each) == best, ranked))


def find_difference(view: OrgView, better: Candidate, worse: Candidate) -> tuple[str, str, tuple[Why, ...]]:
    """What puts one candidate before another: code, text, and the lines that say so of both."""
    decisive = next(each for each in ORDER if getattr(better, each.field) != getattr(worse, each.field))
    return decisive.code, *decisive.explain(view, better, worse)


def get_handling_edge(view: OrgView, candidate: Candidate) -> Edge:
    """The edge by which a candidate handles its domain."""
    return next(edge for edge in view.list_domains(candidate.role_id) if edge.target == candidate.domain)


def get_routing_order(view: OrgView, domain: str) -> tuple[str, ...]:
    """The organization's preference among the roles of a domain, written under the domain or an alias of it."""
    word = _get_routing_word(view, domain)
    return () if word is None else view.records.organization.domain_routing[word]


def locate_routing(view: OrgView, domain: str) -> tuple[Why, ...]:
    """The line of that preference; none where there is none."""
    word = _get_routing_word(view, domain)
    if word is None:
        return ()
    place = view.records.document.place("domain_routing", word, key=True)
    return (why_place(f"domain_routing of {word}", place),)


def _get_routing_word(view: OrgView, domain: str) -> str | None:
    routing = view.records.organization.domain_routing
    if domain in routing:
        return domain
    return next((word for word in routing if view.resolve_domain(word) == domain), None)


def _find_handlers(view: OrgView, domain: str, distance: int) -> list[Candidate]:
    """The roles that handle exactly a domain, which lies so far from the one that was asked for."""
    order, authorities, domains = view.order, _get_authorities(view), _count_domains(view)
    preferred = get_routing_order(view, domain)
    places = {role_id: place for place, role_id in reversed([*enumerate(preferred)])}
    handlers = [role_id for role_id in view.list_sources_to(EdgeKind.HANDLES, domain) if role_id in order]
    for role_id in handlers:
        if role_id not in authorities:
            authorities[role_id] = AUTHORITY_OF_TYPE[view.records.posts[role_id].profile.role_type]
    return [
        Candidate(
            role_id,
            domain,
            distance,
            authorities[role_id],
            places.get(role_id, len(preferred)),
            domains[role_id],
            order[role_id],
        )
        for role_id in handlers
    ]


@PerView
def _get_authorities(view: OrgView) -> dict[str, int]:
    """The authority of the roles that were candidates so far: it takes their profiles, which may lie packed."""
    return {}


@PerView
def _count_domains(view: OrgView) -> Mapping[str, int]:
    return Counter(role_id for role_id, _ in view.list_ends_of_kind(EdgeKind.HANDLES))


def _add_article(word: str) -> str:
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"
