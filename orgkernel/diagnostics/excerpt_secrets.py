"""Masks values in a line of a file by where they stand: under `env` and `headers`, and in URLs. The length stays the same.

Files with servers hold literal secrets there, and a finding about the file must not print them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from orgkernel.runtime.lazy_patterns import lazy_pattern
from orgkernel.runtime.secret_shapes import mask_secrets
from orgkernel.runtime.url_secrets import mask_urls

_NAME: Final = r"""["']?(?:env|environment|headers|http_headers|httpHeaders)["']?"""
_BLOCK_LINE: Final = lazy_pattern(rf"\s*(?:-\s*)?{_NAME}\s*[:=]\s*\{{?\s*(?:#.*)?\Z")
_TABLE_LINE: Final = lazy_pattern(rf"\s*\[.*\.{_NAME}\]\s*(?:#.*)?\Z")
_INLINE_BLOCK: Final = lazy_pattern(rf"{_NAME}\s*[:=]\s*\{{")
_VALUE: Final = lazy_pattern(r"""([:=]\s*)("(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s"',{}][^,{}]*)""")
_STRING_OR_BRACE: Final = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}]')
_MAX_LINES: Final = 200
"""Lines before a line that are searched for the block around it."""


def mask_line(lines: Sequence[str], number: int) -> str:
    """Line `number` (from 1) without what could be a secret.

    >>> mask_line(['"s": {"env": {"PIN": "1234"}, "url": "https://a.example/?k=v"}'], 1)
    '"s": {"env": {"PIN": ******}, "url": "https://a.example/?k=*"}'
    """
    line = lines[number - 1].rstrip("\r\n")
    if _is_in_block(lines, number):
        line = _mask_values(line)
    else:
        start = 0
        while block := _INLINE_BLOCK.search(line, start):
            end = _find_end(line, block.end())
            line = line[: block.end()] + _mask_values(line[block.end() : end]) + line[end:]
            start = end
    return _mask_words(line)


@lru_cache(maxsize=4)
def _mask_words(line: str) -> str:
    """A line without words that could be secrets. The last ones are kept, because a long line can have many findings."""
    return mask_secrets(mask_urls(line, keeps_length=True))


def _is_in_block(lines: Sequence[str], number: int) -> bool:
    """Whether a line is under `env` or `headers`: by its indentation, or in TOML by the header of its table."""
    indent = _measure_indent(lines[number - 1])
    for line in reversed(lines[max(0, number - 1 - _MAX_LINES) : number - 1]):
        if not line.strip():
            continue
        if indent == 0 and line.startswith("["):
            return _TABLE_LINE.match(line.rstrip("\r\n")) is not None
        if _measure_indent(line) < indent:
            return _BLOCK_LINE.match(line.rstrip("\r\n")) is not None
    return False


def _measure_indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _mask_values(text: str) -> str:
    return _VALUE.sub(lambda match: match[1] + "*" * len(match[2]), text)


def _find_end(line: str, start: int) -> int:
    """The end of a block in braces that is open at `start`."""
    depth = 1
    for match in _STRING_OR_BRACE.finditer(line, start):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if not depth:
            return match.start()
    return len(line)
