"""`orgkernel mcp`: serve an agent the questions about itself and its organization, on standard input and output."""

from __future__ import annotations

import click

from orgkernel.cli.circumstances import parse_context, run_options
from orgkernel.cli.groups import CommandGroup, refuse_options_before
from orgkernel.cli.hosts.stdio import find_declared_subject, serve_on_stdio
from orgkernel.cli.opening import add_path_options, cache_option, open_kernel, org_option
from orgkernel.cli.stores import locate_current_store, store_option
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.errors import UsageError


@click.group("mcp", cls=CommandGroup, invoke_without_command=True, places={"tools": "hosts.mcp_tools"})
@org_option
@click.option("--role", metavar="ROLE", help="Serve this role.")
@click.option("--agent", metavar="AGENT", help="Serve this agent.")
@run_options
@add_path_options
@store_option
@cache_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    org: str,
    role: str | None,
    agent: str | None,
    on_behalf_of: str | None,
    via: tuple[str, ...],
    context_json: str,
    paths: tuple[str, ...],
    store: str | None,
    no_cache: bool,
) -> None:
    """Serve an agent over MCP on standard input and output: its role, its permissions, and the reasons of refusals.

    The caller is the ROLE or the AGENT of these options, and no message can change it. The command ends with its
    input. This needs `orgkernel[mcp]`.
    """
    if ctx.invoked_subcommand is not None:
        refuse_options_before(ctx)
        return
    from orgkernel.mcp.local import LocalAsker
    from orgkernel.mcp.server import require_sdk, run_stdio

    if (role is None) == (agent is None):
        raise UsageError(
            "no caller given" if role is None else "`--role` and `--agent` exclude each other",
            "pass `--role` or `--agent`",
        )
    require_sdk()
    kernel = open_kernel(paths, org, no_cache=no_cache)
    snapshot = kernel.organization(org).snapshot
    subject = find_declared_subject(snapshot, role, agent)
    base = AccessRequest(subject, "", "", parse_context(context_json), on_behalf_of, via)
    serve_on_stdio(
        kernel,
        lambda: LocalAsker(kernel, snapshot.org_id, subject, locate_current_store(store), base),
        run_stdio,
    )
