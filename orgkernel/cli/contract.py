"""`orgkernel contract check`: is a brief, a result, a blocker or another contract sound?"""

from __future__ import annotations

from collections.abc import Sequence

import click

from orgkernel.cli.contract_files import read_source
from orgkernel.cli.opening import format_option
from orgkernel.cli.output import counted, echo_json, painted
from orgkernel.decisions.contracts.reading import CheckedContract, check_read_contract, read_contract
from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.render import render_concise, render_full, render_json
from orgkernel.loading.marks import LINE_BREAK

_EXIT_CODES = {"sound": 0, "unsound": 1, "cannot_tell": 2}


@click.group("contract")
def command() -> None:
    """Check briefs, results, blockers and other contracts of a dispatch."""


@command.command("check")
@click.argument("file", metavar="FILE")
@click.option(
    "--against",
    metavar="FILE",
    help="The brief, or the other contract, that this one belongs to.",
)
@format_option("full", "concise", "json", "github")
@click.pass_context
def check(ctx: click.Context, file: str, against: str | None, form: str) -> None:
    """Check the contract in FILE; `-` reads it from standard input.

    Exit codes: 0 sound, 1 with errors, 2 if it cannot be told because a file cannot be read or is no contract.
    """
    if file == against == "-":
        raise click.UsageError("only one of FILE and --against can be `-`")
    sources = [read_source(file), *([] if against is None else [read_source(against)])]
    read = [read_contract(source) for source in sources]
    checked = check_read_contract(read[0], read[1] if against is not None else None)
    _print(form, checked, {source.name: LINE_BREAK.split(source.text) for source in sources})
    click.echo(_summary(checked), err=True)
    ctx.exit(_EXIT_CODES[checked.outcome])


def _print(form: str, checked: CheckedContract, lines: dict[str, Sequence[str]]) -> None:
    found = checked.diagnostics

    def lines_of(name: str) -> Sequence[str]:
        return lines.get(name, ())

    if form == "json":
        echo_json(render_json(found))
    elif form == "github":
        from orgkernel.diagnostics.formats.github import render_github

        click.echo(render_github(found, lines_of).encode(), nl=False)
    else:
        text = render_concise(found, painted) if form == "concise" else render_full(found, lines_of, painted)
        click.echo(text, nl=False)


def _summary(checked: CheckedContract) -> str:
    count = [
        counted(number, severity.value)
        for severity in Severity
        if (number := sum(each.severity is severity for each in checked.diagnostics))
    ]
    kind = (checked.kind or "contract").replace("_", " ")
    outcome = {"sound": "is sound", "unsound": "is not sound", "cannot_tell": "cannot be checked"}
    return f"the {kind} {outcome[checked.outcome]}" + (f": {', '.join(count)}" if count else "")
