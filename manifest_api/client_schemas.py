"""The schemas of the OpenAPI document in the form that generators of clients read.

msgspec describes what it decodes and encodes. A generator also asks which fields it can leave out of a request, which ones
every answer has, and which objects take any names. `tests/interop/test_http_clients.py` generates clients from the result.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

Schema = dict[str, Any]
_PREFIX = "#/components/schemas/"


def prepare_schemas(schemas: dict[str, Schema], requests: Any, answers: Any, shapes: Iterable[Any]) -> None:
    """Change the schemas in place. `requests` and `answers` are the parts of the document that refer to them.

    A field of a request that has a default is optional, and its description names the default. The keyword `default` is
    removed, because generators read it as "always present". A field that is in every answer is required.
    """
    in_requests = _find_reachable(schemas, requests)
    in_answers = _find_reachable(schemas, answers)
    structs = _list_structs(shapes)
    for name, schema in schemas.items():
        if name in in_answers and name not in in_requests and name in structs:
            _require_answered_fields(schema, structs[name])
        for each in _walk(schema):
            _close_tuple(each)
            _open_object(each)
            # A property can be called `properties` itself, so what is below it need not be a schema.
            for field in filter(lambda value: isinstance(value, dict), each.get("properties", {}).values()):
                default = field.pop("default", None)
                if name in in_requests:
                    _describe_default(field, default)


def _require_answered_fields(schema: Schema, struct: type[msgspec.Struct]) -> None:
    """Every field is required, unless the record leaves out its defaults or the field can be unset."""
    if struct.__struct_config__.omit_defaults or "properties" not in schema:
        return
    unset = {field.encode_name for field in msgspec.structs.fields(struct) if field.default is msgspec.UNSET}
    schema["required"] = [name for name in schema["properties"] if name not in unset]


def _close_tuple(schema: Schema) -> None:
    """A list of a fixed length says so by its bounds. `items: false` says the same, and generators do not read it."""
    if schema.get("items") is False and "prefixItems" in schema:
        del schema["items"]
        schema["minItems"] = schema["maxItems"] = len(schema["prefixItems"])


def _open_object(schema: Schema) -> None:
    """An object without declared names takes any. Generators read silence as an object that is always empty."""
    if schema.get("type") == "object" and "properties" not in schema:
        schema.setdefault("additionalProperties", True)


def _describe_default(field: Schema, default: Any) -> None:
    """Name a default in the description, unless it is empty."""
    if isinstance(default, str | float | int) and default != "":
        sentence = f"The default is `{default if isinstance(default, str) else json.dumps(default)}`."
        field["description"] = " ".join(filter(None, (field.get("description", ""), sentence)))


def _list_structs(shapes: Iterable[Any]) -> Mapping[str, type[msgspec.Struct]]:
    """The records that some types contain, by the name of their schema."""
    structs: dict[str, type[msgspec.Struct]] = {}
    todo: list[Any] = list(msgspec.inspect.multi_type_info(shapes))
    seen: set[int] = set()
    while todo:
        node = todo.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, msgspec.inspect.StructType):
            structs[node.cls.__name__] = node.cls
        if isinstance(node, msgspec.Struct):
            todo += [getattr(node, name) for name in node.__struct_fields__]
        elif isinstance(node, tuple):
            todo += node
    return structs


def _find_reachable(schemas: Mapping[str, Schema], start: Any) -> set[str]:
    """The names of the schemas that a part of the document refers to, directly or not."""
    reachable: set[str] = set()
    todo = [start]
    while todo:
        for each in _walk(todo.pop()):
            name = str(each.get("$ref", "")).removeprefix(_PREFIX)
            if name in schemas and name not in reachable:
                reachable.add(name)
                todo.append(schemas[name])
    return reachable


def _walk(value: Any) -> Iterator[Schema]:
    """Every object inside a value."""
    if isinstance(value, dict):
        yield value
        for each in value.values():
            yield from _walk(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _walk(each)
