"""Find what the examples of calls in the text of a tool repeat.

An example is a fenced block that calls a tool. Hosts show the same call several times, with other thoughts and another
headline, and they show the frame of every call (`thoughts`, `headline`) in each example, although it is the same for all
tools.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .tool_texts import EXAMPLE

ALL, ARGUMENTS, FIRST = "all", "arguments", "first"
"""Which examples a role is shown: all that differ; those that show an argument for the first time, with their frame only
once in the section; or the first for each tool and method."""
_FENCE = ("~~~", "```")
_TOOL_ARGUMENTS = re.compile(r"""["']?tool_args["']?\s*:""")
_METHOD = re.compile(r"""["']?tool_name["']?\s*:\s*["']([^"'\n]+)""")
_ARGUMENT = re.compile(r"""(?:^|[{\[,])\s*["']?(\w+)["']?\s*:(?:\s*["'](\w+)["'])?""", re.MULTILINE)
_THOUGHTS = re.compile(r"""\s*["']?thoughts["']?\s*:\s*\[""")
_HEADLINE = re.compile(r"""\s*["']?headline["']?\s*:.*,\s*$""")
_END_OF_LIST = re.compile(r"\]\s*,?\s*$")
_WORD = re.compile(r"\w+")
_LAYOUT = re.compile(r"[\s,]+")
_MAX_CAPTION = 60


class _Example(NamedTuple):
    """A fenced block that calls a tool."""

    block: range
    """Its lines, with the fences."""
    method: str
    arguments: str
    """What it shows after `tool_args`, as text."""


def find_repeated(lines: Sequence[str], which: str) -> Iterator[range]:
    """The lines of each example that is left out, with the caption before it."""
    examples = list(_find_examples(lines))
    if which == ARGUMENTS:
        repeated = _find_without_news(lines, examples)
    else:
        repeated = _find_equal(examples, by_arguments=which == ALL)
    for block in repeated:
        yield range(_find_caption(lines, block.start), block.stop)


def find_frames(lines: Sequence[str]) -> Iterator[range]:
    """The lines of the thoughts and the headline of each example that has them, in one range for each example.

    Lines in another layout than that of published hosts are not found, so they stay.
    """
    for example in _find_examples(lines):
        inside = example.block[1:-1]
        begin = next((at for at in inside if _THOUGHTS.match(lines[at])), None)
        if begin is None:
            continue
        end = next((at for at in range(begin, inside.stop) if _END_OF_LIST.search(lines[at])), None)
        if end is None or any(EXAMPLE.search(lines[at]) for at in range(begin, end + 1)):
            continue
        has_headline = _HEADLINE.match(lines[end + 1]) and not EXAMPLE.search(lines[end + 1])
        yield range(begin, end + 2 if has_headline else end + 1)


def _find_equal(examples: Sequence[_Example], *, by_arguments: bool) -> Iterator[range]:
    """The examples whose tool, method and, `by_arguments`, arguments an earlier example shows."""
    shown: set[tuple[str, str]] = set()
    for example in examples:
        call = (example.method, _LAYOUT.sub("", example.arguments) if by_arguments else "")
        if call in shown:
            yield example.block
        shown.add(call)


def _find_without_news(lines: Sequence[str], examples: Sequence[_Example]) -> Iterator[range]:
    """The examples whose arguments earlier examples of the method show, and whose values of one word, such as the name of
    a mode, stand elsewhere in the text.
    """
    inside = {
        number
        for example in examples
        for number in range(_find_caption(lines, example.block.start), example.block.stop)
    }
    words = {
        word
        for number, line in enumerate(lines)
        if number not in inside
        for word in _WORD.findall(line.lower())
    }
    shown: dict[str, set[str]] = {}
    for example in examples:
        arguments = _ARGUMENT.findall(example.arguments)
        names = {name for name, _ in arguments}
        values = {value.lower() for _, value in arguments if value}
        if example.method in shown and names <= shown[example.method] and values <= words:
            yield example.block
            continue
        shown.setdefault(example.method, set()).update(names)
        words |= values


def _find_examples(lines: Sequence[str]) -> Iterator[_Example]:
    for block in _find_blocks(lines):
        text = "".join(lines[number] for number in block)
        name, arguments = _METHOD.search(text), _TOOL_ARGUMENTS.search(text)
        if name is not None and arguments is not None and EXAMPLE.search(text):
            yield _Example(block, name[1], text[arguments.end() :])


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
    """Where the short line before a block begins, such as `2 execute python code`. A heading or a horizontal rule
    is not a caption.
    """
    at = start
    while at and not lines[at - 1].strip():
        at -= 1
    caption = lines[at - 1].strip() if at else ""
    return at - 1 if re.match(r"\d+[.)]?\s", caption) and len(caption) <= _MAX_CAPTION else start
