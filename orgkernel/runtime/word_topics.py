"""Groups of related words: synonyms, and the words of a trade.

A request rarely uses the words of a role's description: "my laptop stays black" is meant for a role that "looks after
hardware". One list contains groups of synonyms. The other has a line for each trade: job titles, and words of typical
requests. `text_index.py` decides their weight.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple
from zlib import decompress, error

TABLES: Final = "word_topics.bin"
"""File with the tables, next to this module, JSON that is compressed by zlib to a third of its size. `python -m tools.regenerate` builds it from the lists in
`tools/word_lists`."""
GAP: Final = "…"
"""Placeholder in a phrase for a few words that do not matter: `walk … through`."""


class Trade(NamedTuple):
    """A kind of work."""

    titles: tuple[tuple[str, ...], ...]
    """Stems of the trade's job titles."""
    words: frozenset[str]
    """Stems of the words in typical requests, including titles, and its phrases."""
    hints: frozenset[str]
    """Words that requests of other trades also use. They have half the weight."""


@cache
def read_tables() -> dict[str, Any]:
    """The tables, from the file next to this module. Empty if the file is missing or damaged. Then only the roles'
    own words decide.
    """
    try:
        return dict(json.loads(decompress(pkgutil.get_data(__package__, TABLES) or b"")))
    except (OSError, ValueError, error):
        return {"groups": {}, "trades": {}, "words": []}


def map_groups_by_stem() -> Mapping[str, Sequence[str]]:
    """The synonym groups of each stem."""
    groups: dict[str, list[str]] = read_tables()["groups"]
    return groups


@cache
def map_words_by_group() -> dict[str, tuple[str, ...]]:
    """The stems of each synonym group."""
    words: dict[str, list[str]] = {}
    for word, groups in map_groups_by_stem().items():
        for group in groups:
            words.setdefault(group, []).append(word)
    return {group: tuple(each) for group, each in words.items()}


@cache
def list_trades() -> dict[str, Trade]:
    """The trades, keyed by an id that changes only with the trade's line."""
    return {
        key: Trade(tuple(map(tuple, titles)), frozenset(words).union(hints), frozenset(hints))
        for key, (titles, words, hints) in read_tables()["trades"].items()
    }


@cache
def map_trades_by_stem() -> dict[str, tuple[str, ...]]:
    """The trades of each stem or phrase."""
    keys_by_word: dict[str, list[str]] = {}
    for key, trade in list_trades().items():
        for word in trade.words:
            keys_by_word.setdefault(word, []).append(key)
    return {word: tuple(keys) for word, keys in keys_by_word.items()}


@cache
def list_known_words() -> frozenset[str]:
    """Every word of the lists, unstemmed, for correcting misspelled words."""
    return frozenset(read_tables()["words"])


@cache
def map_phrases_by_first_stem() -> dict[str, tuple[tuple[str, ...], ...]]:
    """Phrases as stems, keyed by their first stem, longest first."""
    phrases_by_stem: dict[str, list[tuple[str, ...]]] = {}
    for phrase in map_trades_by_stem():
        if " " in phrase:
            stems = tuple(phrase.split())
            phrases_by_stem.setdefault(stems[0], []).append(stems)
    return {
        first: tuple(sorted(each, key=lambda stems: (-len(stems), stems)))
        for first, each in phrases_by_stem.items()
    }


@cache
def map_trades_by_title_word() -> dict[str, tuple[str, ...]]:
    """Trades with titles of several words, keyed by the first word."""
    keys_by_word: dict[str, dict[str, None]] = {}
    for key, trade in list_trades().items():
        for title in trade.titles:
            if len(title) > 1:
                keys_by_word.setdefault(title[0], {})[key] = None
    return {word: tuple(keys) for word, keys in keys_by_word.items()}
