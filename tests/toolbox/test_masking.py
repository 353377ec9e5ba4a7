"""Credentials do not come back from a tool, whatever the value is made of and however they are encoded."""

from __future__ import annotations

import base64
import json
from collections import UserDict, namedtuple
from dataclasses import dataclass
from pathlib import PurePosixPath
from types import MappingProxyType, SimpleNamespace
from typing import Any
from urllib.parse import quote, quote_plus

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from orgkernel.toolbox.masking import MASK, TooDeep, mask_values

SECRET = "s3cr3t v4lue/+ü"
KEYS = {"mailbox": SECRET}


@dataclass(frozen=True, slots=True)
class Frozen:
    """A frozen dataclass."""

    key: str
    id: int = 1


class Record(msgspec.Struct, frozen=True):
    """A frozen struct."""

    key: str


class Mail(BaseModel):
    """A model."""

    key: str
    id: str = "1"


class Opaque:
    """A value that cannot be inspected."""

    def __init__(self) -> None:
        self.key = SECRET

    def __repr__(self) -> str:
        return f"Opaque({self.key})"


Pair = namedtuple("Pair", "name key")


@pytest.mark.parametrize(
    ("value", "masked"),
    [
        (SECRET, MASK),
        (f"<{SECRET}>".encode(), b"<***>"),
        (bytearray(SECRET.encode()), bytearray(b"***")),
        (memoryview(SECRET.encode()), b"***"),
        ({SECRET: [SECRET, (SECRET, 1)]}, {MASK: [MASK, (MASK, 1)]}),
        ({SECRET, "open"}, {MASK, "open"}),
        (frozenset({SECRET}), frozenset({MASK})),
        (Pair("a", SECRET), Pair("a", MASK)),
        (Frozen(SECRET), Frozen(MASK)),
        (Record(SECRET), Record(MASK)),
        (Mail(key=SECRET), Mail(key=MASK)),
        (SimpleNamespace(key=SECRET), SimpleNamespace(key=MASK)),
        (MappingProxyType({"key": SECRET}), {"key": MASK}),
        (UserDict({"key": SECRET}), {"key": MASK}),
        (PurePosixPath("a", "s3cr3t v4lue", "+ü"), PurePosixPath("a/***")),
        (ValueError(f"wrong key {SECRET}"), "ValueError: wrong key ***"),
        (Opaque(), "<Opaque>"),
        ([None, True, 1, 2.5], [None, True, 1, 2.5]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_credential_is_masked_in_any_value(value: Any, masked: Any) -> None:
    """Also where it is a key, in a frozen object, or in bytes."""
    assert mask_values(value, KEYS) == masked
    assert type(mask_values(value, {})) is type(value)


def test_a_credential_of_digits_is_masked_as_a_number() -> None:
    """A PIN may come back as an integer."""
    assert mask_values([48151623, "48151623", 4815], {"pin": "48151623"}) == [MASK, MASK, 4815]


def test_a_value_that_contains_itself_is_masked() -> None:
    """A list or a table in itself ends."""
    value: list[Any] = [SECRET]
    value.append(value)
    masked = mask_values(value, KEYS)
    assert masked[0] == MASK
    assert masked[1] is masked


def test_a_value_nested_too_deep_is_an_error() -> None:
    """It cannot be looked through, so it is not handed out."""
    value: Any = SECRET
    for _ in range(100_000):
        value = [value]
    with pytest.raises(TooDeep):
        mask_values(value, KEYS)


FORMS = {
    "Base64": lambda text: base64.b64encode(text.encode()).decode(),
    "URL-safe Base64": lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
    "hexadecimal": lambda text: text.encode().hex(),
    "HEXADECIMAL": lambda text: text.encode().hex().upper(),
    "URL": lambda text: quote(text, safe=""),
    "query": quote_plus,
    "JSON": json.dumps,
    "JSON in UTF-8": lambda text: json.dumps(text, ensure_ascii=False),
    "Python": ascii,
}


@pytest.mark.parametrize("form", FORMS)
@given(
    before=st.text(max_size=9),
    after=st.text(max_size=9),
    secret=st.text(st.characters(codec="utf-8"), min_size=12),
)
def test_an_encoded_credential_is_masked(form: str, before: str, after: str, secret: str) -> None:
    """Also amid other text, as in `Basic` credentials: what is left cannot be decoded to it."""
    before, after = (text.encode("utf-8", "replace").decode() for text in (before, after))
    said = FORMS[form](before + secret + after)
    masked = mask_values(said, {"mailbox": secret})
    assert MASK in masked
    # Of what Base64 shares with its neighbors, one character may be left at each end.
    assert len(masked) <= len(said) - len(FORMS[form](secret).strip("\"'=")) + len(MASK) + 4 or MASK in secret
