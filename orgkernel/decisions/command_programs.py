"""The command catalog of an organization: its own entries over the shipped ones."""

from __future__ import annotations

from typing import Any

import msgspec

from orgkernel.documents.records import ProgramEntry
from orgkernel.graph.records import Definition, OrgRecords
from orgkernel.shell.catalog import CommandPrograms


def build_programs(records: OrgRecords) -> CommandPrograms:
    """The programs that an organization knows."""
    return CommandPrograms({name: _build_facts(entry) for name, entry in records.programs.items()})


def _build_facts(entry: Definition[ProgramEntry]) -> dict[str, Any]:
    facts: dict[str, Any] = msgspec.to_builtins(entry.record)
    facts["at"] = _render(entry)
    for number, below in enumerate(facts.get("subcommands", ())):
        below["at"] = _render(entry, "subcommands", number)
    return facts


def _render(entry: Definition[ProgramEntry], *route: str | int) -> str:
    place = entry.place(*route)
    return f"{place.file}:{place.line}"
