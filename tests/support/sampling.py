"""What `make test` leaves to `make nightly`: cases that repeat in another form what one of them shows.

A tuple is one parameter set, as in `pytest.mark.parametrize`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import pytest

nightly = pytest.mark.nightly


def sample(values: Iterable[Any], kind: Callable[[Any], Hashable]) -> list[Any]:
    """Values as parameters: `make test` runs the first of each kind, `make nightly` the others."""
    known: set[Hashable] = set()
    parameters = []
    for value in values:
        of = kind(value)
        parameters.append(_left(value) if of in known else value)
        known.add(of)
    return parameters


def sample_every(values: Iterable[Any], number: int) -> list[Any]:
    """Values as parameters: `make test` runs the first of each so many, `make nightly` the others."""
    return [_left(value) if index % number else value for index, value in enumerate(values)]


def _left(value: Any) -> Any:
    if hasattr(value, "marks"):
        return pytest.param(*value.values, marks=(*value.marks, nightly), id=value.id)
    return pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=nightly)
