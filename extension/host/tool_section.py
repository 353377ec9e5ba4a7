"""Trim the section of a prompt that describes tools: find the host's files in it, and cut out those of other roles.

A host may strip code fences from the joined files instead of each file, so the section does not always contain a
file character by character. Files are therefore matched line by line, and lines without words (fences, the language
of a fence, blank lines) are ignored. A line that belongs to no file is cut if it is a line of a menu of tools, or
the heading of a file that is cut. In a file that stays, lines of a list about other tools and repeated examples are cut. What else is
left about tools of other roles is reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .tool_examples import ARGUMENTS, find_frames, find_repeated
from .tool_texts import EXAMPLE, ToolText, normalize_line

_NAMED = re.compile(
    r"^(?P<mark>(?:[-*+]\s+|#{1,6}\s+|\d+[.)]\s+)?)(?P<quote>[*`_]{0,3})(?P<name>[A-Za-z_][\w.]*)"
)
_BULLET = ("-", "*", "+")


class Trimmed(NamedTuple):
    """An entry of the prompt as the role is shown it."""

    text: str
    recognized: bool = False
    """Whether a file about tools was found in it."""
    left: tuple[str, ...] = ()
    """Tools of other roles that it still describes."""
    left_characters: int = 0
    """The total length of lines that belong to no file."""


@dataclass(slots=True)
class _Line:
    """A line with words in it."""

    key: str
    number: int
    owner: ToolText | None = None


def trim_section(
    entry: str,
    texts: Sequence[ToolText],
    known: Collection[str],
    allowed: Callable[[str], bool],
    examples: str = ARGUMENTS,
) -> Trimmed:
    """The entry without parts that describe only forbidden tools.

    `texts` are the host's files, the longest first. `known` are names of tools. `examples` is a constant of `tool_examples`.
    """
    if not any(text.keys[0] in entry for text in texts):
        return Trimmed(entry)
    lines = entry.splitlines(keepends=True)
    keyed_lines = [_Line(key, number) for number, line in enumerate(lines) if (key := normalize_line(line))]
    blocks = sorted(_match_files(keyed_lines, texts), key=lambda block: block[0])
    if not blocks:
        return Trimmed(entry)
    cut = {first: last for first, last, text in blocks if not any(map(allowed, text.tools))}
    foreign = {name for name in known if not allowed(name)}
    cut |= {place: place for place in tuple(_find_stray_lines(keyed_lines, cut, foreign))}
    left, characters = _find_left_tools(keyed_lines, cut, known, allowed)
    shown = [
        range(keyed_lines[first].number, _find_end(lines, keyed_lines, last))
        for first, last, _ in blocks
        if first not in cut
    ]
    gone = {number for block in shown for number in _find_repetition(lines, block, examples)}
    if examples == ARGUMENTS:
        gone |= _shorten_frames(lines, shown, gone)
    return Trimmed(_without(entry, lines, keyed_lines, cut, gone), True, left, characters)


def _match_files(keyed_lines: list[_Line], texts: Sequence[ToolText]) -> Iterator[tuple[int, int, ToolText]]:
    """Yield each place that contains a complete file. A match inside a longer file belongs to that file."""
    places: dict[str, list[int]] = {}
    for place, line in enumerate(keyed_lines):
        places.setdefault(line.key, []).append(place)
    for text in texts:
        count = len(text.keys)
        for place in places.get(text.keys[0], ()):
            lines = keyed_lines[place : place + count]
            if tuple(line.key for line in lines) == text.keys and not any(line.owner for line in lines):
                for line in lines:
                    line.owner = text
                yield place, place + count - 1, text


def _find_stray_lines(
    keyed_lines: list[_Line], cut: dict[int, int], foreign: Collection[str]
) -> Iterator[int]:
    """Lines of a list that name a tool of another role, and headings of files that are cut."""
    named = {place: name for place, line in enumerate(keyed_lines) if (name := _NAMED.match(line.key))}
    for place, name in named.items():
        if name["name"] not in foreign:
            continue
        is_bullet = name["mark"].startswith(_BULLET)
        if keyed_lines[place].owner:
            if is_bullet and name["quote"]:
                yield place
            continue
        beside = (named.get(place - 1), named.get(place + 1))
        in_menu = is_bullet and (
            name["quote"] or any(each and each["mark"] == name["mark"] for each in beside)
        )
        if in_menu or (not is_bullet and (name["mark"] or name["quote"]) and place + 1 in cut):
            yield place


def _find_left_tools(
    keyed_lines: list[_Line], cut: dict[int, int], known: Collection[str], allowed: Callable[[str], bool]
) -> tuple[tuple[str, ...], int]:
    """The tools of other roles that lines of no file still describe, and the length of these lines."""
    names: dict[str, None] = {}
    characters = 0
    for place, line in enumerate(keyed_lines):
        if line.owner or place in cut:
            continue
        characters += len(line.key)
        heading = _NAMED.match(line.key)
        if heading and heading["mark"].startswith("#") and heading["name"] in known:
            names[heading["name"]] = None
        names |= dict.fromkeys(EXAMPLE.findall(line.key))
    return tuple(name for name in names if not allowed(name)), characters


def _find_end(lines: list[str], keyed_lines: list[_Line], last: int) -> int:
    """The line after a file, with the end of its last fence."""
    end = keyed_lines[last + 1].number if last + 1 < len(keyed_lines) else len(lines)
    stop = keyed_lines[last].number + 1
    return stop + 1 if stop < end and lines[stop].lstrip().startswith(("~~~", "```")) else stop


def _find_repetition(lines: Sequence[str], block: range, examples: str) -> Iterator[int]:
    """The lines of a file that only repeat an example."""
    for example in find_repeated([lines[number] for number in block], examples):
        yield from block[example.start : example.stop]


def _shorten_frames(lines: list[str], shown: Sequence[range], gone: Collection[int]) -> set[int]:
    """Write `...` for the thoughts and the headline of all examples but the first, as hosts do. Returns the lines that
    this leaves out.

    The first one keeps them, because another prompt could lack the form of a call.
    """
    frames = [
        block[frame.start : frame.stop]
        for block in shown
        for frame in find_frames([lines[number] for number in block])
        if block[frame.start] not in gone
    ]
    for frame in frames[1:]:
        first = lines[frame.start]
        lines[frame.start] = f"{first[: len(first) - len(first.lstrip())]}...\n"
    return {number for frame in frames[1:] for number in frame[1:]}


def _without(
    entry: str, lines: list[str], keyed_lines: list[_Line], cut: dict[int, int], gone: Collection[int]
) -> str:
    """The entry without these lines, and without the blocks that begin and end at the places in `cut`."""
    out = set(gone)
    for first, last in cut.items():
        end = keyed_lines[last + 1].number if last + 1 < len(keyed_lines) else len(lines)
        stop = keyed_lines[last].number + 1
        # The end of the block is cut with it. Lines after the last blank line begin the next block.
        blank = [number for number in range(stop, end) if not lines[number].strip()]
        stop = end if last + 1 == len(keyed_lines) else (blank[-1] + 1 if blank else end)
        out.update(range(keyed_lines[first].number, stop))
    shown = "".join(line for number, line in enumerate(lines) if number not in out)
    if len(lines) - 1 in out:
        shown = shown.rstrip("\n") + entry[len(entry.rstrip("\n")) :]
    return shown
