"""Reads the front matter of Markdown files in other formats: YAML, or lines that hosts accept although they are not
valid YAML.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import listing, quote, suggest
from orgkernel.loading.files import MARKDOWN, NOTES, SourceText
from orgkernel.loading.formats.suppressions import SUPPRESSIONS
from orgkernel.loading.markdown import MAX_CHARACTERS, FrontMatterParts, split_front_matter
from orgkernel.loading.marks import (
    LINE_BREAK,
    PLAIN,
    STYLE_MASK,
    Marks,
    pack_mark,
    start_of,
    unpack_mark,
    unpack_within,
)
from orgkernel.loading.parsed import DocumentProblem
from orgkernel.loading.scalars import NumberOutOfRange, resolve_scalar
from orgkernel.loading.yaml_reader import parse_yaml
from orgkernel.runtime.lazy_patterns import lazy_pattern

_FIRST = pack_mark(1, 1)
_ITEM = lazy_pattern(r"[ \t]*-[ \t]+(.*)\Z", re.DOTALL)
_QUOTED = lazy_pattern(r"""(["'])([^"'\\]*)\1\Z""")
_QUOTED_WORD = lazy_pattern(r"""(["'])[^"'\\]*\1""")
_QUOTED_LIST = lazy_pattern(r"""\[\s*(?:"[^"\\]*"|'[^'\\]*')(?:\s*,\s*(?:"[^"\\]*"|'[^'\\]*'))*\s*\]\Z""")
# How a value begins that is more than a line of text.
_MORE = ("[", "-", "|", ">", '"', "'")
_LINE = lazy_pattern(r"([A-Za-z][A-Za-z0-9_-]*):[ \t]*(.*)\Z", re.DOTALL)


class FrontMatterEnding(NamedTuple):
    """Where a host ends front matter, if it does not look for a line with nothing but three dashes."""

    host: str
    pattern: re.Pattern[str]
    has_space_after_opening: bool = True
    """Whether spaces may follow the three dashes at the beginning."""


_ANYWHERE = lazy_pattern(r"---[ \t]*(?:\r\n?|\n)?")
_AT_A_LINE = lazy_pattern(r"(?<=[\r\n])---[^\r\n]*(?:\r\n?|\n)?")
CLAUDE_CODE = FrontMatterEnding("Claude Code", _ANYWHERE)
GEMINI_CLI = FrontMatterEnding("Gemini CLI", _AT_A_LINE, has_space_after_opening=False)
OPENCODE = FrontMatterEnding("OpenCode", _AT_A_LINE)
ENDINGS = {"claude-code": CLAUDE_CODE, "gemini-cli": GEMINI_CLI, "opencode": OPENCODE}
"""The endings by format. The other hosts look for a line."""


# What YAML reads as another type than text, besides YAML 1.2: dates, and other ways to write numbers.
_JS_YAML_4 = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}"
    r"|[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0o?[0-7_]+|[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?)\Z"
)
_SEXAGESIMAL = r"|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?\Z"
_OTHER_TYPES = {"Gemini CLI": lazy_pattern(_JS_YAML_4), "OpenCode": lazy_pattern(_JS_YAML_4 + _SEXAGESIMAL)}


def is_text(value: Any, mark: int, host: str) -> bool:
    """Whether a host reads a scalar of front matter as text, and not as a number, a date, a boolean or null.

    >>> [is_text(each, _FIRST, "Claude Code") for each in ("a", "1", "null", "2026-01-01", "1:30")]
    [True, False, False, True, True]
    >>> [is_text(each, _FIRST, "OpenCode") for each in ("a", "1_000", "True", "2026-01-01", "1:30")]
    [True, False, False, False, False]
    """
    if not isinstance(value, str) or mark & STYLE_MASK != PLAIN:
        return isinstance(value, str)
    others = _OTHER_TYPES.get(host)
    try:
        return isinstance(resolve_scalar(value), str) and not (others and others.match(value))
    except NumberOutOfRange:
        return False


def find_other_types(
    value: Mapping[str, Any], marks: Mapping[str, tuple[int, Marks]], fields: Collection[str], host: str
) -> Iterator[DocumentProblem]:
    """Fields whose value is not a string to a host, so that it does not load the agent."""
    for key in fields:
        if isinstance(value.get(key), str) and not is_text(value[key], start_of(marks[key][1]), host):
            text = f"the field {quote(key)} is {quote(value[key])}, which is not a string to {host}"
            yield DocumentProblem(row.WRONG_TYPE, start_of(marks[key][1]), text, "put the value into quotes")


