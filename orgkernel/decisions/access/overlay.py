"""A mapping with some entries replaced, without copying the others: a state as somebody assumes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

T = TypeVar("T")


class Overlay(Mapping[str, T]):
    """Some entries over those of another mapping."""

    def __init__(self, upper: Mapping[str, T], lower: Mapping[str, T]) -> None:
        self._upper, self._lower = upper, lower

    def __getitem__(self, key: str) -> T:
        return self._upper[key] if key in self._upper else self._lower[key]

    def __contains__(self, key: object) -> bool:
        return key in self._upper or key in self._lower

    def __iter__(self) -> Iterator[str]:
        return iter({**self._lower, **self._upper})

    def __len__(self) -> int:
        return len({**self._lower, **self._upper})

    def __bool__(self) -> bool:
        return True
