"""What a grant waives, in the words of the documents."""

from __future__ import annotations

from collections.abc import Mapping

from orgkernel.decisions.evidence.state_view import Grant
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import LEVELS


class ListedGrant(Grant, frozen=True, gc=False, kw_only=True):
    """A grant as lists show it."""

    lifts: str
    """The caps that the grant lifts, and the level up to which it lifts them; empty if it lifts none."""


def list_grant(grant: Grant) -> ListedGrant:
    """A grant with what it lifts in words.

    >>> list_grant(Grant("g1", "agent:worf", ("tool:scan",), "read", ("rank",))).lifts
    'lifts rank up to level read'
    """
    values = {name: getattr(grant, name) for name in grant.__struct_fields__}
    return ListedGrant(**values, lifts=describe_waivers(grant))


def describe_lift(lifted: Mapping[str, int], waiver: str) -> str:
    """How far grants lift a cap, as the end of a sentence about the cap; empty if none lifts it.

    >>> describe_lift({"rank": 2}, "rank")
    '; a grant lifts this up to level `read`'
    """
    level = lifted.get(waiver, 0)
    return f"; a grant lifts this up to level {quote(LEVELS[level])}" if level else ""


def describe_waivers(grant: Grant) -> str:
    """What a grant lifts besides what it gives."""
    return f"lifts {name_waivers(grant)}" if grant.waives else ""


def name_waivers(grant: Grant) -> str:
    """The caps that a grant lifts, and how far."""
    *first, last = sorted(grant.waives)
    caps = f"{', '.join(first)} and {last}" if first else last
    return f"{caps} up to level {grant.level}"
