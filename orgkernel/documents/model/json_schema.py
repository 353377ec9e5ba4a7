"""The JSON Schema of a kind of document, for editors."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any, get_args

from pydantic import BaseModel

from orgkernel.documents.model.contract import Contract
from orgkernel.documents.model.kinds import KINDS
from orgkernel.documents.model.record import Record


def build_json_schema(kind: str) -> dict[str, Any]:
    """JSON Schema (2020-12) of a document of this kind, for editors; names starting with `x_` belong to the user."""
    model = KINDS[kind]
    schema = model.model_json_schema(by_alias=True)
    _describe(schema, model)
    for part in _iterate_models_below(model):
        _describe(schema.get("$defs", {}).get(part.__name__, {}), part)
    if issubclass(model, Contract):
        schema["properties"].pop("suppressions")
        schema["$defs"].pop("Suppression")
        for part in (schema, *schema["$defs"].values()):
            _require(part)
    opened: dict[str, Any] = _accept_user_fields(schema)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **opened,
        "title": f"orgkernel {kind}",
        "required": ["_schema", *schema.get("required", [])],
    }


def _require(schema: dict[str, Any]) -> None:
    """Mark required fields of a contract. They have defaults in the model, because rules report missing ones."""
    for name in schema.get("required", ()):
        described = schema["properties"][name]
        if described.pop("default", ...) is None:
            either = [each for each in described.pop("anyOf", ()) if each != {"type": "null"}]
            described |= either[0] if len(either) == 1 else {"anyOf": either}
            for key in sorted(described):
                described[key] = described.pop(key)


def _iterate_models_below(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """The models below a model, without duplicates."""
    pending: list[Any] = [field.annotation for field in model.model_fields.values()]
    seen: set[Any] = {model}
    while pending:
        part = pending.pop()
        if not (isinstance(part, type) and issubclass(part, BaseModel)):
            pending += get_args(part)
        elif part not in seen:
            seen.add(part)
            yield part
            pending += [field.annotation for field in part.model_fields.values()]


def _describe(schema: dict[str, Any], model: type[BaseModel]) -> None:
    """Add the description of each field to its property. Pydantic could do it, but only at the import of every model."""
    bases = [base for base in reversed(model.__mro__) if issubclass(base, Record)]
    texts = {name: text for base in bases for name, text in _read_field_docs(base).items()}
    for name, field in model.model_fields.items():
        described = schema.get("properties", {}).get(field.alias or name)
        if described is not None and name in texts:
            described.setdefault("description", texts[name])
            for key in sorted(described):
                described[key] = described.pop(key)


@cache
def _read_field_docs(model: type) -> dict[str, str]:
    """The docstrings below the fields in the source of a class."""
    (written,) = ast.parse(inspect.getsource(model)).body
    assert isinstance(written, ast.ClassDef)
    return {
        field.target.id: inspect.cleandoc(str(text.value.value))
        for field, text in pairwise(written.body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
    }


def _accept_user_fields(schema: Any) -> Any:
    if isinstance(schema, dict):
        opened = {key: _accept_user_fields(value) for key, value in schema.items()}
        if schema.get("additionalProperties") is False:
            opened["patternProperties"] = {**schema.get("patternProperties", {}), "^x_": {}}
        return opened
    if isinstance(schema, list):
        return [_accept_user_fields(value) for value in schema]
    return schema
