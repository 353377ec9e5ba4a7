"""`orgkernel serve`: serve the page and the HTTP API."""

from __future__ import annotations

import gc
import logging
import os
from contextlib import suppress
from typing import Literal

import click

from orgkernel.cli.opening import add_path_options, cache_option, folders_argument, open_kernel, save
from orgkernel.cli.operate.listening import (
    build_tls_files,
    host_option,
    read_token_settings,
    require_key_option,
    store_budget_option,
    tls_options,
    trusted_proxy_option,
)
from orgkernel.cli.stores import store_option
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import NotServed
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.settings import find_project
from orgkernel.kernel.stored import locate_store
from orgkernel.snapshots.packing import DamagedEntry, verify_snapshot


@click.command("serve")
@folders_argument
@add_path_options
@click.option("--active", metavar="ORG", help="Organization that requests call `active`.")
@host_option
@click.option(
    "--port",
    default=8000,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port to listen on. 0 picks a free port.",
)
@click.option("--reload/--no-reload", default=True, show_default=True, help="Reload when a file changes.")
@click.option(
    "--reload-limit", default=60.0, show_default=True, type=click.FloatRange(0.1), metavar="SECONDS",
    help="How long a reload may take before `/readyz` and the log report it.",
)  # fmt: skip
@click.option(
    "--rate", default=1000.0, show_default=True, type=click.FloatRange(1), metavar="N",
    help="Maximum number of requests per second for each key, and for each address without a key.",
)  # fmt: skip
@trusted_proxy_option
@require_key_option
@click.option(
    "--drain", default=2.0, show_default=True, type=click.FloatRange(0, 600), metavar="SECONDS",
    help="How long /readyz answers 503 after SIGTERM before the server closes.",
)  # fmt: skip
@store_budget_option
@click.option(
    "--keep-decisions", default=90, show_default=True, type=click.IntRange(0), metavar="DAYS",
    help="Drop audit rows of decisions that are older. 0 keeps all rows.",
)  # fmt: skip
@click.option(
    "--keep-history", default=365, show_default=True, type=click.IntRange(1), metavar="DAYS",
    help="Drop audit rows of grants, requests, ranks, keys and locks that are older.",
)  # fmt: skip
@tls_options
@store_option
@cache_option
@click.option("--access-log", is_flag=True, help="Log each request too.")
@click.option(
    "--log-format", type=click.Choice(["text", "json"]), default="text", show_default=True,
    envvar="ORGKERNEL_LOG_FORMAT", help="Format of all lines on stderr.",
)  # fmt: skip
def command(
    folders: tuple[str, ...],
    paths: tuple[str, ...],
    active: str | None,
    host: str,
    port: int,
    reload: bool,
    reload_limit: float,
    rate: float,
    trusted_proxies: tuple[str, ...],
    require_key: bool,
    drain: float,
    store_budget: int,
    keep_decisions: int,
    keep_history: int,
    tls_certificate: str | None,
    tls_key: str | None,
    store: str | None,
    no_cache: bool,
    access_log: bool,
    log_format: Literal["text", "json"],
) -> None:
    """Serve the page and the HTTP API. Organizations with errors are not served; all others are.

    Without any API key, only requests from loopback that change nothing are answered. Changes and all other addresses
    need a key. Create the first one with `orgkernel key create --admin`.
    """
    from manifest_api.agent_cards import read_card_settings
    from manifest_api.log_lines import log_to_stderr
    from manifest_api.server import serve
    from manifest_api.store_access import Retention

    here = os.getcwd()
    tls = build_tls_files(tls_certificate, tls_key)
    project = find_project(here)
    location = locate_store(project, here, store)
    tokens = read_token_settings(project)
    project.require_own("a2a")
    cards = None if project.a2a is None else read_card_settings(project.a2a, project.folder)
    kernel = open_kernel(folders + paths, active=active, no_cache=no_cache)
    try:
        verify_snapshot(kernel.state.latest)
    except DamagedEntry:
        # Other commands run again without an invalid cache. A server checks the cache before it starts.
        kernel = open_kernel(folders + paths, active=active, no_cache=True)
    save(kernel)
    if active is not None:
        with suppress(NotServed):  # it may be fixed while the server runs
            kernel.organization(active)
    log_to_stderr(log_format)
    gc.enable()  # unlike other commands, this one keeps running
    serve(
        kernel, host=host, port=port, reload=reload, access_log=access_log,
        on_ready=lambda url: (_log_ready if log_format == "json" else _say_what_to_try)(kernel, url), store=location, tokens=tokens, rate=rate,
        reload_seconds=reload_limit,
        trusted_proxies=trusted_proxies, needs_key=require_key, drain_seconds=drain,
        budget=store_budget * 1024 * 1024,
        retention=Retention(keep_decisions, keep_history) if keep_decisions else None, tls=tls, cards=cards,
    )  # fmt: skip


def _log_ready(kernel: Kernel, url: str) -> None:
    """Log what `_say_what_to_try` prints on a terminal."""
    logger = logging.getLogger("orgkernel.server")
    for org_id, diagnostics in kernel.state.refused.items():
        logger.error("not served: organization %s has %d findings", quote(org_id), len(diagnostics))
    logger.info("serving %s on %s", ", ".join(kernel.state.served) or "no organization yet", url)


def _say_what_to_try(kernel: Kernel, url: str) -> None:
    state = kernel.state
    for org_id, diagnostics in state.refused.items():
        findings = f"{len(diagnostics)} finding{'s' * (len(diagnostics) != 1)}"
        click.echo(f"not served: {org_id} has {findings}; see {url}/v1/diagnostics", err=True)
    click.echo(
        f"\nserving {', '.join(state.served) or 'no organization yet'} on {url}\n\n  {url}/ shows them in a browser\n\nTry, in another terminal:",
        err=True,
    )
    for org_id, organization in state.served.items():
        index = organization.snapshot.index
        role_id = next(
            (role for role in index.roles if index.list_domains(role)),
            index.roles[0] if index.roles else None,
        )
        if (role_id is not None and len(index.roles) > 1) or len(state.served) == 1:
            click.echo(f"  curl -s {url}/v1/orgs/{org_id}/roles/{role_id}", err=True)
            domains = index.list_domains(role_id) if role_id else ()
            if domains:
                body = '{"domain": "' + domains[0].target + '"}'
                click.echo(
                    f"  curl -s {url}/v1/orgs/{org_id}/dispatch -H 'content-type: application/json' -d '{body}'", err=True
                )  # fmt: skip
            break
    click.echo(
        f"  curl -s {url}/v1/diagnostics\n  {url}/docs describes the API in a browser\n\nStop with Ctrl-C.",
        err=True,
    )
