"""Laws of reading: nothing raises, what is read is what is written, and every mark is where the value stands."""

from __future__ import annotations

import json
import math
import re
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from orgkernel.documents.records import CognitiveSkill
from orgkernel.graph.cognitive_skills import find_violations, read_gates
from orgkernel.loading import yaml_reader
from orgkernel.loading.documents import read_documents
from orgkernel.loading.files import Root, decode
from orgkernel.loading.json_reader import parse_json
from orgkernel.loading.marks import compute_mark_after, find_mark, has_value, unpack_mark
from orgkernel.loading.parsed import MAX_PROBLEMS, ParsedText
from orgkernel.loading.scalars import NumberOutOfRange, resolve_scalar
from orgkernel.loading.sources import FileResult
from orgkernel.loading.yaml_reader import parse_yaml
from orgkernel.snapshots.build import build_snapshot
from tests.support.trees import ONTOLOGY, REPOSITORY, TEMPLATES
from tests.support.yaml_text import read_yaml

SHIPPED = sorted([*TEMPLATES.rglob("*.yaml"), *ONTOLOGY.glob("*.yaml")])

# Texts that look like YAML or JSON, so that the parsers get further than the first character.
PIECES = [
    *"{}[],:-?&*!|>%@`#'\"\\ \n\t\r~<=.",
    *(
        "_schema: orgkernel:role_profile\n",
        "role_id: ",
        "---\n",
        "...\n",
        ": ",
        "- ",
        "&a ",
        "*a ",
        "<<: ",
        "!!str ",
    ),
    *(
        "orgkernel:",
        '"_schema"',
        "null",
        "true",
        "010",
        "1e400",
        "0x1f",
        "x_",
        "\\u",
        "\\ud83d",
        "\\x0",
        "%TAG ! a\n",
    ),
    *("é", "🎖", "\ufeff", "\x85", "\u2028", "\x00", "\x7f"),
]
texts = st.text(max_size=60) | st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@cache
def shipped_bytes() -> tuple[bytes, ...]:
    """The contents of every shipped document, as YAML and as JSON."""
    contents = [path.read_bytes() for path in SHIPPED]
    dumped = [json.dumps(read_yaml(content), indent=1).encode() for content in contents]
    return (*contents, *dumped)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A shipped document with a few bytes cut out, doubled, changed or put in."""
    content = bytearray(draw(st.sampled_from(shipped_bytes())))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, max(len(content) - 1, 0)))
        end = start + draw(st.integers(0, 40))
        match draw(st.sampled_from(["cut", "double", "change", "put", "end"])):
            case "cut":
                del content[start:end]
            case "double":
                content[start:start] = content[start:end]
            case "change":
                content[start:end] = draw(st.binary(max_size=5))
            case "put":
                content[start:start] = draw(st.sampled_from(PIECES)).encode()
            case _:
                del content[start:]
    return bytes(content)


def read(name: str, content: bytes) -> FileResult:
    """What a named file yields."""
    return read_documents(decode(name, name, content), named=True, has_orgkernel_siblings=False)


def check_result(result: FileResult, content: bytes) -> None:
    """A named file is read or something is said about it, at a place in it, in one line."""
    assert result.documents or result.diagnostics or b"$schema" in content
    text = content.decode("utf-8-sig", "replace")
    lines = re.split("\r\n?|\n", text)
    for found in result.diagnostics:
        assert found.message
        assert "\n" not in found.message
        assert 1 <= found.place.line <= len(lines)
        assert 1 <= found.place.column <= len(lines[found.place.line - 1]) + 1


def check_parsed(parsed: ParsedText) -> None:
    """There is a document, a refusal or nothing in the text, and refusals are bounded."""
    assert len(parsed.problems) <= MAX_PROBLEMS
    for document in parsed.documents:
        for _ in leaves(document.value, document.marks):
            pass


@given(texts)
@example("\x00")
@example('"\\UFFFFFFFF"')
@example("\ud800")
@example("&a [*a]")
@example("? {}\n: []")
@settings(max_examples=400)
def test_parsing_never_raises(text: str) -> None:
    """Any text, even one that `decode` would have refused, gives documents and refusals."""
    check_parsed(parse_yaml(text))
    check_parsed(parse_json(text))


@given(texts)
@example('"\\UFFFFFFFF"')
@example("\ud800")
def test_parsing_never_raises_without_libyaml(text: str) -> None:
    """The parser in Python that stands in for libyaml raises nothing either."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(yaml_reader, "_Parser", yaml.SafeLoader)
        check_parsed(parse_yaml(text))