class FrontMatter(NamedTuple):
    """The front matter of a file, and the text after it."""

    value: dict[str, Any]
    marks: dict[str, tuple[int, Marks]]
    """The mark of each key and the marks of its value."""
    start: int
    problems: list[DocumentProblem]
    body: str = ""
    body_mark: int = _FIRST


def read_front_matter(
    source: SourceText,
    lists: Sequence[str],
    fields: Collection[str] = (),
    ending: FrontMatterEnding | None = None,
) -> FrontMatter | None:
    """The front matter of a file. Empty if it cannot be read. None for another Markdown file in the folder of agents.

    Front matter that is not valid YAML is read line by line, as hosts do. `lists` are the fields whose values can be
    `[a, b]`. If `fields` are passed, a line that begins with none of them continues the text before it. The front matter
    ends where its host ends it.
    """
    in_text = find_unprintable_text(source, ending)
    if source.problem is not None and in_text is None:
        return FrontMatter({}, {}, 0, [source.problem])
    if len(source.text) > MAX_CHARACTERS:
        message = f"the file has more than {MAX_CHARACTERS // 1024} KiB, the limit of a Markdown document"
        help = "move parts into files that the agent reads"
        return FrontMatter({}, {}, 0, [DocumentProblem(row.TOO_LARGE, _FIRST, message, help)])
    parts, early_endings = split_for_host(source.text, ending)
    if ending is not None and not ending.has_space_after_opening and source.text[3:4] in (" ", "\t"):
        parts = None
    if parts is None:
        stem = os.path.basename(source.path).removesuffix(MARKDOWN).casefold()
        if stem in NOTES:
            return None
        help = "write `name` and `description` between two lines `---` at its beginning, or move the file elsewhere"
        return FrontMatter(
            {}, {}, 0, [DocumentProblem(row.NO_FRONT_MATTER, _FIRST, "the file has no front matter", help)]
        )
    front = _read_parts(parts, lists, fields)
    front.problems.extend(early_endings)
    front.problems.extend(() if in_text is None else (in_text,))
    return front


def find_unprintable_text(source: SourceText, ending: FrontMatterEnding | None) -> DocumentProblem | None:
    """The warning about a character of the text below the front matter that is not printable. None if there is none, or if the
    file is refused for another reason.

    The text has no effect on what an agent may do, and hosts load such a file.
    """
    if source.problem is None or source.problem.row is not row.CHARACTER:
        return None
    parts, _ = split_for_host(source.text, ending)
    if parts is None or unpack_mark(source.problem.mark)[0] < parts.body_line:
        return None
    message = f"in the text, {source.problem.message.removesuffix(' is not allowed')} is not printable"
    return DocumentProblem(row.CHARACTER_IN_TEXT, source.problem.mark, message, "remove it")


def split_for_host(
    text: str, ending: FrontMatterEnding | None
) -> tuple[FrontMatterParts | None, list[DocumentProblem]]:
    """Split a file as its host does, and warn if the host ends the front matter earlier than its author meant."""
    if ending is None:
        return split_front_matter(text), []
    parts = split_front_matter(text, ending.pattern)
    if parts is None:
        return None, []
    return parts, list(_find_early_ending(parts.front, split_front_matter(text), ending))


def _find_early_ending(
    read: str, whole: FrontMatterParts | None, ending: FrontMatterEnding
) -> Iterator[DocumentProblem]:
    """The warning that a host reads only a part of the front matter, because dashes in a value look like its end."""
    if whole is not None and len(whole.front) <= len(read):
        return
    lines = LINE_BREAK.split(read)
    rest = LINE_BREAK.split(whole.front[len(read) :])[1:] if whole is not None else []
    unread = [match[1] for line in rest if (match := _LINE.match(line))]
    message = f"for {ending.host}, the front matter ends at this `---`"
    if unread:
        message += f", so {listing(unread)} {'are' if len(unread) > 1 else 'is'} not read"
    help = "write one dash or two instead of three"
    mark = pack_mark(len(lines) + 1, len(lines[-1]) + 1)
    yield DocumentProblem(row.CUT_FRONT_MATTER, mark, message, help)


def _read_parts(parts: FrontMatterParts, lists: Sequence[str], fields: Collection[str]) -> FrontMatter:
    text, body, line = parts
    body_mark = pack_mark(line, 1)
    # The fence is kept as the first line, so line numbers match the file.
    parsed = parse_yaml("\n" + text, as_text=True, merges=True)
    if parsed.problems:
        loose = _read_loosely(text, lists, fields) if parsed.problems[0].row is row.BAD_YAML else None
        if loose is None:
            return FrontMatter({}, {}, 0, list(parsed.problems))
        first = parsed.problems[0]
        help = "put the value into quotes, or write it as a block that begins with `>-`"
        loose_problem = DocumentProblem(
            row.LOOSE_FRONT_MATTER, first.mark, f"the front matter is {first.message}", help
        )
        return FrontMatter(*loose, pack_mark(2, 1), [loose_problem], body, body_mark)
    if (
        len(parsed.documents) != 1
        or not isinstance(parsed.documents[0].value, dict)
        or not parsed.documents[0].value
    ):
        problem = DocumentProblem(row.NOT_A_MAPPING, pack_mark(2, 1), "the front matter is not a mapping")
        return FrontMatter({}, {}, 0, [problem])
    document = parsed.documents[0]
    return FrontMatter(document.value, dict(document.marks[1]), start_of(document.marks), [], body, body_mark)


