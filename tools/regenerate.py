"""Everything in the repository that is generated: `python -m tools.regenerate` writes it, `--check` compares it.

A generated file is checked in where a user needs it there, or a reviewer its changes. The pages of the site that follow from the
code are not: `tools/site_sources.py` writes them when the site is built.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from zlib import compress, decompress, error

from manifest_api.openapi import build_openapi
from orgkernel import Kernel, __version__
from orgkernel.exchange.agent_zero.compiling import compile_bundle, render_bundle
from orgkernel.exchange.agent_zero.specification import build_organization_form
from orgkernel.project.scaffold import build_schemas, render_schema
from orgkernel.runtime.trigger_names import ALIASES, NAMES
from orgkernel.runtime.word_topics import TABLES
from tools.architecture_page import PAGE as ARCHITECTURE
from tools.architecture_page import architecture_page
from tools.command_catalog import (
    NAMES_TARGET,
    PLAIN_TARGET,
    render_command_catalog,
    render_plain_programs,
    render_program_names,
)
from tools.command_catalog import TARGET as COMMANDS
from tools.host_names import render_catalogs
from tools.learn_work import is_current
from tools.plain_records import plain_record_modules
from tools.secret_file_names import TARGET as SECRET_FILE_NAMES
from tools.secret_file_names import render_secret_file_names
from tools.word_tables import render_word_tables

REPOSITORY = Path(__file__).parents[1]
HTTP = "docs/http.md"
ORGANIZATION = "/v1/orgs/{org}"
TRIGGERS = "docs/triggers.md"
_PATHS, _PATHS_END = "<!-- paths: generated -->\n", "<!-- paths: end -->\n"
_BEGIN, _END = "<!-- names: generated -->\n", "<!-- names: end -->\n"


def generated_files() -> dict[str, str | bytes]:
    """Path below the repository to text, or to bytes where the wheel has the text compressed."""
    files: dict[str, str | bytes] = {
        f"ontology/schemas/{kind}.json": render_schema(schema) for kind, schema in build_schemas().items()
    }
    files |= plain_record_modules()
    files |= _openapi_by_tag()
    files[TRIGGERS] = _trigger_page()
    files[ARCHITECTURE] = architecture_page()
    files[HTTP] = _path_page()
    files |= _installed_organizations()
    files |= render_catalogs()
    files[f"orgkernel/runtime/{TABLES}"] = _compress(render_word_tables())
    files[COMMANDS] = _compress(render_command_catalog())
    files[PLAIN_TARGET] = _compress(render_plain_programs())
    files[SECRET_FILE_NAMES] = render_secret_file_names()
    files[NAMES_TARGET] = render_program_names()
    return files


def _compress(text: str) -> bytes:
    return compress(text.encode(), level=9)


def _openapi_by_tag() -> dict[str, str]:
    """The OpenAPI document in parts a person can review: the operations of each tag, what they share, the rest."""
    document = build_openapi()
    parts: dict[str, dict[str, Any]] = {"components": document.pop("components")}
    for path, operations in document.pop("paths").items():
        for method, operation in operations.items():
            (tag,) = operation["tags"]
            parts.setdefault(tag, {}).setdefault(path, {})[method] = operation
    parts["info"] = document
    return {
        f"tests/golden/openapi/{name}.json": json.dumps(part, indent=2, sort_keys=True) + "\n"
        for name, part in parts.items()
    }


def _installed_organizations() -> dict[str, str]:
    """What the installer of the extension brings along: a fresh host has no orgkernel to compile it with."""
    kernel, files = Kernel.open(), {}
    for org in ("sigint_alpha", "software_dev"):
        view = kernel.organization(org).snapshot.index
        document = json.dumps(build_organization_form(view), ensure_ascii=False, indent=2) + "\n"
        files[f"extension/organizations/{org}.json"] = document
        bundle = render_bundle(compile_bundle(view, f"orgkernel {__version__}"))
        files[f"extension/organizations/bundles/{org}.json"] = bundle
    return files


def _trigger_page() -> str:
    """The hand-written page with the table of names, which is data of the language."""
    text = (REPOSITORY / TRIGGERS).read_text(encoding="utf-8")
    before, _, rest = text.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    rows = ["| name | kind | unit | meaning |", "|---|---|---|---|"]
    rows += [
        f"| `{name.name}` | {name.kind} | {name.unit or '–'} | {name.description} |"
        for name in NAMES.values()
    ]
    rows += ["", "| published word | write instead |", "|---|---|"]
    rows += [f"| `{alias}` | `{target}` |" for alias, target in sorted(ALIASES.items())]
    return before + _BEGIN + "\n" + "\n".join(rows) + "\n\n" + _END + after


def _path_page() -> str:
    """The hand-written page with the paths of the OpenAPI document, a row for each resource."""
    text = (REPOSITORY / HTTP).read_text(encoding="utf-8")
    before, _, rest = text.partition(_PATHS)
    _, _, after = rest.partition(_PATHS_END)
    rows = [f"| below `{ORGANIZATION}` | `GET` | `POST` |", "|---|---|---|"]
    resources: dict[str, dict[str, list[str]]] = {}
    for path, operations in build_openapi()["paths"].items():
        inside, _, below = path.partition(ORGANIZATION)
        if not inside and below:
            resource = below.split("/")[1]
            for method in operations:
                columns = resources.setdefault(resource, {"get": [], "post": []})
                columns[method].append(f"`{below.removeprefix('/')}`")
    rows += [
        f"| {resource} | {', '.join(columns['get'])} | {', '.join(columns['post'])} |"
        for resource, columns in sorted(resources.items())
    ]
    return before + _PATHS + "\n" + "\n".join(rows) + "\n\n" + _PATHS_END + after


def stale_files() -> list[str]:
    """What differs from what would be generated, schemas and API tags that no longer exist included."""
    files = generated_files()
    stale = [name for name, content in files.items() if not _is_current(name, content)]
    for folder in ("ontology/schemas", "tests/golden/openapi"):
        present = (f"{folder}/{path.name}" for path in (REPOSITORY / folder).glob("*.json"))
        stale += [name for name in present if name not in files]
    return sorted(stale)


def _is_current(name: str, content: str | bytes) -> bool:
    path = REPOSITORY / name
    if not path.is_file():
        return False
    # Builds of zlib compress differently, so what they compress is compared.
    present = path.read_bytes()
    return present == content.encode() if isinstance(content, str) else _expand(present) == _expand(content)


def _expand(content: bytes) -> bytes | None:
    try:
        return decompress(content)
    except error:
        return None


def main() -> int:
    """Write, or with `--check` compare."""
    if "--check" in sys.argv[1:]:
        stale, learned = stale_files(), is_current()
        for name in stale:
            sys.stderr.write(f"not up to date: {name}\n")
        if stale:
            sys.stderr.write("run `make regenerate`\n")
        if not learned:
            sys.stderr.write(
                "labeled messages or shared domains changed: run `python -m tools.learn_work`, which takes minutes\n"
            )
        return 1 if stale or not learned else 0
    files = generated_files()
    for name in stale_files():
        if name in files:
            (REPOSITORY / name).parent.mkdir(parents=True, exist_ok=True)
            content = files[name]
            (REPOSITORY / name).write_bytes(content.encode() if isinstance(content, str) else content)
        else:
            (REPOSITORY / name).unlink()
        sys.stdout.write(f"wrote {name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
