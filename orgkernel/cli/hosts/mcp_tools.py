"""`orgkernel mcp tools`: ask the MCP servers of a file for their tools, and save the answers."""

from __future__ import annotations

import json
import os

import click

from orgkernel.cli.output import format_count
from orgkernel.diagnostics.wording import printable, quote
from orgkernel.errors import UsageError
from orgkernel.loading.formats.mcp import LISTED
from orgkernel.toolbox.literal_secrets import mask_target
from orgkernel.toolbox.providers import McpServer
from orgkernel.toolbox.tool_lists import ask_servers, read_servers


@click.command("tools", short_help="Ask MCP servers for their tools, and save the lists.")
@click.argument("path", metavar="FILE")
@click.option("--connect", is_flag=True, help="Start the commands of FILE, and connect to its addresses.")
@click.option("--server", "names", multiple=True, metavar="NAME", help="Ask only this server; repeatable.")
@click.option("-o", "--output", metavar="FILE", help=f"File to write.  [default: {LISTED} next to FILE]")
@click.option(
    "--timeout",
    type=click.FloatRange(0.1, 600),
    default=20.0,
    show_default=True,
    help="Seconds for each server.",
)
def command(path: str, connect: bool, names: tuple[str, ...], output: str | None, timeout: float) -> None:
    """Ask the MCP servers of an mcp.json for their tools, and save the answers, which `orgkernel check` reads.

    Without --connect, the command starts nothing and only prints what it would start. Pass --connect only for a file
    that you trust, because it runs the commands in it. Nothing is written unless every server has answered.

    Exits 0, 1 if a server did not answer, 2 if it cannot run.
    """
    servers = read_servers(path)
    if unknown := [name for name in names if name not in servers]:
        raise UsageError(f"`{path}` declares no server {quote(unknown[0])}")
    chosen = {name: server for name, server in servers.items() if not names or name in names}
    if not connect:
        for name, server in chosen.items():
            click.echo(f"{printable(name)}  {printable(_describe(server))}")
        click.echo("note: nothing was started; `--connect` asks them", err=True)
        return
    reachable = {name: server for name, server in chosen.items() if isinstance(server, McpServer)}
    answers = ask_servers(reachable, timeout)
    failed = {name: server for name, server in chosen.items() if isinstance(server, str)}
    failed |= {name: error for name, (_, error) in answers.items() if error}
    for name, why in failed.items():
        click.echo(f"error: server {quote(name)} was not asked or did not answer: {printable(why)}", err=True)
    if failed:
        click.echo("help: nothing was written; choose others with `--server`", err=True)
        raise SystemExit(1)
    target = output or os.path.join(os.path.dirname(path), LISTED)
    document = {"servers": {name: {"tools": tools} for name, (tools, _) in sorted(answers.items())}}
    try:
        with open(target, "w", encoding="utf-8") as file:
            file.write(json.dumps(document, indent=2) + "\n")
    except OSError as error:
        raise UsageError(f"{quote(target)} cannot be written: {(error.strerror or '').lower()}") from None
    number = sum(len(tools) for tools, _ in answers.values())
    click.echo(
        f"wrote {printable(target)}: {format_count(number, 'tool')} of {format_count(len(answers), 'server')}",
        err=True,
    )


def _describe(server: McpServer | str) -> str:
    if isinstance(server, str):
        return f"cannot be asked: {server}"
    return mask_target(server.server)
