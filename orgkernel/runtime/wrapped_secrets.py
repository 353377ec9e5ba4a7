"""Finds secrets that are written so that their form does not show: in Base64, or split by characters without a width.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

import binascii
from collections.abc import Iterator
from typing import Final

from .lazy_patterns import lazy_pattern
from .token_shapes import find_refused, find_runs

INVISIBLE: Final = lazy_pattern(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\U000e0000-\U000e007f\U000e0100-\U000e01ef]"
)
"""Characters that a reader does not see."""
_SHORTEST: Final = 28
"""The Base64 of the shortest token."""
_LONG: Final = b"a" * _SHORTEST
_CLASSES: Final = bytes(
    97 if code < 128 and (chr(code).isalnum() or chr(code) in "+/_-") else 32 for code in range(256)
)
# Encoded text is often broken into lines.
_ENCODED: Final = lazy_pattern(
    rf"[A-Za-z0-9+/_-]{{{_SHORTEST},}}(?:(?:\\n|\r?\n[ \t]*)[A-Za-z0-9+/_-]{{2,}})*={{0,2}}"
)
_BREAKS: Final = lazy_pattern(r"\\n|\s+")
_MAX_DECODED: Final = 1024 * 1024
_MAX_DEPTH: Final = 2


def find_wrapped(text: str, depth: int = _MAX_DEPTH) -> Iterator[tuple[int, int, str]]:
    """The parts of a text whose decoded form has a token: start, end and kind. Base64 within Base64 is decoded, too."""
    if text.encode("latin-1", "replace").translate(_CLASSES).find(_LONG) < 0:
        return
    left = _MAX_DECODED
    for match in _ENCODED.finditer(text):
        left -= len(match[0])
        if left < 0:
            return
        if what := _find_decoded(match[0], depth):
            yield match.start(), match.end(), f"{what} in Base64"


def _find_decoded(encoded: str, depth: int) -> str:
    """The kind of the first token in the decoded form; empty if there is none."""
    plain = _BREAKS.sub("", encoded).rstrip("=").replace("-", "+").replace("_", "/")
    decoded = binascii.a2b_base64(plain[: len(plain) // 4 * 4] + _pad(plain[len(plain) // 4 * 4 :]))
    text = decoded.decode("latin-1")
    for _, _, what in find_refused(text, find_runs(text)):
        return what
    if depth > 1:
        for _, _, what in find_wrapped(text, depth - 1):
            return what.removesuffix(" in Base64")
    return ""


def _pad(rest: str) -> str:
    return rest + "=" * (4 - len(rest)) if len(rest) > 1 else ""
