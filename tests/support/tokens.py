"""Tokens of a text as models count them: o200k_base, whose table comes with the package."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

ENCODING = "o200k_base"


@cache
def _encoding() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # it opens its table in an older way
        import bpe_openai

        return bpe_openai.get_encoding(ENCODING)


@cache
def count_tokens(text: str) -> int:
    """How many tokens a text has."""
    return len(_encoding().encode(text))
