"""`orgkernel gateway`: an MCP proxy with an organization behind it; `accept` what its servers list."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from orgkernel.cli.circumstances import parse_context, run_options
from orgkernel.cli.groups import CommandGroup
from orgkernel.cli.hosts.gateway_report import LOCK_FILE, lock_option
from orgkernel.cli.hosts.gateway_report import command as report_command
from orgkernel.cli.hosts.stdio import find_declared_subject, serve_on_stdio
from orgkernel.cli.opening import add_path_options, cache_option, open_kernel, org_option, save, with_options
from orgkernel.cli.operate.listening import (
    build_tls_files,
    read_token_settings,
    tls_options,
    trusted_proxy_option,
)
from orgkernel.cli.stores import locate_current_store, store_option
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.diagnostics.wording import clean, did_you_mean, printable, quote
from orgkernel.errors import UsageError
from orgkernel.kernel.names import ACTIVE
from orgkernel.kernel.settings import find_project

if TYPE_CHECKING:
    from orgkernel.kernel.kernel import Kernel
    from orgkernel.mcp.gateway.pins import Pins
    from orgkernel.toolbox.server_source import ServerSource
    from orgkernel.toolbox.upstream_tools import Upstream

_TURN_SECONDS = 0.0005
"""How long a thread may run while another one waits. It is short, so that calls do not wait for the thread that writes audit rows."""
_server_options = with_options(
    click.option(
        "--mcp-config", "configs", multiple=True, metavar="FILE", envvar="ORGKERNEL_MCP_CONFIG",
        help="File with the servers (`mcpServers` or `servers`). Repeatable.",
    ),
    click.option(
        "--env", "names", multiple=True, metavar="NAME",
        help="Fill ${NAME} in FILE from the environment. Repeatable.",
    ),
    lock_option,
)  # fmt: skip


@click.group("gateway", cls=CommandGroup, invoke_without_command=True)
@org_option
@click.option("--role", metavar="ROLE", help="Serve this role on standard input and output.")
@click.option("--agent", metavar="AGENT", help="Serve this agent on standard input and output.")
@click.option(
    "--http", "address", metavar="HOST:PORT", help="Serve every agent that has a key or a token, at /mcp."
)
@_server_options
@click.option(
    "--require-review",
    is_flag=True,
    help="Withhold tools until they are accepted, including those of new servers.",
)
@click.option(
    "--list-seconds",
    type=click.FloatRange(0.1, 60.0),
    default=5.0,
    show_default=True,
    metavar="SECONDS",
    envvar="ORGKERNEL_LIST_SECONDS",
    help="How long to wait for a server's list; slower servers are left out of it.",
)
@click.option(
    "--approver", metavar="PERSON", help="Person at the host who approves requests in its forms: person:ID."
)
@click.option(
    "--no-self-service",
    is_flag=True,
    help="Leave out the tools of orgkernel itself, with which an agent asks about its permissions and for more.",
)
@run_options
@trusted_proxy_option
@tls_options
@add_path_options
@store_option
@cache_option
@click.pass_context
def command(ctx: click.Context, /, **context_json: Any) -> None:
    """Pass the tools of MCP servers on, to each role its own, and decide every call.

    On standard input and output it answers for one role or agent; over HTTP, for every agent with a key or a token of the scopes
    `read` and `report`. Every call is recorded in the audit log. This needs `orgkernel[mcp]`.
    """
    if ctx.invoked_subcommand is None:
        _run(**context_json)


def _run(
    org: str, role: str | None, agent: str | None, address: str | None, configs: Sequence[str], names: Sequence[str],
    lock_file: str, require_review: bool, list_seconds: float, approver: str | None, no_self_service: bool, on_behalf_of: str | None, via: Sequence[str], context_json: str,
    trusted_proxies: tuple[str, ...], tls_certificate: str | None, tls_key: str | None, paths: tuple[str, ...], store: str | None, no_cache: bool,
) -> None:  # fmt: skip
    from orgkernel.mcp.server import require_sdk

    chosen = [each for each in (role, agent, address) if each is not None]
    if len(chosen) != 1:
        raise UsageError(
            "no caller given" if not chosen else "`--role`, `--agent` and `--http` exclude each other",
            "pass one of `--role`, `--agent` and `--http`",
        )
    require_sdk()
    # These import the SDK, so they come after the check that it is installed.
    from orgkernel.mcp.gateway.gateway import McpGateway
    from orgkernel.mcp.gateway.pins import Pins
    from orgkernel.mcp.gateway.server_lists import ListLimits

    source, upstreams, unusable = open_upstreams(configs, names, has_one_caller=address is None)
    pins = Pins(lock_file, require_review=require_review)
    gateway = McpGateway(
        upstreams, pins, _say, ListLimits(deadline=list_seconds), has_self_service=not no_self_service,
        unusable=unusable, accept_options=_list_accept_options(configs, names, lock_file), is_remote=address is not None, source=source,
    )  # fmt: skip
    # Over HTTP all organizations are served, and ORG is the active one.
    one, active = (org, None) if address is None else (None, None if org == ACTIVE else org)
    kernel = open_kernel(paths, one, active, no_cache=no_cache)
    if address is not None:
        if approver or on_behalf_of or via or context_json:
            raise UsageError(
                "`--approver`, `--on-behalf-of`, `--via` and `--context` describe one caller, and `--http` has many",
                "leave them out",
            )
        _serve(kernel, gateway, address, store, trusted_proxies, build_tls_files(tls_certificate, tls_key))
        return
    _serve_one(
        kernel,
        gateway,
        org,
        role,
        agent,
        approver or "",
        AccessRequest("", "", "", parse_context(context_json), on_behalf_of, tuple(via)),
        store,
    )


def _serve_one(
    kernel: Kernel, gateway: Any, org: str, role: str | None, agent: str | None, approver: str, base: AccessRequest, store: str | None
) -> None:  # fmt: skip
    import msgspec

    from orgkernel.mcp.gateway.caller import LocalCaller
    from orgkernel.mcp.gateway.server import run_gateway_stdio

    snapshot = kernel.organization(org).snapshot
    subject = find_declared_subject(snapshot, role, agent)
    if approver and approver.removeprefix("person:") not in snapshot.records.people:
        raise UsageError(f"no directory declares {quote(approver)}", "name a declared person as `person:ID`")
    base = msgspec.structs.replace(base, subject=subject)

    def open_caller() -> LocalCaller:
        location = locate_current_store(store)
        caller = LocalCaller(kernel, snapshot.org_id, subject, location, base, approver, _say_unrecorded)
        caller.has_self_service = gateway.has_self_service
        return caller

    serve_on_stdio(
        kernel,
        open_caller,
        partial(run_gateway_stdio, gateway),
    )


def _serve(
    kernel: Kernel, gateway: Any, address: str, store: str | None, trusted_proxies: tuple[str, ...], tls: Any
) -> None:
    from manifest_api.log_lines import log_to_stderr
    from manifest_api.server import serve

    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise UsageError(f"{quote(address)} is not an address", "write HOST:PORT, such as 127.0.0.1:8100")
    tokens = read_token_settings(find_project(os.getcwd()))
    save(kernel)
    log_to_stderr("text")
    gc.enable()
    sys.setswitchinterval(_TURN_SECONDS)
    serve(
        kernel, host=host.strip("[]"), port=int(port), reload=True, store=locate_current_store(store), tokens=tokens,
        trusted_proxies=trusted_proxies, tls=tls, gateway=gateway,
        on_ready=lambda url: click.echo(f"gateway on {url}/mcp\nStop with Ctrl-C.", err=True),
    )  # fmt: skip


def _list_accept_options(configs: Sequence[str], names: Sequence[str], lock_file: str) -> list[str]:
    """The options with which `orgkernel gateway accept` reads the same servers and the same lock file."""
    options = [word for each in configs for word in ("--mcp-config", each)]
    options += [word for each in names for word in ("--env", each)]
    return options if lock_file == LOCK_FILE else [*options, "--lock", lock_file]


def open_upstreams(
    configs: Sequence[str], names: Sequence[str], *, has_one_caller: bool = False
) -> tuple[ServerSource, list[Upstream], dict[str, str]]:
    """The source of the files, the servers in them, and by name why other servers cannot be used.

    Starts no server. `has_one_caller` is whether one caller uses all of them. Raises `UsageError` for missing files or variables.
    """
    from orgkernel.toolbox.server_source import ServerSource

    if not configs:
        raise UsageError("no servers given", "pass a file with `mcpServers` as `--mcp-config FILE`")
    missing = [name for name in names if name not in os.environ]
    if missing:
        raise UsageError(
            f"the environment has no variable {quote(missing[0])}", "set it, or leave `--env` out"
        )
    source = ServerSource(configs, {name: os.environ[name] for name in names}, has_one_caller=has_one_caller)
    opened, unusable = source.read()
    for name, each in unusable.items():
        _say(f"server {quote(name)} cannot be used: {each.place}: {each.error}")
    return source, opened, {name: each.error for name, each in unusable.items()}


def _say(text: str) -> None:
    # A full disk or a closed stderr must not stop the gateway.
    with suppress(OSError):
        click.echo(f"gateway: {printable(text)}", err=True)


def _say_unrecorded(text: str) -> None:
    _say(f"the outcome of a call was not recorded: {text}")


command.add_command(report_command)


@command.command("accept")
@click.argument("server", required=False, metavar="[SERVER]")
@click.argument("tools", nargs=-1, metavar="[TOOL]...")
@_server_options
@click.option("--all", "everything", is_flag=True, help="Accept all tools of all servers.")
def accept(
    server: str | None,
    tools: tuple[str, ...],
    configs: tuple[str, ...],
    names: tuple[str, ...],
    lock_file: str,
    everything: bool,
) -> None:
    """Show the tools that are not accepted yet, and accept them.

    Without SERVER and --all nothing is accepted. This starts the servers.

    Exits 0, 1 if something is left to accept or a server does not answer, 2 if it cannot run.
    """
    from orgkernel.mcp.gateway.names import require_distinct_names
    from orgkernel.mcp.gateway.pins import Pins
    from orgkernel.mcp.server import require_sdk

    require_sdk()
    if everything and server is not None:
        raise UsageError("`--all` accepts everything", "leave SERVER or `--all` out")
    _, opened, _ = open_upstreams(configs, names)
    require_distinct_names(each.name for each in opened)
    upstreams = {each.name: each for each in opened}
    if server is not None and server not in upstreams:
        raise UsageError(f"there is no server {quote(server)}", did_you_mean(server, upstreams) or "")
    pins = Pins(lock_file)
    chosen_upstreams = [each for name, each in upstreams.items() if server in (None, name)]
    listed, failed = asyncio.run(_list_all(chosen_upstreams))
    for name, why in failed.items():
        click.echo(f"error: server {quote(name)} does not answer: {printable(why)}", err=True)
    left = 0
    for name, definitions in listed.items():
        wanted = None if not tools else list(tools)
        if unknown := [
            each for each in tools if each not in definitions and each not in pins.definitions(name)
        ]:
            raise UsageError(
                f"server {quote(name)} has no tool {quote(unknown[0])}",
                did_you_mean(unknown[0], definitions) or "",
            )
        lines = list(_list_differences(pins, name, definitions, wanted))
        for line in lines:
            click.echo(line)
        if server is not None or everything:
            pins.accept(name, definitions, wanted, upstreams[name].declaration)
        else:
            left += len(lines)
    if server is None and not everything:
        if left:
            click.echo("note: nothing was accepted; pass a SERVER, or `--all`", err=True)
    elif listed:
        click.echo(f"wrote {printable(lock_file)}", err=True)
    if left or failed:
        raise SystemExit(1)


async def _list_all(
    upstreams: Sequence[Upstream],
) -> tuple[dict[str, dict[str, Mapping[str, Any]]], dict[str, str]]:
    from orgkernel.toolbox.upstream_tools import UpstreamError

    listed: dict[str, dict[str, Mapping[str, Any]]] = {}
    failed: dict[str, str] = {}
    for each in upstreams:
        try:
            tools = await each.tools()
            names = [str(tool.get("name")) for tool in tools]
            twice = {name for name, times in Counter(names).items() if times > 1}
            for name in sorted(twice):  # a call could reach either of them
                _say(f"server {quote(each.name)} lists tool {quote(name)} twice, so it cannot be accepted")
            listed[each.name] = {
                name: tool for name, tool in zip(names, tools, strict=True) if name not in twice
            }
        except UpstreamError as error:
            failed[each.name] = error.error
        finally:
            await each.aclose()
    return listed, failed


def _list_differences(
    pins: Pins, server: str, listed: Mapping[str, Mapping[str, Any]], names: Sequence[str] | None
) -> list[str]:
    """Changes that accepting would make: a line for each tool, and below it each changed field."""
    from orgkernel.mcp.gateway.pins import list_changed_fields

    lines: list[str] = []
    known = pins.definitions(server)
    for name in sorted({*listed, *known}):
        if names is not None and name not in names:
            continue
        old, new = known.get(name), listed.get(name)
        shown = _shorten(f"{server}/{name}")
        if old is None and new is not None:
            lines.append(f"+ {shown}: {_shorten(new.get('description', ''))}")
        elif new is None:
            lines.append(f"- {shown}")
        elif old is not None and old != new:
            lines.append(f"~ {shown}")
            for field in list_changed_fields(old, new):
                lines.append(f"    {field} - {_shorten(old.get(field, ''))}")
                lines.append(f"    {field} + {_shorten(new.get(field, ''))}")
    return lines


def _shorten(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    text = clean(" ".join(text.split()))
    return text if len(text) <= 300 else f"{text[:300]}…"
