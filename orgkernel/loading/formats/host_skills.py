"""Reads a SKILL.md as hosts do: the Agent Skills standard, with more fields, lists of tools, and metadata of any form."""

from __future__ import annotations

from typing import Any

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import quote
from orgkernel.loading.documents import read_broken, read_parsed_markdown
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.building import add_text
from orgkernel.loading.formats.front_matter import (
    ENDINGS,
    FrontMatterEnding,
    find_unprintable_text,
    read_front_matter,
    split_for_host,
)
from orgkernel.loading.markdown import ParsedMarkdown, build_skill, parse_skill
from orgkernel.loading.marks import pack_mark
from orgkernel.loading.parsed import DocumentProblem, describe
from orgkernel.loading.sources import SKILL_KEY_PREFIXES, FileResult, get_skill_name

_KIND = "cognitive_skill"
_FIRST = pack_mark(1, 1)
_MAX_DESCRIPTION_LENGTH = 1024
# Fields that hosts read and that are not part of the standard. None of them restricts who has the skill.
_MORE = (
    "agent", "argument-hint", "context", "disable-model-invocation", "effort", "hooks", "model", "user-invocable",
    "version", "when_to_use",
)  # fmt: skip
# Fields for people and for the search of a host.
_DESCRIBING = (
    "author", "authors", "tag", "tags", "trigger_patterns", "triggers", "category", "homepage", "origin", "repo", "repository",
    "source", "url",
)  # fmt: skip
# Fields with these prefixes belong to the user.
_OWN = ("x-", "x_")
_NO_TEXT = ("[", "{", "|", ">", "&", "*")
_TOOLS, _METADATA = "allowed-tools", "metadata"
# These words restrict who may use the skill. They are kept next to the record.
_OPEN_TO = ("disable-model-invocation", "user-invocable")


def read_skill(source: SourceText, root: Root, *, is_name_optional: bool = False) -> FileResult:
    """Read a skill. With `is_name_optional`, every field is optional, as in Claude Code: the name is that of the folder, and the
    description the first paragraph of the text.
    """
    ending = ENDINGS.get(root.format)
    in_text = find_unprintable_text(source, ending)
    if source.problem is not None and in_text is None:
        return read_broken(source, _KIND, [source.problem])
    parts, early_endings = split_for_host(source.text, ending)
    parsed = parse_skill(source, parts)
    if parsed.value is None and parsed.problems[0].row is row.BAD_YAML:
        parsed = _read_loosely(source, ending) or parsed
    elif is_name_optional and parsed.value is None and parsed.problems[0].row is row.NO_FRONT_MATTER:
        parsed = build_skill({}, (_FIRST, {}), source.text, _FIRST)
    else:
        parsed.problems.extend((*early_endings, *(() if in_text is None else (in_text,))))
    raw: dict[str, Any] = {}
    if parsed.value is not None:
        raw = {key: [each.casefold()] for key in _OPEN_TO if isinstance(each := parsed.value.get(key), str)}
        parsed = _accept_forms_of_hosts(parsed, parsed.value)
        if is_name_optional and parsed.value is not None:
            parsed.value.setdefault("name", get_skill_name(source.path))
            if not parsed.value.get("description"):
                parsed.value["description"] = _find_first_paragraph(str(parsed.value["body"]))
                parsed.marks[1].setdefault("description", parsed.marks[1]["body"])
    return add_text(read_parsed_markdown(source, parsed, root.shared, root.context, root.format), raw)


def _find_first_paragraph(body: str) -> str:
    """The first paragraph of a text that is not a heading, or its first heading, on one line."""
    paragraphs = [" ".join(each.split()) for each in body.split("\n\n") if each.strip()]
    texts = (each for each in paragraphs if not each.startswith("#"))
    return next(texts, paragraphs[0].lstrip("# ") if paragraphs else "")[:_MAX_DESCRIPTION_LENGTH]


def _read_loosely(source: SourceText, ending: FrontMatterEnding | None) -> ParsedMarkdown | None:
    """A skill whose front matter is not valid YAML, line by line, as hosts read it. None if a line has another form."""
    front = read_front_matter(source, (_TOOLS,), ending=ending)
    if front is None or not front.value or str(front.value.get("description", "")).startswith(_NO_TEXT):
        return None
    skill = build_skill(front.value, (front.start, front.marks), front.body, front.body_mark)
    return skill._replace(problems=[*front.problems, *skill.problems])


def _accept_forms_of_hosts(parsed: ParsedMarkdown, value: dict[str, Any]) -> ParsedMarkdown:
    """The skill without the fields of hosts, with its tools as text, and with the metadata that are text."""
    value = {
        key: each
        for key, each in value.items()
        if key not in (*_MORE, *_DESCRIBING) and not key.startswith(_OWN)
    }
    tools, metadata = value.get(_TOOLS), value.get(_METADATA)
    if isinstance(tools, tuple) and all(isinstance(each, str) for each in tools):
        value[_TOOLS] = " ".join(tools)
    problems = list(parsed.problems)
    if isinstance(metadata, dict):
        others = {
            key: each
            for key, each in metadata.items()
            if isinstance(each, dict | tuple) and not key.startswith(SKILL_KEY_PREFIXES)
        }
        for key, each in others.items():
            text = f"the field {quote(f'{_METADATA}.{key}')} is {describe(each)}, and the standard requires a string"
            mark = parsed.marks[1][_METADATA][1][1][key][0]
            problems.append(DocumentProblem(row.UNKNOWN_FIELD, mark, text, "write it as a string"))
        value[_METADATA] = {key: each for key, each in metadata.items() if key not in others}
    return parsed._replace(value=value, problems=problems)
