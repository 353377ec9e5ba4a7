"""`orgkernel who-can`: who may do this?"""

from __future__ import annotations

import click

from orgkernel.cli.asking import (
    context_option,
    kinds_option,
    open_with_state,
    org_option,
    parse_context,
    require_kind,
)
from orgkernel.cli.decisions import render_rows, why_empty
from orgkernel.cli.opening import cache_option, format_option, path_option
from orgkernel.cli.output import echo_json
from orgkernel.cli.stores import store_option
from orgkernel.decisions.access.listing import SUBJECT_KINDS
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.manifest.v1 import encode


@click.command("who-can")
@click.argument("action")
@click.argument("resource")
@org_option
@path_option
@kinds_option(*SUBJECT_KINDS, default=SUBJECT_KINDS)
@context_option
@store_option
@cache_option
@format_option("text", "json")
def command(
    action: str,
    resource: str,
    org: str,
    paths: tuple[str, ...],
    kinds: tuple[str, ...],
    context: str,
    store: str | None,
    no_cache: bool,
    form: str,
) -> None:
    """List the subjects that may do ACTION on RESOURCE, that need an approval, or that could in other circumstances.

    Exits 0 if the list has entries, 1 if it is empty, 2 if it cannot run.
    """
    require_kind("resource", resource, "tool:")
    kernel = open_with_state(paths, org, store, no_cache=no_cache)
    rows = kernel.who_can(org, action, resource, context=parse_context(context), kinds=kinds)
    if form == "json":
        echo_json(encode(rows).decode())
    else:
        click.echo(render_rows(rows, by_subject=True), nl=False)
    if not rows:
        click.echo(
            why_empty("no subject may do this", kernel, org, AccessRequest("system:cron", action, resource)),
            err=True,
        )
        raise click.exceptions.Exit(1)
