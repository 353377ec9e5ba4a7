"""Stores for tests: a clock that is set by hand, and chance that repeats."""

from __future__ import annotations

import hashlib
import itertools
from pathlib import Path
from typing import Any

from orgkernel.decisions.evidence.state_view import QualificationResult
from orgkernel.state.location import StoreLocation, parse_location
from orgkernel.state.store import Store


class Clock:
    """Time as the test says."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def is_unexpired_pass(result: QualificationResult, now: float) -> bool:
    """Whether a result is valid under a declaration that requires nothing but a pass and its stored end."""
    is_over = result.expires_at is not None and result.expires_at <= now
    return result.passed and result.invalidated_at is None and not is_over


class Tokens:
    """Bytes that look drawn by lot and are the same in each run; every instance its own."""

    _instances = itertools.count()

    def __init__(self) -> None:
        self._seed = next(self._instances)
        self._drawn = itertools.count()

    def __call__(self, number: int) -> bytes:
        return hashlib.shake_256(f"{self._seed}/{next(self._drawn)}".encode()).digest(number)


def sqlite_at(folder: Path) -> StoreLocation:
    """A store in a folder."""
    return parse_location("state.db", str(folder))


def opened(location: StoreLocation, clock: Clock | None = None, **settings: Any) -> Store:
    """A store there."""
    return Store(location, clock=clock or Clock(), tokens=Tokens(), **settings)