def test_libyaml_is_used() -> None:
    """The parser is the fast one: `yaml` itself does not export it, so a wrong import would go unnoticed."""
    assert yaml_reader._Parser.__module__ == "yaml._yaml"


@given(
    st.binary(max_size=80) | texts.map(lambda text: text.encode("utf-8", "replace")),
    st.sampled_from(["json", "yaml"]),
)
@settings(max_examples=200)
def test_loading_never_raises(content: bytes, suffix: str) -> None:
    """Any bytes give documents or findings inside the file."""
    check_result(read(f"a.{suffix}", content), content)


@given(mutated())
@settings(max_examples=150)
def test_loading_never_raises_on_damaged_documents(content: bytes) -> None:
    """Shipped documents with damaged bytes give documents or findings inside the file."""
    check_result(read("a.json" if content.lstrip()[:1] == b"{" else "a.yaml", content), content)


@given(st.lists(st.tuples(st.sampled_from(SHIPPED), mutated()), min_size=1, max_size=3))
@settings(max_examples=25)
def test_building_a_snapshot_never_raises_on_damaged_templates(damage: list[tuple[Path, bytes]]) -> None:
    """Whatever happens to files of the shipped organizations, they are read, linked, checked and indexed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path in SHIPPED:
            target = folder / path.relative_to(REPOSITORY)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
        for path, content in damage:
            (folder / path.relative_to(REPOSITORY)).write_bytes(content)
        snapshot = build_snapshot(
            [
                Root(str(folder / "ontology"), "ontology", shared=True),
                Root(str(folder / "templates"), "templates"),
            ]
        )
    broken = {each.name for each in snapshot.tree.broken}
    assert broken <= {found.place.file for found in snapshot.diagnostics}
    assert {each.name for each in snapshot.tree.documents} | broken <= set(snapshot.tree.paths)


keys = st.text(max_size=8) | st.sampled_from(["<<", "a", "role_id", "~", "no", "1"])
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12)
    | st.sampled_from(
        ["no", "on", "12:30", "010", "1_000", "2020-01-01", "~", ".5", "0x1f", "1e3", ".inf", "", "null"]
    )
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=15,
)
layouts = st.sampled_from(
    [
        {},
        {"indent": 1},
        {"ensure_ascii": False},
        {"separators": (",", ":")},
        {"indent": 2, "ensure_ascii": False},
    ]
)


def as_read(value: Any) -> Any:
    """A value with tuples for lists."""
    if isinstance(value, dict):
        return {key: as_read(item) for key, item in value.items()}
    return tuple(as_read(item) for item in value) if isinstance(value, list) else value


def same(one: Any, other: Any) -> bool:
    """Equal, and of the same type everywhere: `1`, `1.0` and `true` differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and one == other


