"""Records are what the models describe: the same fields under the same names, with the same defaults and properties."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import msgspec
import pytest
from msgspec.structs import FieldInfo, fields
from pydantic import BaseModel

from orgkernel.documents import records
from orgkernel.documents.model.kinds import KINDS, MARKDOWN_KINDS
from orgkernel.documents.records import RECORDS


def models() -> Iterator[type[BaseModel]]:
    """Every model below the kinds, each once."""
    seen: dict[type[BaseModel], None] = {}
    pending: list[Any] = [*KINDS.values(), *MARKDOWN_KINDS.values()]
    while pending:
        part = pending.pop()
        if not (isinstance(part, type) and issubclass(part, BaseModel)):
            pending += get_args(part)
        elif part not in seen:
            seen[part] = None
            pending += [field.annotation for field in part.model_fields.values()]
    yield from seen


def record_of(model: type[BaseModel]) -> type[msgspec.Struct]:
    """The record that was generated from a model."""
    record: type[msgspec.Struct] = getattr(records, model.__name__)
    return record


@pytest.mark.parametrize("model", list(models()), ids=lambda model: model.__name__)
def test_a_record_has_the_fields_of_its_model(model: type[BaseModel]) -> None:
    """Names, written names and defaults are the same, and no property is lost."""
    record = record_of(model)
    ours = {field.name: (field.encode_name, default_of(field)) for field in fields(record)}
    assert ours == {
        name: (
            field.alias or name,
            "required" if field.is_required() else plain(field.get_default(call_default_factory=True)),
        )
        for name, field in model.model_fields.items()
    }
    derived = {name for name, value in vars(model).items() if isinstance(value, property) and name[0] != "_"}
    assert {name for name in derived if not isinstance(getattr(record, name, None), property)} == set()


def test_every_kind_has_a_record() -> None:
    """Under the same name, in the same order."""
    kinds = {**KINDS, **MARKDOWN_KINDS}
    assert list(RECORDS) == list(kinds)
    assert [record_of(model) for model in kinds.values()] == list(RECORDS.values())


def default_of(field: FieldInfo) -> Any:
    if field.required:
        return "required"
    default = field.default_factory() if field.default is msgspec.NODEFAULT else field.default
    return plain(default)


def plain(value: Any) -> Any:
    """A default, whatever it is made of."""
    if isinstance(value, BaseModel):
        return {name: plain(getattr(value, name)) for name in type(value).model_fields}
    if isinstance(value, msgspec.Struct):
        return {name: plain(getattr(value, name)) for name in value.__struct_fields__}
    return value
