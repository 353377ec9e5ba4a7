"""`orgkernel graph`: the org chart."""

from __future__ import annotations

import click

from orgkernel.cli.opening import cache_option, format_option, open_kernel, org_option, path_option
from orgkernel.cli.output import echo_json
from orgkernel.manifest.chart import render_dot, render_json, render_mermaid, render_tree

_RENDER = {"tree": render_tree, "mermaid": render_mermaid, "dot": render_dot, "json": render_json}


@click.command("graph")
@org_option
@path_option
@cache_option
@format_option("tree", "mermaid", "dot", "json")
def command(org: str, paths: tuple[str, ...], no_cache: bool, form: str) -> None:
    """Draw the org chart. The format `json` contains every edge with its line."""
    kernel = open_kernel(paths, org, no_cache=no_cache)
    organization = kernel.latest(org)
    if organization.has_errors:
        click.echo(f"note: organization `{organization.org_id}` has errors; see `orgkernel check`", err=True)
    drawing = _RENDER[form](organization.graph)
    if form == "json":
        echo_json(drawing)
    else:
        click.echo(drawing, nl=False)
