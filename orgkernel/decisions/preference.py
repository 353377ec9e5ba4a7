"""What puts one role before another in a dispatch, and the lines that say so."""

from __future__ import annotations

from orgkernel.decisions.candidates import Candidate
from orgkernel.decisions.reasons import Why, why_edge, why_place
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind


def routing_order(view: OrgView, domain: str) -> tuple[str, ...]:
    """The organization's preference among the roles of a domain, written under the domain or an alias of it."""
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


def find_difference(view: OrgView, better: Candidate, worse: Candidate) -> tuple[str, str, tuple[Why, ...]]:
    """What puts one candidate before another, and the lines that say so of both."""
    first, second = better.edge, worse.edge
    both = [view.records.posts[edge.source] for edge in (first, second)]
    if better.distance != worse.distance:
        text = f"{quote(first.target)} is nearer than {quote(second.target)}"
        return "EXACT_DOMAIN", text, (why_edge(first), why_edge(second))
    if better.authority != worse.authority:
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
    if better.routing != worse.routing:
        text = f"`domain_routing` of {quote(view.org_id)} says so"
        return "DOMAIN_ROUTING", text, why_routing(view, first.target)
    if better.domains != worse.domains:
        why = (
            why_place(
                f"bst_domains of role {post.role_id} lists {number}",
                post.place("capabilities", "bst_domains", key=True),
            )
            for post, number in zip(both, (better.domains, worse.domains), strict=True)
        )
        return (
            "FEWER_DOMAINS",
            f"it handles fewer domains ({better.domains} against {worse.domains})",
            tuple(why),
        )
    included = (edge for post in both for edge in view.edges_to(EdgeKind.INCLUDES, post.role_id))
    text = "it stands first in the hierarchy, nothing else tells them apart"
    return "DECLARED_FIRST", text, tuple(map(why_edge, included))


def _article(word: str) -> str:
    return "an" if word[0] in "aeiou" else "a"
