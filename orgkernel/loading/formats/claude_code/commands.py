"""Reads a command: a prompt that the user calls by name. It is not a role. The references in its front matter are
kept for the rules.
"""

from __future__ import annotations

import os
from typing import Any

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import ToolCatalog
from orgkernel.loading.documents import build_diagnostic, read_broken
from orgkernel.loading.files import MARKDOWN, Root, SourceText
from orgkernel.loading.formats.building import read_as
from orgkernel.loading.formats.front_matter import CLAUDE_CODE, read_front_matter
from orgkernel.loading.formats.words import read_words
from orgkernel.loading.markdown import split_front_matter
from orgkernel.loading.marks import start_of
from orgkernel.loading.parsed import DocumentProblem, describe
from orgkernel.loading.sources import FileResult

KIND = "tool_catalog"
COMMAND, TOOLS, AGENT = "command", "allowed-tools", "agent"


def read_command(source: SourceText, root: Root) -> FileResult:
    """A document without tools, with the words of the front matter. Empty for a command without front matter."""
    if source.problem is None and split_front_matter(source.text, CLAUDE_CODE.pattern) is None:
        return FileResult(skipped=True)
    front = read_front_matter(source, (TOOLS,), ending=CLAUDE_CODE)
    if front is None:
        return FileResult(skipped=True)
    if not front.value:
        return read_broken(source, KIND, front.problems)
    value, marks, problems = front.value, dict(front.marks), front.problems
    raw: dict[str, Any] = {COMMAND: [os.path.basename(source.path).removesuffix(MARKDOWN)]}
    if TOOLS in value:
        words = list(read_words(TOOLS, value[TOOLS], marks[TOOLS][1], problems))
        raw[TOOLS] = [word for word, _ in words]
        marks[TOOLS] = (marks[TOOLS][0], (start_of(marks[TOOLS][1]), [mark for _, mark in words]))
    if isinstance(value.get(AGENT), str):
        raw[AGENT] = [value[AGENT].strip()]
    elif AGENT in value:
        text = f"the field {quote(AGENT)} is {describe(value[AGENT])}, not a string"
        problems.append(DocumentProblem(row.WRONG_TYPE, start_of(marks[AGENT][1]), text))
    document = read_as(source, root, KIND, ToolCatalog(), (front.start, marks), raw)
    return FileResult((document,), (), tuple(build_diagnostic(source, each) for each in problems))
