"""The triggers of a post's PACE tiers, parsed once per text, for the doctrine rules.

A trigger on `primary` is not included, because it is never read (ORG508).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from orgkernel.diagnostics import Place
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import PaceTier, RoleProfile
from orgkernel.graph.records import RolePost
from orgkernel.rules.doctrine.trigger_ranges import Vacuous, find_vacuous, is_free
from orgkernel.runtime.tiers import PRIMARY, TIERS
from orgkernel.runtime.trigger_parser import parse_trigger
from orgkernel.runtime.trigger_problems import ParsedTrigger

# Many roles share few different triggers, because most organizations copy them.
REMEMBERED = 4_096


class TierTrigger(NamedTuple):
    """The trigger of one tier, as written and as read."""

    tier: str
    text: str
    parsed: ParsedTrigger

    def place(self, post: RolePost, offset: int = 0) -> Place:
        """The place of a character of the trigger."""
        return post.locate_within(offset, "pace_plan", self.tier, "trigger")

    def name_in(self, post: RolePost) -> str:
        """The trigger's name in messages."""
        return f"{self.tier} trigger of role {quote(post.role_id)}"


def list_tiers(profile: RoleProfile) -> list[tuple[str, PaceTier]]:
    """The tiers that a profile writes, with their names, lowest first."""
    plan = profile.pace_plan
    if plan is None:
        return []
    tiers = (plan.primary, plan.alternate, plan.contingent, plan.emergency)
    return [(name, tier) for name, tier in zip(TIERS, tiers, strict=True) if tier is not None]


@lru_cache(maxsize=1)  # rules ask the same post, one after the other
def list_tier_triggers(post: RolePost) -> tuple[TierTrigger, ...]:
    """The triggers of the tiers above primary, lowest tier first."""
    return tuple(
        TierTrigger(name, tier.trigger, read_trigger(tier.trigger))
        for name, tier in list_tiers(post.profile)
        if tier.trigger is not None and name != PRIMARY
    )


def find_triggers(posts: Iterable[RolePost]) -> Iterator[tuple[RolePost, TierTrigger]]:
    """The triggers of several posts, each with its post."""
    return ((post, trigger) for post in posts for trigger in list_tier_triggers(post))


@lru_cache(maxsize=REMEMBERED)
def read_trigger(text: str) -> ParsedTrigger:
    """Parse the text of a trigger, once per text."""
    return parse_trigger(text)


@lru_cache(maxsize=REMEMBERED)
def find_constant(text: str, limit: int) -> Vacuous | None:
    """Whether a trigger has a constant value, at this `max_turns_without_progress`."""
    tree = read_trigger(text).tree
    return None if tree is None or is_free(tree, limit) else find_vacuous(tree, limit)
