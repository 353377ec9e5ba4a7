"""The baseline of `orgkernel check`: the findings that it allows, and how it is written."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

import click

from orgkernel.cli.output import format_count
from orgkernel.diagnostics import Diagnostic
from orgkernel.diagnostics.baseline import Allowed, Entry, build_baseline, compare
from orgkernel.loading.files import is_within
from orgkernel.project.baseline import find_baseline, read_baseline, write_baseline
from orgkernel.snapshots.roots import Request
from orgkernel.snapshots.snapshot import Snapshot


def read_allowed(file: str, request: Request, *, write: bool) -> dict[Entry, Allowed]:
    """The entries of a baseline. If it is to be written, it can be missing.

    Errors are raised before the check, which can take a while.
    """
    return find_baseline(file, request) if write else read_baseline(file)


def compare_with_baseline(
    file: str, allowed: dict[Entry, Allowed], snapshot: Snapshot, request: Request, *, write: bool
) -> tuple[Sequence[Diagnostic], int]:
    """The findings that a baseline does not allow, and the number that it allows. With `write`, it allows all."""
    name, is_asked, is_gone = _build_names(file, snapshot, request)
    if write:
        # Entries about files outside this run are kept, unless the file was renamed to one in this run.
        moved = compare(allowed, snapshot.diagnostics, name, is_asked, is_gone).moved
        kept = {
            entry: each for entry, each in allowed.items() if not is_asked(entry.file) and entry not in moved
        }
        allowed = kept | build_baseline(snapshot.diagnostics, name)
        write_baseline(file, allowed)
    comparison = compare(allowed, snapshot.diagnostics, name, is_asked, is_gone)
    if comparison.moved:
        entries = format_count(len(comparison.moved), "entry", "entries")
        verb = "names" if len(comparison.moved) == 1 else "name"
        click.echo(
            f"{entries} of the baseline {verb} a file that was renamed; update it with `--write-baseline`",
            err=True,
        )
    if comparison.stale:
        entries = format_count(len(comparison.stale), "entry", "entries")
        verb = "matches" if len(comparison.stale) == 1 else "match"
        click.echo(f"{entries} of the baseline no longer {verb}; update it with `--write-baseline`", err=True)
    return comparison.new, comparison.known


def _build_names(
    file: str, snapshot: Snapshot, request: Request
) -> tuple[Callable[[str], str], Callable[[str], bool], Callable[[str], bool]]:
    """Names in a baseline are relative to its folder, so the current folder does not matter."""
    here, folder = os.getcwd(), os.path.dirname(os.path.realpath(file))
    requested_paths = [os.path.realpath(os.path.join(here, name)) for name in request.asked]

    def name(shown: str) -> str:
        path = snapshot.tree.paths.get(shown) or os.path.join(here, shown)
        return os.path.relpath(os.path.realpath(path), folder).replace(os.sep, "/")

    def is_asked(entry_file: str) -> bool:
        path = os.path.realpath(os.path.join(folder, entry_file))
        return any(is_within(path, each) for each in requested_paths)

    def is_gone(entry_file: str) -> bool:
        return not os.path.lexists(os.path.join(folder, entry_file))

    return name, is_asked, is_gone
