"""Finds tokens of issuers that orgkernel's own table does not contain, with kingfisher if it is installed
(`orgkernel[secrets]`).

Its rules take a second to load, so it is used only for texts that could contain a token. Most organizations have
none. It runs in this process, does not send tokens to their issuers, and cannot be switched off by a comment in a
text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from typing import Any, Final

from orgkernel.runtime.lazy_patterns import lazy_pattern
from orgkernel.runtime.secret_shapes import FoundSecret

_WORD: Final = lazy_pattern(r"[A-Za-z0-9_+/=~.:-]{16,}")
# Digests with their algorithm, addresses and paths.
_ORDINARY: Final = lazy_pattern(
    r"(?:sha|md|blake)[0-9]{1,3}[:-]|h1:|[a-z][a-z0-9+.-]*://|[./~]|arn:", re.IGNORECASE
)
_PART: Final = lazy_pattern(r"[A-Za-z0-9]{14,}")
_HEXADECIMAL: Final = lazy_pattern(r"[0-9a-f]+|[0-9A-F]+")
_END_OF_WORD: Final = lazy_pattern(r"[.,:!?)\]}>]+(?=\s|\Z)")
_CLASSES: Final = bytes(
    48 if chr(code) in "0123456789" else 97 if code < 128 and chr(code).isalpha() else 32
    for code in range(256)
)
_QUICK: Final = b"0a"
"""A quick pattern: most documents have no digit before a letter, and are skipped."""
_LEFT_TO_US: Final = frozenset({"betterleaks.generic-credential-uri"})
"""Kingfisher rules that are not used: they report `postgres://user:password@host` as a secret."""


def may_hold_token(text: str) -> bool:
    """A quick test: whether a word of a text has a long part with both letters and digits."""
    if _QUICK not in text.encode("utf-8", "replace").translate(_CLASSES) or not any(
        _is_mixed(part) for part in _PART.findall(text)
    ):
        return False
    words = (word for word in _WORD.findall(text) if not _ORDINARY.match(word))
    # A digest alone is not a token, but a digest after a prefix can be one.
    return any(
        _is_mixed(part) for word in words if not _HEXADECIMAL.fullmatch(word) for part in _PART.findall(word)
    )


def find_known_tokens(text: str) -> Iterator[FoundSecret]:
    """The tokens of a text. None if the library is not installed."""
    if is_installed() and may_hold_token(text):
        yield from find_every_known_token(text)


def find_every_known_token(text: str) -> Iterator[FoundSecret]:
    """The tokens of a text that the library finds, without a quick test before it."""
    # Its rules want a token to end in a space or a quote, and sentences end in a stop.
    encoded = _END_OF_WORD.sub(lambda match: " " * len(match[0]), text).encode("utf-8", "replace")
    for match in _get_scanner().scan(encoded):
        if match.visible and match.rule_id not in _LEFT_TO_US:
            place = match.location
            start, end = (
                len(encoded[: place[each]].decode("utf-8", "replace"))
                for each in ("start_offset", "end_offset")
            )
            yield FoundSecret(start, end, f"a secret (`{match.rule_id.rpartition('.')[2]}`)", "…")


@cache
def is_installed() -> bool:
    """Whether the library is installed."""
    return find_spec("kingfisher_sdk") is not None


@cache
def _get_scanner() -> Any:
    import kingfisher_sdk  # it takes a second, and most trees do not need it

    policy = kingfisher_sdk.DetectionPolicy(inline_ignores=False)
    return kingfisher_sdk.Scanner(kingfisher_sdk.Rules(), base64=False, policy=policy)


def _is_mixed(part: str) -> bool:
    """Whether a word contains a digit. `CrashLoopBackOff` is a name, and tokens have a digit."""
    if not any(map(str.isdigit, part)):
        return False
    changes = sum(
        one.isdigit() != other.isdigit() or (one.islower() and other.isupper())
        for one, other in pairwise(part)
    )
    return changes >= 3
