"""The words that belong together, as the tables of `orgkernel/runtime/word_topics.bin`.

`tools/word_lists/alike.txt` has groups of words of one meaning, a line each. `trades.txt` has a line for each trade: what
people who do it are called, words of the requests they get, and those that requests of other trades use as well. Words
are cut to their stems here, so that a host need not do it when it starts.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from zlib import crc32

from orgkernel.runtime.word_forms import stem

_LISTS = Path(__file__).parent / "word_lists"


def build_word_tables() -> dict[str, Any]:
    """The tables: `groups`, `trades` and `words`. Keys last as long as their lines are not changed."""
    alike, trades = (
        (_LISTS / f"{name}.txt").read_text(encoding="utf-8").strip() for name in ("alike", "trades")
    )
    return {
        "groups": _build_groups(alike),
        "trades": {f"~{crc32(line.encode()):x}": _build_trade(line) for line in trades.splitlines()},
        "words": sorted(set(re.findall(r"[a-z]{4,}", f"{alike} {trades}"))),
    }


def render_word_tables() -> str:
    """The tables as JSON with a line for each entry."""
    parts = []
    for name, table in build_word_tables().items():
        if isinstance(table, dict):
            rows = (f"{json.dumps(key)}:{_compact(value)}" for key, value in table.items())
            parts.append(f"{json.dumps(name)}:{{\n" + ",\n".join(rows) + "\n}")
        else:
            parts.append(f"{json.dumps(name)}:{_compact(table)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _build_groups(lines: str) -> dict[str, list[str]]:
    """The groups that each stem belongs to."""
    found: dict[str, dict[str, None]] = {}
    for line in lines.splitlines():
        for word in line.removeprefix("= ").replace("-", " ").split():
            found.setdefault(stem(word), {})[f"={crc32(line.encode()):x}"] = None
    return {word: list(groups) for word, groups in found.items()}


def _build_trade(line: str) -> list[Any]:
    """Titles, words with the titles of one word, and hints, as stems."""
    titles, words, *more = line.split("|")
    names = [list(map(stem, title.split("+"))) for title in titles.split()]
    said, hints = _stems(words), _stems(" ".join(more))
    # A title of several words says what it says together only.
    said |= {name[0] for name in names if len(name) == 1}
    return [names, sorted(said), sorted(hints - said)]


def _stems(words: str) -> set[str]:
    return {
        " ".join(map(stem, each.split("+"))) if "+" in each else each if each.startswith("~") else stem(each)
        for word in words.split()
        for each in ([word] if "+" in word else word.split("-"))
    }
