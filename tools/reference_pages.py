"""The reference of the documentation, from what is true: JSON Schemas, the command line, OpenAPI, the Python API."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import click

from manifest_api.openapi import build_openapi
from orgkernel.cli import cli
from orgkernel.cli.layout import GROUPS
from orgkernel.project.scaffold import build_schemas
from tools.python_page import PAGE as PYTHON_PAGE
from tools.python_page import python_page

FOLDER = "docs/reference"
_WIDTH = 80
Schema = Mapping[str, Any]

# Patterns of the model, in words.
_PATTERNS = {
    "^[A-Za-z_][A-Za-z0-9_-]{0,99}$": "id",
    "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}$": "tool id",
    r"^(\*|[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}\*?)$": "tool id or a prefix ending in `*`",
    r"^(\*|[A-Za-z_][A-Za-z0-9_-]{0,99})$": "id or `*`",
    r"^(weekends|([01][0-9]|2[0-3]):[0-5][0-9]-([01][0-9]|2[0-3]):[0-5][0-9])$": "`HH:MM-HH:MM` or `weekends`",
}


def reference_pages() -> dict[str, str]:
    """Path below the folder of the site's sources to text."""
    schemas = build_schemas()
    pages = {f"{FOLDER}/documents/{kind}.md": _kind_page(kind, schema) for kind, schema in schemas.items()}
    pages[f"{FOLDER}/documents/index.md"] = _kinds_page(schemas)
    pages[f"{FOLDER}/commands.md"] = _commands_page()
    pages[f"{FOLDER}/http.md"] = _http_page()
    pages[PYTHON_PAGE] = python_page()
    return pages


def _kinds_page(schemas: Mapping[str, Schema]) -> str:
    rows = [f"| [`{kind}`]({kind}.md) | {_summary(kind, schema)} |" for kind, schema in schemas.items()]
    return "\n".join(
        [
            "# Kinds of documents",
            "",
            "Look up every field of every kind of document. These pages are generated from the JSON Schemas that `orgkernel schema "
            "KIND` prints. [Documents](../../documents.md) describes what the kinds are for, and how orgkernel finds them.",
            "",
            "| kind | meaning |",
            "|---|---|",
            *rows,
            "",
            "An *id* is a letter or `_`, then letters, digits, `_` and `-`, at most 100 characters; a *tool id* may also contain "
            "dots, and has at most 200 characters. You can add your own fields if their names begin with `x_`; any other unknown field is a finding.",
            "",
            "*(orgkernel)* marks fields that the published specification of role profiles does not have.",
            "",
        ]
    )


def _summary(kind: str, schema: Schema) -> str:
    return str(schema.get("description") or ("The fields of a manifest." if kind == "crew_manifest" else "–"))


def _kind_page(kind: str, schema: Schema) -> str:
    lines = [f"# {kind}", "", _summary(kind, schema), ""]
    if "properties" in schema:
        lines += _fields(schema, schema.get("$defs", {}))
    else:
        lines += [f"One of: {_type_of(schema)}.", ""]
    for name, definition in schema.get("$defs", {}).items():
        lines += [f"## {name}", ""]
        if definition.get("description"):
            lines += [definition["description"], ""]
        if "properties" in definition:
            lines += _fields(definition, schema["$defs"])
        else:
            lines += [_type_of(definition)[:1].upper() + _type_of(definition)[1:] + ".", ""]
    return "\n".join(lines)


def _fields(schema: Schema, definitions: Mapping[str, Schema]) -> list[str]:
    required = set(schema.get("required", ()))
    rows = []
    for name, field in schema["properties"].items():
        default = "**required**" if name in required else _default_of(field)
        meaning = str(field.get("description") or _of_its_type(name, field, definitions))
        if field.get("deprecated"):
            meaning = f"Deprecated. {meaning}".strip()
        rows.append([f"`{name}`", _cell(_type_of(field)), _cell(default), _cell(meaning)])
    if not rows:
        return ["It has no fields of its own.", ""]
    width = 4 if any(row[3] for row in rows) else 3
    lines = [["field", "type", "default", "meaning"], ["---"] * 4, *rows]
    return [*(f"| {' | '.join(line[:width])} |" for line in lines), ""]


def _of_its_type(name: str, field: Schema, definitions: Mapping[str, Schema]) -> str:
    """What is said about the field's type, or that of its entries, where nothing is said about the field."""
    if name == "_schema":
        return "Kind of the document."
    choices = [each for each in field.get("anyOf", [field]) if each.get("type") != "null"]
    if len(choices) != 1:
        return ""
    of_one = choices[0].get("$ref")
    entries = [
        choices[0].get("items"),
        choices[0].get("additionalProperties"),
        *choices[0].get("patternProperties", {}).values(),
    ]
    of_many = next((each["$ref"] for each in entries if isinstance(each, Mapping) and "$ref" in each), None)
    name = str(of_one or of_many or "").rpartition("/")[2]
    said = str(definitions.get(name, {}).get("description") or "")
    return said if of_one or not said else f"Each: {said[0].lower()}{said[1:]}"


def _default_of(field: Schema) -> str:
    if "const" in field:
        return _code(field["const"])
    if "default" not in field:
        return "–"
    default = field["default"]
    if isinstance(default, dict) and default:
        return "see its fields"
    return _code(default)


def _type_of(schema: Any) -> str:
    """A type in words, with links to the sections of the page."""
    if not isinstance(schema, Mapping) or not schema:
        return "anything"
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return " or ".join(dict.fromkeys(_type_of(each) for each in schema[word]))
    if "const" in schema:
        return _code(schema["const"])
    if "enum" in schema:
        return ", ".join(_code(each) for each in schema["enum"])
    kind = schema.get("type")
    if kind == "array":
        return _list_of(schema)
    if kind == "object":
        return _mapping_of(schema)
    if kind == "string":
        return _text_of(schema)
    names = {"integer": "whole number", "boolean": "boolean", "null": "`null`"}
    return names.get(str(kind), str(kind or "anything")) + _bounds(schema)


