"""Log that the store fails: at most once a second, because with a store that is down every request fails."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Final

logger = logging.getLogger("orgkernel.server")
_SECONDS: Final = 1.0
"""Seconds between two lines."""


class StoreFailureLog:
    """Writes failures of the store into the log of the server. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._next = float("-inf")
        self._omitted = 0

    def write(self, text: str) -> None:
        """Log a failure, with the number of those that were omitted since the last line."""
        with self._lock:
            now = self._clock()
            if now < self._next:
                self._omitted += 1
                return
            self._next = now + _SECONDS
            omitted, self._omitted = self._omitted, 0
        logger.error("%s%s", text, f" ({omitted:,} more failures were not logged)" if omitted else "")


log_store_failure = StoreFailureLog().write
"""Of this process."""
