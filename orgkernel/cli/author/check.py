"""`orgkernel check`: are all documents and organizations valid? CI systems need file names relative to the repository."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click
import msgspec

from orgkernel.cli.opening import (
    cache_of,
    cache_option,
    format_option,
    from_option,
    nothing_here,
    request_of,
    save,
    say_what_else,
)
from orgkernel.cli.output import counted, echo_json, painted
from orgkernel.diagnostics import Diagnostic, Severity
from orgkernel.diagnostics.diagnostic import Place, sort_diagnostics
from orgkernel.diagnostics.wording import listing
from orgkernel.kernel.settings import find_project
from orgkernel.loading.files import MAX_BYTES, Located, Root, read_lines
from orgkernel.snapshots.loader import Loader
from orgkernel.snapshots.roots import Request, build_shipped_request, get_shared_ontology
from orgkernel.snapshots.snapshot import Snapshot, does_cover_file

if TYPE_CHECKING:
    from orgkernel.diagnostics.render import ReadLines

FORMATS = ("full", "concise", "json", "github", "gitlab", "junit", "sarif")
# The name that a document on standard input is shown under.
_STDIN = "<stdin>"
_SUMMARY_FILE = "GITHUB_STEP_SUMMARY"


@click.command("check")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@from_option
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

    A PATH is a file, a folder of documents, the folder of an organization, or `-` for a document on standard input, which
    is checked by itself. Without PATH, the paths in the nearest
    orgkernel.toml are checked, or else the current folder. Exits 0 without findings at or above --fail-on, 1 with such
    findings, 2 if it cannot run or there is nothing to check.
    """
    project = find_project(os.getcwd())
    if shipped and paths:
        raise click.UsageError("--shipped cannot be combined with PATH")
    if "-" in paths:
        if len(paths) > 1 or baseline or to_write or store:
            raise click.UsageError("`-` cannot be combined with another PATH, a baseline or a store")
        no_cache = True
    if shipped and (baseline or to_write):
        raise click.UsageError("--shipped cannot be combined with a baseline")
    if baseline and to_write:
        raise click.UsageError("--baseline cannot be combined with --write-baseline")
    if paths == ("-",):
        request = Request((Root(_written_input(), _STDIN), get_shared_ontology()), frozenset({_STDIN}))
    else:
        request = build_shipped_request() if shipped else request_of(paths, project)
    file = baseline or to_write
    if file:
        from orgkernel.cli.author.baselines import allowed_by, hold_against  # few checks have a baseline

        allowed = allowed_by(file, request, write=bool(to_write))
    loader = Loader(request, project.severities, cache_of(project, no_cache))
    snapshot = loader.load()
    click.get_current_context().call_on_close(lambda: save(loader))
    _require_documents(paths, snapshot, request)
    if store is not None:
        from orgkernel.kernel.drift import find_drift  # slow to import: it imports every rule
        from orgkernel.kernel.stored import locate_store, open_store

        with open_store(locate_store(project, os.getcwd(), store), create=False) as opened:
            drift = find_drift(snapshot, opened.read_view, project.severities)
        snapshot = msgspec.structs.replace(
            snapshot, diagnostics=sort_diagnostics((*snapshot.diagnostics, *drift))
        )
    diagnostics: Sequence[Diagnostic] = snapshot.diagnostics
    known = 0
    if file:
        diagnostics, known = hold_against(file, allowed, snapshot, request, write=bool(to_write))
    threshold = Severity(fail_on) if fail_on else project.fail_on
    headline = _summary(diagnostics, snapshot, request, known)
    _print_report(form, diagnostics, snapshot, request, threshold)
    if form == "github":
        _append_step_summary(diagnostics, snapshot, headline)
    if not shipped:
        say_what_else(snapshot, request)
    click.echo(headline, err=True)
    if any(each.severity.reaches(threshold) for each in diagnostics):
        raise click.exceptions.Exit(1)


def _written_input() -> str:
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
        raise nothing_here(f"nothing to check: there are no orgkernel documents in {listing(where)}", where)


def _summary(diagnostics: Sequence[Diagnostic], snapshot: Snapshot, request: Request, known: int) -> str:
    counts = Counter(each.severity for each in diagnostics)
    findings = ", ".join(
        counted(counts[severity], severity.value) for severity in Severity if counts[severity]
    )

    reported_names = snapshot.list_reported(request.asked)
    organizations = [
        each.records
        for each in snapshot.organizations.values()
        if each.records.document.name in reported_names
    ]
    roles = sum(len(each.posts) for each in organizations)
    if not organizations:
        profiles = (each for each in snapshot.tree.documents if each.kind == "role_profile")
        roles = sum(each.name in reported_names for each in profiles)
    files = len(_checked_files(snapshot, request))
    numbers = ((len(organizations), "organization"), (roles, "role"), (files, "file"))
    what = ", ".join(counted(number, noun) for number, noun in numbers if number or organizations)
    own = (
        file.located.name
        for file in snapshot.tree.files
        if file.read.skipped and not file.located.root.shared
    )
    skipped = sum(any(does_cover_file(each, name) for each in request.asked) for name in own)
    passed_over = f"; {counted(skipped, 'file')} skipped: not orgkernel documents" if skipped else ""
    allowed = f"; {counted(known, 'finding')} allowed by the baseline" if known else ""
    return f"{findings or 'no findings'} in {what}{passed_over}{allowed}"


