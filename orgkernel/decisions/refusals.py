"""Sentences that refuse, where several decisions give the same one. Each stands here once.

What a host says too is in `orgkernel.runtime.refusals`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from orgkernel.diagnostics.wording import listing, quote

NO_RIVAL: Final = "no other role can take this task"
UNREADABLE_PATH: Final = "the input states no path that can be read"
NO_RANK: Final = "no rank of the ladder"


def say_worker(who: str) -> str:
    """A worker executes what it is given."""
    return f"{who} has position `worker`, which executes work and does not hand it down"


def say_unequipped(tools: Iterable[str]) -> str:
    """Why a candidate does not get a task that needs tools."""
    return f"it is not equipped with {listing(tools)}"


def say_claim_end(token: object, end: object) -> str:
    """What to do about files that another worker has claimed."""
    return f"claim {token} ends at {end}; wait, or ask its holder to release or transfer it"


def say_not_filling(who: str, role_id: str) -> str:
    """An agent was chosen for a role that it does not have."""
    return f"{who} does not fill role {quote(role_id)}"
