"""`orgkernel compile`: an organization as one file for hosts, which read it without orgkernel."""

from __future__ import annotations

import click

from orgkernel import __version__
from orgkernel.cli.opening import cache_option, open_kernel, path_option
from orgkernel.cli.output import echo_json
from orgkernel.cli.reports import say_errors
from orgkernel.diagnostics.wording import printable
from orgkernel.exchange.agent_zero.compiling import compile_bundle, find_remarks, render_bundle
from orgkernel.project.replacing import replace_file


@click.command("compile")
@click.argument("org", metavar="ORG")
@click.option("--agent-zero", is_flag=True, required=True, help="Compile for the Agent-Zero extension.")
@click.option("-o", "--output", metavar="FILE", help="Write to FILE.  [default: stdout]")
@path_option
@cache_option
def command(org: str, agent_zero: bool, output: str | None, paths: tuple[str, ...], no_cache: bool) -> None:
    """Compile ORG into one file for a host: who takes which domain, and what each role may use.

    Exits 1 with the findings if the organization has errors.
    """
    kernel = open_kernel(paths, org, no_cache=no_cache)
    snapshot = kernel.latest(org)
    if snapshot.has_errors:
        say_errors(snapshot.diagnostics, kernel.state.latest)
        raise click.exceptions.Exit(1)
    compiled = compile_bundle(snapshot.index, f"orgkernel {__version__}")
    for remark in find_remarks(compiled, snapshot.index):
        click.echo(printable(f"note: {remark}"), err=True)
    text = render_bundle(compiled)
    if output is None:
        echo_json(text)
    else:
        replace_file(output, text.encode())
        click.echo(output)
