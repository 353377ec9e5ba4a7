"""The capacity of a store: the free space of its disk, and the budget for its size (docs/how-to/serve.md).

A store that is nearly full is announced by `/readyz` and the log before anything is refused. When the budget is used
up, callers without a key get no answers that must be audited, so callers without a key cannot fill the disk.
"""

from __future__ import annotations

import logging
import os
import shutil

from orgkernel.kernel.stored import StoreLocation

logger = logging.getLogger("orgkernel.server")

MIB = 1024 * 1024
DEFAULT_BUDGET = 4_096 * MIB
"""Bytes that the store may use."""
MIN_FREE_BYTES = 256 * MIB
"""Bytes that should be free on the disk of the store."""
WARN_AT = 0.8
"""The used part of the budget at which `/readyz` and the log begin to warn."""


class Capacity:
    """The capacity of a store. The size of the store is reported at intervals; the free space is read from the disk."""

    def __init__(self, location: StoreLocation | None, budget: int = DEFAULT_BUDGET) -> None:
        self._folder = os.path.dirname(location.path) if location is not None and location.path else ""
        self.budget = budget
        """Bytes that the store may use."""
        self.used = 0
        """Bytes that the store used when it was measured last."""
        self._said = ""

    @property
    def is_used_up(self) -> bool:
        """Whether the store has reached its budget."""
        return self.used >= self.budget

    def note_size(self, used: int) -> None:
        """Take the size of the store in bytes. A new problem is logged once."""
        self.used = used
        problem = self.find_problem()
        if problem and not self._said:
            logger.warning("the store is nearly full: %s", problem)
        self._said = problem

    def find_problem(self) -> str:
        """The resource that is nearly used up. Empty if there is enough space."""
        if self.is_used_up:
            return f"the store has used up its budget of {_format_mib(self.budget)}; callers without a key are refused"
        if self.used >= self.budget * WARN_AT:
            return f"the store uses {_format_mib(self.used)} of its budget of {_format_mib(self.budget)}"
        free = self.free()
        if free is not None and free < MIN_FREE_BYTES:
            return f"the disk of the store has {_format_mib(free)} left"
        return ""

    def free(self) -> int | None:
        """Free bytes on the disk of the store. None if they are not known."""
        if not self._folder:
            return None
        try:
            return shutil.disk_usage(self._folder).free
        except OSError:
            return None  # the folder comes with the store


def _format_mib(size: int) -> str:
    return f"{size / MIB:.0f} MiB"
