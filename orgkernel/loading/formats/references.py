"""Finds the agents, tools, files and commands that the text of an agent refers to, with their offsets.

References depend on the text alone, so they are found once when the file is read, and cached with it. Whether their
targets exist is checked later: rules check the organization, and `lookups` check the disk.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from orgkernel.loading.formats.words import get_list_words
from orgkernel.loading.sources import SourceDocument
from orgkernel.runtime.lazy_patterns import lazy_pattern

REFERENCES = "references"
"""Key under which references are kept next to the record."""
AGENT, CALL, ALMOST, TOOL, PATH, LINK, COMMAND = "agent", "call", "almost", "tool", "path", "link", "command"
MAX_REFERENCES = 500
"""Maximum number of references in one text. A text with more is a list of another kind."""
_MAX_SEARCHED = 1_000
_LINE = 300
"""Number of characters before and after a name that are examined."""
_NAME = r"[A-Za-z0-9][A-Za-z0-9_:-]{0,99}"
_AGENT = lazy_pattern(
    rf"@agent-(?P<at>{_NAME})"
    rf"|subagent_type[\"']?\s{{0,3}}[:=]\s{{0,3}}[\"'`](?P<type>{_NAME})[\"'`]"
    rf"|(?:`(?P<code>{_NAME})`|\*\*(?P<bold>{_NAME})\*\*)\s(?:sub-?)?agent\b"
    r"|\bthe (?P<plain>[a-z0-9]{1,40}(?:-[a-z0-9]{1,40}){1,8}) (?:sub-?)?agent\b"
)
_AGENT_KINDS = {"at": AGENT, "type": CALL, "code": AGENT, "bold": AGENT, "plain": ALMOST}
_TOOL_NAME = r"[A-Z][A-Za-z]{1,40}|mcp__[A-Za-z0-9_-]{1,100}"
_TOOL = lazy_pattern(
    rf"\b(?:[Uu]s(?:e|ing)|USE|[Cc]all(?:ing)?|[Ii]nvok(?:e|ing)|[Rr]un|[Vv]ia|[Ww]ith) (?:the |your )?"
    rf"(?:`(?P<code>{_TOOL_NAME})`|\*\*(?P<bold>{_TOOL_NAME})\*\* tool\b|(?P<plain>{_TOOL_NAME}) tool\b)"
)
_SUFFIXES = (
    "md|mdx|txt|rst|adoc|ya?ml|json[c5l]?|toml|ini|cfg|csv|xml|html?|css|scss|py|[cm]?[jt]sx?|sh|bash|ps1|rb|go|rs|java"
    "|kts?|swift|php|sql|proto|tf|graphql|prisma|cs|cpp|[ch]"
)
_PATH = lazy_pattern(
    rf"`(?P<path>[A-Za-z0-9_.@-]{{1,80}}(?:/[A-Za-z0-9_.@-]{{1,80}}){{1,20}}\.(?:{_SUFFIXES}))`"
)
_LINK = lazy_pattern(
    rf"\]\(<?(?P<path>[A-Za-z0-9_.@/-]{{1,300}}\.(?:{_SUFFIXES}))(?:#[^\s)]{{0,200}})?>?(?: \"[^\"\n]{{0,200}}\")?\)"
)
_COMMAND = lazy_pattern(
    r"`/(?P<before>[a-z][a-z0-9_-]{1,60})` (?:slash )?command\b|\bcommand `/(?P<after>[a-z][a-z0-9_-]{1,60})`"
)
_OPENING = lazy_pattern(r"^[ \t]*(?P<fence>`{3,}|~{3,})|<example>", re.MULTILINE)
_FENCES, _EXAMPLE = ("```", "~~~"), "<example>"
# Parts of every reference to an agent, and of every one to a tool. They are much faster to find than the references.
_AGENT_WORD, _TOOL_WORD = "agent", " tool"
_QUOTED_TOOL = lazy_pattern(rf" `(?:{_TOOL_NAME})`")
_MAX_AGENT_LENGTH, _MAX_VERB_LENGTH = 450, 20
"""At least the number of characters of a reference before and after such a part, and of the words before a tool."""
_INDENTATION = lazy_pattern(r"[ \t]*")
_END_OF_FENCE = lazy_pattern(r"[`~]*[ \t]*(?=\n|\Z)")
_END_OF_EXAMPLE = "</example>"
# After these words, a path refers to an existing file. After the others, it might not.
_READS = lazy_pattern(
    r"\b(?:[Rr]ead|[Ss]ee|[Ff]ollow|[Cc]onsult|[Rr]efers? to|[Ll]oad|[Oo]pen|(?:described|documented|defined|listed) in|[Aa]ccording to|[Aa]s per)\b"
)
_PERHAPS = lazy_pattern(
    r"\b(?:creat|writ|sav|generat|output|updat|append|produc|add|stor|renam|delet|mov|example|e\.g|such as|like|if|when|or|any|each|any|not?|never|maybe|might|expected|template|placeholder|similar)",
    re.IGNORECASE,
)
_PLACEHOLDER = lazy_pattern(
    r"(?:^|[/_.-])(?:path|to|foo|bar|baz|example|examples|your|my|some|xxx+|nnn+|yyyy|feature-name|name)(?=[/_.-]|$)",
    re.IGNORECASE,
)
_NOT = lazy_pattern(
    r"\b(?:not|never|without|avoid|cannot|no|nor|instead|rather|unless|if|except|forbidden|unavailable|lacks?)\b|n't\b|n’t\b|❌",
    re.IGNORECASE,
)


class TextReference(NamedTuple):
    """A reference in a text."""

    kind: str
    offset: int
    """Offset of the name."""
    name: str


def find_references(text: str) -> Iterator[TextReference]:
    """The references of a text. Files, tools and commands in code and examples are ignored."""
    if _AGENT_WORD in text:
        around = ((at - _MAX_AGENT_LENGTH, at + _MAX_AGENT_LENGTH) for at in _find_all(text, _AGENT_WORD))
        for match in islice(_find_near(_AGENT, text, around), _MAX_SEARCHED):
            group = str(match.lastgroup)
            yield TextReference(_AGENT_KINDS[group], match.start(group), match[group])
    if "`" not in text and "](" not in text and _TOOL_WORD not in text:
        return
    near = _find_tool_places(text)
    has_command = "`/" in text and "command" in text
    if not (near or has_command or "](" in text or _PATH.search(text)):
        return  # blanking can only remove references
    if _EXAMPLE in text or any(each in text for each in _FENCES):
        text = _blank_examples(text)
        near = _find_tool_places(text)
    if near:
        for match in islice(_find_near(_TOOL, text, near), _MAX_SEARCHED):
            if not is_denied(text, match.start()):
                group = str(match.lastgroup)
                yield TextReference(TOOL, match.start(group), match[group])
    if "/" in text:
        yield from _find_files(text)
    if has_command:
        for match in islice(_COMMAND.finditer(text), _MAX_SEARCHED):
            group = str(match.lastgroup)
            yield TextReference(COMMAND, match.start(group), match[group])


def _find_tool_places(text: str) -> list[tuple[int, int]]:
    """The parts of a text that can refer to a tool, in the order of the text."""
    if "`" not in text and _TOOL_WORD not in text:
        return []
    quoted = ((each.start() - _MAX_VERB_LENGTH, each.end()) for each in _QUOTED_TOOL.finditer(text))
    named = ((at - _MAX_AGENT_LENGTH, at + _MAX_VERB_LENGTH) for at in _find_all(text, _TOOL_WORD))
    return sorted((*quoted, *named))


def _find_all(text: str, part: str) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def _find_near(
    pattern: re.Pattern[str], text: str, places: Iterable[tuple[int, int]]
) -> Iterator[re.Match[str]]:
    """The matches of a pattern in a text, if each is within one of some places, which are in order.

    Overlapping places are searched as one, so a match that overlaps another one hides it as in a search of the whole text.
    """
    begin = end = 0
    for start, stop in places:
        if start > end:
            yield from pattern.finditer(text, begin, end)
            begin = start
        end = max(end, stop)
    yield from pattern.finditer(text, begin, min(end, len(text)))


def _blank_examples(text: str) -> str:
    """The text with spaces in the place of code and examples."""
    parts: list[str] = []
    end = 0
    openings = _Openings(text)
    while (opening := openings.find(end)) is not None:
        start, fence = opening.start(), opening["fence"]
        parts.append(text[end:start])
        end = _find_end_of_fence(text, fence, opening.end()) if fence else _find_end_of_example(text, start)
        parts.append("\n".join(" " * len(line) for line in text[start:end].split("\n")))
    return "".join((*parts, text[end:]))


class _Openings:
    """Finds the beginnings of code and examples in a text. What they begin with is looked for once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._next = {each: text.find(each) for each in (*_FENCES, _EXAMPLE)}
        # Where the line begins that was looked at last, where its indentation ends, and how far line breaks were looked for.
        self._line, self._indented, self._seen = 0, self._find_indentation(0), 0

    def find(self, end: int) -> re.Match[str] | None:
        """The first beginning from an offset on, which is not before those of earlier calls."""
        at = end
        while True:
            for part, place in self._next.items():
                if 0 <= place < at:
                    self._next[part] = self._text.find(part, at)
            places = [each for each in self._next.values() if each >= 0]
            if not places:
                return None
            at = min(places)
            if self._text[at] == "<":
                return _OPENING.match(self._text, at)
            self._move_to(at)
            if self._line >= end and self._indented == at:
                return _OPENING.match(self._text, self._line)
            at += 1

    def _move_to(self, at: int) -> None:
        """Look at the line with an offset. No part of the text is looked at twice, so long lines cost no more than others."""
        line = self._text.rfind("\n", self._seen, at) + 1
        if line:
            self._line, self._indented = line, self._find_indentation(line)
        self._seen = max(self._seen, at)

    def _find_indentation(self, line: int) -> int:
        match = _INDENTATION.match(self._text, line)
        return match.end() if match else line


