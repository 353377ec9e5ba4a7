"""Compiles `ontology/files/secret_files.yaml` into the module from which `orgkernel.runtime.secret_files` reads names.

A module needs no library to be read, which a hook that starts anew for each call cannot wait for.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from orgkernel.loading.yaml_reader import parse_yaml

DOCUMENT = "ontology/files/secret_files.yaml"
TARGET = "orgkernel/runtime/secret_file_names.py"
_REPOSITORY = Path(__file__).parents[1]


def render_secret_file_names() -> str:
    """The module with the names of each kind, one name in a line."""
    kinds = _read_kinds()
    rows = [
        f"    ({_quote(name)}, {_quote(kind)}),\n" for kind, entry in kinds.items() for name in entry["names"]
    ]
    exceptions = [
        f"    ({_quote(kind)}, {_quote(name)}),\n"
        for kind, entry in kinds.items()
        for name in entry.get("except", ())
    ]
    return (
        f'"""The names of secret files and their kinds. Generated from `{DOCUMENT}` by `python -m tools.regenerate`."""\n\n'
        f"NAMES = (\n{''.join(rows)})\n"
        '"""Each name with its kind. At most one `*` is in a name, or in a part of a path."""\n'
        f"EXCEPT = (\n{''.join(exceptions)})\n"
        '"""Names of a kind that are not secret."""\n'
    )


def _read_kinds() -> Mapping[str, Any]:
    parsed = parse_yaml((_REPOSITORY / DOCUMENT).read_text(encoding="utf-8"))
    assert not parsed.problems, parsed.problems
    (document,) = parsed.documents
    kinds: Mapping[str, Any] = document.value["kinds"]
    assert set(kinds) == set(document.value["sources"]), "each kind needs a source"
    for entry in kinds.values():
        for name in (*entry["names"], *entry.get("except", ())):
            assert all(part.count("*") <= 1 for part in name.split("/")), (
                f"{name} has two wildcards in a part"
            )
    return kinds


def _quote(text: str) -> str:
    assert not {'"', "\\"} & {*text}, text
    return f'"{text}"'
