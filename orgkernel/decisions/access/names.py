"""Names, and beginnings of names with a star, as policies and credentials write them."""

from __future__ import annotations

from collections.abc import Iterable

from orgkernel.records.access_policies import STAR


class Names:
    """Names and beginnings of names with a star, told apart once."""

    __slots__ = ("_beginnings", "_exact")

    def __init__(self, words: Iterable[str]) -> None:
        words = tuple(words)
        self._exact = frozenset(word for word in words if not word.endswith(STAR))
        self._beginnings = tuple(word[:-1] for word in words if word.endswith(STAR))

    def __bool__(self) -> bool:
        return bool(self._exact or self._beginnings)

    def __contains__(self, name: str) -> bool:
        return name in self._exact or name.startswith(self._beginnings)
