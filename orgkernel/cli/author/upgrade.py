"""`orgkernel upgrade`: upgrade older documents in place and keep comments and layout."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

import click

from orgkernel.cli.opening import build_request
from orgkernel.cli.output import format_count
from orgkernel.diagnostics.wording import printable
from orgkernel.kernel.settings import find_project
from orgkernel.project.edits.text_diff import byte_order_mark
from orgkernel.project.upgrade import (
    FileUpgrade,
    UpgradeNote,
    plan_upgrades,
    render_diff,
    write_upgrades,
)


@click.command("upgrade")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--check", "check", is_flag=True, help="Write nothing; exit 1 if a file would change.")
@click.option("--diff", "diff", is_flag=True, help="Write nothing; print the changes as a diff.")
def command(paths: tuple[str, ...], check: bool, diff: bool) -> None:
    """Upgrade older documents in place.

    Comments and layout are kept. A PATH is a file or a folder. Without PATH, the paths in the nearest orgkernel.toml are
    upgraded, or else the current folder. Changes that you must make by hand are listed with their places.

    Exits 0, 1 with --check if a file would change, 2 if it cannot run or a file cannot be written.
    """
    here = os.getcwd()
    upgrades = plan_upgrades(build_request(paths, find_project(here)), here)
    changed = [each for each in upgrades if each.is_changed]
    writes = not (check or diff)
    if diff:
        for each in changed:
            # The bytes as in the file, for `patch`; always UTF-8.
            click.echo(render_diff(each, byte_order_mark(each.source.path)).encode(), nl=False)
    else:
        written: list[FileUpgrade] = []
        try:
            # Writing must not wait for the reader of stdout.
            for each in write_upgrades(changed) if writes else changed:
                written.append(each)  # noqa: PERF402  # kept when the next one fails
        finally:
            _print_changes(written, writes)
    _say_what_is_left(upgrades, writes)
    verb = "rewritten" if writes else "would be rewritten"
    click.echo(
        f"{format_count(len(changed), 'file')} {verb}, {len(upgrades) - len(changed):,} unchanged", err=True
    )
    if check and changed:
        raise click.exceptions.Exit(1)


def _print_changes(changed: Iterable[FileUpgrade], writes: bool) -> None:
    for each in changed:
        notes = "; ".join(f"{_place(note, writes)} {note.what}" for note in each.changes)
        click.echo(printable(f"{each.source.name}: {notes}"))


def _say_what_is_left(upgrades: Sequence[FileUpgrade], writes: bool) -> None:
    for each in upgrades:
        if each.refusal:
            click.echo(printable(f"{each.source.name}: not upgraded: {each.refusal}"), err=True)
        for note in each.left:
            text = f"{each.source.name}:{_place(note, writes)}: upgrade by hand: {note.what}; {note.help}"
            click.echo(printable(text), err=True)


def _place(note: UpgradeNote, writes: bool) -> str:
    """The current place in the file."""
    return ":".join(map(str, note.after if writes else note.before))
