"""Which rules look at more than one post's abilities, and so have something else to say when one profile changes them.

Like `suspects`, each is a quick test: it may say yes where the rule then finds what it found before, and never says no
where it finds something else (laws `patched_equals_rebuilt` and `only_rules_with_a_reach_see_abilities`). Rules about
single posts are not here: they run again for every profile that changed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import Edge, EdgeKind
from orgkernel.records.role_profile import Capabilities

ABILITIES = (
    EdgeKind.HANDLES,
    EdgeKind.FOLLOWS,
    EdgeKind.EQUIPPED_WITH,
    EdgeKind.REQUIRES,
    EdgeKind.SERVES_INTENT,
)
"""Kinds of edges that the capabilities of a profile say."""
_KIND_OF = {
    "bst_domains": EdgeKind.HANDLES,
    "htn_plans": EdgeKind.FOLLOWS,
    "tools_primary": EdgeKind.EQUIPPED_WITH,
    "tools_secondary": EdgeKind.EQUIPPED_WITH,
    "tools": EdgeKind.EQUIPPED_WITH,
    "skills": EdgeKind.REQUIRES,
    "intents": EdgeKind.SERVES_INTENT,
}


@dataclass(frozen=True, slots=True)
class Difference:
    """What one profile says of its abilities before and after, in one organization."""

    before: OrgView
    after: OrgView
    removed: Sequence[Edge]
    added: Sequence[Edge]
    kinds: frozenset[EdgeKind]
    """Of the edges, and of lists that are written otherwise."""

    def ends(self, kind: EdgeKind) -> set[str]:
        """What edges of a kind that went or came lead to."""
        return {edge.target for edge in (*self.removed, *self.added) if edge.kind is kind}


def changed_kinds(before: Capabilities, after: Capabilities) -> frozenset[EdgeKind]:
    """The kinds of edges of which the capabilities say something else."""
    names = Capabilities.__struct_fields__
    return frozenset(_KIND_OF[name] for name in names if getattr(before, name) != getattr(after, name))


def _names_undeclared(
    kind: EdgeKind, declared: Callable[[OrgView], Collection[str]]
) -> Callable[[Difference], bool]:
    def test(difference: Difference) -> bool:
        known = declared(difference.after)
        return any(end not in known for end in difference.ends(kind))

    return test


def _first_or_last(
    kind: EdgeKind, declared: Callable[[OrgView], Collection[str]]
) -> Callable[[Difference], bool]:
    """Whether something is led to that was not before, or no longer is, or is no id at all: it may mean another one."""

    def test(difference: Difference) -> bool:
        known = declared(difference.after)
        return any(
            end not in known or not _is_held_by_another(difference, kind, end)
            for end in difference.ends(kind)
        )

    return test


def _tools_used_or_not(difference: Difference) -> bool:
    tools, kind = difference.after.records.tools, EdgeKind.EQUIPPED_WITH
    ends = difference.ends(kind)
    return any(end in tools and not _is_held_by_another(difference, kind, end) for end in ends)


def _is_held_by_another(difference: Difference, kind: EdgeKind, end: str) -> bool:
    roles = {edge.source for edge in (*difference.removed, *difference.added)}
    # Before as well: several profiles may change at once.
    return difference.before.has_other(kind, end, roles) and difference.after.has_other(kind, end, roles)


def _any_of(kind: EdgeKind) -> Callable[[Difference], bool]:
    return lambda difference: kind in difference.kinds


def _stated_levels(difference: Difference) -> bool:
    return any(edge.attribute.startswith("stated:") for edge in (*difference.removed, *difference.added))


def _separated_tools(difference: Difference) -> bool:
    apart = difference.after.records.organization.separations.values()
    return bool(apart) and EdgeKind.EQUIPPED_WITH in difference.kinds


def _counted_skills(difference: Difference) -> bool:
    return bool(difference.after.records.promotions) and EdgeKind.REQUIRES in difference.kinds


REACH: Mapping[str, Callable[[Difference], bool]] = {
    "ORG301": _names_undeclared(EdgeKind.HANDLES, lambda view: view.records.domains),
    "ORG302": _names_undeclared(EdgeKind.FOLLOWS, lambda view: view.records.plans),
    "ORG303": _names_undeclared(EdgeKind.EQUIPPED_WITH, lambda view: view.records.tools),
    "ORG304": _names_undeclared(EdgeKind.REQUIRES, lambda view: view.records.skills),
    "ORG305": _first_or_last(EdgeKind.HANDLES, lambda view: view.records.domains),
    "ORG306": _any_of(EdgeKind.HANDLES),
    "ORG307": _any_of(EdgeKind.HANDLES),
    "ORG310": _first_or_last(EdgeKind.FOLLOWS, lambda view: view.records.plans),
    "ORG311": _any_of(EdgeKind.HANDLES),
    "ORG408": _stated_levels,
    "ORG419": _separated_tools,
    "ORG604": _counted_skills,
    "ORG701": _tools_used_or_not,
}
"""Code to whether the rule has to run again for a difference."""
