"""Classifies the work that a message asks for: a shared domain, leading others, or no work at all.

The weights in `learned_work.bin` were learned from labeled messages by `python -m tools.learn_work`: a linear model
over words, pairs of words and parts of words. They are read once, when the first message is classified.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

import json
import math
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import pairwise
from typing import Final, NamedTuple
from zlib import crc32, decompress, error

from .lazy_patterns import lazy_pattern

TABLE: Final = "learned_work.bin"
"""File of the learned table, compressed by zlib to half its size, next to this module."""
LEAD, COMMAND = "lead", "command"
"""Labels: dividing and coordinating the work of others, and being responsible for the whole."""
NO_WORK: Final = frozenset(("talk", "other"))
"""Labels without work: small talk, and texts about private life, other trades, or mere mentions of work."""
ROWS: Final = 1 << 14
"""Number of rows for words and pairs, and for parts of words. Features that share a row cannot be distinguished."""
_MAX_CHARACTERS: Final = 1_500
_MAX_WORDS: Final = 160
_MIN_LENGTH, _MAX_LENGTH = 3, 5
_WORD: Final = lazy_pattern(r"[^\W_]+(?:'[a-z]+)?|[?!{}\[\]<>=:#/]")
_DIGITS: Final = lazy_pattern(r"\d+")


class Table(NamedTuple):
    """The learned table."""

    labels: tuple[str, ...]
    domains: Mapping[str, int]
    """The learned shared domains, each with the checksum of its triggers."""
    sources: int
    """Checksum of the training data."""
    scales: tuple[float, float]
    """Factors for the weights of words and of parts."""
    rarities: bytes
    """Rarity of each feature, in sixteenths: first the words, then the parts."""
    weights: bytes
    """One row per feature with a weight for each label. 128 means zero."""


NOTHING: Final = Table((), {}, 0, (0.0, 0.0), b"", b"")


def is_learned(domain: str, triggers: Iterable[str]) -> bool:
    """Whether a domain is the learned shared domain. If an organization gives it other triggers, it means other work."""
    return read_table().domains.get(domain) == compute_checksum(triggers)


def compute_checksum(triggers: Iterable[str]) -> int:
    """Checksum that shows whether a domain still has the triggers with which it was learned."""
    return crc32("\n".join(sorted(triggers)).encode())


def split(text: str) -> list[str]:
    """The words and signs of a message, as features of the model."""
    words = _WORD.findall(text[:_MAX_CHARACTERS].lower())
    return ["^", *(_DIGITS.sub("0", word) for word in words[:_MAX_WORDS]), "$"]


def find_rows(text: str) -> tuple[set[int], set[int]]:
    """The rows for the words and pairs of a message, and for the parts of its words."""
    tokens = split(text)
    words = {crc32(word.encode()) % ROWS for word in tokens}
    words.update(crc32(f"{first} {second}".encode()) % ROWS for first, second in pairwise(tokens))
    parts: set[int] = set()
    for word in tokens[1:-1]:
        if word[0].isalpha():
            parts.update(_find_rows_of_parts(word))
    return words, parts


@lru_cache(maxsize=8_192)
def _find_rows_of_parts(word: str) -> tuple[int, ...]:
    return tuple(ROWS + crc32(part.encode()) % ROWS for part in _iterate_parts(f"<{word[:30]}>"))


def _iterate_parts(word: str) -> Iterator[str]:
    for length in range(_MIN_LENGTH, _MAX_LENGTH + 1):
        for start in range(len(word) - length + 1):
            yield word[start : start + length]


def guess_work(text: str) -> dict[str, float]:
    """The probability of each kind of work for a message. The values are between 0 and 1 and sum to 1. Empty without
    a table.
    """
    table = read_table()
    if not table.labels:
        return {}
    sums = [0.0] * len(table.labels)
    for rows, scale in zip(find_rows(text), table.scales, strict=True):
        for label, amount in enumerate(_add_up(table, rows)):
            sums[label] += scale * amount
    most = max(sums)
    weights = [math.exp(each - most) for each in sums]
    total = sum(weights)
    return {label: each / total for label, each in zip(table.labels, weights, strict=True)}


def _add_up(table: Table, rows: set[int]) -> Iterator[float]:
    """The weights of a message's words, or of its parts, normalized to length one."""
    if not rows:
        return
    width, weights, rarities = len(table.labels), table.weights, table.rarities
    squares = sum(rarities[row] ** 2 for row in rows)
    if not squares:
        return
    length, none = math.sqrt(squares) / 16, 128 * len(rows)
    for column in zip(*(weights[row * width : (row + 1) * width] for row in rows), strict=True):
        yield (sum(column) - none) / length


@cache
def read_table() -> Table:
    """The learned table, from the file next to this module. `NOTHING` if the file is missing or damaged. Then only
    words decide.
    """
    try:
        data = decompress(pkgutil.get_data(__package__, TABLE) or b"")
    except (OSError, error):
        return NOTHING
    head, _, rest = data.partition(b"\n")
    try:
        header = json.loads(head)
    except ValueError:
        return NOTHING
    if len(rest) != 2 * ROWS * (1 + len(header["labels"])):
        return NOTHING
    first, second = header["scales"]
    return Table(
        tuple(header["labels"]),
        header["domains"],
        header["sources"],
        (first, second),
        rest[: 2 * ROWS],
        rest[2 * ROWS :],
    )
