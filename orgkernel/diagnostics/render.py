"""Renders findings as text for people, as lines for editors and as JSON for programs, and measures the underlined
text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from orgkernel.diagnostics.diagnostic import Diagnostic, Place
from orgkernel.diagnostics.excerpt_secrets import mask_line
from orgkernel.diagnostics.wording import clean, printable
from orgkernel.runtime.lazy_patterns import lazy_pattern

ReadLines = Callable[[str], Sequence[str]]
"""Returns the lines of a file, by its name as shown. Empty if it cannot be read."""

Paint = Callable[[str, str], str]
"""Colors a text for a severity."""

_WIDTH = 100
# A quoted YAML scalar, or a plain one up to the separator that ends it.
_TOKEN = lazy_pattern(
    r"""\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^\s,\[\]{}#][^,\[\]{}#]*?(?=\s*(?:[,\]}]|:(?:\s|$)|\s#|$))|."""
)
# A word inside a text, such as a name in a trigger.
_WORD = lazy_pattern(r"""[^\s"'(),\]}]+""")
# Characters before a value or key. Any other character means that the place is inside one.
_BEFORE_VALUES = frozenset(":-[,{?")


def measure_token(line: str, start: int) -> int:
    """Length in characters, at least one, of the value or the word that begins at `start` (from 0)."""
    before = line[:start].rstrip()[-1:]
    inside = bool(before) and before not in _BEFORE_VALUES
    match = (_WORD if inside else _TOKEN).match(line, start)
    return max(1, len(match[0].rstrip()) if match else 1)


def find_end_column(place: Place, read_lines: ReadLines) -> int | None:
    """The column after the last one of the text at a place. None if its line cannot be read or has changed."""
    lines = read_lines(place.file)
    if not 0 < place.line <= len(lines):
        return None
    line = lines[place.line - 1].rstrip("\r\n")
    start = place.column - 1
    return place.column + measure_token(line, start) if 0 <= start < len(line) else None


def sentence(diagnostic: Diagnostic) -> str:
    """The message, with the help in parentheses."""
    return clean(f"{diagnostic.message} ({diagnostic.help})" if diagnostic.help else diagnostic.message)


def title(diagnostic: Diagnostic) -> str:
    """Code and name of the rule."""
    return clean(f"{diagnostic.code} {diagnostic.name}")


def render_full(diagnostics: Iterable[Diagnostic], read_lines: ReadLines, paint: Paint | None = None) -> str:
    """Each finding with its source line, its help, and a reference to the page of its rule. `paint` colors the
    highlights.
    """
    return "\n".join(
        _render_block(diagnostic, read_lines, paint or _leave_unpainted) for diagnostic in diagnostics
    )


def render_concise(diagnostics: Iterable[Diagnostic], paint: Paint | None = None) -> str:
    """One line for each finding."""
    return "".join(
        f"{_render_headline(diagnostic, paint or _leave_unpainted)}\n" for diagnostic in diagnostics
    )


def render_json(diagnostics: Iterable[Diagnostic]) -> str:
    """The findings as a JSON list of objects."""
    return (
        json.dumps([convert_to_data(diagnostic) for diagnostic in diagnostics], indent=2, ensure_ascii=False)
        + "\n"
    )


def convert_to_data(diagnostic: Diagnostic) -> dict[str, Any]:
    """A finding as plain data, for JSON."""
    return {
        "code": diagnostic.code,
        "name": diagnostic.name,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "file": diagnostic.place.file,
        "line": diagnostic.place.line,
        "column": diagnostic.place.column,
        "help": diagnostic.help,
        "subject": diagnostic.subject,
        "related": [
            {"text": each.text, "file": each.place.file, "line": each.place.line, "column": each.place.column}
            for each in diagnostic.related
        ],
    }


def _leave_unpainted(text: str, word: str) -> str:
    return text


def _render_headline(diagnostic: Diagnostic, paint: Paint) -> str:
    level = paint(printable(f"{diagnostic.severity.value}[{diagnostic.code}]"), diagnostic.severity.value)
    return (
        f"{printable(str(diagnostic.place))}: {level} {printable(f'{diagnostic.name}: {diagnostic.message}')}"
    )


def _render_block(diagnostic: Diagnostic, read_lines: ReadLines, paint: Paint) -> str:
    lines = [_render_headline(diagnostic, paint), *_render_excerpt(diagnostic, read_lines, paint)]
    lines += [f"    {printable(str(each.place))}: {printable(each.text)}" for each in diagnostic.related]
    if diagnostic.help:
        lines.append(f"    help: {printable(diagnostic.help)}")
    lines.append(f"    more: orgkernel rule {diagnostic.code}")
    return "\n".join(lines) + "\n"


def _render_excerpt(diagnostic: Diagnostic, read_lines: ReadLines, paint: Paint) -> list[str]:
    source = read_lines(diagnostic.place.file)
    number, column = diagnostic.place.line, diagnostic.place.column - 1
    if not 0 < number <= len(source) or not source[number - 1].strip():
        return []
    line = mask_line(source, number)
    length = measure_token(line, column)
    start = 0 if column + length <= _WIDTH else max(0, column - _WIDTH // 3)
    shown = line[start : start + _WIDTH]
    # Tabs and unprintable characters would shift the caret, so each is replaced by one character.
    shown = "".join(character if character.isprintable() else "·" for character in shown.replace("\t", " "))
    gutter = f"{number:>5} | "
    caret = paint("^" * min(length, _WIDTH - (column - start)), diagnostic.severity.value)
    return [f"{gutter}{shown}", f"{' ' * 6}| {' ' * (column - start)}{caret}"]
