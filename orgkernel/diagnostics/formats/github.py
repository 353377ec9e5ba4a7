"""Findings for GitHub Actions: workflow commands, and the Markdown page of a step.

A command is a line that the runner turns into an annotation of the file. GitHub shows only ten annotations per
severity; the page shows all findings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from orgkernel.diagnostics.diagnostic import Diagnostic, Severity
from orgkernel.diagnostics.render import ReadLines, find_end_column, sentence, title
from orgkernel.diagnostics.wording import clean

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render_github(diagnostics: Iterable[Diagnostic], read_lines: ReadLines) -> str:
    """One command for each finding."""
    return "".join(_render_command(diagnostic, read_lines) for diagnostic in diagnostics)


def escape_data(text: str) -> str:
    """Text as the message of a command: `%` and line breaks are escaped, because the runner interprets them."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """Text as the value of a property: `:` and `,` are escaped as well, because they end the value."""
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")


def _render_command(diagnostic: Diagnostic, read_lines: ReadLines) -> str:
    properties = {
        "title": title(diagnostic),
        "file": clean(diagnostic.place.file),
        "line": str(diagnostic.place.line),
        "col": str(diagnostic.place.column),
    }
    end = find_end_column(diagnostic.place, read_lines)
    if end is not None:
        properties |= {"endLine": str(diagnostic.place.line), "endColumn": str(end)}
    written = ",".join(f"{name}={escape_property(value)}" for name, value in properties.items())
    return f"::{_COMMANDS[diagnostic.severity]} {written}::{escape_data(sentence(diagnostic))}\n"


# GitHub silently drops a step's page if it approaches 1 MiB.
_LARGEST = 256 * 1024
# All characters that Markdown or HTML could act on. A backslash before punctuation makes it plain text.
_ACTIVE = re.compile(r"[!-/:-@\[-`{-~]")


def render_step_summary(
    diagnostics: Sequence[Diagnostic], headline: str, heading: str = "orgkernel check"
) -> str:
    """A heading, a line and a table of the findings, cut before it becomes too large for GitHub to show."""
    text = f"### {heading}\n\n{escape_markdown(headline)}\n\n"
    if not diagnostics:
        return text
    text += "| severity | rule | where | what |\n|---|---|---|---|\n"
    size = len(text.encode())
    for number, diagnostic in enumerate(diagnostics):
        row = _render_row(diagnostic)
        size += len(row.encode())
        if size > _LARGEST:
            return f"{text}\n{len(diagnostics) - number:,} more: see the log of this step.\n\n"
        text += row
    return text + "\n"


def escape_markdown(text: str) -> str:
    """Text that Markdown shows unchanged, including inside a table."""
    return _ACTIVE.sub(lambda match: f"\\{match[0]}", clean(text))


def _render_row(diagnostic: Diagnostic) -> str:
    cells = (diagnostic.severity.value, title(diagnostic), str(diagnostic.place), sentence(diagnostic))
    return f"| {' | '.join(map(escape_markdown, cells))} |\n"