def leaves(
    value: Any, marks: Any, route: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Every route of a value with what is there; the marks have the same form."""
    yield route, value
    assert has_value(marks, route) or not route
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, marks, (*route, key))
    elif isinstance(value, tuple):
        for number, item in enumerate(value):
            yield from leaves(item, marks, (*route, number))


def rest_at(text: str, mark: int) -> str:
    """The text from a mark on."""
    line, column = unpack_mark(mark)
    starts = [0, *(match.end() for match in re.finditer("\r\n?|\n", text))]
    return text[starts[line - 1] + column - 1 :]


def begins_with(text: str, value: Any) -> bool:
    """Whether a JSON text begins with this value."""
    found, _ = json.JSONDecoder(strict=False).raw_decode(text)
    return same(as_read(found), value)


@given(values, layouts)
@settings(max_examples=250)
def test_json_is_read_as_written(value: Any, layout: dict[str, Any]) -> None:
    """What `json.dumps` writes, `parse_json` reads back, and every mark points at its value and key."""
    text = json.dumps(value, **layout)
    assume(
        not re.search(
            "[\ud800-\udfff]",
            json.loads(text) if isinstance(value, str) else json.dumps(value, ensure_ascii=False),
        )
    )
    parsed = parse_json(text)
    assert parsed.problems == ()
    (document,) = parsed.documents
    assert same(document.value, as_read(value))
    for route, item in leaves(document.value, document.marks):
        assert begins_with(rest_at(text, find_mark(document.marks, route)), item)
        if route and isinstance(route[-1], str):
            assert begins_with(rest_at(text, find_mark(document.marks, route, key=True)), route[-1])


@given(values, layouts)
@settings(max_examples=250)
def test_yaml_agrees_with_json_where_libyaml_can(value: Any, layout: dict[str, Any]) -> None:
    """Of a JSON text that both readers accept, both read the same values at the same marks."""
    text = json.dumps(value, **layout)
    from_json, from_yaml = parse_json(text), parse_yaml(text)
    if from_yaml.problems or from_json.problems:
        return
    assume(not re.search("[\x80-\x9f\u2028\u2029\x7f]", text))  # refused before they come here
    (one,), (other,) = from_json.documents, from_yaml.documents
    assert same(one.value, other.value)
    for route, _ in leaves(one.value, one.marks):
        assert unpack_mark(find_mark(one.marks, route)) == unpack_mark(find_mark(other.marks, route))


@given(values)
@settings(max_examples=150)
def test_json_agrees_with_the_standard_library_on_what_json_is(value: Any) -> None:
    """A JSON text with one character taken out is refused exactly when the standard library refuses it."""
    text = json.dumps(value)
    for at in range(0, len(text), max(1, len(text) // 12)):
        damaged = text[:at] + text[at + 1 :]
        try:
            json.loads(damaged, parse_constant=int)
            valid = bool(damaged.strip())
        except ValueError:
            valid = False
        parsed = parse_json(damaged)
        codes = {problem.row.code for problem in parsed.problems}
        if valid:
            assert codes <= {"ORG006", "ORG013", "ORG015"}
        else:
            assert "ORG014" in codes or not damaged.strip()


plain_words = st.text("abcxyz_é🎖", min_size=1, max_size=6)
plain_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | plain_words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(plain_words, inner, max_size=3),
    max_leaves=12,
)


@given(plain_values, st.booleans(), st.integers(2, 6))
@settings(max_examples=200)
def test_yaml_marks_point_at_their_values(value: Any, flow: bool, indent: int) -> None:
    """In any layout, block or flow, the text at a mark begins with the scalar, and at a key's mark with the key."""
    text = yaml.safe_dump(
        value, default_flow_style=flow, indent=indent, allow_unicode=True, sort_keys=False, width=20
    )
    parsed = parse_yaml(text)
    assert parsed.problems == ()
    (document,) = parsed.documents
    assert same(document.value, as_read(value))
    for route, item in leaves(document.value, document.marks):
        if isinstance(item, dict | tuple):
            continue
        written = item if isinstance(item, str) else json.dumps(item)
        # A long key is written as `? key`, a long word in quotes on its own line.
        assert rest_at(text, find_mark(document.marks, route)).lstrip("'\"").startswith(written)
        if route and isinstance(route[-1], str):
            assert (
                rest_at(text, find_mark(document.marks, route, key=True)).lstrip("'\"").startswith(route[-1])
            )


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_marks_in_shipped_documents(path: Path) -> None:
    """In every shipped document, a plain scalar stands at its mark."""
    text = path.read_text(encoding="utf-8")
    (document,) = parse_yaml(text).documents
    for route, item in leaves(document.value, document.marks):
        if isinstance(item, str) and item:
            rest = rest_at(text, find_mark(document.marks, route))
            assert rest[0] in ">|" or rest.lstrip("'\"").startswith(item.split()[0])


@given(st.dictionaries(plain_words, st.integers(0, 99), min_size=1, max_size=6), st.data())
def test_duplicate_keys_are_always_found(mapping: dict[str, int], data: st.DataObject) -> None:
    """A key written again anywhere in a mapping is found, in YAML and in JSON, and the first value stays."""
    pairs = list(mapping.items())
    key = data.draw(st.sampled_from(sorted(mapping)))
    first = list(mapping).index(key)
    pairs.insert(data.draw(st.integers(first + 1, len(pairs))), (key, -1))
    as_json = (
        "{" + ", ".join(f"{json.dumps(name, ensure_ascii=False)}: {number}" for name, number in pairs) + "}"
    )
    as_yaml = "".join(f"{name}: {number}\n" for name, number in pairs)
    for parsed in (parse_json(as_json), parse_yaml(as_json), parse_yaml(as_yaml)):
        assert [problem.row.code for problem in parsed.problems] == ["ORG006"]
        assert parsed.documents[0].value == mapping


# YAML 1.2.2 §10.3.2, the core schema, without leading zeros, which people write in dates, codes and versions.
CORE = [
    (r"null|Null|NULL|~|", lambda text: None),
    (r"true|True|TRUE", lambda text: True),
    (r"false|False|FALSE", lambda text: False),
    (r"[-+]?(0|[1-9][0-9]*)", int),
    (r"0o[0-7]+", lambda text: int(text[2:], 8)),
    (r"0x[0-9a-fA-F]+", lambda text: int(text[2:], 16)),
    (r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?", float),
    (r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)", lambda text: math.inf),
]


def resolve_by_the_book(text: str) -> Any:
    """What the table of the specification says about a plain scalar; text where it says nothing."""
    for pattern, convert in CORE:
        if re.fullmatch(pattern, text, re.ASCII):
            return convert(text)
    return text


@given(
    st.text("0123456789xoabefEF.+-_:~nulNtrTsyi ", max_size=8)
    | st.sampled_from(["1e400", "9" * 400, "0x" + "f" * 40])
)
@example("010")
@example("12:30")
@example("1_000")
@example("0b1")
@example("-0x1f")
@example("+.inf")
@example("-.nan")
@example("1.e5")
@example("١")
@settings(max_examples=500)
def test_plain_scalars_follow_the_core_schema(text: str) -> None:
    """A plain scalar is what the table of YAML 1.2 says; a number that does not fit 64 bits is refused."""
    expected = resolve_by_the_book(text)
    try:
        found = resolve_scalar(text)
    except NumberOutOfRange:
        assert isinstance(expected, int | float)
        assert expected in (math.inf, -math.inf) or not -(2**63) <= expected < 2**64
    else:
        assert same(found, expected)


LOOK_LIKE_OTHERS = [
    *("no", "No", "NO", "on", "off", "yes", "y", "n", "nUll", "tRUE", "=", "<<", "infinity", "NaN"),
    *(
        "12:30",
        "190:20:30",
        "2020-01-01",
        "2001-12-14t21:59:43.10-05:00",
        "010",
        "0o8",
        "0b101",
        "0x",
        "+0x1f",
    ),
    *("1_000", "1__0", "._1", "1,000", "1.2.3", "1e", ".", "..", "+."),
]


@pytest.mark.parametrize("word", LOOK_LIKE_OTHERS)
def test_words_stay_what_they_look_like(word: str) -> None:
    """What YAML 1.1 turns into booleans, times, dates and octal numbers is text, as a value and as a key."""
    parsed = parse_yaml(f"a: {word}\n")
    assert parsed.documents[0].value == {"a": word}
    assert parsed.problems == ()


@given(st.text("ab\n\r", max_size=20))
def test_lines_end_as_in_an_editor(text: str) -> None:
    """The mark after a text is the one an editor with universal line ends shows."""
    lines = (text + "|").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert unpack_mark(compute_mark_after(text)) == (len(lines), len(lines[-1]))


@given(st.binary(max_size=200) | texts.map(lambda text: text.encode("utf-8", "surrogatepass")))
@example(b"name: a\ndescription: b\nmetadata:\n  orgkernel-intents: [a]\n")
@example(b"a: b\n...\n%YAML 1.2\n")
@example(b"name: &a [*a]")
def test_no_skill_and_no_order_is_too_odd(content: bytes) -> None:
    """Front matter and Markdown are read, or something is said at a place in the file."""
    for text in (
        content,
        b"---\n" + content + b"\n---\nText.\n",
        b"---\nname: a\ndescription: b\n---\n" + content,
    ):
        result = read("skills/a/SKILL.md", text)
        check_result(result, text)
        for document in result.documents:
            assert isinstance(document.record, CognitiveSkill)
            read_gates(document.record)
            find_violations(document)
    check_result(read("standing_orders/organization.md", content), content)
