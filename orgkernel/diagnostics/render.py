"""Diagnostics as text for people, as lines for editors, as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from orgkernel.diagnostics.diagnostic import Diagnostic
from orgkernel.diagnostics.span import ReadLines, token_length
from orgkernel.diagnostics.wording import printable
from orgkernel.runtime.secret_shapes import mask_secrets

_WIDTH = 100


def render_full(diagnostics: Iterable[Diagnostic], read_lines: ReadLines) -> str:
    """Each finding with the line it is about, its help, and where to read more."""
    return "\n".join(_block(found, read_lines) for found in diagnostics)


def render_concise(diagnostics: Iterable[Diagnostic]) -> str:
    """One line for each finding."""
    return "".join(f"{_headline(found)}\n" for found in diagnostics)


def render_json(diagnostics: Iterable[Diagnostic]) -> str:
    """A list of objects."""
    return json.dumps([as_data(found) for found in diagnostics], indent=2, ensure_ascii=False) + "\n"


def as_data(found: Diagnostic) -> dict[str, Any]:
    """A finding as plain data, for JSON."""
    return {
        "code": found.code,
        "name": found.name,
        "severity": found.severity.value,
        "message": found.message,
        "file": found.place.file,
        "line": found.place.line,
        "column": found.place.column,
        "help": found.help,
        "subject": found.subject,
        "related": [
            {"text": each.text, "file": each.place.file, "line": each.place.line, "column": each.place.column}
            for each in found.related
        ],
    }


def _headline(found: Diagnostic) -> str:
    return printable(f"{found.place}: {found.severity.value}[{found.code}] {found.name}: {found.message}")


def _block(found: Diagnostic, read_lines: ReadLines) -> str:
    lines = [_headline(found), *_excerpt(found, read_lines)]
    lines += [f"    {printable(str(each.place))}: {printable(each.text)}" for each in found.related]
    if found.help:
        lines.append(f"    help: {printable(found.help)}")
    lines.append(f"    more: orgkernel rule {found.code}")
    return "\n".join(lines) + "\n"


def _excerpt(found: Diagnostic, read_lines: ReadLines) -> list[str]:
    source = read_lines(found.place.file)
    number, column = found.place.line, found.place.column - 1
    if not 0 < number <= len(source) or not source[number - 1].strip():
        return []
    line = mask_secrets(source[number - 1].rstrip("\r\n"))
    length = token_length(line, column)
    start = 0 if column + length <= _WIDTH else max(0, column - _WIDTH // 3)
    shown = line[start : start + _WIDTH]
    # Characters that print as several, or as none, would shift the caret: one column each.
    shown = "".join(character if character.isprintable() else "·" for character in shown.replace("\t", " "))
    gutter = f"{number:>5} | "
    caret = " " * (column - start) + "^" * min(length, _WIDTH - (column - start))
    return [f"{gutter}{shown}", f"{' ' * 6}| {caret}"]
