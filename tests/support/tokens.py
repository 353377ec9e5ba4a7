"""Tokens of a text as models count them, for tests."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

ENCODING = "o200k_base"


@cache
def _encoding() -> Any:
    """Reading its tables takes a second."""
    with warnings.catch_warnings():
        # It opens them by a function of `importlib.resources` that newer Pythons advise against.
        warnings.simplefilter("ignore", DeprecationWarning)
        import bpe_openai

        return bpe_openai.get_encoding(ENCODING)


@cache
def count_tokens(text: str) -> int:
    """How many tokens a text has."""
    return len(_encoding().encode_ordinary(text))
