"""The order of dispatch candidates as one table of criteria, with the text of each.

The ranking, the ties that ORG306 reports, the losses that ORG311 reports, the reasons of an answer and the takers in a
host's bundle all read `ORDER` (docs/dispatch.md). To add a criterion, add a row and the field of `Candidate`
that it compares.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import takewhile
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

from orgkernel.decisions.reasons import Why, cite_edge, cite_place
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import AUTHORITY_OF_TYPE
from orgkernel.graph.memo import PerView, per_view_and_key
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import Edge, EdgeKind

MAX_CACHED = 4096


class Candidate(msgspec.Struct, frozen=True, gc=False):
    """A role that handles a domain or a broader one, with the values that are compared. Lower values come first."""

    role_id: str
    domain: str
    """The domain that it handles: the requested one, or a broader one."""
    distance: int
    """The number of steps from the requested domain to this one."""
    authority: int
    """The authority of its role type."""
    routing: int
    """Its position in the organization's `domain_routing`. Roles that are not listed share the position after the last."""
    domains: int
    """The number of domains that it handles."""
    declared: int
    """Its position in the hierarchy."""


# The difference between two candidates in words, and the lines for both.
Explained = tuple[str, tuple[Why, ...]]


class Criterion(NamedTuple):
    """One criterion for comparing candidates."""

    code: str
    preference: str
    """The preferred role, in the words of `docs/dispatch.md`."""
    field: str
    """The compared field of `Candidate`."""
    explain: Callable[[OrgView, Candidate, Candidate], Explained]
    """Explain why the first of two candidates that differ in the field comes before the second."""


def _explain_distance(view: OrgView, better: Candidate, worse: Candidate) -> Explained:
    text = f"{quote(better.domain)} is nearer than {quote(worse.domain)}"
    return text, (cite_edge(get_handling_edge(view, better)), cite_edge(get_handling_edge(view, worse)))


def _explain_role_type(view: OrgView, better: Candidate, worse: Candidate) -> Explained:
    types, why = [], []
    for each in (better, worse):
        post = view.records.posts[each.role_id]
        role_type = _add_article(post.profile.role_type)
        # The type can follow from the id of the role. Then the line of the id is the evidence.
        written = "role_type" if post.has("role_type") else "role_id"
        by_default = "" if written == "role_type" else " by default"
        types.append(role_type)
        why.append(cite_place(f"role {each.role_id} is {role_type}{by_default}", post.place(written)))
    return f"{types[0]} comes before {types[1]}", tuple(why)


def _explain_routing(view: OrgView, better: Candidate, worse: Candidate) -> Explained:
    return f"`domain_routing` of {quote(view.org_id)} prefers it", locate_routing(view, better.domain)


def _explain_fewer_domains(view: OrgView, better: Candidate, worse: Candidate) -> Explained:
    why = (
        cite_place(
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
    return "it is listed first in the hierarchy, and all other criteria are equal", tuple(
        map(cite_edge, included)
    )


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
"""The criteria, most important first. The last one is only a tie-breaker."""

_rank: Callable[[Candidate], Any] = attrgetter(*(criterion.field for criterion in ORDER))
# Without the tie-breaker: candidates with equal merits differ only in the order of the hierarchy.
_merits: Callable[[Candidate], Any] = attrgetter(*(criterion.field for criterion in ORDER[:-1]))


@per_view_and_key(most=MAX_CACHED)
def rank_candidates(view: OrgView, domain: str) -> tuple[Candidate, ...]:
    """All candidates for a domain, best first, each with the nearest domain that it handles."""
    candidates_by_role: dict[str, Candidate] = {}
    # Nearest domain first, so `setdefault` keeps the nearest domain that a role handles.
    for distance, near in enumerate(view.list_domain_and_broader(domain)):
        for candidate in _find_handlers(view, near, distance):
            candidates_by_role.setdefault(candidate.role_id, candidate)
    return tuple(sorted(candidates_by_role.values(), key=_rank))


def rank_servers(view: OrgView, intent: str) -> tuple[Candidate, ...]:
    """The roles that serve an intent, best first, in the same order. They do not differ in domain or routing."""
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
    """Each handled domain with the roles that handle exactly it, best first."""
    for domain in view.list_targets_of_kind(EdgeKind.HANDLES):
        if domain in view.records.domains:
            yield domain, sorted(_find_handlers(view, domain, 0), key=_rank)


def find_tied(ranked: list[Candidate]) -> list[Candidate]:
    """The first candidate, and all that only the order of the hierarchy puts after it."""
    best = _merits(ranked[0])
    return list(takewhile(lambda each: _merits(each) == best, ranked))


def find_difference(view: OrgView, better: Candidate, worse: Candidate) -> tuple[str, str, tuple[Why, ...]]:
    """The criterion that puts one candidate before another: its code, text, and the lines for both."""
    decisive = next(each for each in ORDER if getattr(better, each.field) != getattr(worse, each.field))
    return decisive.code, *decisive.explain(view, better, worse)


def get_handling_edge(view: OrgView, candidate: Candidate) -> Edge:
    """The edge by which a candidate handles its domain."""
    return next(edge for edge in view.list_domains(candidate.role_id) if edge.target == candidate.domain)


def get_routing_order(view: OrgView, domain: str) -> tuple[str, ...]:
    """The `domain_routing` of a domain, declared under the domain or an alias of it."""
    word = _get_routing_word(view, domain)
    return () if word is None else view.records.organization.domain_routing[word]


def locate_routing(view: OrgView, domain: str) -> tuple[Why, ...]:
    """The line of that preference; empty if there is none."""
    word = _get_routing_word(view, domain)
    if word is None:
        return ()
    place = view.records.document.place("domain_routing", word, key=True)
    return (cite_place(f"domain_routing of {word}", place),)


def _get_routing_word(view: OrgView, domain: str) -> str | None:
    routing = view.records.organization.domain_routing
    if domain in routing:
        return domain
    return next((word for word in routing if view.resolve_domain(word) == domain), None)


def _find_handlers(view: OrgView, domain: str, distance: int) -> list[Candidate]:
    """The roles that handle exactly a domain, which is `distance` steps from the requested one."""
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
    """The cached authority of candidate roles. Computing it unpacks their profiles."""
    return {}


@PerView
def _count_domains(view: OrgView) -> Mapping[str, int]:
    return Counter(role_id for role_id, _ in view.list_ends_of_kind(EdgeKind.HANDLES))


def _add_article(word: str) -> str:
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"
