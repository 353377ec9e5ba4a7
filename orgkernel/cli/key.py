"""`orgkernel key`: who may ask and change what over HTTP."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from orgkernel.cli.opening import cache_option, format_option, path_option, with_options
from orgkernel.cli.output import echo_indented
from orgkernel.cli.stores import (
    acting,
    by_option,
    echo_record,
    echo_records,
    find_for_actor,
    opened,
    parse_until,
    reason_option,
    show_time,
    store_option,
)
from orgkernel.decisions.state_records import SCOPES
from orgkernel.operations.keys import create_key, revoke_key

# The options of a command that makes or revokes a key: the documents say who the one is that does it.
_where_options = with_options(path_option, store_option, cache_option, format_option("text", "json"))


@click.group("key")
def command() -> None:
    """Make and revoke keys of the HTTP API. With `--by`, only the owner can."""


@command.command("create")
@click.argument("name", required=False)
@click.option(
    "--scope", "scopes", multiple=True, type=click.Choice(SCOPES), help="What it opens; repeatable."
)
@click.option("--admin", is_flag=True, help="It opens everything; the first key is such a one.")
@click.option(
    "--agent", "agent_id", metavar="AGENT", help="The agent that uses it; it never approves for itself."
)
@click.option(
    "--person",
    "person_id",
    metavar="PERSON",
    help="The person who uses it, or with --agent, who runs that agent.",
)
@click.option("--expires", metavar="WHEN", help="`30m`, `24h`, `7d`, or a date. Default: never.")
@by_option
@_where_options
def create(
    name: str | None,
    scopes: tuple[Any, ...],
    admin: bool,
    agent_id: str | None,
    person_id: str | None,
    expires: str | None,
    actor: str,
    paths: tuple[str, ...],
    store: str | None,
    no_cache: bool,
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
    kernel = find_for_actor(actor, paths, no_cache=no_cache)
    with acting(actor, store, kernel, create=True) as context:
        key, secret = create_key(
            context, name or "admin", ("admin",) if admin else scopes, agent_id=agent_id, person_id=person_id,
            expires_at=until,
        )  # fmt: skip
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
        whose = " by ".join(each for each in (key.agent_id, key.person_id) if each)
        return key.key_id, key.name, whose, show_time(key.created_at), until, " ".join(key.scopes)

    echo_records(form, keys, ("key", "name", "whose", "made", "until", "scopes"), row)


@command.command("revoke")
@click.argument("key_id", metavar="KEY")
@by_option
@reason_option
@_where_options
def revoke(
    key_id: str, actor: str, reason: str, paths: tuple[str, ...], store: str | None, no_cache: bool, form: str
) -> None:
    """Make a key useless at once."""
    with acting(actor, store, find_for_actor(actor, paths, no_cache=no_cache)) as context:
        key = revoke_key(context, key_id, reason)
    echo_record(form, key, f"{key_id} revoked")
