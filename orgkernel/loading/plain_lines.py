"""What one line of plainly written YAML says by itself (see `plain_yaml`)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, TypeAlias

from orgkernel.loading.marks import BLOCK, QUOTED, STYLE_BITS, pack_mark
from orgkernel.loading.scalars import NumberOutOfRange, resolve_scalar
from orgkernel.runtime.secret_shapes import is_quiet

_REMEMBERED = 16_384

# What a line is. Those from `IS_ITEM` on begin with a dash.
(
    IS_SKIP,
    IS_START,
    IS_PAIR,
    IS_OPEN,
    IS_WORDS_IN_BRACKETS,
    IS_TEXT_BELOW,
    IS_OTHER,
    IS_ITEM,
    IS_ITEM_PAIR,
    IS_ITEM_OPEN,
) = range(10)
LOUD = 10
WITHOUT_DASH = {IS_ITEM_PAIR: IS_PAIR, IS_ITEM_OPEN: IS_OPEN}

PRINTABLE = "\x20-\x7e\xa1-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff"
_LINE = re.compile(
    rf"(?P<space>\x20*)(?P<dash>-\x20+)?(?:(?P<key>[A-Za-z_][A-Za-z0-9_.-]*):(?:\x20+|\Z))?(?P<rest>[{PRINTABLE}]*)"
)
_COMMENT = r"\x20*(?:\x20#.*)?"
_QUOTED = re.compile(rf"""(?:"([^"\\]*)"|'([^']*)'){_COMMENT}""")
# A plain value ends before a comment; the first character is none that YAML gives a meaning.
_PLAIN = re.compile(r"((?:[A-Za-z0-9_.+~/($]|-[0-9.]|[^\x00-\xff])(?:[^ ]|\x20+[^ #])*)\x20*(?:\x20#.*)?")
_MAPS = re.compile(r":(?:\x20|\Z)")
_WORD = r"[A-Za-z_][A-Za-z0-9_.-]*"
_IN_BRACKETS = re.compile(rf"\[(\x20*(?:{_WORD}(?:\x20*,\x20*{_WORD})*\x20*)?)\]{_COMMENT}")
_EACH_WORD = re.compile(_WORD)
_HEAD = re.compile(rf"([|>]-?){_COMMENT}")


# Most lines that no other file holds: a key and a text in which nothing has a meaning of its own.
_USUAL = re.compile(
    r"( *)([A-Za-z_][A-Za-z0-9_.-]*): ([A-Za-z_][A-Za-z0-9_./,>=*()+-]*(?: [A-Za-z0-9_./,>=*()+-]+)*)"
)

Line: TypeAlias = tuple[int, int, str, int, Any, int, Any]
"""What a line says, with marks as if it were line 0; a plain tuple, because that is unpacked twice as fast.

Its kind; the number of characters before it; its key and the mark of that; its value and the mark of that (of an open
key, the place behind its colon, where its null would be); and of a mapping that begins in a list, the number of
characters before it, or of words in brackets, their marks.
"""


def _line(
    kind: int,
    column: int = 0,
    key: str = "",
    key_mark: int = 0,
    value: Any = None,
    mark: int = 0,
    inner: Any = 0,
) -> Line:
    return kind, column, key, key_mark, value, mark, inner


_NOT_PLAIN = _line(IS_OTHER)


@lru_cache(maxsize=_REMEMBERED)
def read_line(line: str) -> Line:
    """What one line says by itself; its kind is `LOUD` more where something in it may have the shape of a secret."""
    read = _read(line)
    return read if is_quiet(line) else (read[0] + LOUD, *read[1:])


def _read(line: str) -> Line:
    if match := _USUAL.fullmatch(line):
        space, key, text = match.groups()
        column = len(space)
        if isinstance(resolve_scalar(key), str):
            at = column + len(key) + 3
            return IS_PAIR, column, key, (column + 1) << STYLE_BITS, resolve_scalar(text), at << STYLE_BITS, 0
    if line == "---":
        return _line(IS_START)
    match = _LINE.fullmatch(line)
    if match is None:
        return _NOT_PLAIN
    space, dash, key, rest = match.groups()
    column, at = len(space), match.start("rest")
    if key is None:
        if not dash and (not rest or rest[0] == "#"):
            return _line(IS_SKIP)
        scalar = _read_scalar(rest, at) if dash else None
        return _line(IS_ITEM, column, "", 0, *scalar) if scalar else _NOT_PLAIN
    if not isinstance(resolve_scalar(key), str):
        return _NOT_PLAIN
    key_mark = pack_mark(0, match.start("key") + 1)
    inner = match.start("key")
    if not rest or rest[0] == "#":
        kind = IS_ITEM_OPEN if dash else IS_OPEN
        return _line(kind, column, key, key_mark, None, pack_mark(0, match.end("key") + 2), inner)
    scalar = _read_scalar(rest, at)
    if scalar:
        return _line(IS_ITEM_PAIR if dash else IS_PAIR, column, key, key_mark, *scalar, inner)
    if dash:
        return _NOT_PLAIN
    if head := _HEAD.fullmatch(rest):
        return _line(IS_TEXT_BELOW, column, key, key_mark, head[1], pack_mark(0, at + 1, BLOCK))
    words = _IN_BRACKETS.fullmatch(rest)
    if not words:
        return _NOT_PLAIN
    found = list(_EACH_WORD.finditer(words[1]))
    value = tuple(resolve_scalar(word[0]) for word in found)
    begins = tuple(pack_mark(0, at + 2 + word.start()) for word in found)
    return _line(IS_WORDS_IN_BRACKETS, column, key, key_mark, value, pack_mark(0, at + 1), begins)


def _read_scalar(rest: str, at: int) -> tuple[Any, int] | None:
    """Value and mark of a scalar behind `at` characters; None where it is none, or not certainly one."""
    if match := _QUOTED.fullmatch(rest):
        return match[1] if match[2] is None else match[2], pack_mark(0, at + 1, QUOTED)
    match = _PLAIN.fullmatch(rest)
    if match is None or _MAPS.search(match[1]):
        return None
    try:
        return resolve_scalar(match[1]), pack_mark(0, at + 1)
    except NumberOutOfRange:
        return None
