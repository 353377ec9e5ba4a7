"""The baseline of `orgkernel check`: which findings it allows, and how it is written."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

import click

from orgkernel.diagnostics import Diagnostic
from orgkernel.diagnostics.baseline import Entry, build_baseline, compare
from orgkernel.project.baseline import find_baseline, is_within, read_baseline, write_baseline
from orgkernel.snapshots.roots import Request
from orgkernel.snapshots.snapshot import Snapshot


def read_allowed_entries(file: str, request: Request, *, write: bool) -> dict[Entry, int]:
    """The entries of a baseline. If it is to be written, its file need not exist yet.

    Errors are raised before the check, which may take a while.
    """
    return find_baseline(file, request) if write else read_baseline(file)


def hold_against(
    file: str, allowed: dict[Entry, int], snapshot: Snapshot, request: Request, *, write: bool
) -> tuple[Sequence[Diagnostic], int]:
    """The findings that a baseline does not allow, and the number that it allows. With `write`, it allows all."""
    name, is_asked = _build_name_functions(file, snapshot, request)
    if write:
        # Entries about files outside this run are kept.
        kept = {entry: count for entry, count in allowed.items() if not is_asked(entry.file)}
        allowed = kept | build_baseline(snapshot.diagnostics, name)
        write_baseline(file, allowed)
    comparison = compare(allowed, snapshot.diagnostics, name, is_asked)
    if comparison.stale:
        entries = f"{len(comparison.stale):,} {'entry' if len(comparison.stale) == 1 else 'entries'}"
        verb = "matches" if len(comparison.stale) == 1 else "match"
        click.echo(f"{entries} of the baseline no longer {verb}; update it with `--write-baseline`", err=True)
    return comparison.new, comparison.known


def _build_name_functions(
    file: str, snapshot: Snapshot, request: Request
) -> tuple[Callable[[str], str], Callable[[str], bool]]:
    """Names in a baseline are relative to its folder, so the current folder does not matter."""
    here, folder = os.getcwd(), os.path.dirname(os.path.realpath(file))
    requested_paths = [os.path.realpath(os.path.join(here, name)) for name in request.asked]

    def name(shown: str) -> str:
        path = snapshot.tree.paths.get(shown) or os.path.join(here, shown)
        return os.path.relpath(os.path.realpath(path), folder).replace(os.sep, "/")

    def is_asked(entry_file: str) -> bool:
        path = os.path.realpath(os.path.join(folder, entry_file))
        return any(is_within(path, each) for each in requested_paths)

    return name, is_asked
