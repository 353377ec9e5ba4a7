"""Reads Markdown documents: cognitive skills (`skills/NAME/SKILL.md`) and standing orders (`standing_orders/….md`).

The place of a file determines its kind. The strict YAML reader reads front matter, with every scalar as a string,
because the Agent Skills standard has only strings.
"""

from __future__ import annotations

import os
import re
from typing import Any, NamedTuple

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import PREFIX
from orgkernel.loading.files import SourceText, get_markdown_kind
from orgkernel.loading.marks import LINE_BREAK, Marks, pack_mark, start_of
from orgkernel.loading.parsed import DocumentProblem
from orgkernel.loading.yaml_reader import parse_yaml

MAX_CHARACTERS = 256 * 1024
"""Maximum length of a Markdown document, because agents read it whole."""
_FIRST = pack_mark(1, 1)
_FENCE = re.compile(r"---[ \t]*\Z")
# Fields of every document, and the one that the text of the file becomes: front matter cannot set them.
_OURS = frozenset({"_schema", "_version", "suppressions", "body"})
_AUDIENCE_OF_FOLDER = {"departments": "department", "roles": "role"}


class ParsedMarkdown(NamedTuple):
    """The values of a Markdown document, their marks, and problems."""

    kind: str
    value: dict[str, Any] | None
    marks: Marks
    problems: list[DocumentProblem]


class FrontMatterParts(NamedTuple):
    """A Markdown file, split at the end of its front matter."""

    front: str
    """The text between the dashes."""
    body: str
    body_line: int
    """The line on which the body begins, from 1."""


def parse_markdown(source: SourceText) -> ParsedMarkdown:
    """The values of a Markdown document. None if it cannot be read."""
    kind = get_markdown_kind(source.path)
    assert kind is not None
    if kind == "standing_order":
        return _refuse_long(source, kind) or _read_order(source)
    return parse_skill(source, split_front_matter(source.text))


def parse_skill(source: SourceText, parts: FrontMatterParts | None) -> ParsedMarkdown:
    """The values of a SKILL.md at any place, split as its host does; `parts` is None if it has no front matter."""
    return _refuse_long(source, "cognitive_skill") or _read_skill(parts)


def _refuse_long(source: SourceText, kind: str) -> ParsedMarkdown | None:
    if len(source.text) > MAX_CHARACTERS:
        message = f"the file has more than {MAX_CHARACTERS // 1024} KiB, the limit of a Markdown document"
        return ParsedMarkdown(
            kind,
            None,
            _FIRST,
            [DocumentProblem(row.TOO_LARGE, _FIRST, message, "move parts into files next to it")],
        )
    return None


def _read_order(source: SourceText) -> ParsedMarkdown:
    audience, target = _find_audience(source.path)
    value = {
        "_schema": f"{PREFIX}standing_order",
        "audience": audience,
        "target": target,
        "body": source.text,
    }
    if not source.text.strip():
        problem = DocumentProblem(
            row.EMPTY, _FIRST, "the file contains no order", "write the orders, or delete it"
        )
        return ParsedMarkdown("standing_order", None, _FIRST, [problem])
    return ParsedMarkdown("standing_order", value, (_FIRST, {"body": (_FIRST, _FIRST)}), [])


def _find_audience(path: str) -> tuple[str, str]:
    """The audience of a file of standing orders, from its place below `standing_orders`."""
    folder, name = os.path.split(path)
    stem, above = name.rpartition(".")[0], os.path.basename(folder)
    if above in _AUDIENCE_OF_FOLDER:
        return _AUDIENCE_OF_FOLDER[above], stem
    return (stem, "") if stem in ("federation", "organization") else ("unknown", stem)


def _read_skill(parts: FrontMatterParts | None) -> ParsedMarkdown:
    if parts is None:
        help = "write `name` and `description` between two lines `---` at its beginning"
        problem = DocumentProblem(row.NO_FRONT_MATTER, _FIRST, "the file has no front matter", help)
        return ParsedMarkdown("cognitive_skill", None, _FIRST, [problem])
    front, body, line = parts
    # The fence is kept as the first line, so line numbers match the file.
    parsed = parse_yaml("\n" + front, as_text=True)
    if parsed.problems:
        return ParsedMarkdown("cognitive_skill", None, _FIRST, list(parsed.problems))
    if len(parsed.documents) > 1:
        problem = DocumentProblem(row.BAD_YAML, pack_mark(2, 1), "the front matter has several documents")
        return ParsedMarkdown("cognitive_skill", None, _FIRST, [problem])
    document = parsed.documents[0] if parsed.documents else None
    if document is None or not isinstance(document.value, dict):
        problem = DocumentProblem(row.NOT_A_MAPPING, pack_mark(2, 1), "the front matter is not a mapping")
        return ParsedMarkdown("cognitive_skill", None, _FIRST, [problem])
    body_mark = pack_mark(line, 1)
    return build_skill(document.value, (start_of(document.marks), document.marks[1]), body, body_mark)


def build_skill(fields: dict[str, Any], marks: Marks, body: str, body_mark: int) -> ParsedMarkdown:
    """The values of a skill, from the fields of its front matter and its text."""
    mark, below = start_of(marks), dict(marks[1])
    value, problems = dict(fields), []
    for name in _OURS.intersection(value):
        problems.append(
            DocumentProblem(
                row.UNKNOWN_FIELD, below[name][0], f"the field {quote(name)} is unknown in front matter"
            )
        )
        del value[name], below[name]
    below["body"] = (body_mark, body_mark)
    value |= {"_schema": f"{PREFIX}cognitive_skill", "body": body}
    return ParsedMarkdown("cognitive_skill", value, (mark, below), problems)


def split_front_matter(text: str, ending: re.Pattern[str] | None = None) -> FrontMatterParts | None:
    """Split a Markdown file. None if it has no front matter.

    With `ending`, the front matter ends at its first match, as in hosts that do not look for a whole line.
    """
    first = LINE_BREAK.search(text)
    if first is None or not _FENCE.match(text[: first.start()]):
        return None
    if ending is not None:
        if "\n" not in first[0]:
            return None  # these hosts end lines at a line feed only
        match = ending.search(text, first.end())
        if match is None:
            return None
        line = 1 + sum(1 for _ in LINE_BREAK.finditer(text, 0, match.end()))
        return FrontMatterParts(text[first.end() : match.start()], text[match.end() :], line)
    at, line = first.end(), 2
    while at <= len(text):
        end = LINE_BREAK.search(text, at)
        stop, after = (end.start(), end.end()) if end else (len(text), len(text))
        if _FENCE.match(text[at:stop]):
            return FrontMatterParts(text[first.end() : at], text[after:], line + 1)
        if end is None:
            return None
        at, line = after, line + 1
    return None