def _print_report(
    form: str, diagnostics: Sequence[Diagnostic], snapshot: Snapshot, request: Request, fail_on: Severity
) -> None:
    """Print findings in one of `FORMATS`. A file that can no longer be read is shown without its lines."""
    if form in ("full", "concise", "json"):
        _print_for_here(form, diagnostics, _line_reader(snapshot, str))
        return
    rename = _renamer(snapshot)
    renamed = [_rename_places(each, rename) for each in diagnostics]
    lines = _line_reader(snapshot, rename)
    if form == "github":
        from orgkernel.diagnostics.formats.github import render_github

        click.echo(render_github(renamed, lines).encode(), nl=False)
    elif form == "gitlab":
        from orgkernel.diagnostics.formats.gitlab import render_gitlab

        echo_json(render_gitlab(renamed))
    elif form == "junit":
        from orgkernel.diagnostics.formats.junit import render_junit

        files = {rename(name) for name in _checked_files(snapshot, request)}
        click.echo(render_junit(renamed, files, fail_on).encode(), nl=False)
    else:
        from orgkernel import __version__
        from orgkernel.diagnostics.formats.sarif import render_sarif
        from orgkernel.rules.pages import build_all_pages

        echo_json(render_sarif(renamed, tuple(build_all_pages().values()), __version__, lines))


def say_errors(diagnostics: Sequence[Diagnostic], snapshot: Snapshot) -> None:
    """Print to stderr the errors that stop a command."""
    from orgkernel.diagnostics.render import render_full

    errors = [each for each in diagnostics if each.severity is Severity.ERROR]
    click.echo(render_full(errors, _line_reader(snapshot, str)), nl=False, err=True)


def _append_step_summary(diagnostics: Sequence[Diagnostic], snapshot: Snapshot, headline: str) -> None:
    """Append the findings to GitHub's step summary, if there is one."""
    path = os.environ.get(_SUMMARY_FILE)
    if not path:
        return
    from orgkernel.diagnostics.formats.github import render_step_summary

    rename = _renamer(snapshot)
    try:
        with open(path, "a", encoding="utf-8", newline="\n") as file:
            file.write(render_step_summary([_rename_places(each, rename) for each in diagnostics], headline))
    except OSError as error:  # the check itself is complete
        click.echo(f"warning: the step summary cannot be written: {error.strerror}", err=True)


def _checked_files(snapshot: Snapshot, request: Request) -> frozenset[str]:
    """Names of the files that were asked about and have documents."""
    files = {file.located.name for file in snapshot.tree.files}  # an organization may be written in no file
    return snapshot.list_reported(request.asked) & snapshot.names_of_documents & files


def _print_for_here(form: str, diagnostics: Sequence[Diagnostic], lines: ReadLines) -> None:
    from orgkernel.diagnostics.render import render_concise, render_full, render_json

    if form == "json":
        echo_json(render_json(diagnostics))
    else:
        text = (
            render_concise(diagnostics, painted)
            if form == "concise"
            else render_full(diagnostics, lines, painted)
        )
        click.echo(text, nl=False)


def _line_reader(snapshot: Snapshot, rename: Callable[[str], str]) -> ReadLines:
    """Lines for excerpts: of files that are as they were read, and that lie where they were asked for.

    What a link or the settings of a project lead to elsewhere is never printed.
    """
    files = {rename(file.located.name): file for file in snapshot.tree.files}
    text: dict[str, Sequence[str]] = {}
    here = os.getcwd()
    tops = [os.path.realpath(top) for top in (here, _find_repository(here), find_project(here).folder) if top]

    def lines_of(name: str) -> Sequence[str]:
        if name not in text:
            file = files.get(name)
            may_show = file is not None and _may_show(file.located, tops)
            text[name] = read_lines(file.located.path, file.digest) if file and may_show else ()
        return text[name]

    return lines_of


def _may_show(located: Located, tops: Sequence[str]) -> bool:
    """Whether a file lies in one of some folders, or in a folder that was named on the command line and is no link."""
    from orgkernel.project.baseline import is_within

    real, root = os.path.realpath(located.path), located.root.path
    named = () if located.root.from_settings or os.path.islink(root) else (os.path.realpath(root),)
    return any(is_within(real, top) for top in (*tops, *named))


def _renamer(snapshot: Snapshot) -> Callable[[str], str]:
    """File names relative to the top of the current repository. A file outside of it keeps its name."""
    from orgkernel.project.baseline import is_within

    here = os.getcwd()
    top = _find_repository(here)
    if top is None:
        return str

    def rename(name: str) -> str:
        path = snapshot.tree.paths.get(name) or os.path.join(here, name)
        for full in (path, os.path.realpath(path)):
            if is_within(full, top):
                return os.path.relpath(full, top).replace(os.sep, "/")
        return name

    return rename


def _find_repository(folder: str) -> str | None:
    """The nearest parent folder that is a git repository."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder


def _rename_places(diagnostic: Diagnostic, rename: Callable[[str], str]) -> Diagnostic:
    def renamed(place: Place) -> Place:
        return place._replace(file=rename(place.file))

    related = tuple(replace(each, place=renamed(each.place)) for each in diagnostic.related)
    return replace(diagnostic, place=renamed(diagnostic.place), related=related)
