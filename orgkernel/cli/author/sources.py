"""What a check read in other formats, as a table: the format and place of each source, its agents, and what was left out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import click

from orgkernel.cli.columns import count_cells
from orgkernel.cli.opening import (
    count_servers,
    describe_what_was_read,
    print_additional_files,
    print_recognized_formats,
)
from orgkernel.cli.output import format_count
from orgkernel.diagnostics.wording import printable, quote
from orgkernel.loading.formats import FORMATS
from orgkernel.loading.formats.listing import LeftOut
from orgkernel.snapshots.foreign_trees import count_by_root
from orgkernel.snapshots.roots import Request, format_relative_path
from orgkernel.snapshots.snapshot import Snapshot

_SKILLS = "skills"
_HEADINGS = ("format", "read", "place")
_MAX_ROWS, _MAX_LEFT_OUT = 10, 5


def print_what_was_read(snapshot: Snapshot, request: Request) -> None:
    """Print the sources of a folder in other formats as a table, and what else was read.

    One source with nothing left out is one line, as for every other command.
    """
    rows = list(_count_sources(snapshot, request)) if request.detected else []
    if len(rows) + len(request.left_out) < 2:
        print_recognized_formats(snapshot, request)
    else:
        _print_table(rows)
        _print_left_out(request.left_out)
    print_additional_files(snapshot, request)


class _Row(NamedTuple):
    """A source: the title of its format, its agents, skills or servers, its place, and the number of agents."""

    format: str
    read: str
    place: str
    agents: int


def _count_sources(snapshot: Snapshot, request: Request) -> Iterator[_Row]:
    kinds = count_by_root(snapshot)
    for number, root in enumerate(request.roots):
        if root.areas and not root.context:
            agents, skills = kinds[number]["role_profile"], kinds[number]["cognitive_skill"]
            servers = 0 if agents or skills else count_servers(snapshot, root.format, root.path)
            read = describe_what_was_read(agents, skills, servers)
            if root.format == _SKILLS and not agents and not skills:
                read = "0 skills"  # all of them are word for word those of another place
            yield _Row(FORMATS[root.format].title, read, printable(root.name) or os.curdir, agents)


def _print_table(rows: Sequence[_Row]) -> None:
    shown = [_HEADINGS, *(row[:3] for row in rows[:_MAX_ROWS])]
    widths = [max(map(count_cells, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        cells = (cell + " " * (width - count_cells(cell)) for cell, width in zip(row, widths, strict=True))
        click.echo("  ".join(cells).rstrip(), err=True)
    if len(rows) > _MAX_ROWS:
        agents = format_count(sum(each.agents for each in rows), "agent")
        what = f"{format_count(len(rows) - _MAX_ROWS, 'more place')}, {agents} in all {len(rows):,}"
        click.echo(f"note: {what}; `orgkernel list` shows them", err=True)


def _print_left_out(left_out: Sequence[LeftOut]) -> None:
    here = os.getcwd()
    for each in left_out[:_MAX_LEFT_OUT]:
        place = quote(format_relative_path(each.place, here))
        click.echo(printable(f"note: left out {place}: {each.reason}"), err=True)
    if len(left_out) > _MAX_LEFT_OUT:
        more = format_count(len(left_out) - _MAX_LEFT_OUT, "more place")
        click.echo(f"note: left out {more}; `orgkernel list` names the reasons", err=True)
