"""The entries of a command catalog, for the rules about them (ORG732, ORG733)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from orgkernel.documents.records import CommandCatalog, CommandFields
from orgkernel.loading.marks import RouteStep
from orgkernel.loading.sources import SourceDocument


class LocatedEntry(NamedTuple):
    """The entry of a program or of one of its subcommands."""

    program: str
    fields: CommandFields
    route: tuple[RouteStep, ...]
    """The route of the entry in its document."""


def iterate_entries(document: SourceDocument) -> Iterator[LocatedEntry]:
    """Each entry of a command catalog, subcommands after their program. Empty for another document."""
    catalog = document.record
    if not isinstance(catalog, CommandCatalog):
        return
    for name, program in catalog.programs.items():
        yield LocatedEntry(name, program, ("programs", name))
        for number, subcommand in enumerate(program.subcommands):
            yield LocatedEntry(name, subcommand, ("programs", name, "subcommands", number))
