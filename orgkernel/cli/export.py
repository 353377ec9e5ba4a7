"""`orgkernel export`: an organization in the format of another tool."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial

import click

from orgkernel.cli.opening import cache_option, open_kernel, org_option, path_option
from orgkernel.cli.output import echo_json
from orgkernel.diagnostics.wording import printable, quote
from orgkernel.errors import UsageError
from orgkernel.exchange.a2a.cards import Endpoint
from orgkernel.exchange.a2a.export import export_a2a
from orgkernel.exchange.a2a.keys import CardKeys
from orgkernel.exchange.ai_catalog import export_ai_catalog
from orgkernel.exchange.exported import Export
from orgkernel.exchange.formats import EXPORTS
from orgkernel.graph.questions import OrgView


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
@click.option("--url", metavar="URL", help="Where the agents answer, for `a2a` and `ai-catalog`.")
@click.option("--sign-key", metavar="FILE", help="Sign the cards of `a2a` with this key (PEM, P-256).")
@path_option
@cache_option
def command(
    target: str,
    org: str,
    folder: str | None,
    url: str | None,
    sign_key: str | None,
    paths: tuple[str, ...],
    no_cache: bool,
) -> None:
    """Export an organization to the format of another tool, and list what that format cannot express."""
    exporter = _exporter(target, url, sign_key)
    kernel = open_kernel(paths, org, no_cache=no_cache)
    export = exporter(kernel.organization(org).snapshot.index)
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


def _exporter(target: str, url: str | None, sign_key: str | None) -> Callable[[OrgView], Export]:
    """The export to a format with what the options say of it. Raises `UsageError` for options of another format."""
    endpoint = None if url is None else Endpoint(url)
    if url is not None and "://" not in url:
        raise UsageError(
            f"`--url` is {quote(url)}", "write an address such as `https://agents.example.com/a2a`"
        )
    if sign_key is not None and target != "a2a":
        raise UsageError(f"the files of `{target}` cannot be signed", "`--sign-key` belongs to `--to a2a`")
    if target == "a2a":
        sign = None if sign_key is None else CardKeys(sign_key).signer().sign
        return partial(export_a2a, endpoint=endpoint, sign=sign)
    if target == "ai-catalog":
        return partial(export_ai_catalog, endpoint=endpoint)
    if url is not None:
        raise UsageError(
            f"the files of `{target}` have no address", "`--url` belongs to `a2a` and `ai-catalog`"
        )
    return EXPORTS[target].export


def _report(export: Export) -> None:
    """Print what is covered and what is lost to stderr."""
    click.echo(f"covered: {', '.join(export.covers)}", err=True)
    click.echo("lost or expressed differently:", err=True)
    for loss in export.lost:
        count = "" if loss.count is None else f" ({loss.count})"
        click.echo(printable(f"  {loss.what}{count}: {loss.why}"), err=True)
