"""Marks: packed places, and what stands where."""

from __future__ import annotations

import pytest

from orgkernel.loading.marks import (
    BLOCK,
    PLAIN,
    QUOTED,
    find_mark,
    has_value,
    pack_mark,
    unpack_mark,
    unpack_within,
)
from orgkernel.loading.yaml_reader import parse_yaml

TEXT = """\
role_id: co
chain: {to: xo, again: [a, [b]]}
"1": null
"""


@pytest.mark.parametrize("style", [PLAIN, QUOTED, BLOCK])
@pytest.mark.parametrize(("line", "column"), [(1, 1), (51, 7), (3_000_000, 1), (1, 4_000_000)])
def test_a_mark_holds_a_line_and_a_column(line: int, column: int, style: int) -> None:
    """Long files and minified ones on a single line keep their places."""
    assert unpack_mark(pack_mark(line, column, style)) == (line, column)


def test_columns_end_somewhere() -> None:
    """A column beyond the last that fits does not spill into the line."""
    assert unpack_mark(pack_mark(7, 16 * 2**20)) == (7, 2**22 - 1)


@pytest.mark.parametrize(
    ("route", "value", "key"),
    [
        ((), (1, 1), (1, 1)),
        (("role_id",), (1, 10), (1, 1)),
        (("chain",), (2, 8), (2, 1)),
        (("chain", "to"), (2, 13), (2, 9)),
        (("chain", "again", 1, 0), (2, 29), (2, 29)),
        (("1",), (3, 6), (3, 1)),
        (("chain", "absent"), (2, 8), (2, 1)),
        (("absent", "role_id"), (1, 1), (1, 1)),
        (("chain", "absent", "to"), (2, 8), (2, 1)),
        (("chain", "again", 5), (2, 24), (2, 17)),
        (("chain", "again", -1), (2, 24), (2, 17)),
        (("chain", "again", "to"), (2, 24), (2, 17)),
        (("role_id", 0), (1, 10), (1, 1)),
        ((1,), (1, 1), (1, 1)),
    ],
)
def test_a_mark_is_found_by_its_route(
    route: tuple[str | int, ...], value: tuple[int, int], key: tuple[int, int]
) -> None:
    """Where the route ends early, it is the nearest container: never something of the same name elsewhere."""
    (document,) = parse_yaml(TEXT).documents
    assert unpack_mark(find_mark(document.marks, route)) == value
    assert unpack_mark(find_mark(document.marks, route, key=True)) == key


def test_has_value() -> None:
    """A value is there when the document writes it, null included."""
    (document,) = parse_yaml(TEXT).documents
    there = [(), ("role_id",), ("chain", "again", 1, 0), ("1",)]
    absent = [
        ("absent",),
        ("role_id", "to"),
        ("chain", "again", 2),
        ("chain", "again", -1),
        (1,),
        ("chain", 0),
    ]
    assert [has_value(document.marks, route) for route in [*there, *absent]] == [True] * 4 + [False] * 6


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a: bcd", (1, 6)),
        ("a: 'bcd'", (1, 7)),
        ('a: "bcd"', (1, 7)),
        ("a: |\n  bcd", (1, 4)),
        ("a: >-\n  bcd", (1, 4)),
    ],
)
def test_places_within_a_text(text: str, place: tuple[int, int]) -> None:
    """A character of a text on one line is found behind its quotes; of a block, its beginning."""
    (document,) = parse_yaml(text).documents
    assert unpack_within(find_mark(document.marks, ("a",)), 2) == place
