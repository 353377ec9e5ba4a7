"""`orgkernel key`: who may ask and change what over HTTP."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from orgkernel.cli.opening import format_option
from orgkernel.cli.output import echo_indented
from orgkernel.cli.stores import (
    acting,
    by_option,
    echo_record,
    echo_records,
    opened,
    parse_until,
    reason_option,
    show_time,
    store_option,
)
from orgkernel.decisions.state_records import SCOPES
from orgkernel.operations.keys import create_key, revoke_key


@click.group("key")
def command() -> None:
    """Make and revoke the keys of the HTTP API."""


@command.command("create")
@click.argument("name", required=False)
@click.option(
    "--scope", "scopes", multiple=True, type=click.Choice(SCOPES), help="What it opens; repeatable."
)
@click.option("--admin", is_flag=True, help="It opens everything; the first key is such a one.")
@click.option(
    "--agent", "agent_id", metavar="AGENT", help="The agent that uses it; it never approves for itself."
)
@click.option("--expires", metavar="WHEN", help="`30m`, `24h`, `7d`, or a date. Default: never.")
@by_option
@store_option
@format_option("text", "json")
def create(
    name: str | None,
    scopes: tuple[Any, ...],
    admin: bool,
    agent_id: str | None,
    expires: str | None,
    actor: str,
    store: str | None,
    form: str,
) -> None:
    """Make a key. It is printed once; the store keeps only its digest.

    With --admin the name may be left out.
    """
    if admin and scopes:
        raise click.UsageError("--admin opens everything; leave --scope out")
    if not admin and not (name and scopes):
        raise click.UsageError("name the key and what it opens, or make an --admin key")
    until = parse_until(expires)
    with acting(actor, store, create=True) as context:
        key, secret = create_key(
            context, name or "admin", ("admin",) if admin else scopes, agent_id=agent_id, expires_at=until
        )
    if form == "json":
        echo_indented({**msgspec.to_builtins(key), "key": secret})
    else:
        click.echo(secret)
    click.echo(f"{key.key_id}: keep it, it is not shown again", err=True)


@command.command("list")
@store_option
@format_option("text", "json")
def list_(store: str | None, form: str) -> None:
    """List keys, without their secrets."""
    with opened(store) as state:
        keys = state.keys.list()

    def row(key: Any) -> tuple[Any, ...]:
        until = f"revoked {show_time(key.revoked_at)}" if key.revoked_at else show_time(key.expires_at)
        return key.key_id, key.name, key.agent_id, show_time(key.created_at), until, " ".join(key.scopes)

    echo_records(form, keys, ("key", "name", "agent", "made", "until", "scopes"), row)


@command.command("revoke")
@click.argument("key_id", metavar="KEY")
@by_option
@reason_option
@store_option
@format_option("text", "json")
def revoke(key_id: str, actor: str, reason: str, store: str | None, form: str) -> None:
    """Make a key useless at once."""
    with acting(actor, store) as context:
        key = revoke_key(context, key_id, reason)
    echo_record(form, key, f"{key_id} revoked")
