"""The Markdown page that GitHub Actions shows for a step: all findings, not only ten annotations per severity."""

from __future__ import annotations

import re
from collections.abc import Sequence

from orgkernel.diagnostics.diagnostic import Diagnostic
from orgkernel.diagnostics.formats.wording import clean, sentence, title

# GitHub silently drops the page of a step when it gets near 1 MiB.
_LARGEST = 256 * 1024
# Everything that Markdown or HTML could interpret; a backslash before punctuation makes it plain text.
_ACTIVE = re.compile(r"[!-/:-@\[-`{-~]")


def render_step_summary(diagnostics: Sequence[Diagnostic], headline: str) -> str:
    """A heading and a table, cut before it gets too large to be shown."""
    text = f"### orgkernel check\n\n{escape_markdown(headline)}\n\n"
    if not diagnostics:
        return text
    text += "| severity | rule | where | what |\n|---|---|---|---|\n"
    size = len(text.encode())
    for number, found in enumerate(diagnostics):
        row = _row(found)
        size += len(row.encode())
        if size > _LARGEST:
            return f"{text}\n{len(diagnostics) - number:,} more: see the log of this step.\n\n"
        text += row
    return text + "\n"


def escape_markdown(text: str) -> str:
    """Text that Markdown shows unchanged, also inside a table."""
    return _ACTIVE.sub(lambda match: f"\\{match[0]}", clean(text))


def _row(found: Diagnostic) -> str:
    cells = (found.severity.value, title(found), str(found.place), sentence(found))
    return f"| {' | '.join(map(escape_markdown, cells))} |\n"