def _read_loosely(
    text: str, lists: Sequence[str], fields: Collection[str]
) -> tuple[dict[str, Any], dict[str, tuple[int, Marks]]] | None:
    """Read front matter that is not valid YAML as `key: text` lines. None if a line has another form or a key is
    repeated.
    """
    value: dict[str, Any] = {}
    marks: dict[str, tuple[int, Marks]] = {}
    items: dict[str, list[tuple[str, int]]] = {}
    last = ""
    for number, line in enumerate(LINE_BREAK.split(text), 2):
        if not line.strip() or line.startswith("#"):
            continue
        if last in lists and not value[last] and (item := _ITEM.match(line)) is not None:
            items.setdefault(last, []).append((item[1].strip(), pack_mark(number, item.start(1) + 1)))
            continue
        if line[0] in " \t":
            if not last:
                return None
            value[last] = f"{value[last]} {line.strip()}".strip()
            continue
        match = _LINE.match(line)
        is_text = bool(last) and last not in lists and bool(fields) and not line.startswith("-")
        if is_text and (match is None or match[1] not in fields):
            value[last] = f"{value[last]} {line.strip()}"
            continue
        if match is None or match[1] in value:
            return None
        last = match[1]
        value[last] = match[2].strip()
        marks[last] = (pack_mark(number, 1), pack_mark(number, match.start(2) + 1))
    for key, listed in items.items():
        words = [_unquote(word, mark) for word, mark in listed]
        if value[key] or not all(word and word[0] not in _MORE for word, _ in words):
            return None
        value[key] = tuple(word for word, _ in words)
        marks[key] = (marks[key][0], (marks[key][0], [mark for _, mark in words]))
    for key in {*lists, "name"} & value.keys() - items.keys():
        written, start = _unquote(value[key], start_of(marks[key][1]))
        value[key], marks[key] = written, (marks[key][0], start)
        at, mark = marks[key]
        if written.startswith("[") and written.endswith("]") and not set(written) & {'"', "'"}:
            value[key], marks[key] = written[1:-1], (at, pack_mark(*unpack_within(mark, 1)))
        elif key in lists and _QUOTED_LIST.match(written):
            # If the host does not read these words as a list, it gives the agent less: none of them is a name of a tool.
            quoted = list(_QUOTED_WORD.finditer(written))
            value[key] = tuple(each[0][1:-1] for each in quoted)
            in_list = [pack_mark(*unpack_within(mark, each.start())) for each in quoted]
            marks[key] = (at, (mark, in_list))
        elif written.startswith(_MORE):
            return None  # more than a line of text: what it means would be guessed
    return (value, marks) if value else None


def _unquote(word: str, mark: int) -> tuple[str, int]:
    """A word without the quotes around it, and its mark."""
    match = _QUOTED.match(word)
    return (word, mark) if match is None else (match[2], pack_mark(*unpack_within(mark, 1)))


def find_effectless_fields(
    value: Mapping[str, Any], marks: Mapping[str, tuple[int, Marks]], fields: Mapping[str, str], host: str
) -> Iterator[DocumentProblem]:
    """Fields that look like limits and that a host ignores. `fields` has for each what limits instead."""
    for key, instead in fields.items():
        if key in value:
            text = f"the field {quote(key)} is unknown to {host}, so it limits nothing"
            yield DocumentProblem(row.EFFECTLESS_PERMISSION, marks[key][0], text, instead)


def find_misspelled(
    value: Mapping[str, Any], marks: Mapping[str, tuple[int, Marks]], fields: Collection[str], host: str
) -> Iterator[DocumentProblem]:
    """Fields that are similar to those that a host reads. Other unknown fields are assumed to belong to other
    programs.
    """
    for key in value:
        if key in fields or key == SUPPRESSIONS:
            continue
        meant = suggest(key, fields)
        if meant is not None and meant not in value:
            text = f"the field {quote(key)} is unknown to {host}"
            yield DocumentProblem(row.UNKNOWN_FIELD, marks[key][0], text, f"did you mean {quote(meant)}?")
