"""`orgkernel check`: is everything that is declared in order?"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence

import click

from orgkernel.cli.opening import format_option, request_of
from orgkernel.cli.output import echo_json
from orgkernel.diagnostics import Diagnostic, Severity
from orgkernel.diagnostics.render import render_concise, render_full, render_json
from orgkernel.errors import NothingToRead
from orgkernel.kernel.project import find_project
from orgkernel.kernel.roots import shipped_request
from orgkernel.kernel.snapshot import Snapshot, build_snapshot
from orgkernel.loading.files import read_lines


@click.command("check")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--shipped", is_flag=True, help="Check what comes with the package.")
@format_option("full", "concise", "json")
@click.option(
    "--fail-on", type=click.Choice([severity.value for severity in Severity]),
    help="Exit 1 for findings at least this bad.  [default: error, or what orgkernel.toml says]",
)  # fmt: skip
def command(paths: tuple[str, ...], shipped: bool, form: str, fail_on: str | None) -> None:
    """Check documents and organisations.

    A PATH is a file, a folder of documents, or an organisation's folder; without one, the paths of the nearest
    orgkernel.toml are checked, else the current folder. Exits 0 when clean, 1 with findings at or above --fail-on, 2
    when it cannot run or there is nothing to check.
    """
    project = find_project(os.getcwd())
    if shipped and paths:
        raise click.UsageError("--shipped checks what comes with the package; name no PATH with it")
    request = shipped_request() if shipped else request_of(paths, project)
    snapshot = build_snapshot(request.roots, project.severities, request.asked)
    if not snapshot.read_anything:
        raise NothingToRead(
            "nothing to check: no document of ours there", "start one with `orgkernel new DIR`"
        )
    found = snapshot.diagnostics
    if form == "json":
        echo_json(render_json(found))
    else:
        click.echo(_render(found, snapshot, form), nl=False)
    click.echo(_summary(found, snapshot), err=True)
    threshold = Severity(fail_on) if fail_on else project.fail_on
    if any(each.severity.reaches(threshold) for each in found):
        raise click.exceptions.Exit(1)


def _render(found: Sequence[Diagnostic], snapshot: Snapshot, form: str) -> str:
    if form == "concise":
        return render_concise(found)
    text: dict[str, Sequence[str]] = {}

    def lines_of(name: str) -> Sequence[str]:
        if name not in text:
            path = snapshot.tree.paths.get(name)
            text[name] = read_lines(path) if path else ()
        return text[name]

    return render_full(found, lines_of)


def _summary(found: Sequence[Diagnostic], snapshot: Snapshot) -> str:
    counts = Counter(each.severity for each in found)
    findings = ", ".join(
        _count(counts[severity], severity.value) for severity in Severity if counts[severity]
    )
    roles = sum(len(each.records.posts) for each in snapshot.organizations.values())
    files = {document.name for document in snapshot.tree.documents if not document.context}
    files |= {each.name for each in snapshot.tree.broken}
    what = f"{_count(len(snapshot.organizations), 'organization')}, {_count(roles, 'role')}, {_count(len(files), 'file')}"
    skipped = snapshot.tree.skipped
    passed_over = f"; {_count(skipped, 'file')} passed over, not ours" if skipped else ""
    return f"{findings or 'no findings'} in {what}{passed_over}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 or noun == "info" else f"{number:,} {noun}s"
