"""`orgkernel can`: may this subject do this to that?"""

from __future__ import annotations

import click

from orgkernel.cli.asking import (
    behalf_option,
    context_option,
    open_with_state,
    org_option,
    parse_context,
    require_kind,
    via_option,
)
from orgkernel.cli.decisions import EXIT, as_data, render_decision
from orgkernel.cli.opening import cache_option, format_option, path_option
from orgkernel.cli.output import echo_json
from orgkernel.cli.stores import store_option
from orgkernel.crew.v1 import encode
from orgkernel.decisions.access.request import AccessRequest


@click.command("can")
@click.argument("subject")
@click.argument("action")
@click.argument("resource")
@org_option
@path_option
@behalf_option
@via_option
@context_option
@store_option
@cache_option
@format_option("text", "json")
def command(
    subject: str,
    action: str,
    resource: str,
    org: str,
    paths: tuple[str, ...],
    on_behalf_of: str | None,
    via: tuple[str, ...],
    context: str,
    store: str | None,
    no_cache: bool,
    form: str,
) -> None:
    """Say whether SUBJECT may do ACTION to RESOURCE, such as `role:dev use tool:text_editor`.

    Subjects are `role:ID`, `agent:ID`, `person:ID`, `system:ID`, `webhook:ID` or `sender:PLATFORM/ID`; resources
    `tool:ID`, `tool:ID:PATH`, `credential:ID`, `data:TIER` or `role:ID`. What is stored counts.

    Exits 0 for allow, 1 for deny, 3 for ask, 2 when it cannot run.
    """
    require_kind("subject", subject, "role:")
    require_kind("resource", resource, "tool:")
    request = AccessRequest(subject, action, resource, parse_context(context), on_behalf_of, via)
    explanation = open_with_state(paths, org, store, no_cache=no_cache).explain(org, request)
    if form == "json":
        echo_json(encode(as_data(explanation, trace=False)).decode())
    else:
        click.echo(render_decision(f"{subject} {action} {resource}", explanation), nl=False)
    raise click.exceptions.Exit(EXIT[explanation.decision.outcome])
