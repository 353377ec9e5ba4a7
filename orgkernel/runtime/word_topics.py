"""Which words belong together: words that mean nearly the same, and the words of a trade.

A sentence rarely uses the words of a role's description: "my laptop stays black" is for whoever "looks after hardware".
One list has groups of words of one meaning, the other a line for each trade: what people who do it are called, and words
of the requests they get. How much that says about a role is decided in `text_index.py`.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

TABLES: Final = "word_topics.json"
"""The file beside this module. `python -m tools.regenerate` makes it from the lists in `tools/word_lists`."""
GAP: Final = "…"
"""Stands in a phrase for a few words that do not matter: `walk … through`."""


class Trade(NamedTuple):
    """A kind of work."""

    titles: tuple[tuple[str, ...], ...]
    """What people who do it are called, as stems."""
    words: frozenset[str]
    """Stems of the words that its requests use, titles included, and its phrases."""
    hints: frozenset[str]
    """Those that requests of other trades use as well: they count half."""


@cache
def read_tables() -> dict[str, Any]:
    """The tables, from the file beside this module. None where somebody removed or cut the file: then roles' own words
    decide alone.
    """
    try:
        return dict(json.loads(pkgutil.get_data(__package__, TABLES) or b""))
    except (OSError, ValueError):
        return {"groups": {}, "trades": {}, "words": []}


def map_groups_by_stem() -> Mapping[str, Sequence[str]]:
    """The groups of words of one meaning that each stem belongs to."""
    groups: dict[str, list[str]] = read_tables()["groups"]
    return groups


@cache
def list_trades() -> dict[str, Trade]:
    """Every trade by its key, which lasts as long as its line is not changed."""
    return {
        key: Trade(tuple(map(tuple, titles)), frozenset(words).union(hints), frozenset(hints))
        for key, (titles, words, hints) in read_tables()["trades"].items()
    }


@cache
def map_trades_by_stem() -> dict[str, tuple[str, ...]]:
    """The trades that each stem or phrase is of."""
    keys_by_word: dict[str, list[str]] = {}
    for key, trade in list_trades().items():
        for word in trade.words:
            keys_by_word.setdefault(word, []).append(key)
    return {word: tuple(keys) for word, keys in keys_by_word.items()}


@cache
def list_known_words() -> frozenset[str]:
    """Every word of the lists as it is written, for what is misspelled."""
    return frozenset(read_tables()["words"])


@cache
def map_phrases_by_first_stem() -> dict[str, tuple[tuple[str, ...], ...]]:
    """Phrases as stems, by the first of these, the longest first."""
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
    """The trades with titles of several words, by the first of these."""
    keys_by_word: dict[str, dict[str, None]] = {}
    for key, trade in list_trades().items():
        for title in trade.titles:
            if len(title) > 1:
                keys_by_word.setdefault(title[0], {})[key] = None
    return {word: tuple(keys) for word, keys in keys_by_word.items()}