def _find_end_of_fence(text: str, fence: str, at: int) -> int:
    while (at := text.find(fence, at)) >= 0:
        before = text[text.rfind("\n", 0, at) + 1 : at]
        match = _END_OF_FENCE.match(text, at + len(fence)) if not before.strip(" \t") else None
        if match is not None:
            return match.end()
        at += 1
    return len(text)


def _find_end_of_example(text: str, start: int) -> int:
    end = text.find(_END_OF_EXAMPLE, start)
    return end + len(_END_OF_EXAMPLE) if end >= 0 else len(text)


def is_denied(text: str, offset: int) -> bool:
    """Whether the sentence contains *not*, *if* or a similar word before an offset."""
    return _NOT.search(_get_sentence_before(text, offset)) is not None


def _find_files(text: str) -> Iterator[TextReference]:
    for match in islice(_LINK.finditer(text), _MAX_SEARCHED) if "](" in text else ():
        if not match["path"].startswith("/") and not _PLACEHOLDER.search(match["path"]):
            yield TextReference(LINK, match.start("path"), match["path"])
    for match in islice(_PATH.finditer(text), _MAX_SEARCHED):
        before = _get_sentence_before(text, match.start())
        line = before + text[match.end() : match.end() + _LINE].partition("\n")[0]
        if _READS.search(before) and not _PERHAPS.search(line) and not _PLACEHOLDER.search(match["path"]):
            yield TextReference(PATH, match.start("path"), match["path"])


def _get_sentence_before(text: str, at: int) -> str:
    """The part of a sentence before an offset."""
    least = max(0, at - _LINE)
    begin = max(text.rfind(each, least, at) for each in ("\n", ". ", "; "))
    return text[max(begin + 1, least) : at]


def get_references(document: SourceDocument) -> Sequence[TextReference]:
    """The references in the text of a document, which were found when its file was read."""
    kept: Sequence[Any] = get_list_words(document).get(REFERENCES, ())
    return [TextReference(*each) for each in kept]


def pack_references(text: str) -> Mapping[str, list[TextReference]]:
    """Convert the references of a text to the form in which they are kept next to the record of a document."""
    references = sorted(set(find_references(text)), key=lambda each: each.offset)
    return {REFERENCES: references[:MAX_REFERENCES]} if references else {}
