"""`orgkernel export`: an organization in the format of another tool."""

from __future__ import annotations

import json
import os

import click

from orgkernel.cli.opening import cache_option, open_kernel, org_option, path_option
from orgkernel.cli.output import echo_json
from orgkernel.diagnostics.wording import printable
from orgkernel.exchange.exported import Export
from orgkernel.exchange.formats import EXPORTS


@click.command("export")
@click.option("--to", "target", required=True, type=click.Choice(list(EXPORTS)), help="Target format.")
@org_option
@click.option(
    "-o",
    "--output",
    "folder",
    metavar="DIR",
    help="Write the files to DIR.  [default: all files as JSON on stdout]",
)
@path_option
@cache_option
def command(target: str, org: str, folder: str | None, paths: tuple[str, ...], no_cache: bool) -> None:
    """Export an organization to the format of another tool, and list what that format cannot express."""
    kernel = open_kernel(paths, org, no_cache=no_cache)
    export = EXPORTS[target].export(kernel.organization(org).snapshot.index)
    if folder is None:
        lost = [{"what": loss.what, "why": loss.why, "count": loss.count} for loss in export.lost]
        said = {"files": dict(export.files), "covers": export.covers, "lost": lost}
        echo_json(json.dumps(said, ensure_ascii=False, indent=1))
        return
    for name, text in export.files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        click.echo(path)
    _report(export)


def _report(export: Export) -> None:
    """Print what is covered and what is lost to stderr."""
    click.echo(f"covered: {', '.join(export.covers)}", err=True)
    click.echo("lost or expressed differently:", err=True)
    for loss in export.lost:
        count = "" if loss.count is None else f" ({loss.count})"
        click.echo(printable(f"  {loss.what}{count}: {loss.why}"), err=True)
