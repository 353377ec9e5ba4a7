"""Texts of refusals that several decisions share.

Texts that hosts share too are in `orgkernel.runtime.refusals`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from orgkernel.diagnostics.wording import listing, quote

NO_RIVAL: Final = "no other role can take this task"
UNREADABLE_PATH: Final = "the input states no path that can be read"
NO_RANK: Final = "no rank of the ladder"
USAGE_UNKNOWN: Final = "the usage of limits is not known"


def say_worker(who: str) -> str:
    """The refusal for a worker that tries to hand work down."""
    return f"{who} has position `worker`, which executes work and does not hand it down"


def say_unequipped(tools: Iterable[str]) -> str:
    """The reason why a candidate does not get a task that needs tools."""
    return f"it is not equipped with {listing(tools)}"


def say_claim_end(token: object, end: object) -> str:
    """The remedy for files that another worker has claimed."""
    return f"claim {token} ends at {end}; wait, or ask its holder to release or transfer it"


def say_unassigned(role_id: str) -> str:
    """The fact that no roster names an agent for a role."""
    return f"no roster assigns an agent to role {quote(role_id)}"


def say_not_filling(who: str, role_id: str) -> str:
    """The refusal for an agent that does not fill the role."""
    return f"{who} does not fill role {quote(role_id)}"
