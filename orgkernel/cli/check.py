"""`orgkernel check`: are all documents and organizations valid?"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import click

from orgkernel.cli.opening import cache_of, cache_option, format_option, request_of, save
from orgkernel.cli.output import counted
from orgkernel.cli.reports import FORMATS, append_step_summary, checked_files, print_report
from orgkernel.diagnostics import Diagnostic, Severity
from orgkernel.diagnostics.baseline import Entry, build_baseline, compare
from orgkernel.diagnostics.diagnostic import sort_diagnostics
from orgkernel.errors import NothingToRead
from orgkernel.kernel.settings import find_project
from orgkernel.kernel.stored import locate_store, read_stored
from orgkernel.project.baseline import find_baseline, is_within, read_baseline, write_baseline
from orgkernel.snapshots.loader import Loader
from orgkernel.snapshots.roots import Request, shipped_request
from orgkernel.snapshots.snapshot import Snapshot


@click.command("check")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--shipped", is_flag=True, help="Check the templates and catalogs that come with orgkernel.")
@format_option(*FORMATS)
@click.option(
    "--fail-on", type=click.Choice([severity.value for severity in Severity]),
    help="Exit 1 if there are findings of at least this severity.  [default: error, or `fail_on` in orgkernel.toml]",
)  # fmt: skip
@click.option("--baseline", metavar="FILE", help="Report only findings that are not in the baseline FILE.")
@click.option("--write-baseline", "to_write", metavar="FILE", help="Write all findings to the baseline FILE.")
@click.option(
    "--store",
    metavar="STORE",
    help="Also compare the rosters with the agents in a store: a file or a PostgreSQL URL.",
)
@cache_option
def command(
    paths: tuple[str, ...],
    shipped: bool,
    form: str,
    fail_on: str | None,
    baseline: str | None,
    to_write: str | None,
    store: str | None,
    no_cache: bool,
) -> None:
    """Check documents and organizations.

    A PATH is a file, a folder of documents or the folder of an organization. Without PATH, the paths in the nearest
    orgkernel.toml are checked, or else the current folder. Exits 0 without findings at or above --fail-on, 1 with such
    findings, 2 if it cannot run or there is nothing to check.
    """
    project = find_project(os.getcwd())
    if shipped and paths:
        raise click.UsageError("--shipped cannot be combined with PATH")
    if shipped and (baseline or to_write):
        raise click.UsageError("--shipped cannot be combined with a baseline")
    if baseline and to_write:
        raise click.UsageError("--baseline cannot be combined with --write-baseline")
    request = shipped_request() if shipped else request_of(paths, project)
    allowed = _allowed(baseline, to_write, request)
    loader = Loader(request, project.severities, cache_of(project, no_cache))
    snapshot = loader.load()
    click.get_current_context().call_on_close(lambda: save(loader))
    if not snapshot.read_anything:
        raise NothingToRead(
            "nothing to check: no orgkernel documents found",
            "create an organization with `orgkernel new DIR`",
        )
    if store is not None:
        from orgkernel.kernel.drift import find_drift  # slow to import: it imports every rule

        state = read_stored(locate_store(project, os.getcwd(), store))
        drift = find_drift(snapshot, state, project.severities)
        snapshot = replace(snapshot, diagnostics=sort_diagnostics((*snapshot.diagnostics, *drift)))
    found: Sequence[Diagnostic] = snapshot.diagnostics
    known = 0
    if file := baseline or to_write:
        found, known = _hold_against(file, allowed, snapshot, request, write=bool(to_write))
    threshold = Severity(fail_on) if fail_on else project.fail_on
    headline = _summary(found, snapshot, known)
    print_report(form, found, snapshot, threshold)
    if form == "github":
        append_step_summary(found, snapshot, headline)
    click.echo(headline, err=True)
    if any(each.severity.reaches(threshold) for each in found):
        raise click.exceptions.Exit(1)


def _allowed(baseline: str | None, to_write: str | None, request: Request) -> dict[Entry, int]:
    """The entries of the baseline. Errors are raised before the check, which may take a while."""
    if baseline:
        return read_baseline(baseline)
    return find_baseline(to_write, request) if to_write else {}


def _hold_against(
    file: str, allowed: dict[Entry, int], snapshot: Snapshot, request: Request, *, write: bool
) -> tuple[Sequence[Diagnostic], int]:
    """The findings that a baseline does not allow, and the number that it allows. With `write`, it allows all."""
    name, is_asked = _names(file, snapshot, request)
    if write:
        # Entries about files outside this run are kept.
        kept = {entry: count for entry, count in allowed.items() if not is_asked(entry.file)}
        allowed = kept | build_baseline(snapshot.diagnostics, name)
        write_baseline(file, allowed)
    comparison = compare(allowed, snapshot.diagnostics, name, is_asked)
    if comparison.stale:
        entries = f"{len(comparison.stale):,} {'entry' if len(comparison.stale) == 1 else 'entries'}"
        verb = "matches" if len(comparison.stale) == 1 else "match"
        click.echo(f"{entries} of the baseline no longer {verb}; update it with --write-baseline", err=True)
    return comparison.new, comparison.known


def _names(
    file: str, snapshot: Snapshot, request: Request
) -> tuple[Callable[[str], str], Callable[[str], bool]]:
    """Names in a baseline are relative to its folder, so the current folder does not matter."""
    here, folder = os.getcwd(), os.path.dirname(os.path.realpath(file))
    asked = [os.path.realpath(os.path.join(here, name)) for name in request.asked]

    def name(shown: str) -> str:
        path = snapshot.tree.paths.get(shown) or os.path.join(here, shown)
        return os.path.relpath(os.path.realpath(path), folder).replace(os.sep, "/")

    def is_asked(entry_file: str) -> bool:
        path = os.path.realpath(os.path.join(folder, entry_file))
        return any(is_within(path, each) for each in asked)

    return name, is_asked


def _summary(found: Sequence[Diagnostic], snapshot: Snapshot, known: int) -> str:
    counts = Counter(each.severity for each in found)
    findings = ", ".join(
        counted(counts[severity], severity.value) for severity in Severity if counts[severity]
    )
    roles = sum(len(each.records.posts) for each in snapshot.organizations.values())
    files = len(checked_files(snapshot))
    what = f"{counted(len(snapshot.organizations), 'organization')}, {counted(roles, 'role')}, {counted(files, 'file')}"
    skipped = snapshot.tree.skipped
    passed_over = f"; {counted(skipped, 'file')} skipped: not orgkernel documents" if skipped else ""
    allowed = f"; {counted(known, 'finding')} allowed by the baseline" if known else ""
    return f"{findings or 'no findings'} in {what}{passed_over}{allowed}"
