"""Build the page that `serve` shows: `python -m tools.page` writes it, `--check` compares what is checked in.

The types of the API (`src/api.d.ts`) are generated from the OpenAPI document, and `built/` from the sources. Both are
checked in, so that a clean clone serves the page with Python alone. The build needs `make .venv/page.stamp`.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from manifest_api.openapi import build_openapi
from manifest_api.page_files import COPY_SCRIPT
from orgkernel.cli import cli

REPOSITORY = Path(__file__).parents[1]
PAGE = REPOSITORY / "manifest_api" / "page"
PACKAGES = REPOSITORY / ".venv" / "page" / "node_modules"
_NODE = REPOSITORY / ".venv" / "page" / "bin" / "node"
TYPES = "src/api.d.ts"
COMMANDS = "src/commands.ts"
ROUTES = (
    "/v1/orgs",
    "/v1/orgs/{org}",
    "/v1/orgs/{org}/agents",
    "/v1/orgs/{org}/agents/{agent}",
    "/v1/orgs/{org}/batches/plan",
    "/v1/orgs/{org}/bills",
    "/v1/orgs/{org}/bills/{bill}",
    "/v1/orgs/{org}/changes",
    "/v1/orgs/{org}/claims",
    "/v1/orgs/{org}/contracts",
    "/v1/orgs/{org}/decisions",
    "/v1/orgs/{org}/dispatch",
    "/v1/orgs/{org}/gateway-report",
    "/v1/orgs/{org}/grants",
    "/v1/orgs/{org}/grant-preview",
    "/v1/orgs/{org}/grants/{grant}/revocation",
    "/v1/orgs/{org}/grants/{grant}/revoke",
    "/v1/orgs/{org}/handoffs",
    "/v1/orgs/{org}/lines",
    "/v1/orgs/{org}/requests",
    "/v1/orgs/{org}/requests/{request_id}/approve",
    "/v1/orgs/{org}/requests/{request_id}/deny",
    "/v1/orgs/{org}/requests/{request_id}/widening",
    "/v1/orgs/{org}/roles/{role}",
    "/v1/orgs/{org}/roles/{role}/standing-orders",
    "/v1/orgs/{org}/salute",
    "/v1/orgs/{org}/salute/stream",
    "/v1/orgs/{org}/salute/{role}/history",
    "/v1/orgs/{org}/vacancies",
    "/v1/orgs/{org}/who-can",
    "/v1/orgs/{org}/why",
    "/v1/audit",
    "/v1/audit/verification",
    "/v1/diagnostics",
    "/v1/rules",
    "/v1/rules/{code}",
    "/v1/sign-in",
    "/v1/snapshot",
)
"""The routes that the page may ask. The compiler refuses every other one."""


def build_page(target: Path) -> dict[str, bytes]:
    """The files that are checked in, by their paths below `manifest_api/page`. Uses the folder `target`."""
    return {TYPES: build_types(target), COMMANDS: build_commands()} | build_bundle(target)


def build_types(target: Path) -> bytes:
    """The types of the requests and answers of `ROUTES`."""
    document = target / "openapi.json"
    document.write_text(json.dumps(select_routes(build_openapi())), encoding="utf-8")
    types = target / "api.d.ts"
    _run(str(PACKAGES / "openapi-typescript/bin/cli.js"), str(document), "--output", str(types))
    return types.read_bytes()


def build_commands() -> bytes:
    """The commands of the program with their short help, which the page finds and copies."""
    context = click.Context(cli, info_name="orgkernel")
    rows = [json.dumps([name, about], ensure_ascii=False) for name, about in _list_commands(cli, context, "")]
    head = "// Written by `make page` from the commands of the program.\n\n"
    return f"{head}export const COMMANDS: readonly (readonly [string, string])[] = [\n  {(',' + chr(10) + '  ').join(rows)},\n];\n".encode()


def _list_commands(group: click.Group, context: click.Context, before: str) -> Iterator[tuple[str, str]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        if isinstance(command, click.Group):
            yield from _list_commands(command, click.Context(command, parent=context), f"{before}{name} ")
        else:
            yield f"{before}{name}", command.get_short_help_str(limit=200)


def build_bundle(target: Path) -> dict[str, bytes]:
    """The built files."""
    _run(str(PAGE / "build.mjs"), str(PACKAGES), str(target / "built"))
    files = {f"built/{each.name}": each.read_bytes() for each in sorted((target / "built").iterdir())}
    # The script of a copy repeats all parts, and only `orgkernel site` reads it: packed, it is a third as large.
    files[f"built/{COPY_SCRIPT}"] = gzip.compress(files.pop("built/copy.js"), mtime=0)
    return files


def is_current(name: str, content: bytes) -> bool:
    """Whether a file that is checked in has this content. What is compressed is compared unpacked, because versions of zlib
    differ.
    """
    path = PAGE / name
    if not path.is_file():
        return False
    unpack = gzip.decompress if path.suffix == ".gz" else bytes
    return unpack(path.read_bytes()) == unpack(content)


def list_built() -> set[str]:
    """The built files that are checked in. The names of parts contain hashes, so a change leaves parts behind."""
    return {f"built/{each.name}" for each in (PAGE / "built").iterdir()}


def check_types() -> None:
    """Compile the sources without writing. Raises `CalledProcessError` if a type does not fit."""
    _run(str(PACKAGES / "typescript/bin/tsc"), "--project", str(PAGE))


def select_routes(document: dict[str, Any]) -> dict[str, Any]:
    """The part of an OpenAPI document that describes `ROUTES`, with the schemas that they refer to."""
    paths = {path: document["paths"][path] for path in ROUTES}
    components = document["components"]
    schemas: dict[str, Any] = {}
    pending = [json.dumps([paths, components["responses"]])]
    while pending:
        text = pending.pop()
        for name, schema in components["schemas"].items():
            if name not in schemas and f'"#/components/schemas/{name}"' in text:
                schemas[name] = schema
                pending.append(json.dumps(schema))
    return document | {"paths": paths, "components": components | {"schemas": dict(sorted(schemas.items()))}}


def _run(*arguments: str) -> None:
    subprocess.run([str(_NODE), *arguments], check=True, cwd=PAGE, stdout=sys.stderr)


def main() -> int:
    """Write the files, or with `--check` name those that differ. 1 if any does."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder)
        if "--check" not in sys.argv[1:]:
            (PAGE / TYPES).write_bytes(build_types(target))
            (PAGE / COMMANDS).write_bytes(build_commands())
            check_types()
            bundle = build_bundle(target)
            for name in list_built() - bundle.keys():
                (PAGE / name).unlink()
            for name, content in bundle.items():
                (PAGE / name).parent.mkdir(exist_ok=True)
                (PAGE / name).write_bytes(content)
            return 0
        built = build_page(target)
    stale = [name for name, content in built.items() if not is_current(name, content)]
    for name in (*stale, *sorted(list_built() - built.keys())):
        print(f"manifest_api/page/{name} is not what its sources give: run `make page`")
    return 1 if stale or list_built() - built.keys() else 0


if __name__ == "__main__":
    sys.exit(main())
