"""`orgkernel test`: does the organization decide as its author expects?"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from orgkernel.cli.author.reports import CI_FORMATS, Report
from orgkernel.cli.opening import (
    build_request,
    cache_option,
    find_cache,
    format_option,
    from_option,
    print_recognized_formats,
    save,
)
from orgkernel.cli.output import echo_json, format_count, join_lines
from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.case_rows import UNANSWERED_CASES
from orgkernel.diagnostics.wording import clean
from orgkernel.errors import NothingToRead
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.settings import Project, find_project
from orgkernel.loading.files import Root, is_within
from orgkernel.loading.sources import LoadedFiles, SourceDocument
from orgkernel.project.cases import Expectation, run_cases
from orgkernel.runtime.progress import show_stage
from orgkernel.snapshots.roots import Request

if TYPE_CHECKING:
    from orgkernel.diagnostics.formats.junit import TestRun
    from orgkernel.project.case_coverage import CaseCoverage


@click.command("test")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option(
    "--path", "paths", multiple=True, metavar="PATH",
    help="File or folder with the organizations; repeatable.  [default: the folders of the FILEs]",
)  # fmt: skip
@from_option
@click.option("--cover", is_flag=True, help="Also list what no case asks about.")
@cache_option
@format_option("text", "json", *CI_FORMATS)
def command(files: tuple[str, ...], paths: tuple[str, ...], cover: bool, no_cache: bool, form: str) -> None:
    """Run the decision cases in FILEs against their organizations, or the organizations in --path.

    A FILE is a file or a folder. Without FILE, the cases in the paths of the nearest orgkernel.toml are run, or else those in
    the current folder. --cover lists the roles, tools, policies and denials that no case asks about; it needs the format
    text or json.

    Exits 0 if all expectations are met, 1 if one is not, 2 if cases cannot be run.
    """
    if cover and form in CI_FORMATS:
        raise click.UsageError("--cover needs --format text or json")
    here = os.getcwd()
    for file in files:
        if not os.path.exists(file):
            raise NothingToRead(f"`{file}` does not exist")
    project = find_project(here)
    kernel, request = _open(project, paths or files, no_cache=no_cache)
    # Cases in the folders of their organizations are read, and cached, with them.
    cases = _read_elsewhere(files, here) if paths and files else kernel.state.latest.tree
    wanted = [os.path.realpath(file) for file in files]
    documents = _choose_cases(cases, wanted)
    print_recognized_formats(kernel.state.latest, request)
    click.get_current_context().call_on_close(lambda: save(kernel))
    with show_stage(f"running the cases of {format_count(len(documents), 'document')}"):
        results = list(run_cases(kernel, documents))
        coverage = _compute_coverage(kernel, documents) if cover else None
    if form == "json":
        echo_json(_render_json(results, coverage))
    else:
        _print_results(form, results, (kernel.state.latest.tree, cases))
        if coverage is not None:
            from orgkernel.project.case_coverage import render_coverage

            click.echo(join_lines(render_coverage(coverage)), nl=False)
    click.echo(_count(results), err=True)
    if any(each.code == UNANSWERED_CASES.code for result in results for each in result.failures):
        raise click.exceptions.Exit(2)
    if any(result.failures for result in results):
        raise click.exceptions.Exit(1)


def _open(project: Project, paths: Sequence[str], *, no_cache: bool) -> tuple[Kernel, Request]:
    request = build_request(tuple(paths), project)
    cache = find_cache(project, no_cache)
    return Kernel(request, active=project.active, severities=project.severities, cache=cache), request


def _read_elsewhere(files: Sequence[str], here: str) -> LoadedFiles:
    """Read cases that are not in the folders of their organizations."""
    from orgkernel.loading.tree import read_tree  # slow to import: it imports the validators

    return read_tree(
        Root(os.path.normpath(os.path.join(here, file)), os.path.normpath(file)) for file in files
    )


def _choose_cases(tree: LoadedFiles, wanted: Sequence[str]) -> list[SourceDocument]:
    """The documents of cases at the wanted paths, or everywhere. Raises `NothingToRead` for cases that cannot be read."""

    def is_wanted(path: str) -> bool:
        real = os.path.realpath(path)
        return not wanted or any(is_within(real, each) for each in wanted)

    broken = {
        each.name for each in tree.broken if each.kind in ("decision_cases", None) and is_wanted(each.path)
    }
    diagnostics = [each for each in tree.diagnostics if each.place.file in broken]
    if diagnostics:
        from orgkernel.diagnostics.render import render_concise

        click.echo(render_concise(diagnostics), nl=False, err=True)
        raise NothingToRead("the decision cases cannot be read")
    documents = [
        each
        for each in tree.documents
        if each.kind == "decision_cases" and not each.context and is_wanted(each.path)
    ]
    if not documents:
        raise NothingToRead(
            "these files contain no decision cases" if wanted else "there are no decision cases here",
            "write them into a file with `_schema: orgkernel:decision_cases`",
        )
    return documents


def _compute_coverage(kernel: Kernel, documents: Sequence[SourceDocument]) -> list[CaseCoverage]:
    from orgkernel.project.case_coverage import compute_coverage  # few runs need it

    return compute_coverage(kernel, documents)


def _print_results(form: str, results: Sequence[Expectation], trees: Sequence[LoadedFiles]) -> None:
    diagnostics = [each for result in results for each in result.failures]
    report = Report("orgkernel test", diagnostics, trees, Severity.ERROR)
    if form == "junit":
        report.print(form, tests=_build_tests(results))
    else:
        report.print("full" if form == "text" else form)
    if form == "github":
        report.append_step_summary(_count(results))


def _build_tests(results: Sequence[Expectation]) -> dict[str, list[TestRun]]:
    """One test for each question, by file. Names are unique, because a history of test runs identifies a test by its name."""
    from orgkernel.diagnostics.formats.junit import TestRun

    tests: dict[str, list[TestRun]] = {}
    seen: dict[tuple[str, str], int] = {}
    for result in results:
        file, name = result.place.file, clean(f"{result.case}: {result.question}")
        number = seen[file, name] = seen.get((file, name), 0) + 1
        skipped = "" if result.is_asked else "not run, because its case or its organization has an error"
        run = TestRun(f"{name} #{number}" if number > 1 else name, result.failures, skipped)
        tests.setdefault(file, []).append(run)
    return tests


def _count(results: Sequence[Expectation]) -> str:
    passed, skipped = (
        sum(each.has_passed for each in results),
        sum(not each.is_asked for each in results),
    )
    not_run = f", {skipped:,} not run" if skipped else ""
    return f"{passed:,} passed, {len(results) - passed - skipped:,} failed{not_run}"


def _render_json(results: Sequence[Expectation], coverage: Sequence[CaseCoverage] | None) -> str:
    listed = [
        {
            "case": result.case,
            "question": result.question,
            "outcome": "not_run" if not result.is_asked else "failed" if result.failures else "passed",
            "passed": result.has_passed,
            "failures": [
                {
                    "code": each.code,
                    "name": each.name,
                    "message": each.message,
                    "help": each.help,
                    "file": each.place.file,
                    "line": each.place.line,
                    "column": each.place.column,
                }
                for each in result.failures
            ],
        }
        for result in results
    ]
    if coverage is None:
        return json.dumps(listed, indent=2, ensure_ascii=False)
    from orgkernel.project.case_coverage import as_data

    return json.dumps({"results": listed, "cover": as_data(coverage)}, indent=2, ensure_ascii=False)
