"""Tokens of a text as models count them, for tests."""

from __future__ import annotations

from functools import cache

from orgkernel.mcp.tokens import find_counter


@cache
def count_tokens(text: str) -> int:
    """How many tokens a text has."""
    counter = find_counter()
    assert counter is not None
    return counter(text)
