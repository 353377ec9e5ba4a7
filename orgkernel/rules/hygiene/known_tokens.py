"""Finds access tokens in the formats of many services, with the library kingfisher if it is installed (`orgkernel[secrets]`).
orgkernel's own, shorter list of formats is in `orgkernel/runtime/secret_shapes.py`.

Its rules take a third of a second to load, and more the first time, so it is used only for texts that could contain a
token. Most organizations have none. It searches the neighborhood of words that could be tokens. It runs in this process, does not send tokens to their issuers, and cannot be switched off by a comment in a
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
from orgkernel.runtime.secret_shapes import UNSEARCHED, FoundSecret, SearchBudget

_SHORTEST: Final = 16
_WORD: Final = lazy_pattern(rf"[A-Za-z0-9_+/=~.:-]{{{_SHORTEST},}}")
# Digests with their algorithm, addresses and paths.
_ORDINARY: Final = lazy_pattern(
    r"(?:sha|md|blake)[0-9]{1,3}[:-]|h1:|[a-z][a-z0-9+.-]*://|[./~]|arn:", re.IGNORECASE
)
_PART: Final = lazy_pattern(r"[A-Za-z0-9]{14,}")
# `http1MaxPendingRequests`: words in one, and a number or two.
_NAME: Final = lazy_pattern(r"[a-z]{3,}+[0-9]{1,3}+(?:[A-Z][a-z]{2,}+){2,}")
_HEXADECIMAL: Final = lazy_pattern(r"[0-9a-f]+|[0-9A-F]+")
_END_OF_WORD: Final = lazy_pattern(r"[.,:!?)\]}>]+(?=\s|\Z)")
_CLASSES: Final = bytes(
    48 if chr(code) in "0123456789" else 97 if code < 128 and chr(code).isalpha() else 32
    for code in range(256)
)
"""Maps each byte to `0` (digit), `a` (ASCII letter) or a space, so one search for two bytes finds a digit before a letter."""
_QUICK: Final = b"0a"
"""A digit before a letter, in `_CLASSES`. Most documents have none, and are skipped without looking at their words."""
_WHOLE: Final = 16 * 1024
"""Maximum length of a text that is searched as a whole."""
_AROUND: Final = 512
"""Number of characters before and after a possible token that are searched in longer texts."""
_SHARE_OF_WORDS: Final = 4
"""Looking at a word costs a quarter of the budget that searching it with the library does."""
_IGNORED_RULES: Final = frozenset({"betterleaks.generic-credential-uri"})
"""Kingfisher rules whose matches are dropped, because orgkernel reports `postgres://user:password@host` itself."""


def may_hold_token(text: str) -> bool:
    """A quick test: whether a word of a text has a long part with both letters and digits. True for a text with too many
    words to tell.
    """
    return next(_find_candidates(text, SearchBudget()), None) is not None


def _find_candidates(text: str, budget: SearchBudget) -> Iterator[tuple[int, int]]:
    """The words that could contain a token. The last one is the rest of the text, if the budget is spent."""
    if len(text) < _SHORTEST or _QUICK not in text.encode("utf-8", "replace").translate(_CLASSES):
        return
    for word in _WORD.finditer(text):
        if not _has_digit(word[0]):
            continue
        if not budget.take(len(word[0]) // _SHARE_OF_WORDS):
            yield word.start(), len(text)
            return
        # A digest alone is not a token, but a digest after a prefix can be one.
        if (
            not _ORDINARY.match(word[0])
            and not _HEXADECIMAL.fullmatch(word[0])
            and any(_is_mixed(part) for part in _PART.findall(word[0]))
        ):
            yield word.span()


def find_known_tokens(text: str, budget: SearchBudget | None = None) -> Iterator[FoundSecret]:
    """The tokens of a text; no token at all if the library is not installed. A text beyond the budget is a secret of the kind
    `UNSEARCHED`.
    """
    if not is_installed():
        return
    budget = budget or SearchBudget()
    for start, end in _find_parts(text, budget):
        if budget.left < 0 or not budget.take(end - start):
            yield FoundSecret(start, len(text), UNSEARCHED, "…")
            return
        for each in scan_for_tokens(text[start:end]):
            yield each._replace(start=start + each.start, end=start + each.end)


def _find_parts(text: str, budget: SearchBudget) -> Iterator[tuple[int, int]]:
    """The parts of a text around possible tokens, without overlaps."""
    begin = end = 0
    for start, stop in _find_candidates(text, budget):
        if len(text) <= _WHOLE or budget.left < 0:
            yield (0 if len(text) <= _WHOLE else start), len(text)
            return
        if end and start - _AROUND > end:
            yield begin, end
            begin = start - _AROUND
        elif not end:
            begin = max(0, start - _AROUND)
        end = min(len(text), stop + _AROUND)
        if end - begin > budget.left:
            break
    if end:
        yield begin, end


def scan_for_tokens(text: str) -> Iterator[FoundSecret]:
    """The tokens of a text that the library finds, without a quick test before it."""
    # Its rules want a token to end in a space or a quote, and sentences end in a stop.
    encoded = _END_OF_WORD.sub(lambda match: " " * len(match[0]), text).encode("utf-8", "replace")
    places = [
        (match.location["start_offset"], match.location["end_offset"], match.rule_id)
        for match in _get_scanner().scan(encoded)
        if match.visible and match.rule_id not in _IGNORED_RULES
    ]
    before = characters = 0
    for start, end, rule_id in sorted(places):
        characters += _count_characters(encoded[before:start])
        before = start
        length = _count_characters(encoded[start:end])
        kind = rule_id.rpartition(".")[2]
        yield FoundSecret(characters, characters + length, f"a secret (`{kind}`)", "…")


def _count_characters(encoded: bytes) -> int:
    return len(encoded.decode("utf-8", "replace"))


@cache
def is_installed() -> bool:
    """Whether the library is installed."""
    return find_spec("kingfisher_sdk") is not None


@cache
def _get_scanner() -> Any:
    import kingfisher_sdk  # its rules are large, and most trees do not need them

    policy = kingfisher_sdk.DetectionPolicy(inline_ignores=False)
    return kingfisher_sdk.Scanner(kingfisher_sdk.Rules(), base64=False, policy=policy)


def _has_digit(word: str) -> bool:
    """Whether a word contains a digit. `CrashLoopBackOff` is a name, and tokens have a digit."""
    return not word.isalpha() and any(map(str.isdigit, word))


def _is_mixed(part: str) -> bool:
    """Whether letters, capitals and digits alternate in a word as they do in no name."""
    if not _has_digit(part) or _NAME.fullmatch(part):
        return False
    changes = sum(
        one.isdigit() != other.isdigit() or (one.islower() and other.isupper())
        for one, other in pairwise(part)
    )
    return changes >= 3
