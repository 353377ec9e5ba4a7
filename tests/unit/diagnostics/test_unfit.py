"""The messages of msgspec about invalid values, in the words of the author of the value."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta

from orgkernel.diagnostics.validation_text import Unfit, describe_unfit


class Inner(msgspec.Struct, forbid_unknown_fields=True):
    """A value with one part that must be there."""

    name: str


class Shape(msgspec.Struct, forbid_unknown_fields=True):
    """One of each kind of limit."""

    text: Annotated[str, Meta(min_length=1, max_length=3)] = ""
    count: int = 0
    share: Annotated[float, Meta(ge=0, le=1)] = 0
    whole: Annotated[float, Meta(multiple_of=1)] = 0
    pair: Annotated[float, Meta(multiple_of=2)] = 0
    flag: bool = False
    choice: Literal["dm", "group"] | None = None
    number: Literal[1, 2] = 1
    two: tuple[str, str] = ("", "")
    few: Annotated[tuple[str, ...], Meta(max_length=1)] = ()
    levels: Mapping[str, int] = {}
    entries: Annotated[dict[str, int], Meta(max_length=2)] = {}
    either: int | str | None = None
    inner: tuple[Inner, ...] = ()
    letter: Annotated[str, Meta(pattern="^a$")] = "a"


# The secret is built at run time, so this file contains none.
CASES: dict[str, tuple[Any, Unfit]] = {
    "text": ({"text": 3}, Unfit("expected a string, got a number", ".text")),
    "short": ({"text": ""}, Unfit("expected a string of at least 1 character", ".text")),
    "long": ({"text": "long"}, Unfit("expected a string of at most 3 characters", ".text")),
    "count": ({"count": "3"}, Unfit("expected a whole number, got a string", ".count")),
    "fraction": ({"count": 1.5}, Unfit("expected a whole number, got a number with a fraction", ".count")),
    "below": ({"share": -1}, Unfit("expected a number of at least 0", ".share")),
    "above": ({"share": 2}, Unfit("expected a number of at most 1", ".share")),
    "whole": ({"whole": 0.5}, Unfit("expected a whole number", ".whole")),
    "pair": ({"pair": 3}, Unfit("expected a number that is a multiple of 2", ".pair")),
    "flag": ({"flag": 1}, Unfit("expected true or false, got a number", ".flag")),
    "choice": ({"choice": "it's\n"}, Unfit("`it's\\n` is not one of the allowed values", ".choice")),
    "secret": (
        {"choice": "ghp_" + "a1B2" * 9},
        Unfit("`ghp_" + "*" * 36 + "` is not one of the allowed values", ".choice"),
    ),
    "number": ({"number": 4}, Unfit("`4` is not one of the allowed values", ".number")),
    "two": ({"two": ["a"]}, Unfit("expected a list of exactly 2 items, got 1", ".two")),
    "few": ({"few": ["a", "b"]}, Unfit("expected a list of at most 1 item", ".few")),
    "levels": ({"levels": {"a": []}}, Unfit("expected a whole number, got a list", ".levels[...]")),
    "entries": (
        {"entries": dict.fromkeys("abc", 1)},
        Unfit("expected an object of at most 2 entries", ".entries"),
    ),
    "key": ({"levels": {3: 3}}, Unfit("a key: expected a string, got a number", ".levels")),
    "either": (
        {"either": {}},
        Unfit("expected a whole number or a string or `null`, got an object", ".either"),
    ),
    "missing": ({"inner": [{"name": "a"}, {}]}, Unfit("lacks the field `name`", ".inner[1]")),
    "unknown": ({"nmae": 1}, Unfit("has the unknown field `nmae`", "")),
    "control": ({"a\x1b": 1}, Unfit("has the unknown field `a\\x1b`", "")),
    "letter": ({"letter": "b"}, Unfit("expected a string that matches `^a$`", ".letter")),
    "list": ([], Unfit("expected an object, got a list", "")),
    "date": ({"text": datetime.date(2026, 1, 1)}, Unfit("expected a string, got a date", ".text")),
    "other": ({"text": object()}, Unfit("expected a string, got an object", ".text")),
}


@pytest.mark.parametrize(("value", "said"), CASES.values(), ids=CASES)
def test_a_value_that_does_not_fit_is_described(value: Any, said: Unfit) -> None:
    """With its place, in words that are no program's."""
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(value, Shape)
    assert describe_unfit(caught.value) == said


def convert(value: Any) -> Any:
    return msgspec.convert(value, Shape)


def decode(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value), type=Shape)


@pytest.mark.parametrize("read", [convert, decode])
@pytest.mark.parametrize("field", Shape.__struct_fields__)
@pytest.mark.parametrize(
    "value", [None, True, 3, 2.5, "x", "", [], [None], {}, {"a": None}, [{}], [{"a": 1}]]
)
def test_no_message_names_a_type_of_the_program(read: Callable[[Any], Any], field: str, value: Any) -> None:
    """Whatever stands wherever, read from JSON or from values."""
    try:
        read({field: value})
    except msgspec.ValidationError as error:
        said = describe_unfit(error)
        assert not re.search(r"\b(str|int|float|bool|array|dict|tuple|Expected|Invalid)\b", said.message)
        assert said.place == "" or said.place.startswith(f".{field}")
