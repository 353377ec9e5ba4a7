"""The law of the reader of plain YAML: it says what libyaml says, or nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from orgkernel.loading.parsed import MAX_VALUES
from orgkernel.loading.plain_yaml import parse_plain
from orgkernel.loading.yaml_reader import parse_events
from tests.support.trees import ONTOLOGY, TEMPLATES

SHIPPED = sorted([*TEMPLATES.rglob("*.yaml"), *ONTOLOGY.glob("*.yaml")])

# What stands before the text of a line, the text itself, and what stands behind it.
INDENTS = ["", " ", "  ", "   ", "    ", "      ", "\t", "  - ", "- ", "    - ", "-   ", "- - ", "  -"]
KEYS = [
    "",
    "a: ",
    "b: ",
    "c:  ",
    "a:",
    "b:",
    "key_1: ",
    "no: ",
    "null: ",
    "1: ",
    "<<: ",
    '"q": ',
    "a b: ",
    "ä: ",
    "a:b: ",
]
SCALARS = [
    "", "word", "two words", "1", "-1", "1.5", "010", "0x1f", "1e400", "yes", "true", "null", "~", "12:30", "a:b", "a: b",
    "a #b", "a#b", "# c", "#c", '"quoted"', "'single'", "'it''s'", '"es\\n"', '"a" b', '"open', "[]", "[a, b]", "[a,b ]",
    "[a, [b]]", "[true, x.y]", "[a", "{}", "{a: b}", "*x", "&x a", "!!str a", "|", ">-", "%a", "@a", "`a`", "-", "--",
    "---", "...", "- a", "-x", "-.5", "? a", ":", "::", "a:", ",a", "a, b", "=", "<<", "ä", "\u2028", "\xa0", "\x85",
    "\ufeff", "\U0001f600", "x" * 1_001, ".inf", ".", "(a)", "$a", "/a", "a\\b", "\x7f", "a]", "a}",
]  # fmt: skip
TRAILS = ["", "", "", " ", "  # comment", " #", "\t", " # \x07", ":"]
ENDS = ["\n", "\n", "\n", "\n", "\r\n", "\n\n", "\n  \n", "\n# c\n", "\r", ""]

written_lines = st.tuples(*map(st.sampled_from, (INDENTS, KEYS, SCALARS, TRAILS, ENDS))).map("".join)
texts = st.lists(written_lines, min_size=1, max_size=12).map("".join)


def agrees(text: str) -> bool:
    """Compare the two readers on a text; whether the plain one reads it."""
    plain = parse_plain(text)
    if plain is None:
        return False
    read = parse_events(text)
    assert not read.refusals
    (document,) = read.documents
    # By what is printed: `1`, `1.0` and `true` are equal to Python.
    assert repr(plain.value) == repr(document.value)
    assert repr(plain.marks) == repr(document.marks)
    return True


@st.composite
def nested(draw: st.DrawFn) -> str:
    """A document of mappings and lists, mostly well indented, so that much of it is plain."""
    lines: list[str] = []

    def mapping(indent: str, depth: int) -> None:
        for number in range(draw(st.integers(1, 3))):
            key = draw(st.sampled_from(["a", "b-c", "d.e", "role_id", "on"])) + str(number)
            form = draw(st.integers(0, 7))
            if form < 3 or depth > 3:
                lines.append(
                    f"{indent}{key}:{draw(st.sampled_from([' ', '  ']))}{draw(st.sampled_from(SCALARS[:30]))}"
                )
            elif form == 3:
                lines.append(f"{indent}{key}:")
                mapping(indent + draw(st.sampled_from(["  ", " ", "    "])), depth + 1)
            elif form == 4:
                lines.append(f"{indent}{key}:  # why")
                items(indent + draw(st.sampled_from(["  ", "", " "])), depth + 1)
            elif form == 5:
                lines.append(draw(st.sampled_from(["", "# note", f"{indent}  # note", "  "])))
                lines.append(f"{indent}{key}: {draw(st.sampled_from(['[]', '[x, y]', '[ x ]']))}")
            elif form == 6:
                lines.append(
                    f"{indent}{key}: {draw(st.sampled_from(['>-', '|', '>', '|-  # c', '>+', '|2']))}"
                )
                texts = st.lists(
                    st.sampled_from(["a b", "# c", "k: v", "- i", " in", "", "x ", "\t", "ä", "   "]),
                    max_size=4,
                )
                lines.extend(
                    f"{indent}{draw(st.sampled_from(['  ', '  ', ' ']))}{each}" for each in draw(texts)
                )
            else:
                lines.append(f"{indent}{key}:")

    def items(indent: str, depth: int) -> None:
        for _ in range(draw(st.integers(1, 3))):
            if draw(st.booleans()) or depth > 3:
                lines.append(f"{indent}- {draw(st.sampled_from(SCALARS[:30]))}")
            else:
                start = len(lines)
                dash = draw(st.sampled_from(["- ", "-   "]))
                mapping(indent + " " * len(dash), depth + 1)
                lines[start] = indent + dash + lines[start][len(indent) + len(dash) :]

    mapping("", 0)
    head = draw(st.sampled_from(["", "---\n", "# c\n---\n", "\n"]))
    return (
        head
        + draw(st.sampled_from(["\n", "\r\n"])).join(lines)
        + draw(st.sampled_from(["", "\n", "\n\n", "\n---\n", "\n..."]))
    )


@settings(max_examples=400)
@given(text=texts)
@example("a: b\n  - c\n")
@example("a:\n- b\n-  c: d\n   e: f\ng:\n")
@example("a: b\n# c\n d\n")
@example("---\n---\na: b\n")
@example("a: >-\n  b\n  c\n\n\nd: |\n   e\n")
@example("a: >-\n  b\n\n  c\n")
@example("a: >-\n  b\n # c\nd: e")
@example("a: |\n  b")
@example("a:\n- b: >\n   c\n")
@example("a: 'b' # c\nb: \"d\"#e\n")
def test_plain_yaml_agrees_with_libyaml(text: str) -> None:
    """Whatever the plain reader reads, libyaml reads with the same values at the same places, refusing nothing."""
    agrees(text)


@settings(max_examples=400)
@given(text=nested())
def test_plain_yaml_agrees_with_libyaml_on_nested_documents(text: str) -> None:
    """So it does on documents of mappings and lists in each other."""
    agrees(text)


@settings(max_examples=400)
@given(data=st.data())
def test_plain_yaml_agrees_with_libyaml_on_damaged_documents(data: st.DataObject) -> None:
    """So it does on shipped documents with a line taken out, doubled, shifted or written over."""
    lines = data.draw(st.sampled_from(SHIPPED)).read_text().split("\n")[:60]
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(lines) - 1))
        lines[at : at + 1] = data.draw(
            st.sampled_from(
                [
                    [],
                    [lines[at]] * 2,
                    [" " + lines[at]],
                    [lines[at][1:]],
                    [lines[at] + " x"],
                    [lines[at] + ":"],
                ]
            )
            | written_lines.map(lambda line: [line])
        )
    agrees("\n".join(lines))


@pytest.mark.parametrize(
    "path",
    [*TEMPLATES.rglob("roles/*.yaml"), ONTOLOGY / "tools.yaml", ONTOLOGY / "domains.yaml"],
    ids=lambda path: "-".join(path.parts[-3:]),
)
def test_usual_documents_are_plain(path: Path) -> None:
    """What people write is read plainly, so that the law is not kept by reading nothing."""
    assert agrees(path.read_text())


def test_what_is_too_large_is_left_to_the_limits() -> None:
    """A text that may hold too many values is not read plainly."""
    assert parse_plain("a: b\n" + "#" * 900 + "\n" * MAX_VALUES) is None
