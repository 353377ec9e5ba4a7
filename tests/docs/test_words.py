"""The table of avoided words in `CONTRIBUTING.md` holds for the pages and for the messages in the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.trees import REPOSITORY

HEADING = "## Words we use, words we avoid"
HEADER = "| avoid | write | refused in |\n|---|---|---|\n"
PLACES = {"pages", "messages"}
PACKAGES = ("orgkernel", "manifest_api", "extension")
_SECTION = re.compile(rf"^{HEADING}\n.*?(?=^## )", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`[^`\n]*`|\]\([^)\n]*\)|<[^>\n]*>")


class AvoidedWord(NamedTuple):
    """A word or phrase of the table, and the places in which it is refused."""

    text: str
    places: frozenset[str]


def read_avoided_words(page: str) -> Iterator[AvoidedWord]:
    """The words in the first column of the table. Raises `ValueError` for a row that has another form."""
    for row in page.partition(HEADER)[2].partition("\n\n")[0].splitlines():
        words, _, places = (cell.strip() for cell in row.strip("|").split(" | "))
        refused_in = frozenset(places.split(", "))
        if not refused_in <= PLACES or not re.fullmatch(r"`[^`]+`(, `[^`]+`)*", words):
            raise ValueError(row)
        yield from (AvoidedWord(word, refused_in) for word in re.findall(r"`([^`]+)`", words))


def read_prose(page: str) -> str:
    """The text of a Markdown page without code, targets of links and the section with the table."""
    return " ".join(_INLINE.sub(" ", _CODE.sub("", _SECTION.sub("", page))).split())


def read_messages(source: str) -> Iterator[str]:
    """The string literals of three or more words in a module, docstrings left out."""
    module = ast.parse(source)
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    documentation = {
        id(statement.value)
        for node in ast.walk(module)
        if isinstance(node, documented)
        for statement in node.body
        if isinstance(statement, ast.Expr)
    }
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            words = node.value.split()
            if len(words) >= 3:
                yield " ".join(words)


def find_avoided(texts: Iterable[tuple[str, str]], words: Iterable[AvoidedWord]) -> list[str]:
    """Each use of an avoided word in named texts, with some of the text around it."""
    pattern = re.compile(rf"\b(?:{'|'.join(re.escape(word.text) for word in words)})\b", re.IGNORECASE)
    return [
        f"{name}: {text[max(0, use.start() - 40) : use.end() + 40]}"
        for name, text in texts
        for use in pattern.finditer(text)
    ]


CONTRIBUTING = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
AVOIDED = tuple(read_avoided_words(CONTRIBUTING))


def list_pages() -> list[Path]:
    """The hand-written pages."""
    top = [REPOSITORY / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")]
    return [*top, *sorted((REPOSITORY / "docs").rglob("*.md"))]


def list_modules() -> list[Path]:
    """The modules of the code that users run."""
    return sorted(path for package in PACKAGES for path in (REPOSITORY / package).rglob("*.py"))


def test_the_table_has_words_for_pages_and_for_messages() -> None:
    """The table is read completely: it has no row without a word, no word twice and no unknown place."""
    assert len(AVOIDED) == len({word.text for word in AVOIDED}) > 20
    assert {place for word in AVOIDED for place in word.places} == PLACES


def test_no_page_uses_an_avoided_word() -> None:
    """The text of the pages, outside of code, contains no word of the table."""
    texts = [(path.name, read_prose(path.read_text(encoding="utf-8"))) for path in list_pages()]
    assert find_avoided(texts, [word for word in AVOIDED if "pages" in word.places]) == []


def test_no_message_uses_an_avoided_word() -> None:
    """No string literal of three or more words in the code contains a word that the table refuses in messages."""
    texts = [
        (str(path.relative_to(REPOSITORY)), message)
        for path in list_modules()
        for message in read_messages(path.read_text(encoding="utf-8"))
    ]
    assert len(texts) > 5000
    assert find_avoided(texts, [word for word in AVOIDED if "messages" in word.places]) == []


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ("A file that is\nnot there.", ["page: A file that is not there."]),
        ("Nobody may ask.", ["page: Nobody may ask."]),
        ("Run `echo nobody` first.\n\n```console\n$ echo nobody\n```\n", []),
        (f"{HEADING}\n\n| `nobody` |\n\n## Habits\n\nWrite tests.", []),
        ("The words [here](nobody.md) are fine.", []),
    ],
)
def test_the_search_reads_text_and_skips_code(page: str, found: list[str]) -> None:
    """A use over a line break is found; code, targets of links and the section with the table are skipped."""
    assert find_avoided([("page", read_prose(page))], AVOIDED) == found


def test_messages_are_literals_outside_of_docstrings() -> None:
    """A raised text is a message; a docstring and a literal of two words are not."""
    source = 'def f():\n    """It is not there."""\n    raise ValueError("it is not there", "of ours")\n'
    assert list(read_messages(source)) == ["it is not there"]


def test_every_table_has_a_header() -> None:
    """The first row of each table in a page is followed by the line that separates a header from its rows."""
    without = [
        f"{path.name}: {block.splitlines()[0][:60]}"
        for path in list_pages()
        for block in re.findall(
            r"(?:^\|.*\n)+", _CODE.sub("", path.read_text(encoding="utf-8")), re.MULTILINE
        )
        if not re.fullmatch(r"\|(?: *:?-+:? *\|)+", [*block.splitlines(), ""][1])
    ]
    assert without == []