def _list_of(schema: Schema) -> str:
    if "prefixItems" in schema:
        return "[" + ", ".join(_type_of(each) for each in schema["prefixItems"]) + "]"
    return f"list of {_type_of(schema.get('items'))}"


def _mapping_of(schema: Schema) -> str:
    values = schema.get("additionalProperties")
    own = {key: value for key, value in schema.get("patternProperties", {}).items() if key != "^x_"}
    if own:
        ((pattern, value),) = own.items()
        return f"mapping of {_PATTERNS.get(pattern, 'name')} to {_type_of(value)}"
    return f"mapping to {_type_of(values)}" if isinstance(values, Mapping) and values else "mapping"


def _text_of(schema: Schema) -> str:
    pattern = schema.get("pattern")
    if pattern in _PATTERNS:
        return _PATTERNS[pattern]
    return f"string matching `{pattern}`" if pattern else "string"


def _bounds(schema: Schema) -> str:
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and most is not None:
        return f", {least} to {most}"
    if least is not None:
        return f", at least {least}"
    return f", at most {most}" if most is not None else ""


def _code(value: Any) -> str:
    return f"`{value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)}`"


def _cell(text: str) -> str:
    return text.replace("\n", " ").replace("|", "\\|")


def _commands_page() -> str:
    lines = [
        "# Commands",
        "",
        "Look up every command with its options. Data is written to stdout, everything else to stderr. Exit codes, unless a command "
        "states others: 0 success, 1 findings or failed cases, 2 the command cannot run.",
        "",
        *_help(cli, _context(cli, "orgkernel", None)),
        "Most commands take `--org`. You can omit it if the organization is clear: the only one that is read, the one in",
        "the current folder, or the one that `active` names in orgkernel.toml. Colors appear on terminals, unless the",
        "variable `NO_COLOR` is set. [Complete commands and ids](../how-to/complete.md) sets up completion.",
        "",
    ]
    context = _context(cli, "orgkernel", None)
    for label, entries in GROUPS.items():
        lines += [f"## {label}", ""]
        for name in entries:
            lines += _sections(cli, name, context)
    return "\n".join(lines)


def _sections(group: click.Group, name: str, above: click.Context) -> Iterator[str]:
    """The help of a command, and of the commands below it."""
    command = group.get_command(above, name)
    assert command is not None
    here = _context(command, name, above)
    yield from (f"### {here.command_path.removeprefix('orgkernel ')}", "", *_help(command, here))
    if isinstance(command, click.Group):
        for below in command.list_commands(here):
            yield from _sections(command, below, here)


def _context(command: click.Command, name: str, parent: click.Context | None) -> click.Context:
    """As on a terminal of 80 columns."""
    return click.Context(
        command,
        info_name=name,
        parent=parent,
        terminal_width=_WIDTH - 2,
        help_option_names=["-h", "--help"],
    )


def _help(command: click.Command, context: click.Context) -> list[str]:
    return ["```console", f"$ {context.command_path} --help", command.get_help(context).rstrip(), "```", ""]


def _http_page() -> str:
    openapi = build_openapi()
    lines = [
        "# HTTP routes",
        "",
        "Look up every route. This page is generated from the OpenAPI document, which a server returns at `/openapi.json`, and as a page "
        "for people at `/docs`. [HTTP](../http.md) describes what all answers have in common; the manifest is described in [crew_manifest](documents/crew_manifest.md).",
        "",
        f"Every route can also return {_everywhere(openapi)}, with a problem document that explains the error.",
        "",
    ]
    for path, operations in openapi["paths"].items():
        for method, operation in operations.items():
            lines += [f"## {method.upper()} {path}", "", *_operation(operation, openapi)]
    return "\n".join(lines)


def _operation(operation: Schema, openapi: Schema) -> Iterator[str]:
    yield from (str(operation["description"]).rstrip(), "")
    parameters = operation.get("parameters", ())
    if parameters:
        yield from ("| parameter | in | type | meaning |", "|---|---|---|---|")
        for each in parameters:
            needed = " (required)" if each.get("required") else ""
            meaning = each.get("description") or each["schema"].get("description") or ""
            yield (
                f"| `{each['name']}` | {each['in']}{needed} | {_cell(_plain(_type_of(each['schema'])))} "
                f"| {_cell(meaning)} |"
            )
        yield ""
    body = operation.get("requestBody")
    if body:
        written = body["content"]["application/json"]["schema"]
        for number, reference in enumerate(written.get("anyOf", [written])):
            schema = openapi["components"]["schemas"][reference["$ref"].rpartition("/")[2]]
            heading = "Or this body:" if number else "Request body:"
            yield from (heading, "", *map(_plain, _fields(schema, openapi["components"]["schemas"])))
    yield from ("| status | meaning |", "|---|---|")
    for status, answer in operation["responses"].items():
        if answer.get("description"):
            yield f"| {status} | {_cell(answer['description'])} |"
    yield ""


def _everywhere(openapi: Schema) -> str:
    """What no route explains, because it means the same on each."""
    operations = [operation for each in openapi["paths"].values() for operation in each.values()]
    found = {
        status
        for operation in operations
        for status, answer in operation["responses"].items()
        if not answer.get("description")
    }
    *most, last = sorted(found)
    return f"{', '.join(most)} or {last}"


def _plain(text: str) -> str:
    """Types without links, because the page has no section for them."""
    return re.sub(r"\[(\w+)\]\(#\w+\)", r"\1", text)
