"""Findings in the formats of `orgkernel check` and `orgkernel test`. CI systems need file names relative to the repository."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import click

from orgkernel.cli.output import echo_json, paint
from orgkernel.diagnostics import Diagnostic, Severity
from orgkernel.diagnostics.diagnostic import Place
from orgkernel.kernel.settings import find_project
from orgkernel.loading.files import is_within, may_show_lines, read_lines
from orgkernel.loading.sources import LoadedFiles
from orgkernel.snapshots.snapshot import Snapshot

if TYPE_CHECKING:
    from orgkernel.diagnostics.formats.junit import TestRun
    from orgkernel.diagnostics.render import ReadLines

CI_FORMATS: Final = ("github", "gitlab", "junit", "sarif")
FORMATS: Final = ("full", "concise", "json", *CI_FORMATS)
_SUMMARY_FILE: Final = "GITHUB_STEP_SUMMARY"


class Report:
    """The findings of one command, and the files they point to."""

    def __init__(
        self, heading: str, diagnostics: Sequence[Diagnostic], trees: Sequence[LoadedFiles], fail_on: Severity
    ) -> None:
        self._heading = heading
        self._diagnostics = diagnostics
        self._trees = trees
        self._fail_on = fail_on
        self._repository = _find_repository(os.getcwd())

    def print(
        self, form: str, files: Iterable[str] = (), tests: Mapping[str, Sequence[TestRun]] | None = None
    ) -> None:
        """Print the findings in one of `FORMATS`. A file that can no longer be read is shown without its lines.

        JUnit lists the `tests` of each file, or else the findings of the `files`.
        """
        if form not in CI_FORMATS:
            _print_for_here(form, self._diagnostics, self._build_line_reader(str))
            return
        renamed = [rename_places(each, self._rename) for each in self._diagnostics]
        lines = self._build_line_reader(self._rename)
        if form == "github":
            from orgkernel.diagnostics.formats.github import render_github

            click.echo(render_github(renamed, lines).encode(), nl=False)
        elif form == "gitlab":
            from orgkernel.diagnostics.formats.gitlab import render_gitlab

            echo_json(render_gitlab(renamed))
        elif form == "junit":
            click.echo(self._render_junit(renamed, files, tests).encode(), nl=False)
        else:
            from orgkernel import __version__
            from orgkernel.diagnostics.formats.sarif import render_sarif
            from orgkernel.rules.pages import build_all_pages

            echo_json(render_sarif(renamed, tuple(build_all_pages().values()), __version__, lines))

    def append_step_summary(self, headline: str) -> None:
        """Append the findings to GitHub's step summary, if there is one."""
        from orgkernel.diagnostics.formats.github import render_step_summary

        renamed = [rename_places(each, self._rename) for each in self._diagnostics]
        append_step_summary(lambda: render_step_summary(renamed, headline, self._heading))

    def _render_junit(
        self,
        renamed: Sequence[Diagnostic],
        files: Iterable[str],
        tests: Mapping[str, Sequence[TestRun]] | None,
    ) -> str:
        from orgkernel.diagnostics.formats.junit import render_junit, render_suites

        if tests is None:
            return render_junit(renamed, {self._rename(name) for name in files}, self._fail_on)
        suites = {
            self._rename(file): [
                each._replace(findings=tuple(rename_places(one, self._rename) for one in each.findings))
                for each in runs
            ]
            for file, runs in tests.items()
        }
        return render_suites(suites, self._fail_on, self._heading)

    def _rename(self, name: str) -> str:
        """The name of a file relative to the top of the current repository. A file outside of it keeps its name."""
        if self._repository is None:
            return name
        shown = (tree.paths[name] for tree in self._trees if name in tree.paths)
        path = next(shown, os.path.join(os.getcwd(), name))
        for full in (path, os.path.realpath(path)):
            if is_within(full, self._repository):
                return os.path.relpath(full, self._repository).replace(os.sep, "/")
        return name

    def _build_line_reader(self, rename: Callable[[str], str]) -> ReadLines:
        """Read lines for excerpts: of files that have not changed since they were read, and that are where they were named.

        The lines of a file that a link or the settings of a project lead to elsewhere are never printed.
        """
        files = {rename(file.located.name): file for tree in self._trees for file in tree.files}
        text: dict[str, Sequence[str]] = {}
        here = os.getcwd()
        tops = [os.path.realpath(top) for top in (here, self._repository, find_project(here).folder) if top]

        def read(name: str) -> Sequence[str]:
            if name not in text:
                file = files.get(name)
                may_show = file is not None and may_show_lines(file.located, tops)
                text[name] = read_lines(file.located.path, file.digest) if file and may_show else ()
            return text[name]

        return read


def append_step_summary(render: Callable[[], str]) -> None:
    """Append Markdown to GitHub's step summary, if there is one. If that fails, print a warning: the check is complete."""
    path = os.environ.get(_SUMMARY_FILE)
    if not path:
        return
    try:
        with open(path, "a", encoding="utf-8", newline="\n") as file:
            file.write(render())
    except OSError as error:
        click.echo(f"warning: the step summary cannot be written: {error.strerror}", err=True)


def print_errors(diagnostics: Sequence[Diagnostic], snapshot: Snapshot) -> None:
    """Print to stderr the errors that stop a command."""
    from orgkernel.diagnostics.render import render_full

    errors = [each for each in diagnostics if each.severity is Severity.ERROR]
    report = Report("", errors, (snapshot.tree,), Severity.ERROR)
    click.echo(render_full(errors, report._build_line_reader(str)), nl=False, err=True)


def _print_for_here(form: str, diagnostics: Sequence[Diagnostic], lines: ReadLines) -> None:
    if not diagnostics and form != "json":
        return
    from orgkernel.diagnostics.render import render_concise, render_full, render_json

    if form == "json":
        echo_json(render_json(diagnostics))
    else:
        text = (
            render_concise(diagnostics, paint)
            if form == "concise"
            else render_full(diagnostics, lines, paint)
        )
        click.echo(text, nl=False)


def _find_repository(folder: str) -> str | None:
    """The nearest parent folder that is a git repository."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder


def rename_places(diagnostic: Diagnostic, rename: Callable[[str], str]) -> Diagnostic:
    """A finding with other names for its files."""

    def renamed(place: Place) -> Place:
        return place._replace(file=rename(place.file))

    related = tuple(replace(each, place=renamed(each.place)) for each in diagnostic.related)
    return replace(diagnostic, place=renamed(diagnostic.place), related=related)
