"""Edits of lists and mappings in YAML and JSON text that leave the rest unchanged, including comments.

Each function returns the edits of one change, or raises `CannotEdit` for a style of writing that it does not support.
The caller compares the values of the new text with the expected ones.
"""

from __future__ import annotations

import re
from typing import NoReturn

import yaml
from yaml import CollectionNode, MappingNode, Node, ScalarNode, SequenceNode

from orgkernel.loading.marks import LINE_BREAK
from orgkernel.project.edits.spans import Edit

# The loader without libyaml gives the same nodes with the same positions, but takes ten times as long.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DASH = re.compile(r"[ \t]*-[ \t]+")
_COLON = re.compile(r"[ \t]*:")
_COMMENT = re.compile(r"[ \t]+(#.*)")
# The text after an item in brackets: its comma, and the comment on its line.
_REST_OF_ITEM = re.compile(r"[ \t]*(?P<comma>,)?(?:[ \t]*#[^\r\n]*)?")
# From the item before, over line breaks and comments, to the comma that follows it.
_TO_COMMA = re.compile(r"(?:\s|#[^\r\n]*)*,")
_BLOCK_TEXT = ("|", ">")


class CannotEdit(Exception):
    """A text is written in a way that only a person should change."""


def read_nodes(text: str) -> list[Node | None]:
    """The documents of a text with their places. Raises `CannotEdit`."""
    try:
        return list(yaml.compose_all(text, Loader=_LOADER))
    except yaml.YAMLError:
        return _refuse("it cannot be read as YAML")


def find_entry(node: Node | None, key: str) -> tuple[ScalarNode, Node] | None:
    """The key and the value of an entry of a mapping."""
    if isinstance(node, MappingNode):
        for each, value in node.value:
            if isinstance(each, ScalarNode) and each.value == key:
                return each, value
    return None


def find_value(node: Node | None, *keys: str) -> Node | None:
    """The value at the end of some keys."""
    for key in keys:
        entry = find_entry(node, key)
        if entry is None:
            return None
        node = entry[1]
    return node


def remove_item(text: str, key: ScalarNode, items: SequenceNode, number: int) -> list[Edit]:
    """Remove an item from the list at a key. An item of a block is removed with the comment on its last line."""
    item = items.value[number]
    if items.flow_style:
        return _remove_in_flow(text, items, number)
    start, end = _find_line_start(text, item.start_mark.index), _find_line_end(text, _find_end(item))
    if not _DASH.fullmatch(text, start, item.start_mark.index):
        _refuse("an item does not begin on a line of its own")
    after = LINE_BREAK.match(text, end)
    removed = Edit(start, after.end() if after else end, "")
    if len(items.value) > 1:
        return [removed]
    colon = _COLON.match(text, key.end_mark.index)
    if colon is None:
        _refuse("a list is written in an unusual way")
    # It must stay a list even if it becomes empty.
    return [Edit(colon.end(), colon.end(), " []"), removed]


def add_item(text: str, items: SequenceNode, item: str, comment: str = "") -> Edit:
    """Add the text `item` at the end of a list. In brackets it gets no comment."""
    if items.flow_style:
        at = _find_end(items.value[-1]) if items.value else items.start_mark.index + 1
        return Edit(at, at, f", {item}" if items.value else item)
    indent = " " * items.start_mark.column
    at = _find_line_end(text, _find_end(items.value[-1]))
    return Edit(at, at, f"{line_break(text)}{indent}- {item}{f'  {comment}' if comment else ''}")


def add_entry(text: str, mapping: MappingNode, lines: list[str]) -> Edit:
    """Add an entry at the end of a mapping that is not empty. In braces its lines become one."""
    last = mapping.value[-1][1]
    if mapping.flow_style:
        at = _find_end(last)
        return Edit(at, at, f", {' '.join(lines)}")
    # A block scalar ends where the next key begins, so its trailing lines could be its own or blank lines before the key.
    if isinstance(last, ScalarNode) and last.style in _BLOCK_TEXT:
        _refuse("a text of several lines stands last")
    at = _find_line_end(text, _find_end(last))
    indent = line_break(text) + " " * mapping.start_mark.column
    return Edit(at, at, "".join(indent + line for line in lines))


def add_after_key(text: str, key: ScalarNode, lines: list[str], column: int) -> Edit:
    """Write lines behind the line of a key."""
    at = _find_line_end(text, key.end_mark.index)
    indent = line_break(text) + " " * column
    return Edit(at, at, "".join(indent + line for line in lines))


def comment_behind(text: str, node: Node) -> str:
    """The comment on the last line of a node, or an empty string."""
    at = _find_end(node)
    match = _COMMENT.match(text, at, _find_line_end(text, at))
    return match[1] if match else ""


def replace_scalar(text: str, scalar: ScalarNode, value: str) -> Edit:
    """Write another word in place of a scalar, in the same quotes."""
    start, end = scalar.start_mark.index, scalar.end_mark.index
    quote = text[start] if text[start] in "'\"" else ""
    return Edit(start, end, f"{quote}{value}{quote}")


def line_break(text: str) -> str:
    """The line ending of a text."""
    match = LINE_BREAK.search(text)
    return match[0] if match else "\n"


def is_quoted(text: str, node: Node) -> bool:
    """Whether keys are in quotes, as in JSON."""
    return (
        isinstance(node, MappingNode) and bool(node.value) and text[node.value[0][0].start_mark.index] == '"'
    )


def _remove_in_flow(text: str, items: SequenceNode, number: int) -> list[Edit]:
    item = items.value[number]
    start, end = item.start_mark.index, _find_end(item)
    is_last = number + 1 == len(items.value)
    begin = _find_end(items.value[number - 1]) if number else items.start_mark.index + 1
    after = items.end_mark.index - 1 if is_last else items.value[number + 1].start_mark.index
    # A comment between two items could explain either of them, so only the one on the item's own line is removed.
    if "#" in text[begin:start] or "#" in text[end:after]:
        return _remove_beside_comments(text, begin, start, end, is_last=is_last and number > 0)
    if not is_last:
        return [Edit(start, after, "")]
    return [Edit(begin, end if number else after, "")]


def _remove_beside_comments(text: str, begin: int, start: int, end: int, *, is_last: bool) -> list[Edit]:
    """Remove the item from `start` to `end` with its comma and the comment on its line. Other comments stay."""
    rest = _REST_OF_ITEM.match(text, end)
    comma = _TO_COMMA.match(text, begin)
    if rest is None or (is_last and not rest["comma"] and comma is None):
        _refuse("a list is written in an unusual way")
    stop, line = rest.end(), _find_line_start(text, start)
    if stop == _find_line_end(text, end):
        before = text[line:start]
        start = line + len(before.rstrip(" \t"))
        after = LINE_BREAK.match(text, stop)
        if start == line >= begin and after:
            stop = after.end()
    removed = [Edit(start, stop, "")]
    if is_last and not rest["comma"] and comma is not None:
        removed.append(Edit(comma.end() - 1, comma.end(), ""))
    return removed


def _find_end(node: Node) -> int:
    """The end of a node's text; a block ends where its last child ends."""
    if not isinstance(node, CollectionNode) or node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    return _find_end(last[1] if isinstance(last, tuple) else last)


def _find_line_start(text: str, at: int) -> int:
    return max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1


def _find_line_end(text: str, at: int) -> int:
    match = LINE_BREAK.search(text, at)
    return match.start() if match else len(text)


def _refuse(why: str) -> NoReturn:
    raise CannotEdit(why)
