"""Reads JSON with comments and trailing commas (JSONC), with the marks of the original text."""

from __future__ import annotations

import re

from orgkernel.diagnostics import catalog as row
from orgkernel.loading.json_reader import parse_json
from orgkernel.loading.marks import compute_mark_after
from orgkernel.loading.parsed import MAX_VALUES, SPLIT, DocumentProblem, ParsedText
from orgkernel.runtime.lazy_patterns import lazy_pattern

_PART = lazy_pattern(r'"(?:[^"\\]++|\\.)*+"?|//[^\r\n]*+|/\*', re.DOTALL)
_TRAILING = lazy_pattern(r'"(?:[^"\\]++|\\.)*+"?|,(?=[ \t\r\n]*+[\]}])', re.DOTALL)
# Each value has at most a key, a string and a comment, with the text before each of them.
_MAX_PARTS = 6 * MAX_VALUES
_INK = lazy_pattern(r"[^\r\n]")


def parse_jsonc(text: str) -> ParsedText:
    """Parse a JSONC text. Never raises for invalid text."""
    parts: list[str] = []
    at = 0
    while match := _PART.search(text, at):
        start, end = match.span()
        if match[0] == "/*":
            closed = text.find("*/", end)
            if closed < 0:
                problem = "not valid JSON: the comment that begins here is not closed"
                return ParsedText(
                    (),
                    (
                        DocumentProblem(
                            row.BAD_JSON, compute_mark_after(text[:start]), problem, "close it with `*/`"
                        ),
                    ),
                )
            end = closed + 2
        if len(parts) > _MAX_PARTS:
            problem = f"the file contains more than {MAX_VALUES:,} values"
            return ParsedText(
                (), (DocumentProblem(row.TOO_LARGE, compute_mark_after(text[:start]), problem, SPLIT),)
            )
        parts += (text[at:start], match[0] if match[0][0] == '"' else _replace_by_spaces(text[start:end]))
        at = end
    parts.append(text[at:])
    return parse_json(_TRAILING.sub(lambda match: " " if match[0] == "," else match[0], "".join(parts)))


def _replace_by_spaces(text: str) -> str:
    """Replace a comment by spaces of the same length, so the positions after it do not change."""
    return _INK.sub(" ", text)
