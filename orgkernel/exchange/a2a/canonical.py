"""The bytes of a card that are signed: JSON in the form of RFC 8785, without signatures and empty values (A2A 1.0)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def encode_canonical_card(card: Mapping[str, Any]) -> bytes:
    """The canonical bytes of a card. orgkernel cards contain strings, integers and booleans, but no fractions.

    >>> encode_canonical_card({"name": "é", "capabilities": {}, "signatures": [{}], "description": "a"}).decode()
    '{"description":"a","name":"é"}'
    """
    signed = without_empty({key: value for key, value in card.items() if key != "signatures"})
    return json.dumps(_sort_keys(signed), ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def without_empty(value: Any) -> Any:
    """A value without the empty strings, lists, mappings and nulls in it. None if nothing is left.

    >>> without_empty({"a": "", "b": [{}, 0], "c": False, "d": {"e": None}})
    {'b': [0], 'c': False}
    """
    if isinstance(value, Mapping):
        kept = {key: left for key, each in value.items() if (left := without_empty(each)) is not None}
        return kept or None
    if isinstance(value, list | tuple):
        return [left for each in value if (left := without_empty(each)) is not None] or None
    return None if value == "" else value


def _sort_keys(value: Any) -> Any:
    """Keys by their UTF-16 code units."""
    if isinstance(value, dict):
        return {key: _sort_keys(value[key]) for key in sorted(value, key=lambda key: key.encode("utf-16-be"))}
    return [_sort_keys(each) for each in value] if isinstance(value, list) else value
