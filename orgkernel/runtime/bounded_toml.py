"""Parses TOML within limits. Python's parser needs gigabytes for a key of a hundred thousand parts."""

from __future__ import annotations

import tomllib
from typing import Any, Final

from .lazy_patterns import lazy_pattern

MAX_LENGTH: Final = 256 * 1024
"""Maximum number of characters of a text."""
MAX_DEPTH: Final = 40
"""Maximum number of parts of a key."""
_NAME: Final = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')"""
_DEEP_KEY: Final = lazy_pattern(rf"(?<![A-Za-z0-9_-]){_NAME}(?:[ \t]*+\.[ \t]*+{_NAME}){{{MAX_DEPTH}}}")


def parse_bounded_toml(text: str) -> dict[str, Any]:
    """The values of a text. Raises `tomllib.TOMLDecodeError`, also for a text beyond the limits."""
    if len(text) > MAX_LENGTH:
        raise tomllib.TOMLDecodeError(f"It has more than {MAX_LENGTH // 1024} KiB")
    if _DEEP_KEY.search(text):
        raise tomllib.TOMLDecodeError(f"A key has more than {MAX_DEPTH} parts")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        raise tomllib.TOMLDecodeError("Values are nested too deeply") from None
    except ValueError as error:  # a number of thousands of digits
        raise tomllib.TOMLDecodeError(str(error)) from None
