"""`orgkernel test`: does the organization decide as its author expects?"""

from __future__ import annotations

import json
import os

import click

from orgkernel.cli.opening import (
    cache_option,
    find_cache,
    format_option,
    from_option,
    read_as,
    save,
    say_format,
)
from orgkernel.cli.output import echo_json, join_lines
from orgkernel.diagnostics.render import render_concise
from orgkernel.errors import NothingToRead
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.settings import find_project
from orgkernel.loading.files import Root
from orgkernel.loading.sources import Tree
from orgkernel.loading.tree import read_tree
from orgkernel.project.cases import Expectation, run_cases
from orgkernel.project.requests import request_of


@click.command("test")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--path", "paths", multiple=True, metavar="PATH",
    help="File or folder with the organizations; repeatable.  [default: the folders of the FILEs]",
)  # fmt: skip
@from_option
@cache_option
@format_option("text", "json")
def command(files: tuple[str, ...], paths: tuple[str, ...], no_cache: bool, form: str) -> None:
    """Run the decision cases in FILEs against their organizations, or the organizations in --path.

    Exits 0 if all expectations are met, 1 if one is not, 2 if the cases cannot be run.
    """
    here = os.getcwd()
    cases = read_tree(Root(request.path, request.name) for request in _roots(files, here))
    _refuse_unreadable(cases)
    documents = [document for document in cases.documents if document.kind == "decision_cases"]
    if not documents:
        raise NothingToRead("these files contain no decision cases")
    project = find_project(here)
    request = request_of(project, here, paths or files, read_as())
    kernel = Kernel(
        request,
        active=project.active,
        severities=project.severities,
        cache=find_cache(project, no_cache),
    )
    say_format(kernel.state.latest, request)
    click.get_current_context().call_on_close(lambda: save(kernel))
    results = [result for document in documents for result in run_cases(kernel, document)]
    failed = [result for result in results if result.failures]
    if form == "json":
        echo_json(_as_json(results))
    else:
        click.echo(_as_text(failed), nl=False)
    click.echo(f"{len(results) - len(failed)} passed, {len(failed)} failed", err=True)
    if failed:
        raise click.exceptions.Exit(1)


def _roots(files: tuple[str, ...], here: str) -> list[Root]:
    for file in files:
        if not os.path.exists(file):
            raise NothingToRead(f"`{file}` does not exist")
    return [Root(os.path.normpath(os.path.join(here, file)), os.path.normpath(file)) for file in files]


def _refuse_unreadable(cases: Tree) -> None:
    broken = {each.name for each in cases.broken}
    diagnostics = [each for each in cases.diagnostics if each.place.file in broken]
    if diagnostics:
        click.echo(render_concise(diagnostics), nl=False, err=True)
        raise NothingToRead("the decision cases cannot be read")


def _as_text(failed: list[Expectation]) -> str:
    return join_lines(
        f"{place}: {result.case}: {result.question}: {message}"
        for result in failed
        for place, message in result.failures
    )


def _as_json(results: list[Expectation]) -> str:
    listed = [
        {
            "case": result.case,
            "question": result.question,
            "passed": not result.failures,
            "failures": [
                {"message": message, "file": place.file, "line": place.line, "column": place.column}
                for place, message in result.failures
            ],
        }
        for result in results
    ]
    return json.dumps(listed, indent=2, ensure_ascii=False)
