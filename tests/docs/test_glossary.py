"""The glossary is true: every name in it is a name of its surface, and what every surface has is in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import click
import pytest

from manifest_api.openapi import build_openapi
from orgkernel.cli import cli
from orgkernel.documents.model.kinds import MARKDOWN_KINDS
from orgkernel.project.scaffold import build_schemas
from tests.support.trees import REPOSITORY

PAGE = (REPOSITORY / "docs/glossary.md").read_text(encoding="utf-8")
SURFACES = ("YAML", "command line", "HTTP", "Python")
NO_NAME = "–"


class Name(NamedTuple):
    """What a thing is called on one surface."""

    word: str
    surface: str
    name: str


class Row(NamedTuple):
    """A row of the glossary."""

    word: str
    names: tuple[Name, ...]
    meaning: str


def read_rows(page: str) -> Iterator[Row]:
    """The rows of the tables that name the four surfaces."""
    header = f"| word | {' | '.join(SURFACES)} | meaning |"
    for table in page.split(header)[1:]:
        for line in table.split("\n")[2:]:
            if not line.startswith("|"):
                break
            word, *cells, meaning = (cell.strip() for cell in line.strip("|").split(" | "))
            names = [
                Name(word, surface, name)
                for surface, cell in zip(SURFACES, cells, strict=True)
                for name in read_cell(cell)
            ]
            yield Row(word, tuple(names), meaning)


def read_cell(cell: str) -> Iterator[str]:
    """The names in a cell; a tag begins with `#`. Raises `ValueError` if there is anything else in it."""
    if cell == NO_NAME:
        return
    for each in cell.split(", "):
        match = re.fullmatch(r"(tag )?`([^`]+)`", each)
        if match is None:
            raise ValueError(f"`{each}` is no name")
        yield f"#{match[2]}" if match[1] else match[2]


ROWS = tuple(read_rows(PAGE))
NAMES = [name for row in ROWS for name in row.names]


# -- what the surfaces have ----------------------------------------------------------------------------------------


@cache
def document_schemas() -> Mapping[str, dict[str, Any]]:
    """The JSON Schema of every kind of document."""
    markdown = {kind: model.model_json_schema(by_alias=True) for kind, model in MARKDOWN_KINDS.items()}
    return {**build_schemas(), **markdown}


@cache
def openapi() -> dict[str, Any]:
    """The OpenAPI document."""
    return build_openapi()


def is_yaml_name(name: str) -> bool:
    """Whether it is a kind of document, or a kind and a route of fields; lists and mappings by id are passed through."""
    kind, *route = name.split(".")
    if kind not in document_schemas():
        return False
    schema = document_schemas()[kind]
    found = [schema]
    for step in route:
        found = [
            each["properties"][step]
            for part in found
            for each in objects_in(schema, part)
            if step in each["properties"]
        ]
    return bool(found)


def objects_in(document: Mapping[str, Any], part: Any) -> Iterator[Mapping[str, Any]]:
    """The mappings with fields that a part of a schema allows, at any depth of lists, mappings and alternatives."""
    pending, seen = [part], set()
    while pending:
        each = pending.pop()
        if not isinstance(each, dict):
            continue
        reference = each.get("$ref")
        if reference is not None and reference not in seen:
            seen.add(reference)
            pending.append(document["$defs"][reference.rsplit("/", 1)[1]])
        if "properties" in each:
            yield each
        if isinstance(each.get("items"), dict):
            pending.append(each["items"])
        pending += [each.get("additionalProperties"), *each.get("patternProperties", {}).values()]
        pending += [other for key in ("anyOf", "oneOf", "allOf") for other in each.get(key, ())]


def is_subcommand(name: str) -> bool:
    """Whether it is a subcommand, or one with one of its options."""
    command: click.Command = cli
    for word in name.split(" "):
        if word.startswith("--"):
            return any(word in parameter.opts for parameter in command.params)
        found = (
            command.get_command(click.Context(command), word) if isinstance(command, click.Group) else None
        )
        if found is None:
            return False
        command = found
    return True


def is_http_name(name: str) -> bool:
    """Whether it is a tag, a segment of a path, a schema, or a property of one."""
    if name.startswith("#"):
        return name[1:] in tags()
    if name.startswith("/"):
        return any(name in {f"/{segment}" for segment in path.split("/")} for path in openapi()["paths"])
    schema, _, field = name.partition(".")
    found = openapi()["components"]["schemas"].get(schema)
    return found is not None and (not field or field in found.get("properties", {}))


def tags() -> set[str]:
    """The tags of the operations."""
    operations = (
        each for path in openapi()["paths"].values() for each in path.values() if isinstance(each, dict)
    )
    return {tag for operation in operations for tag in operation.get("tags", ())}


def is_python_name(name: str) -> bool:
    """Whether it is a module, or something in one, below `orgkernel` or in `manifest_api`."""
    full = name if name.startswith("manifest_api.") else f"orgkernel.{name}"
    steps = full.split(".")
    for length in range(len(steps), 0, -1):
        try:
            found: Any = import_module(".".join(steps[:length]))
        except ModuleNotFoundError:
            continue
        for step in steps[length:]:
            if not hasattr(found, step):
                return False
            found = getattr(found, step)
        return True
    return False


EXISTS = {"YAML": is_yaml_name, "command line": is_subcommand, "HTTP": is_http_name, "Python": is_python_name}


# -- what holds ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("surface", SURFACES)
def test_every_name_exists(surface: str) -> None:
    """What a cell names is a name of its surface."""
    names = [each for each in NAMES if each.surface == surface]
    assert len(names) > len(ROWS) / 4
    assert [each for each in names if not EXISTS[surface](each.name)] == []


@pytest.mark.parametrize(
    ("surface", "name"),
    [
        ("YAML", "role_profil"), ("YAML", "role_profile.tier"), ("YAML", "crew_roster.agents.assignments.rank"),
        ("command line", "grants"), ("command line", "key create --scopes"), ("command line", "can subject"),
        ("HTTP", "/grant"), ("HTTP", "#grant"), ("HTTP", "Grants"), ("HTTP", "Grant.waiver"),
        ("Python", "decision"), ("Python", "kernel.kernel.Kernel.may"),
    ],
)  # fmt: skip
def test_a_name_that_does_not_exist_is_noticed(surface: str, name: str) -> None:
    """Otherwise that all names exist would say nothing."""
    assert not EXISTS[surface](name)


def test_a_name_stands_for_one_word() -> None:
    """No word has two rows, and no name stands in the rows of two words."""
    words = Counter(word for row in ROWS for word in row.word.split(", "))
    assert [word for word, count in words.items() if count > 1] == []
    names = Counter((each.surface, each.name) for each in NAMES)
    assert [name for name, count in names.items() if count > 1] == []


def test_every_row_has_a_name_and_a_meaning() -> None:
    """A word that no surface uses is no word of ours, and a meaning is a sentence."""
    assert [row.word for row in ROWS if not row.names] == []
    assert [row.word for row in ROWS if not re.search(r"^[A-Z`].*\.$", row.meaning)] == []


def test_every_kind_of_document_is_explained() -> None:
    """A row for each of them, whose name it is."""
    assert set(document_schemas()) - named("YAML") == set()


def test_every_subcommand_is_explained() -> None:
    """A row for each command and each group that `orgkernel --help` lists."""
    assert set(cli.list_commands(click.Context(cli))) - named("command line") == set()


def test_every_tag_and_every_resource_is_explained() -> None:
    """A row for each tag, and for the first segment of each path that names a resource."""
    assert {f"#{tag}" for tag in tags()} - named("HTTP") == set()
    assert {resource_of(path) for path in openapi()["paths"]} - named("HTTP") == set()


def named(surface: str) -> set[str]:
    """The names of a surface."""
    return {each.name for each in NAMES if each.surface == surface}


def resource_of(path: str) -> str:
    """The first segment of a path that names a resource: after the version and the organization.

    >>> resource_of("/v1/orgs/{org}/grants/{grant}"), resource_of("/v1/orgs"), resource_of("/access/v1/evaluation")
    ('/grants', '/orgs', '/access')
    """
    segments = path.removeprefix("/v1").strip("/").split("/")
    of_organization = segments[:2] == ["orgs", "{org}"] and segments[2:]
    return f"/{segments[2] if of_organization else segments[0]}"
