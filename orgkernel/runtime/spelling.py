"""Corrects words that are misspelled in one letter.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

from collections.abc import Container
from functools import cache
from typing import Final

from .request_words import COMMON_WORDS, STOP_WORDS
from .word_forms import TextWord, stem
from .word_topics import list_known_words, map_groups_by_stem, map_trades_by_stem

_MAX_CORRECTED: Final = 8
_MAX_LENGTH: Final = 20
_SHORT: Final = frozenset(("the", "and", "fix", "for", "you", "not", "can"))
"""Misspelled words of three letters. Other short words are never corrected, because ordinary words such as `won`
would be changed."""


def correct_words(tokens: list[TextWord], text: str, terms: Container[str]) -> list[TextWord]:
    """Replace words that differ in one letter from a word of the lists or of roles."""
    left = _MAX_CORRECTED
    words = list(tokens)
    for at, token in enumerate(tokens):
        word = token.text
        if (
            not 3 <= len(word) <= _MAX_LENGTH
            or token.part
            or not (word.isascii() and word.isalpha())
            or not left
        ):
            continue
        if (
            word in STOP_WORDS
            or word in COMMON_WORDS
            or token.stem in terms
            or token.stem in map_groups_by_stem()
            or token.stem in map_trades_by_stem()
            or (at and text[token.start].isupper() and not text[token.start : token.end].isupper())
        ):
            continue
        left -= 1
        meant = _find_nearest(word, terms)
        if meant is not None:
            words[at] = token._replace(text=meant, stem=stem(meant))
    return words


@cache
def _get_known_words() -> frozenset[str]:
    return COMMON_WORDS | STOP_WORDS | list_known_words()


def _find_nearest(word: str, terms: Container[str]) -> str | None:
    """The known word that differs by two swapped letters, or by one missing or extra letter."""
    known = _get_known_words()
    for at in range(len(word) - 1):
        other = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        if other != word and (other in known or stem(other) in terms if len(word) > 3 else other in _SHORT):
            return other
    if len(word) < 5:
        return None
    for at in range(len(word)):
        other = word[:at] + word[at + 1 :]
        if other in known or stem(other) in terms:
            return other
    for at in range(1, len(word) + 1):
        for letter in "etaoinsrlcdupmhgbyfvkwxqjz":
            other = word[:at] + letter + word[at:]
            if other in known:
                return other
    return None
