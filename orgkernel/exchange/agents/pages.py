"""Render YAML, JSON and Markdown files line by line, each line with its place in the orgkernel documents.

Strings of an organization are data: whatever they contain, they stay one value of one field.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from orgkernel.diagnostics import Place
from orgkernel.diagnostics.wording import printable

Line = tuple[str, Place | None]

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]*\Z")
# Strings that some YAML reader would read as another type.
_RESERVED = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n", "none", "nan", "inf"})
_KEPT_PLAIN = re.compile(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]*\Z")
_DASHES = re.compile("-(?=--)")
_BREAKS = re.compile(r"\r\n?|[\x85\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class CitedValue:
    """A value with the place that declares it."""

    value: Any
    place: Place | None


@dataclass(frozen=True, slots=True)
class LongText:
    """A long string, line by line."""

    lines: tuple[Line, ...]

    @property
    def text(self) -> str:
        """The complete string."""
        return "\n".join(line for line, _ in self.lines)


def render_text_lines(text: str, place: Place | None, *, follows: bool = False) -> Iterator[Line]:
    """The lines of a string as Markdown shows them.

    If the string is the content of a file, each line has its own place.

    Control characters, which files may not contain, are escaped.
    """
    for number, line in enumerate(_BREAKS.sub("\n", text).split("\n")):
        at = place._replace(line=place.line + number, column=1) if follows and place and number else place
        yield "\t".join(printable(part) for part in line.split("\t")).rstrip(), at


def quote_text(text: str) -> str:
    r"""Quote a string so YAML and JSON both read it. Three dashes are escaped: some hosts end front matter there.

    >>> print(quote_text('say "no": # ----'))
    "say \"no\": # \u002d\u002d--"
    """
    json_text = _DASHES.sub(r"\\u002d", json.dumps(text, ensure_ascii=False))
    return re.sub(
        r"[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff\ufffe\uffff]",
        lambda match: f"\\u{ord(match[0]):04x}",
        json_text,
    )


def render_scalar(value: Any) -> str:
    """A value on one line of YAML."""
    if isinstance(value, str):
        is_plain = _WORD.match(value) and "---" not in value and value.casefold() not in _RESERVED
        return value if is_plain else quote_text(value)
    return json.dumps(value)


def render_yaml_lines(value: Any, place: Place | None = None, indent: int = 0) -> Iterator[Line]:
    """A mapping or list as YAML in block style; empty ones as `{}` and `[]`."""
    pad = " " * indent
    if isinstance(value, Mapping):
        for key, each in value.items():
            inner, at = (each.value, each.place) if isinstance(each, CitedValue) else (each, place)
            if isinstance(inner, LongText):
                yield from _block(f"{pad}{render_scalar(key)}: ", inner, indent + 2)
            elif isinstance(inner, (Mapping, list, tuple)) and inner:
                yield f"{pad}{render_scalar(key)}:", at
                yield from render_yaml_lines(inner, at, indent + 2)
            else:
                yield f"{pad}{render_scalar(key)}: {_render_flat(inner)}", at
        return
    for each in value:
        inner, at = (each.value, each.place) if isinstance(each, CitedValue) else (each, place)
        if isinstance(inner, (Mapping, list, tuple)) and inner:
            lines = render_yaml_lines(inner, at, indent + 2)
            first, where = next(lines)
            yield f"{pad}- {first.lstrip(' ')}", where
            yield from lines
        else:
            yield f"{pad}- {_render_flat(inner)}", at


def _render_flat(value: Any) -> str:
    if isinstance(value, (list, tuple)) and value:
        items = (each.value if isinstance(each, CitedValue) else each for each in value)
        return f"[{', '.join(map(_render_flat, items))}]"
    if isinstance(value, (Mapping, list, tuple)):
        return "{}" if isinstance(value, Mapping) else "[]"
    return render_scalar(value)


def _block(head: str, body: LongText, indent: int) -> Iterator[Line]:
    text = body.text
    first = body.lines[0][1] if body.lines else None
    is_plain = all(
        _KEPT_PLAIN.match(line) and line == line.rstrip() and "\t" not in line[:1] for line, _ in body.lines
    )
    if not text.strip() or text[0] in " \t\n" or text.endswith("\n") or not is_plain:
        yield head + quote_text(text), first
        return
    yield f"{head}|-", first
    yield from ((" " * indent + line if line else "", at) for line, at in body.lines)


def render_json_lines(
    value: Any, place: Place | None = None, indent: int = 0, head: str = ""
) -> Iterator[Line]:
    """A value as JSON, a field or item on each line."""
    if isinstance(value, CitedValue):
        value, place = value.value, value.place
    if isinstance(value, LongText):
        value, place = value.text, value.lines[0][1] if value.lines else place
    pad = " " * indent
    if not isinstance(value, (Mapping, list, tuple)) or not value:
        scalar_text = quote_text(value) if isinstance(value, str) else json.dumps(value)
        yield f"{pad}{head}{scalar_text}", place
        return
    is_mapping = isinstance(value, Mapping)
    items: list[tuple[str, Any]]
    if isinstance(value, Mapping):
        items = [(f"{quote_text(key)}: ", each) for key, each in value.items()]
    else:
        items = [("", each) for each in value]
    yield f"{pad}{head}{'{' if is_mapping else '['}", place
    for number, (key, each) in enumerate(items):
        lines = list(render_json_lines(each, place, indent + 2, key))
        if number < len(items) - 1:
            lines[-1] = (f"{lines[-1][0]},", lines[-1][1])
        yield from lines
    yield f"{pad}{'}' if is_mapping else ']'}", place


def render_markdown_lines(
    mark: str, front: Mapping[str, Any], body: LongText, place: Place | None
) -> Iterator[Line]:
    """Front matter that begins with the mark, followed by the body."""
    yield "---", place
    yield f"# {mark}", place
    yield from render_yaml_lines(front, place)
    yield "---", place
    yield "", place
    yield from body.lines


def page(lines: Iterable[Line]) -> tuple[str, tuple[Place | None, ...]]:
    """Join lines into the content of a file, with the place of each line."""
    listed = list(lines)
    while listed and not listed[-1][0]:
        listed.pop()
    return "".join(f"{line}\n" for line, _ in listed), tuple(place for _, place in listed)
