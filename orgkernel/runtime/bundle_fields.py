"""Read checked values from decoded JSON, each with its route. Standard library only."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .bundle_records import BundleError


def at(*steps: str) -> str:
    """The route to a value, as messages print it: `roles/co/pace`."""
    return "/".join(step for step in steps if step)


@dataclass(frozen=True, slots=True)
class Fields:
    """A mapping in a bundle and the route to it. Every reader raises `BundleError` for a value that does not fit."""

    data: Mapping[str, Any]
    where: str

    def wrong(self, key: str, text: str) -> BundleError:
        """The error to raise for a value that cannot be used."""
        return BundleError("BUNDLE_MALFORMED", at(self.where, key), text)

    def get(self, key: str) -> Any:
        """A required value of any kind."""
        if key not in self.data:
            raise self.wrong(key, "is missing")
        return self.data[key]

    def text(self, key: str) -> str:
        """A text."""
        value = self.get(key)
        if not isinstance(value, str):
            raise self.wrong(key, "is not text")
        return value

    def text_or_none(self, key: str) -> str | None:
        """A text or null."""
        return None if self.get(key) is None else self.text(key)

    def one_of(self, key: str, allowed: Collection[str]) -> str:
        """A text that is one of `allowed`."""
        value = self.text(key)
        if value not in allowed:
            raise self.wrong(key, f"`{value[:40]}` is not one of {', '.join(allowed)}")
        return value

    def flag(self, key: str) -> bool:
        """True or false."""
        value = self.get(key)
        if not isinstance(value, bool):
            raise self.wrong(key, "is neither true nor false")
        return value

    def whole(self, key: str) -> int:
        """A whole number of at least 1."""
        value = self.get(key)
        if type(value) is not int or value < 1:
            raise self.wrong(key, "is not a whole number above zero")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts."""
        value = self.get(key)
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self.wrong(key, "is not a list of texts")
        return tuple(value)

    def mapping(self, key: str) -> Mapping[str, Any]:
        """A mapping with text keys. JSON has no others, but data from other callers may."""
        value = self.get(key)
        if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
            raise self.wrong(key, "is not a mapping")
        return value

    def each(self, key: str) -> Iterator[tuple[str, Fields]]:
        """The mappings in a mapping, by name."""
        inner = Fields(self.mapping(key), at(self.where, key))
        for name in inner.data:
            yield name, Fields(inner.mapping(name), at(inner.where, name))

    def flags_by_name(self, key: str) -> Mapping[str, bool]:
        """A mapping of true and false."""
        inner = Fields(self.mapping(key), at(self.where, key))
        return {name: inner.flag(name) for name in inner.data}

    def texts_by_name(self, key: str) -> Mapping[str, str | None]:
        """A mapping whose values are texts or null."""
        inner = Fields(self.mapping(key), at(self.where, key))
        return {name: inner.text_or_none(name) for name in inner.data}
