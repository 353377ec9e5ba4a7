"""A store at the place a module or class names."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from orgkernel.state.location import StoreLocation
from orgkernel.state.store import Store
from tests.state.opening import Clock, opened


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(place: StoreLocation, clock: Clock) -> Iterator[Store]:
    """A new store at the place the module or class names."""
    with opened(place, clock) as store:
        yield store
