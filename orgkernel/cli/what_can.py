"""`orgkernel what-can`: what may this subject do?"""

from __future__ import annotations

import click

from orgkernel.cli.asking import (
    behalf_option,
    context_option,
    kinds_option,
    open_with_state,
    org_option,
    parse_context,
    require_kind,
    via_option,
)
from orgkernel.cli.decisions import render_envelope, render_rows, why_empty
from orgkernel.cli.opening import cache_option, format_option, path_option
from orgkernel.cli.output import echo_json
from orgkernel.cli.stores import store_option
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.errors import UsageError
from orgkernel.manifest.v1 import encode

_KINDS = ("tool", "credential", "data", "role")


@click.command("what-can")
@click.argument("subject")
@org_option
@path_option
@kinds_option(*_KINDS, default=_KINDS)
@behalf_option
@via_option
@context_option
@store_option
@cache_option
@click.option(
    "--envelope", is_flag=True, help="Also show the session of its messages, and the matching policies."
)
@format_option("text", "json")
def command(
    subject: str,
    org: str,
    paths: tuple[str, ...],
    kinds: tuple[str, ...],
    on_behalf_of: str | None,
    via: tuple[str, ...],
    context: str,
    store: str | None,
    no_cache: bool,
    envelope: bool,
    form: str,
) -> None:
    """List what SUBJECT may do, what needs an approval, and what it could do in other circumstances.

    Exits 0 if the list has entries, 1 if it is empty, 2 if it cannot run.
    """
    require_kind("subject", subject, "role:")
    request = AccessRequest(subject, "", "", parse_context(context), on_behalf_of, via)
    kernel = open_with_state(paths, org, store, no_cache=no_cache)
    if envelope and (on_behalf_of or via):
        raise UsageError(
            "--envelope cannot be combined with `--on-behalf-of` or `--via`",
            "remove `--on-behalf-of` and `--via`",
        )
    if envelope:
        found = kernel.envelope(org, subject, request.context)
        echo_json(encode(found).decode()) if form == "json" else click.echo(render_envelope(found), nl=False)
        return
    rows = kernel.what_can(org, subject, request=request, kinds=kinds)
    if form == "json":
        echo_json(encode(rows).decode())
    else:
        click.echo(render_rows(rows, by_subject=False), nl=False)
    if not rows:
        asked = AccessRequest(subject, "read", "data:none", request.context, on_behalf_of, via)
        click.echo(why_empty("this subject may do nothing", kernel, org, asked), err=True)
        raise click.exceptions.Exit(1)
