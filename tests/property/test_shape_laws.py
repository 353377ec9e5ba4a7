"""Laws of shapes: each accepts what its model accepts, so that pydantic is needed only to say what does not fit."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import inspect
from pydantic import ValidationError

from orgkernel.documents import shapes
from orgkernel.documents.model import record as model
from orgkernel.documents.model.kinds import KINDS, MARKDOWN_KINDS
from orgkernel.documents.records import RECORDS
from orgkernel.loading.shape import get_shape

TEXTS = (
    "", " ", "a", "a\n", "\na", " a", "a ", "a\u00a0b", "\x1fa", "a.b", "a-b", "a*", "*", "**", "1a", "é", "x" * 100,
    "x" * 101, "x" * 201, "ORG101", "ORG101\n", "ORG1011", "restricted", "direct", "weekends", "23:00-08:00",
    "24:00-08:00", "2026-11-02 09:30", "2026-11-02T09:30\n", "٢٠٢٦-11-02 09:30", "orgkernel:organization",
)  # fmt: skip
ODD = st.sampled_from(
    (*TEXTS, None, True, False, -1, 0, 1, 2, 7, 8, 100, 101, 2**63, 0.0, 0.5, 1.0, 1.5, -0.5, (), {}, ("a",), {"a": "a"}, {"": 1})
)  # fmt: skip

MODELS = {**KINDS, **MARKDOWN_KINDS}


@cache
def documents_of(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    """Documents of a kind, sound and not."""
    described = inspect.type_info(get_shape(kind))
    assert isinstance(described, inspect.StructType)
    return records_of(described)


def values_of(kind: inspect.Type) -> st.SearchStrategy[Any]:
    """Values that fit a type, and some that just do not."""
    fits = fitting(kind)
    return st.integers(0, 99).flatmap(lambda dice: fits if dice else ODD)


def fitting(kind: inspect.Type) -> st.SearchStrategy[Any]:
    """Values that fit a type if the values inside them do."""
    if isinstance(kind, inspect.Metadata):
        return fitting(kind.type)
    if isinstance(kind, inspect.UnionType):
        return st.one_of(*map(values_of, kind.types))
    if isinstance(kind, inspect.LiteralType):
        return st.sampled_from(kind.values)
    if isinstance(kind, inspect.StrType):
        return texts_like(kind.pattern)
    if isinstance(kind, inspect.BoolType):
        return st.booleans()
    if isinstance(kind, inspect.IntType):
        return st.sampled_from((*[kind.ge or 0] * 9, -1, 0, 1, 3, 4, 5, 7, 8, 20, 21, 100, 101))
    if isinstance(kind, inspect.FloatType):
        return st.sampled_from((1, 0.25, 1.0, 1, 0.25, 1.0, 0, 0.0, 1.5, -0.5))
    if isinstance(kind, inspect.VarTupleType):
        return st.lists(values_of(kind.item_type), max_size=2).map(tuple) | st.just(("a",) * 7)
    if isinstance(kind, inspect.TupleType):
        return st.tuples(*map(values_of, kind.item_types))
    if isinstance(kind, inspect.DictType):
        keys = texts_like(kind.key_type.pattern) if isinstance(kind.key_type, inspect.StrType) else ODD
        return st.dictionaries(keys, values_of(kind.value_type), max_size=2)
    if isinstance(kind, inspect.StructType):
        return records_of(kind)
    return ODD


def texts_like(pattern: str | None) -> st.SearchStrategy[str]:
    """Mostly texts that match a pattern."""
    matching = [text for text in TEXTS if pattern is None or re.search(pattern, text)]
    return st.sampled_from((*matching * 20, *TEXTS))


def records_of(kind: inspect.StructType) -> st.SearchStrategy[dict[str, Any]]:
    """Mappings with the fields of a record: nearly all it requires, some others, and now and then one it has not."""
    required = {field.encode_name: values_of(field.type) for field in kind.fields if field.required}
    optional = {field.encode_name: values_of(field.type) for field in kind.fields if not field.required}
    mostly = st.integers(0, 49)
    whole = st.fixed_dictionaries(required, optional=optional)
    other = st.fixed_dictionaries(
        {}, optional={**required, **optional, "x_own": ODD, "platform": ODD, "version": ODD}
    )
    return mostly.flatmap(lambda dice: whole if dice else other)


@pytest.mark.parametrize("kind", RECORDS)
@settings(max_examples=60)
@given(data=st.data())
def test_a_shape_accepts_what_its_model_accepts(kind: str, data: st.DataObject) -> None:
    """And it is packed as the record of what the model makes of it would be."""
    value = data.draw(documents_of(kind))
    try:
        accepted = MODELS[kind].model_validate(value, by_alias=True, by_name=False)
    except ValidationError:
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(value, get_shape(kind))
        return
    written = accepted.model_dump(by_alias=True, exclude_unset=True)
    record = msgspec.msgpack.encode(msgspec.convert(written, RECORDS[kind]))
    assert msgspec.msgpack.encode(msgspec.convert(written, get_shape(kind))) == record
    if written == value:
        assert msgspec.msgpack.encode(msgspec.convert(value, get_shape(kind))) == record
    else:  # the model takes other words, for which the shape has none
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(value, get_shape(kind))


@given(
    st.text(max_size=3)
    | st.text(st.sampled_from("\t\n\v\f\r\x1c\x1f \x85\xa0\u180e\u2003\u200b\u2028\u3000\ufeffa"), max_size=4)
)
def test_a_shape_accepts_the_reasons_that_its_model_leaves_as_they_are(reason: str) -> None:
    """Of white space too, the two say the same."""
    value = {"rule": "ORG101", "reason": reason}
    try:
        stripped = model.Suppression.model_validate(value).reason
    except ValidationError:
        stripped = None
    try:
        record = msgspec.convert(value, shapes.Suppression).reason
    except msgspec.ValidationError:
        record = None
    assert record == (reason if stripped == reason else None)
    assert stripped is None or msgspec.convert({**value, "reason": stripped}, shapes.Suppression)
