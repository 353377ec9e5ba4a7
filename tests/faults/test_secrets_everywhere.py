"""A secret of every shape, sent into every text of every route and command, is in no answer, log, store or export."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from itertools import cycle, product
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click
import pytest
from starlette.testclient import TestClient

from benchmarks.secret_texts import SecretText, secret_texts
from manifest_api import create_app
from manifest_api.log_lines import JsonLines, TextLines
from orgkernel.cli import cli
from orgkernel.kernel.kernel import Kernel
from tests.api.keys import bearer, first_key, location_of
from tests.support.in_process import run_here
from tests.support.openapi_document import get_openapi
from tests.support.trees import copy_template

SHAPES = [each for each in secret_texts() if each.group in ("shapes", "assigned")]
LONGEST_ID = 200
DOCUMENT = get_openapi()
ROUTES = [
    (path, method, operation)
    for path, operations in sorted(DOCUMENT["paths"].items())
    for method, operation in operations.items()
    if path != "/v1/orgs/{org}/salute/stream"  # It has no end.
]


def inside(each: SecretText) -> str:
    """A part of a secret that only the secret has. The first characters of a token may be shown."""
    secret = each.text[each.start : each.end].replace("%3D", "")
    return max(secret.split("\n"), key=len)[-12:]


def leaked(said: str) -> list[str]:
    """The secrets that are in a text."""
    return [f"{each.group}: {each.text[:40]}" for each in SHAPES if inside(each) in said]


SKIPPED = {"envelope", "suppressions", "brief", "cursor"}
"""Parts in which any text is refused before the others are looked at; they have shapes of their own in other cases."""
KNOWN = {
    "org": "household", "org_id": "household", "subject": "agent:clerk", "requester": "agent:clerk", "holder": "agent:clerk",
    "agent": "clerk", "role": "butler", "level": "read", "tool": "github", "resources": ["tool:github"], "resource": "tool:github",
    "_version": "1.0", "_schema": "orgkernel:salute_report", "digest": "sha256:" + 64 * "a",
}  # fmt: skip


class Texts:
    """A text for each place that takes one: the next shape, so that every shape comes to many places."""

    def __init__(self, known: set[str], *, all_fields: bool) -> None:
        self._shapes = cycle(SHAPES)
        self._known = known
        self._all = all_fields

    def next(self, longest: int = 100_000, pattern: str = "") -> str:
        """The next text that is not too long. A text with a pattern is a name: the secret alone, as an id."""
        fits = (each for each in self._shapes if len(each.text) <= longest)
        if not pattern:
            return next(fits).text
        each = next(each for each in fits if each.group == "shapes")
        secret = each.text[each.start : each.end].replace("\n", "")
        return f"agent:{secret}" if "agent" in pattern or ":" in pattern else secret

    def named(self, name: str, schema: dict[str, Any], depth: int = 0) -> Any:
        """A value of a field or parameter."""
        return KNOWN[name] if name in self._known else self.fill(schema, depth)

    def fill(self, schema: dict[str, Any], depth: int = 0) -> Any:
        """A value of a JSON Schema, with a secret wherever a text may be free."""
        if "$ref" in schema:
            schema = DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        if "const" in schema or "enum" in schema:
            return schema.get("const", schema.get("enum", [None])[0])
        if "properties" not in schema:
            for several in ("anyOf", "oneOf", "allOf"):
                if several in schema:
                    return self.fill(schema[several][0], depth)
        match schema.get("type"):
            case "string":
                return self.next(schema.get("maxLength", 100_000), schema.get("pattern", ""))
            case "integer" | "number":
                return max(1, schema.get("minimum", 1))
            case "boolean":
                return False
            case "array":
                return [] if depth > 6 else [self.fill(schema.get("items", {}), depth + 1)]
            case "object" | None if depth <= 6:
                needed = schema.get("required", ())
                named = {
                    name: self.named(name, each, depth + 1)
                    for name, each in schema.get("properties", {}).items()
                    if name in needed or (self._all and name not in SKIPPED)
                }
                return named or {"note": self.next()}
        return None


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """What the server logs, in both forms."""
    said, root = io.StringIO(), logging.getLogger()
    logging.getLogger("httpx2").setLevel(logging.WARNING)  # Those are the lines of the client.
    handlers = [logging.StreamHandler(said) for _ in range(2)]
    for handler, form in zip(handlers, (JsonLines(), TextLines()), strict=True):
        handler.setFormatter(form)
        root.addHandler(handler)
    level, root.level = root.level, logging.INFO
    yield said
    root.setLevel(level)
    for handler in handlers:
        root.removeHandler(handler)


PLACES = {
    "all fields": Texts({"org", "_version", "_schema", "digest"}, all_fields=True),
    "what is required": Texts({"org", "_version", "_schema"}, all_fields=False),
    "the free texts": Texts(set(KNOWN), all_fields=True),
}
"""In which places the secrets are: those that are refused first would hide the others."""


def test_no_route_repeats_or_stores_a_secret(tmp_path: Path, log: io.StringIO) -> None:
    """In a path, a query and every text of a body, where it is refused and where it is stored."""
    folder = tmp_path / "household"
    copy_template(folder, "household")
    place = location_of(tmp_path / "state.db")
    key = first_key(place)
    leaks = {}
    app = create_app(Kernel.open(folder), store=place, rate=100_000)
    with TestClient(app, base_url="http://localhost", client=("127.0.0.1", 50_000)) as client:
        for (path, method, operation), (way, texts) in product(ROUTES, PLACES.items()):
            given = operation.get("parameters", ())
            at = {
                each["name"]: quote(
                    str(texts.named(each["name"], each["schema"] | {"maxLength": LONGEST_ID})), safe=""
                )
                for each in given
                if each["in"] == "path"
            }
            query = {
                each["name"]: texts.named(each["name"], each["schema"])
                for each in given
                if each["in"] == "query" and each["name"] not in SKIPPED
            }
            content = operation.get("requestBody", {}).get("content", {})
            body = (
                texts.fill(content["application/json"]["schema"]) if "application/json" in content else None
            )
            answer = client.request(method, path.format(**at), params=query, json=body, headers=bearer(key))
            if found := leaked(answer.text + str(answer.headers)):
                leaks[f"{method} {path} {answer.status_code} {way}"] = (found, answer.text)
    assert leaks == {}, "\n".join(map(str, leaks.items()))
    assert leaked(log.getvalue()) == []
    assert ", masked]" in (stored := everything_in(tmp_path / "state.db"))
    assert leaked(stored) == []


def everything_in(store: Path) -> str:
    """The bytes of a store, with what is beside it."""
    return "".join(
        each.read_bytes().decode("latin-1") for each in store.parent.glob("state.db*") if each.is_file()
    )


NOT_SWEPT = {"serve", "demo", "salute watch"}
"""Commands that go on until they are ended."""


def leaf_commands(
    group: click.Group, words: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """All commands that do something."""
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from leaf_commands(command, (*words, name))
        elif " ".join((*words, name)) not in NOT_SWEPT:
            yield (*words, name), command


def test_no_command_repeats_or_stores_a_secret(tmp_path: Path) -> None:
    """In every argument, and in every option that takes a text: in an error, in an answer, and in what is stored."""
    folder = tmp_path / "household"
    copy_template(folder, "household")
    first_key(location_of(tmp_path / "state.db"))
    texts, leaks = cycle(SHAPES), {}
    for words, command in leaf_commands(cli):
        takes_store = any("--store" in each.opts for each in command.params)
        arguments: list[str] = []
        for parameter in command.params:
            if isinstance(parameter, click.Argument):
                arguments.append(next(texts).text)
            elif parameter.type is click.STRING and parameter.name not in ("store", "org"):
                arguments.append(f"{parameter.opts[0]}={next(texts).text}")
        store = ["--store", str(tmp_path / "state.db")] if takes_store else []
        done = run_here(*words, *store, *arguments, cwd=folder)
        if found := leaked(done.stdout + done.stderr):
            leaks[" ".join(words)] = (found, done.stdout + done.stderr)
    assert leaks == {}, "\n".join(map(str, leaks.items()))
    assert leaked(everything_in(tmp_path / "state.db")) == []
