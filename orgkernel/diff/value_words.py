"""A changed value, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from orgkernel.diagnostics.wording import quote

_SHOWN = 8


def say_difference(field: str, before: Any, after: Any) -> str:
    """A changed value; of a list of words, the words that were added and removed."""
    if _is_words(before) and _is_words(after):
        gone = [quote(each) for each in before if each not in after]
        come = [quote(each) for each in after if each not in before]
        said = [f"{verb} {list_words(words)}" for verb, words in (("gained", come), ("lost", gone)) if words]
        return (
            f"{field} {', '.join(said)}"
            if said
            else f"{field} now reads {list_words(list(map(quote, after)))}"
        )
    return f"{field} is {_value(after)} instead of {_value(before)}"


def _is_words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _value(value: Any) -> str:
    if value is None or value in ("", [], {}):
        return "nothing"
    return quote(value if isinstance(value, str) else msgspec.json.encode(value).decode())


def list_words(words: Sequence[str]) -> str:
    """The first words, and how many more."""
    shown = ", ".join(words[:_SHOWN])
    more = len(words) - _SHOWN
    return f"{shown} and {more} more" if more > 0 else shown
