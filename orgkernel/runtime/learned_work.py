"""What kind of work a message is about: a shared domain, leading others, or no work at all.

The weights in `learned_work.bin` were learned from labeled messages by `python -m tools.learn_work`: a linear model over words, pairs
of words and parts of words. They are read once, when the first message is guessed.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from itertools import pairwise
from typing import Final, NamedTuple
from zlib import crc32

TABLE: Final = os.path.join(os.path.dirname(os.path.abspath(__file__)), "learned_work.bin")
LEAD, COMMAND = "lead", "command"
"""To divide and coordinate the work of others, and to answer for the whole."""
NO_WORK: Final = frozenset(("talk", "other"))
"""Small talk; and what is of private life, of other trades, or only mentions work."""
ROWS: Final = 1 << 14
"""How many rows there are for words and pairs, and how many for parts of words. Features that share a row are not told apart."""
_MOST_CHARACTERS: Final = 1_500
_MOST_WORDS: Final = 160
_SHORTEST, _LONGEST = 3, 5
_WORD: Final = re.compile(r"[^\W_]+(?:'[a-z]+)?|[?!{}\[\]<>=:#/]")
_DIGITS: Final = re.compile(r"\d+")


class Table(NamedTuple):
    """What was learned."""

    labels: tuple[str, ...]
    domains: Mapping[str, int]
    """The shared domains that were learned, each with the checksum of its description."""
    sources: int
    """The checksum of what it was learned from."""
    scales: tuple[float, float]
    """By what the weights of words and of parts are multiplied."""
    rarities: bytes
    """How rare each feature is, in sixteenths: the words, then the parts."""
    weights: bytes
    """A row for each feature with a weight for each label, 128 meaning none."""


def checksum(text: str) -> int:
    """What tells whether a text is the one that was learned from."""
    return crc32(" ".join(text.split()).encode())


def split(text: str) -> list[str]:
    """The words and signs of a message as the model takes them in."""
    words = _WORD.findall(text[:_MOST_CHARACTERS].lower())
    return ["^", *(_DIGITS.sub("0", word) for word in words[:_MOST_WORDS]), "$"]


def find_rows(text: str) -> tuple[set[int], set[int]]:
    """The rows of the words and pairs of a message, and those of the parts of its words."""
    said = split(text)
    words = {crc32(word.encode()) % ROWS for word in said}
    words.update(crc32(f"{first} {second}".encode()) % ROWS for first, second in pairwise(said))
    parts: set[int] = set()
    for word in said[1:-1]:
        if word[0].isalpha():
            parts.update(_rows_of_parts(word))
    return words, parts


@lru_cache(maxsize=8_192)
def _rows_of_parts(word: str) -> tuple[int, ...]:
    return tuple(ROWS + crc32(part.encode()) % ROWS for part in _parts(f"<{word[:30]}>"))


def _parts(word: str) -> Iterator[str]:
    for length in range(_SHORTEST, _LONGEST + 1):
        for start in range(len(word) - length + 1):
            yield word[start : start + length]


def guess_work(text: str) -> dict[str, float]:
    """How likely a message is about each kind of work: from 0 to 1, together 1."""
    table = read_table()
    sums = [0.0] * len(table.labels)
    for rows, scale in zip(find_rows(text), table.scales, strict=True):
        for label, amount in enumerate(_add_up(table, rows)):
            sums[label] += scale * amount
    most = max(sums)
    found = [math.exp(each - most) for each in sums]
    total = sum(found)
    return {label: each / total for label, each in zip(table.labels, found, strict=True)}


def _add_up(table: Table, rows: set[int]) -> Iterator[float]:
    """The weights of a message's words, or of its parts, as those of a message of length one."""
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
    """What was learned, from the file beside this module."""
    with open(TABLE, "rb") as file:
        data = file.read()
    head, _, rest = data.partition(b"\n")
    said = json.loads(head)
    first, second = said["scales"]
    return Table(
        tuple(said["labels"]),
        said["domains"],
        said["sources"],
        (first, second),
        rest[: 2 * ROWS],
        rest[2 * ROWS :],
    )
