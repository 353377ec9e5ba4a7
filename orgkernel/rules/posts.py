"""The posts of an organization side by side, so that a rule finds those it has to look at without asking each of them.

A rule's `suspects` is a quick test over all posts: it may name a post about which there is nothing to say, and never
leaves out one about which there is (law `suspects_hold_all_findings`). What is to be said is its `check`'s alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property

from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import RolePost
from orgkernel.graph.schema import EdgeKind
from orgkernel.records.role_profile import AUTHORITY_OF_TYPE, RoleProfile
from orgkernel.triggers.lower_limits import are_in_order


class Posts:
    """An organization's posts with their profiles, and what several rules ask of all of them."""

    def __init__(self, view: OrgView, posts: Iterable[RolePost] | None = None) -> None:
        """Rules about profiles can be given some of the `posts` only; those about posts compare them with all others."""
        self.view = view
        self.records = view.records
        asked = view.records.posts.values() if posts is None else posts
        self.pairs: list[tuple[RolePost, RoleProfile]] = [(post, post.profile) for post in asked]

    @property
    def superiors(self) -> Mapping[str, str]:
        """Every role that reports to somebody, with its superior."""
        return self.view.superiors

    @cached_property
    def spans(self) -> Mapping[str, int]:
        """Number of direct subordinates of everybody who has some."""
        return Counter(self.superiors.values())

    @cached_property
    def not_above(self) -> list[RolePost]:
        """Superiors whose authority is not above that of a direct subordinate."""
        authority = {
            post.role_id: AUTHORITY_OF_TYPE[profile.role_type] if written is None else written
            for post, profile in self.pairs
            for written in (profile.chain_of_command.authority_level,)
        }
        found = {
            superior
            for role_id, superior in self.superiors.items()
            if role_id in authority and authority[role_id] >= authority.get(superior, 1 << 30)
        }
        return [post for post, _ in self.pairs if post.role_id in found]

    @cached_property
    def dispatching(self) -> frozenset[str]:
        """Roles that may dispatch somebody."""
        return frozenset(source for source, _ in self.view.ends_of(EdgeKind.MAY_DISPATCH))

    @cached_property
    def under_unnamed_superior(self) -> list[RolePost]:
        """Posts whose profile names a superior that the organization does not name."""
        names, external = self.view.names_role, self.view.external
        return [
            post
            for post, profile in self.pairs
            for superior in (profile.chain_of_command.reports_to,)
            if superior is not None and superior not in external and not names(superior)
        ]

    @cached_property
    def with_doubtful_triggers(self) -> list[RolePost]:
        """Posts with triggers that have to be parsed to be judged."""
        judged: dict[tuple[str | None, str | None, str | None, int], bool] = {}
        found = []
        for post, profile in self.pairs:
            plan = profile.pace_plan
            if plan is None:
                continue
            one, two, three = plan.alternate, plan.contingent, plan.emergency
            asked = (
                one.trigger if one else None,
                two.trigger if two else None,
                three.trigger if three else None,
                profile.doctrine.max_turns_without_progress,
            )
            sound = judged.get(asked)
            if sound is None:
                texts = [text for text in asked[:3] if text is not None]
                sound = judged[asked] = are_in_order(texts, asked[3])
            if not sound:
                found.append(post)
        return found

    @cached_property
    def following(self) -> list[tuple[RolePost, RoleProfile]]:
        """Posts that follow plans."""
        return [pair for pair in self.pairs if pair[1].capabilities.htn_plans]
