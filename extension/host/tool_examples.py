"""Find examples of calls in the text of a tool that show nothing new.

Hosts show the same call several times, with other thoughts and another headline. An example is a fenced block that calls
a tool. It is repeated if an earlier example of the same file has the same tool and the same arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .tool_texts import EXAMPLE

ALL, FIRST = "all", "first"
"""Which examples a role is shown: all that differ, or the first for each tool and method."""
_FENCE = ("~~~", "```")
_ARGUMENTS = re.compile(r"""["']?tool_args["']?\s*:""")
_METHOD = re.compile(r"""["']?tool_name["']?\s*:\s*["']([^"'\n]+)""")
_LAYOUT = re.compile(r"[\s,]+")
_MAX_CAPTION = 60


def find_repeated(lines: Sequence[str], which: str) -> Iterator[range]:
    """The lines of each example that is left out, with the caption before it."""
    shown: set[tuple[str, str]] = set()
    for block in _find_blocks(lines):
        text = "".join(lines[number] for number in block)
        if not EXAMPLE.search(text):
            continue
        name = _METHOD.search(text)
        arguments = _ARGUMENTS.search(text)
        if name is None or arguments is None:
            continue
        call = (name[1], "" if which == FIRST else _LAYOUT.sub("", text[arguments.end() :]))
        if call in shown:
            yield range(_find_caption(lines, block.start), block.stop)
        shown.add(call)


def _find_blocks(lines: Sequence[str]) -> Iterator[range]:
    begun: int | None = None
    for number, line in enumerate(lines):
        if not line.lstrip().startswith(_FENCE):
            continue
        if begun is None:
            begun = number
        else:
            yield range(begun, number + 1)
            begun = None


def _find_caption(lines: Sequence[str], start: int) -> int:
    """Where the short line before a block begins, such as `2 execute python code`. A heading or a rule is no caption."""
    at = start
    while at and not lines[at - 1].strip():
        at -= 1
    caption = lines[at - 1].strip() if at else ""
    return at - 1 if re.match(r"\d+[.)]?\s", caption) and len(caption) <= _MAX_CAPTION else start
