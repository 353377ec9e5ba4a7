"""Describe what a grant waives."""

from __future__ import annotations

from collections.abc import Mapping

from orgkernel.decisions.evidence.state_view import Grant
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import LEVELS


class ListedGrant(Grant, frozen=True, gc=False, kw_only=True):
    """A grant as lists show it."""

    lifts: str
    """The ceilings that the grant waives, and up to which level; empty if none."""


def list_grant(grant: Grant) -> ListedGrant:
    """A grant with its waivers in words.

    >>> list_grant(Grant("g1", "agent:worf", ("tool:scan",), "read", ("rank",))).lifts
    'waives rank up to level read'
    """
    values = {name: getattr(grant, name) for name in grant.__struct_fields__}
    return ListedGrant(**values, lifts=describe_waivers(grant))


def describe_waived_level(waived_levels: Mapping[str, int], waiver: str) -> str:
    """How far grants waive a ceiling, as the end of a sentence about it; empty if none does.

    >>> describe_waived_level({"rank": 2}, "rank")
    '; a grant waives this up to level `read`'
    """
    level = waived_levels.get(waiver, 0)
    return f"; a grant waives this up to level {quote(LEVELS[level])}" if level else ""


def describe_waivers(grant: Grant) -> str:
    """The waivers of a grant, in words."""
    return f"waives {name_waivers(grant)}" if grant.waives else ""


def name_waivers(grant: Grant) -> str:
    """The ceilings that a grant waives, and up to which level."""
    *first, last = sorted(grant.waives)
    caps = f"{', '.join(first)} and {last}" if first else last
    return f"{caps} up to level {grant.level}"
