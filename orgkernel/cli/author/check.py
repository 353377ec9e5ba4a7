"""`orgkernel check`: are all documents and organizations valid?"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Sequence

import click
import msgspec

from orgkernel.cli.author.choices import CodeChoice, count_by_code, render_statistics, shorten
from orgkernel.cli.author.reports import FORMATS, Report
from orgkernel.cli.author.sources import print_what_was_read
from orgkernel.cli.opening import (
    build_nothing_to_read,
    build_request,
    cache_option,
    find_cache,
    format_option,
    from_option,
    save,
)
from orgkernel.cli.output import echo_answer, format_count
from orgkernel.diagnostics import Diagnostic, Severity
from orgkernel.diagnostics.diagnostic import sort_diagnostics
from orgkernel.diagnostics.wording import listing, printable
from orgkernel.kernel.settings import Project, find_project
from orgkernel.loading.files import MAX_BYTES, Root
from orgkernel.loading.sources import LoadedFiles
from orgkernel.snapshots.loader import Loader
from orgkernel.snapshots.roots import Request, build_shipped_request, get_shared_ontology
from orgkernel.snapshots.snapshot import Snapshot, does_cover_file

# The name that a document on standard input is shown under.
_STDIN = "<stdin>"


@click.command("check")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@from_option
@click.option("--shipped", is_flag=True, help="Check the templates and catalogs that come with orgkernel.")
@format_option(*FORMATS)
@click.option(
    "--fail-on", type=click.Choice([severity.value for severity in Severity]),
    help="Exit 1 if there are findings of at least this severity.  [default: error, or `fail_on` in orgkernel.toml]",
)  # fmt: skip
@click.option(
    "--select",
    multiple=True,
    metavar="CODES",
    help="Report only findings of these rules: codes, beginnings of codes such as ORG7, or names, with commas.",
)
@click.option("--ignore", multiple=True, metavar="CODES", help="Do not report findings of these rules.")
@click.option(
    "--statistics", is_flag=True, help="Print the number of findings of each rule instead of the findings."
)
@click.option(
    "--fix", is_flag=True, help="Correct misspelled names where one known name is near, and print the diff."
)
@click.option(
    "--diff", is_flag=True, help="Print the diff of --fix and change nothing. Exit 1 if there is one."
)
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
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    statistics: bool,
    fix: bool,
    diff: bool,
    baseline: str | None,
    to_write: str | None,
    store: str | None,
    no_cache: bool,
) -> None:
    """Check documents and organizations.

    A PATH is a file, a folder of documents, the folder of an organization, or `-` for a document on standard input, which
    is checked by itself. Without PATH, the paths in the nearest
    orgkernel.toml are checked, or else the current folder. Exits 0 without findings at or above --fail-on, 1 with such
    findings, 2 if it cannot run or there is nothing to check. Rules that are not reported do not affect the exit code, and
    change no answer: an organization with an error does not answer, even if the error is not reported.
    """
    project = find_project(os.getcwd())
    _refuse_combinations(paths, shipped, baseline, to_write, store)
    file = baseline or to_write
    _refuse_formats(
        form, statistics=statistics, corrects=fix or diff, is_own=not shipped and "-" not in paths
    )
    choice = CodeChoice(select, ignore)
    if to_write and choice.is_limited:
        raise click.UsageError("`--write-baseline` cannot be combined with `--select` or `--ignore`")
    no_cache = no_cache or "-" in paths
    if paths == ("-",):
        request = Request((Root(_write_input(), _STDIN), get_shared_ontology()), frozenset({_STDIN}))
    else:
        request = build_shipped_request() if shipped else build_request(paths, project)
    if file:
        from orgkernel.cli.author.baselines import (  # few checks have a baseline
            compare_with_baseline,
            read_allowed,
        )

        allowed = read_allowed(file, request, write=bool(to_write))
    loader = Loader(request, project.severities, find_cache(project, no_cache))
    snapshot = loader.load()
    click.get_current_context().call_on_close(lambda: save(loader))
    _require_documents(paths, snapshot, request)
    if store is not None:
        snapshot = _add_drift(snapshot, project, store)
    diagnostics: Sequence[Diagnostic] = snapshot.diagnostics
    known = 0
    if file:
        diagnostics, known = compare_with_baseline(file, allowed, snapshot, request, write=bool(to_write))
    before = len(diagnostics)
    diagnostics = [each for each in diagnostics if choice.does_report(each.code)]
    hidden = before - len(diagnostics)
    if fix or diff:
        _correct(diagnostics, snapshot.tree, write=not diff)
        snapshot = loader.load()
        diagnostics = [each for each in snapshot.diagnostics if choice.does_report(each.code)]
    threshold = Severity(fail_on) if fail_on else project.fail_on
    headline = _render_summary(diagnostics, snapshot, request, known, hidden)
    report = Report("orgkernel check", diagnostics, (snapshot.tree,), threshold)
    if statistics:
        rows = count_by_code(diagnostics)
        echo_answer(form, rows, lambda: render_statistics(rows))
    elif form == "full" and not choice.is_limited:
        _print_shortened(diagnostics, snapshot, threshold)
    else:
        report.print(form, _list_checked_files(snapshot, request))
    if form == "github":
        report.append_step_summary(headline)
    if not shipped:
        print_what_was_read(snapshot, request)
    click.echo(headline, err=True)
    if any(each.severity.reaches(threshold) for each in diagnostics):
        raise click.exceptions.Exit(1)


def _correct(diagnostics: Sequence[Diagnostic], tree: LoadedFiles, *, write: bool) -> None:
    """Print the certain corrections as a diff, and write them. Without `write`, the command ends."""
    from orgkernel.project.corrections import plan_corrections, write_corrections

    corrections = plan_corrections(diagnostics, tree)
    for each in corrections:
        for line in each.build_diff().split("\n")[:-1]:
            click.echo(printable(line.removesuffix("\r")) + ("\r" if line.endswith("\r") else ""))
    count = sum(each.corrected for each in corrections)
    if write:
        write_corrections(corrections)
    done = "corrected" if write else "would correct"
    what = f"{format_count(count, 'finding')} in {format_count(len(corrections), 'file')}"
    click.echo(f"note: {done} {what}" if count else "note: nothing to correct", err=True)
    if not write:
        raise click.exceptions.Exit(bool(count))


def _add_drift(snapshot: Snapshot, project: Project, store: str) -> Snapshot:
    """The snapshot with the differences between its rosters and the agents in a store."""
    from orgkernel.kernel.drift import find_drift  # slow to import: it imports every rule
    from orgkernel.kernel.stored import locate_store, open_store

    with open_store(locate_store(project, os.getcwd(), store), create=False) as opened:
        drift = find_drift(snapshot, opened.read_view, project.severities)
    return msgspec.structs.replace(snapshot, diagnostics=sort_diagnostics((*snapshot.diagnostics, *drift)))


def _print_shortened(diagnostics: Sequence[Diagnostic], snapshot: Snapshot, threshold: Severity) -> None:
    """Print the findings, of much information of one kind only the first, and how to list the rest."""
    shown, left_out = shorten(diagnostics)
    Report("orgkernel check", shown, (snapshot.tree,), threshold).print("full")
    for code, number in left_out.items():
        click.echo(f"note: {number:,} more {code}: `orgkernel check --select {code}` lists them", err=True)


def _refuse_combinations(
    paths: tuple[str, ...], shipped: bool, baseline: str | None, to_write: str | None, store: str | None
) -> None:
    """Raise `click.UsageError` for options that exclude each other."""
    if shipped and paths:
        raise click.UsageError("`--shipped` cannot be combined with PATH")
    if "-" in paths and (len(paths) > 1 or baseline or to_write or store):
        raise click.UsageError("`-` cannot be combined with another PATH, a baseline or a store")
    if shipped and (baseline or to_write):
        raise click.UsageError("`--shipped` cannot be combined with a baseline")
    if baseline and to_write:
        raise click.UsageError("`--baseline` cannot be combined with `--write-baseline`")


def _refuse_formats(form: str, *, statistics: bool, corrects: bool, is_own: bool) -> None:
    """Raise `click.UsageError` for options that need other formats or files."""
    if statistics and form not in ("full", "json"):
        raise click.UsageError("`--statistics` has the formats full and json only")
    if corrects and (not is_own or form not in ("full", "concise") or statistics):
        raise click.UsageError(
            "`--fix` and `--diff` need files that can be changed, the format full or concise, and no baseline"
        )


def _write_input() -> str:
    """A file with standard input, until the command ends."""
    content = sys.stdin.buffer.read(MAX_BYTES + 1)
    import shutil
    import tempfile

    folder = tempfile.mkdtemp(prefix="orgkernel-")
    click.get_current_context().call_on_close(lambda: shutil.rmtree(folder, ignore_errors=True))
    path = os.path.join(folder, _STDIN)
    with open(path, "wb") as file:
        file.write(content)
    return path


def _require_documents(paths: tuple[str, ...], snapshot: Snapshot, request: Request) -> None:
    """Raise `NothingToRead` if a path of the command line has no documents: it must not look as if it were checked."""
    names = snapshot.names_of_documents | {each.place.file for each in snapshot.diagnostics}
    without = [
        each for each in sorted(request.asked) if not any(does_cover_file(each, name) for name in names)
    ]
    if without and (paths or len(without) == len(request.asked)):
        where = [os.path.normpath(each) for each in without]
        raise build_nothing_to_read(
            f"nothing to check: there are no orgkernel documents and no agents in {listing(where)}",
            where,
            request.left_out,
        )


def _render_summary(
    diagnostics: Sequence[Diagnostic], snapshot: Snapshot, request: Request, known: int, hidden: int
) -> str:
    counts = Counter(each.severity for each in diagnostics)
    findings = ", ".join(
        format_count(counts[severity], severity.value) for severity in Severity if counts[severity]
    )

    reported_names = snapshot.list_reported(request.asked)
    organizations = [
        each.records
        for each in snapshot.organizations.values()
        if each.records.document.name in reported_names
    ]
    roles = sum(len(each.posts.keys() | each.withheld.keys()) for each in organizations)
    if not organizations:
        profiles = (each for each in snapshot.tree.documents if each.kind == "role_profile")
        roles = sum(each.name in reported_names for each in profiles)
    files = len(_list_checked_files(snapshot, request))
    numbers = ((len(organizations), "organization"), (roles, "role"), (files, "file"))
    what = ", ".join(format_count(number, noun) for number, noun in numbers if number or organizations)
    own = (
        file.located.name
        for file in snapshot.tree.files
        if file.read.skipped and not file.located.root.shared
    )
    skipped = sum(any(does_cover_file(each, name) for each in request.asked) for name in own)
    passed_over = f"; {format_count(skipped, 'file')} skipped: not orgkernel documents" if skipped else ""
    allowed = f"; {format_count(known, 'finding')} allowed by the baseline" if known else ""
    not_chosen = f"; {format_count(hidden, 'finding')} of other rules" if hidden else ""
    return f"{findings or 'no findings'} in {what}{passed_over}{allowed}{not_chosen}"


def _list_checked_files(snapshot: Snapshot, request: Request) -> frozenset[str]:
    """Names of the files that were asked about and have documents."""
    files = {file.located.name for file in snapshot.tree.files}  # an organization may be written in no file
    return snapshot.list_reported(request.asked) & snapshot.names_of_documents & files
