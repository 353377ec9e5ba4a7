"""The table of token shapes, and what is passed over before it is asked."""

from __future__ import annotations

import re._parser as regular_expressions

import pytest

from orgkernel.runtime import token_shapes
from orgkernel.runtime.token_shapes import SHORTEST_REFUSED, TOKEN_SHAPES, TokenShape


@pytest.mark.parametrize("shape", [each for each in TOKEN_SHAPES if each.refused], ids=lambda each: each.what)
def test_no_refused_token_is_shorter_than_what_is_looked_at(shape: TokenShape) -> None:
    """Texts without a run of this length are not compared with the table."""
    pattern = token_shapes._get_pattern("A-Za-z0-9_-", shape.refused).pattern
    assert regular_expressions.parse(pattern).getwidth()[0] >= SHORTEST_REFUSED
