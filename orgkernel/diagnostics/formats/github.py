"""Workflow commands of GitHub Actions: one line each, which the runner turns into an annotation of the file."""

from __future__ import annotations

from collections.abc import Iterable

from orgkernel.diagnostics.diagnostic import Diagnostic, Severity
from orgkernel.diagnostics.formats.wording import clean, sentence, title
from orgkernel.diagnostics.span import ReadLines, find_end_column

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render_github(diagnostics: Iterable[Diagnostic], read_lines: ReadLines) -> str:
    """One command for each finding."""
    return "".join(_command(found, read_lines) for found in diagnostics)


def escape_data(text: str) -> str:
    """Text as the message of a command: `%` and line breaks are escaped, because the runner interprets them."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """Text as the value of a property: `:` and `,` are escaped as well, because they end the value."""
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")


def _command(found: Diagnostic, read_lines: ReadLines) -> str:
    properties = {
        "title": title(found),
        "file": clean(found.place.file),
        "line": str(found.place.line),
        "col": str(found.place.column),
    }
    end = find_end_column(found.place, read_lines)
    if end is not None:
        properties |= {"endLine": str(found.place.line), "endColumn": str(end)}
    written = ",".join(f"{name}={escape_property(value)}" for name, value in properties.items())
    return f"::{_COMMANDS[found.severity]} {written}::{escape_data(sentence(found))}\n"
