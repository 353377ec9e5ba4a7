"""Renders findings for GitHub Actions: workflow commands, and the Markdown summary of a step.

A command is a line that the runner turns into an annotation of the file. GitHub shows only ten annotations per
severity. The summary shows all findings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from orgkernel.diagnostics.diagnostic import Diagnostic, Severity
from orgkernel.diagnostics.render import ReadLines, find_end_column, sentence, title
from orgkernel.diagnostics.wording import clean

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render_github(diagnostics: Iterable[Diagnostic], read_lines: ReadLines) -> str:
    """One workflow command per finding."""
    return "".join(_render_command(diagnostic, read_lines) for diagnostic in diagnostics)


def escape_data(text: str) -> str:
    """Escape the message of a workflow command: `%` and line breaks, because the runner interprets them."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """Escape a property of a workflow command, including `:` and `,`, because they end the value."""
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
_MAX_BYTES = 256 * 1024
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
        if size > _MAX_BYTES:
            return f"{text}\n{len(diagnostics) - number:,} more: see the log of this step.\n\n"
        text += row
    return text + "\n"


def escape_markdown(text: str) -> str:
    """Text that Markdown shows unchanged, including inside a table."""
    return _ACTIVE.sub(lambda match: f"\\{match[0]}", clean(text))


def _render_row(diagnostic: Diagnostic) -> str:
    cells = (diagnostic.severity.value, title(diagnostic), str(diagnostic.place), sentence(diagnostic))
    return f"| {' | '.join(map(escape_markdown, cells))} |\n"
