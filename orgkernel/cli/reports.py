"""The output of `orgkernel check` in each format. CI systems need file names relative to the repository."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace

import click

from orgkernel.cli.output import echo_json
from orgkernel.diagnostics import Diagnostic, Severity
from orgkernel.diagnostics.diagnostic import Place
from orgkernel.diagnostics.render import ReadLines
from orgkernel.loading.files import read_lines
from orgkernel.project.baseline import is_within
from orgkernel.snapshots.snapshot import Snapshot

FORMATS = ("full", "concise", "json", "github", "gitlab", "junit", "sarif")
_SUMMARY_FILE = "GITHUB_STEP_SUMMARY"


def print_report(form: str, found: Sequence[Diagnostic], snapshot: Snapshot, fail_on: Severity) -> None:
    """Print findings in one of `FORMATS`. A file that can no longer be read is shown without its lines."""
    if form in ("full", "concise", "json"):
        _print_for_here(form, found, _line_reader(snapshot, str))
        return
    rename = _renamer(snapshot)
    renamed = [_rename_places(each, rename) for each in found]
    lines = _line_reader(snapshot, rename)
    if form == "github":
        from orgkernel.diagnostics.formats.github import render_github

        click.echo(render_github(renamed, lines).encode(), nl=False)
    elif form == "gitlab":
        from orgkernel.diagnostics.formats.gitlab import render_gitlab

        echo_json(render_gitlab(renamed))
    elif form == "junit":
        from orgkernel.diagnostics.formats.junit import render_junit

        files = {rename(name) for name in checked_files(snapshot)}
        click.echo(render_junit(renamed, files, fail_on).encode(), nl=False)
    else:
        from orgkernel import __version__
        from orgkernel.diagnostics.formats.sarif import render_sarif
        from orgkernel.rules.pages import all_pages

        echo_json(render_sarif(renamed, tuple(all_pages().values()), __version__, lines))


def say_errors(found: Sequence[Diagnostic], snapshot: Snapshot) -> None:
    """Print to stderr the errors that stop a command."""
    from orgkernel.diagnostics.render import render_full

    errors = [each for each in found if each.severity is Severity.ERROR]
    click.echo(render_full(errors, _line_reader(snapshot, str)), nl=False, err=True)


def append_step_summary(found: Sequence[Diagnostic], snapshot: Snapshot, headline: str) -> None:
    """Append the findings to GitHub's step summary, if there is one."""
    path = os.environ.get(_SUMMARY_FILE)
    if not path:
        return
    from orgkernel.diagnostics.formats.github import render_step_summary

    rename = _renamer(snapshot)
    try:
        with open(path, "a", encoding="utf-8", newline="\n") as file:
            file.write(render_step_summary([_rename_places(each, rename) for each in found], headline))
    except OSError as error:  # the check itself is complete
        click.echo(f"warning: the step summary cannot be written: {error.strerror}", err=True)


def checked_files(snapshot: Snapshot) -> set[str]:
    """Names of the files that were checked, without shared catalogs."""
    files = {document.name for document in snapshot.tree.documents if not document.context}
    return files | {each.name for each in snapshot.tree.broken}


def _print_for_here(form: str, found: Sequence[Diagnostic], lines: ReadLines) -> None:
    from orgkernel.diagnostics.render import render_concise, render_full, render_json

    if form == "json":
        echo_json(render_json(found))
    else:
        click.echo(render_concise(found) if form == "concise" else render_full(found, lines), nl=False)


def _line_reader(snapshot: Snapshot, rename: Callable[[str], str]) -> ReadLines:
    paths = {rename(name): path for name, path in snapshot.tree.paths.items()}
    text: dict[str, Sequence[str]] = {}

    def lines_of(name: str) -> Sequence[str]:
        if name not in text:
            text[name] = read_lines(paths[name]) if name in paths else ()
        return text[name]

    return lines_of


def _renamer(snapshot: Snapshot) -> Callable[[str], str]:
    """File names relative to the top of the current repository. A file outside of it keeps its name."""
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


def _rename_places(found: Diagnostic, rename: Callable[[str], str]) -> Diagnostic:
    def renamed(place: Place) -> Place:
        return place._replace(file=rename(place.file))

    related = tuple(replace(each, place=renamed(each.place)) for each in found.related)
    return replace(found, place=renamed(found.place), related=related)
