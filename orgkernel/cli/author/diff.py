"""`orgkernel diff`: what did each role gain and lose between two trees?"""

from __future__ import annotations

import os

import click

from orgkernel.cli.opening import cache_option, find_cache, format_option, from_option, read_as, save
from orgkernel.cli.output import echo_answer
from orgkernel.diagnostics.wording import printable
from orgkernel.diff.render_diff import (
    as_data,
    render_github,
    render_gitlab,
    render_markdown,
    render_summary,
    render_text,
)
from orgkernel.kernel.settings import find_project
from orgkernel.project.compare import compare_trees

_RENDER = {
    "text": render_text,
    "markdown": render_markdown,
    "github": render_github,
    "gitlab": render_gitlab,
}


@click.command("diff")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="[NEW]", required=False)
@from_option
@format_option("text", "json", "github", "gitlab", "markdown")
@click.option(
    "--fail-on", type=click.Choice(["widened", "any"]),
    help="Exit 1 if access is or could be widened, or if there is any difference.",
)  # fmt: skip
@click.option("--exit-code", is_flag=True, help="The same as `--fail-on any`.")
@click.option("--org", metavar="ORG", help="Compare only this organization.  [default: all]")
@cache_option
def command(
    old: str,
    new: str | None,
    form: str,
    fail_on: str | None,
    exit_code: bool,
    org: str | None,
    no_cache: bool,
) -> None:
    """Show what changes between two versions: who may do what, who takes which task, and the edit that causes it.

    A tree is a file, a folder or a git revision: `git:REV` means the paths of the other side at REV, `git:REV:PATH` a
    PATH relative to the top of the repository, or to the current folder if it begins with `./`. Without NEW, OLD must be
    a revision and is compared with the work tree: the paths in the nearest orgkernel.toml, or else the current folder.

    Exits 0, 1 if there is a change that --fail-on names, 2 if it cannot run or an organization, role or agent
    cannot be compared.
    """
    project = find_project(os.getcwd())
    cache = find_cache(project, no_cache)
    comparison = compare_trees(old, new, project, os.getcwd(), org, read_as(), cache)
    click.get_current_context().call_on_close(lambda: save(comparison))
    report = comparison.report
    for sentence in report.incomparable:
        click.echo(f"error: {printable(sentence)}", err=True)
    for note in comparison.notes:
        click.echo(f"note: {printable(note)}", err=True)
    echo_answer(form, as_data(report), lambda: _RENDER[form](report))
    if form in ("github", "gitlab"):
        click.echo(render_summary(report), err=True)
    if report.incomparable:
        click.echo("help: run `orgkernel check` on both sides and correct the errors", err=True)
        raise click.exceptions.Exit(2)
    fails_on_any = exit_code or fail_on == "any"
    is_widened = bool(report.cut) or any(
        each.classification in ("widened", "unclear") for each in report.changes
    )
    if (fails_on_any and (report.changes or report.cut)) or (fail_on == "widened" and is_widened):
        raise click.exceptions.Exit(1)
