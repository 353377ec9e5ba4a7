"""The usage of limits as the store counts it: what a call is charged, and what is left.

Amounts are whole numbers, so sums are exact in every engine: calls are counted in ones, money in millionths of its unit.
"""

from __future__ import annotations

from typing import Final

import msgspec

MILLIONTHS = 1_000_000
"""The parts of one unit of a budget."""
LIMIT: Final = "limit"
"""The name of the usage of limits among missing circumstances. No caller can state it."""
INPUT: Final = "input"
"""The name of the input of a call among missing circumstances, if a limit reads its cost from there."""
MAX_AMOUNT = 10**15
"""The highest amount of one charge, and the highest limit. The sum of a window fits into 64 bits."""


class Charge(msgspec.Struct, frozen=True):
    """What one call takes from one counter of a limit."""

    limit_id: str
    counter: str
    """Whose usage is counted: a subject or tool as `kind:ID`, or `*` for a limit that everything shares."""
    limit: int
    """The highest sum, or the highest number of calls at the same time."""
    amount: int = 1
    seconds: float | None = None
    """The length of the sliding window. None for a limit of calls at the same time."""


class LimitUsage(msgspec.Struct, frozen=True):
    """The usage of one counter at one moment."""

    limit_id: str
    counter: str
    limit: int
    used: int
    """The sum in the window, or the calls in progress. It exceeds the limit only if calls cost more than was reserved."""
    refills_at: float | None = None
    """When the next amount leaves the window or the next lease ends, in seconds since 1970-01-01 UTC. None if unused."""

    @property
    def left(self) -> int:
        """What is left. Never negative."""
        return max(0, self.limit - self.used)


class LimitUse(msgspec.Struct, frozen=True):
    """One charge of one call, as stored."""

    org_id: str
    limit_id: str
    counter: str
    call_id: str
    subject: str
    tool_id: str
    amount: int
    at: float
    lease_until: float | None = None
    """When a call in progress is given up. None for a window: its amount stays charged, whatever became of the call."""
    ended_at: float | None = None
    """When the call was settled or released."""
    is_released: bool = False
    """Whether the call did not happen, so that it is charged nothing."""
