"""Compiles the documents of `ontology/commands/` into the form that the reader of shell commands loads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from orgkernel.documents.records import CommandCatalog, ProgramEntry
from orgkernel.loading.marks import Marks, find_mark, unpack_mark
from orgkernel.loading.yaml_reader import parse_yaml
from orgkernel.shell.catalog import COMPILED, compile_names

REPOSITORY = Path(__file__).parents[1]
DOCUMENTS = REPOSITORY / "ontology/commands"
TARGET = f"orgkernel/shell/{COMPILED}"


def render_command_catalog() -> str:
    """The compiled catalogue as JSON, one program in a line."""
    programs: dict[str, Any] = {}
    words: dict[str, list[str]] = {
        "safeguards": [],
        "risky_words": [],
        "plain_words": [],
        "doubtful_options": [],
    }
    for path in sorted(DOCUMENTS.glob("*.yaml")):
        parsed = parse_yaml(path.read_text(encoding="utf-8"))
        assert not parsed.refusals, (path.name, parsed.refusals)
        (document,) = parsed.documents
        catalog = msgspec.convert(document.value, CommandCatalog)
        for field in words:
            words[field] += getattr(catalog, field)
        for name, entry in catalog.programs.items():
            assert name not in programs, f"two documents have an entry for {name}"
            programs[name] = _compile_program(path.name, document.marks, name, entry)
    _refuse_repeated_names(programs)
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(facts)}" for name, facts in sorted(programs.items()))
    shared = {**words, "names": dict(sorted(compile_names(programs).items()))}
    head = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in shared.items())
    return f'{{{head},\n"programs": {{\n{rows}\n}}}}\n'


def _refuse_repeated_names(programs: Mapping[str, Any]) -> None:
    seen: dict[str, str] = {}
    for name, facts in programs.items():
        for each in (name, *facts.get("also", ())):
            assert each not in seen, f"{facts['at']} names {each}, which {seen[each]} names, too"
            seen[each] = facts["at"]


def _compile_program(file: str, marks: Marks, name: str, entry: ProgramEntry) -> Mapping[str, Any]:
    def place(*route: str | int) -> str:
        line, _ = unpack_mark(find_mark(marks, ("programs", name, *route), key=True))
        return f"ontology/commands/{file}:{line}"

    facts = msgspec.to_builtins(entry)
    facts["at"] = place()
    seen: set[str] = set()
    for number, below in enumerate(facts.get("subcommands", ())):
        below["at"] = place("subcommands", number)
        assert not seen & {*below["names"]}, f"{below['at']} states {seen & {*below['names']}} again"
        seen |= {*below["names"]}
    return facts
