"""Find words in filters that the organization does not declare, each with the most similar declared word. A misspelled
filter must not look like an empty crew.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final

from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind

_SHOWN: Final = 5


def _list_in_profiles(view: OrgView, field: str) -> list[str]:
    """The values of a field in the profiles of the roles."""
    values = (getattr(post.profile, field) for post in view.records.posts.values())
    return [value for value in values if value is not None]


_Words = Callable[[OrgView], Collection[str]]
_DECLARED: Final[Mapping[str, tuple[str, _Words]]] = {
    "role": ("role", lambda view: view.roles),
    "reports_to": ("role", lambda view: (*view.roles, *(view.superiors[root] for root in view.list_roots()))),
    "department": (
        "department",
        lambda view: (*view.records.organization.departments, *_list_in_profiles(view, "department")),
    ),
    "layer": ("layer", lambda view: (*view.records.organization.layers, *_list_in_profiles(view, "layer"))),
    "rank": ("rank", lambda view: [each.id for each in view.records.ranks]),
    "skill": ("skill", lambda view: (*view.records.skills, *view.records.cognitive_skills)),
    "qualification": ("qualification", lambda view: view.records.qualifications),
    "tool": ("tool", lambda view: view.records.tools),
    "plan": ("plan", lambda view: view.records.plans),
    "domain": ("domain", lambda view: (*view.records.domains, *view.records.aliases)),
    "intent": (
        "intent",
        lambda view: (
            *view.list_targets_of_kind(EdgeKind.SERVES_INTENT),
            *(intent for tool in view.records.tools.values() for intent in tool.record.intents),
        ),
    ),
    "watch": ("watch", lambda view: view.records.organization.watches),
}


def find_unknown_words(view: OrgView, *filters: Mapping[str, Any]) -> tuple[str, ...]:
    """A sentence for each word of filters that the organization does not declare."""
    return tuple(dict.fromkeys(sentence for each in filters for sentence in _find(view, each)))


def _find(view: OrgView, wanted: Mapping[str, Any]) -> Iterator[str]:
    for name, word in wanted.items():
        if word is None or name not in _DECLARED:
            continue
        kind, list_words = _DECLARED[name]
        words = tuple(dict.fromkeys(list_words(view)))
        if word in words:
            continue
        known = f"there are {listing(words[:_SHOWN])}" if 0 < len(words) <= _SHOWN else ""
        help = did_you_mean(word, words) or known
        yield f"there is no {kind} {quote(word)}" + (f"; {help}" if help else "")
