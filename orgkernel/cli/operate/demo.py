"""`orgkernel demo`: the LinkedIn scenario, played on real parts and shown step by step."""

from __future__ import annotations

import os
import time
from tempfile import TemporaryDirectory

import click

from orgkernel.decisions.reasons import Why
from orgkernel.diagnostics.wording import printable


@click.command("demo")
@click.option(
    "--keep",
    "folder",
    type=click.Path(),
    metavar="FOLDER",
    help="New folder for the documents and the store, which stay there.",
)
def command(folder: str | None) -> None:
    """Give a crew a social media marketer, from configuration alone, and watch it work.

    YAML and a SKILL.md are added to the template `starship`. The agent is commissioned, routed to, checked, and calls a
    real HTTP server and a real MCP server, which are started for the demo. It needs the extras `http`, `mcp` and
    `signing`.
    """
    from orgkernel.demo.scenario import run

    begun = time.perf_counter()
    with TemporaryDirectory() as temporary:
        place = os.path.abspath(folder) if folder else os.path.join(temporary, "starship")
        if os.path.exists(place):
            raise click.UsageError(f"{folder} already exists")
        run(place, lambda *texts: _tell(place, *texts))
    click.echo(f"done in {time.perf_counter() - begun:.1f} s", err=True)


def _tell(folder: str, step: str, text: str, why: tuple[Why, ...]) -> None:
    click.echo(printable(f"{step:15} {text}"))
    for each in why[:1]:
        path = os.path.relpath(each.file, folder) if os.path.isabs(each.file) else each.file
        click.echo(printable(f"{'':15}   {path}:{each.line}"))
