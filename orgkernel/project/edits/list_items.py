"""Finds the items of the list around a word in a text, so that an edit does not repeat one of them.

The text decides, not its format: `a, b`, `[a, "b"]`, a JSON or TOML array over several lines, and lines `- a` are lists.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from orgkernel.project.edits.spans import Edit

_ITEM = r"(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s,\[\]{}\"'#:=][^,\[\]{}\"'#:=\n]*?)"
_GAP = r"(?:[ \t\r\n]|#[^\n]*\n)*"
_BEFORE = re.compile(rf"(?:{_ITEM}{_GAP},{_GAP})*\Z")
_AFTER = re.compile(rf"(?:{_GAP},{_GAP}{_ITEM}(?={_GAP}[,\]\r\n]|{_GAP}\Z))*")
_EACH = re.compile(rf"({_ITEM}){_GAP}(?:,{_GAP}|\Z)")
_BLOCK_LINE = re.compile(r"([ \t]*-[ \t]+)([^\r\n]*?)[ \t]*(?:\r?\n|\Z)")
_QUOTES = "\"'"


class ListItem(NamedTuple):
    """An item of a list: its text without quotes, and the span that it takes with them."""

    word: str
    start: int
    end: int


class ItemList(NamedTuple):
    """The items of one list, in order."""

    items: tuple[ListItem, ...]
    is_block: bool
    """Whether each item is a line of its own that begins with a hyphen."""

    def build_removal(self, text: str, index: int, removed: frozenset[int]) -> Edit | None:
        """The edit that removes an item with its separator. None if that would remove a comment.

        `removed` are the indexes of all items of the list that are removed.
        """
        item = self.items[index]
        if self.is_block:
            start = text.rfind("\n", 0, item.start) + 1
            end = text.find("\n", item.end) + 1 or len(text)
        elif all(each in removed for each in range(index)):
            start, end = item.start, self.items[index + 1].start
        else:
            start, end = self.items[index - 1].end, item.end
        is_commented = "#" in text[start : item.start] + text[item.end : end]
        return None if is_commented else Edit(start, end, "")


def find_list(text: str, start: int, end: int) -> ItemList | None:
    """The list with an item that is exactly the characters from `start` to `end`. None if they are no item of a list.

    >>> [item.word for item in find_list("tools: Read, Raed", 13, 17).items]
    ['Read', 'Raed']
    >>> find_list("model: Raed", 7, 11) is None
    True
    """
    if text[start - 1 : start] in _QUOTES and text[end : end + 1] == text[start - 1 : start] and start:
        start, end = start - 1, end + 1
    return _find_block(text, start, end) or _find_inline(text, start, end)


def _find_inline(text: str, start: int, end: int) -> ItemList | None:
    first = _find_first(text, start)
    after = _AFTER.match(text, end)
    last = after.end() if after else end
    items = tuple(
        ListItem(match[1].strip().strip(_QUOTES), match.start(1), match.start(1) + len(match[1].rstrip()))
        for match in _EACH.finditer(text, first, last)
    )
    return ItemList(items, False) if len(items) > 1 and any(each.start == start for each in items) else None


def _find_first(text: str, start: int) -> int:
    """The start of the first item of the list whose item begins at `start`."""
    opening = max(text.rfind(each, 0, start) for each in ("[", "{", ":", "=")) + 1
    match = _BEFORE.search(text, opening, start)
    return start if match is None else match.start()


def _find_block(text: str, start: int, end: int) -> ItemList | None:
    line = text.rfind("\n", 0, start) + 1
    match = _BLOCK_LINE.match(text, line)
    if match is None or match.end(1) != start or _cut_comment(match[2]) != text[start:end]:
        return None
    indent = match[1]
    items: list[ListItem] = []
    beginnings = [each.start() for each in re.finditer(r"^", text, re.MULTILINE)]
    here = beginnings.index(line)
    for step in (range(here, -1, -1), range(here + 1, len(beginnings))):
        for number in step:
            beginning = beginnings[number]
            other = _BLOCK_LINE.match(text, beginning)
            if other is None or other[1] != indent:
                break
            word = _cut_comment(other[2])
            items.append(ListItem(word.strip(_QUOTES), other.start(2), other.start(2) + len(word)))
    return ItemList(tuple(sorted(items, key=lambda each: each.start)), True)


def _cut_comment(value: str) -> str:
    return value.partition(" #")[0].rstrip()
