"""The triggers of a post's PACE tiers, parsed once per text, for the doctrine rules.

A trigger on `primary` is not among them, because nothing reads it (ORG508).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from orgkernel.diagnostics import Place
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.records import RolePost
from orgkernel.runtime.tiers import ABOVE_PRIMARY
from orgkernel.triggers import ParsedTrigger, parse_trigger

# Roles are many and their triggers few: most organizations copy them (0.1 ms a parse, 100,000 roles).
REMEMBERED = 4_096


class TierTrigger(NamedTuple):
    """The trigger of one tier, as written and as read."""

    tier: str
    text: str
    parsed: ParsedTrigger

    def place(self, post: RolePost, offset: int = 0) -> Place:
        """Where a character of the trigger is written."""
        return post.place_within(offset, "pace_plan", self.tier, "trigger")

    def name_in(self, post: RolePost) -> str:
        """The trigger's name in messages."""
        return f"{self.tier} trigger of role {quote(post.role_id)}"


def tier_triggers(post: RolePost) -> tuple[TierTrigger, ...]:
    """The triggers of the tiers above primary, lowest tier first."""
    plan = post.profile.pace_plan
    if plan is None:
        return ()
    tiers = ((name, getattr(plan, name)) for name in ABOVE_PRIMARY)
    return tuple(
        TierTrigger(name, tier.trigger, read_trigger(tier.trigger))
        for name, tier in tiers
        if tier is not None and tier.trigger is not None
    )


@lru_cache(maxsize=REMEMBERED)
def read_trigger(text: str) -> ParsedTrigger:
    """A trigger's text, read once."""
    return parse_trigger(text)
