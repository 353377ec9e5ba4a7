"""`orgkernel key`: who may ask and change what over HTTP."""

from __future__ import annotations

import time
from typing import Any

import click
import msgspec

from orgkernel.cli.groups import CommandGroup
from orgkernel.cli.opening import add_path_options, cache_option, format_option, with_options
from orgkernel.cli.output import echo_indented
from orgkernel.cli.stores import (
    by_option,
    change_options,
    echo_record,
    echo_records,
    open_current_store,
    open_operation_alone,
    open_operation_here,
    parse_duration,
    parse_until,
    show_time,
    store_option,
)
from orgkernel.decisions.evidence.state_records import SCOPES
from orgkernel.diagnostics.wording import listing, printable
from orgkernel.operations.keys import bind_keys, create_key, revoke_key, rotate_key


@click.group("key", cls=CommandGroup, places={"card": "operate.card_key"})
def command() -> None:
    """Create, bind, rotate and revoke keys of the HTTP API. With `--by`, only the owner can.

    `key card` manages another key: the one that signs agent cards.
    """


@command.command("create")
@click.argument("name", required=False)
@click.option(
    "--scope", "scopes", multiple=True, type=click.Choice(SCOPES), help="Scope of the key; repeatable."
)
@click.option("--admin", is_flag=True, help="Allow everything; the first key must be an admin key.")
@click.option(
    "--agent", "agent_id", metavar="AGENT", help="The agent that uses it; it never approves for itself."
)
@click.option(
    "--person",
    "person_id",
    metavar="PERSON",
    help="The person who uses it, or with --agent, who runs that agent.",
)
@click.option(
    "--expires", metavar="WHEN", help="When it ends: `30m`, `24h`, `7d`, or a date. Default: never."
)
@click.option(
    "--org",
    "org_ids",
    multiple=True,
    metavar="ORG",
    help="The organization it is good for; repeatable. Default: with --agent or --person, the only one here that declares it; else all.",
)
@with_options(by_option, add_path_options, store_option, cache_option, format_option("text", "json"))
def create(
    name: str | None,
    scopes: tuple[Any, ...],
    admin: bool,
    agent_id: str | None,
    person_id: str | None,
    expires: str | None,
    org_ids: tuple[str, ...],
    form: str,
    **where: Any,
) -> None:
    """Create a key. It is printed once; the store keeps only its digest.

    With --admin, NAME is optional.
    """
    if admin and scopes:
        raise click.UsageError("an `--admin` key allows everything; leave `--scope` out")
    if not admin and not (name and scopes):
        raise click.UsageError("a key needs NAME and `--scope`, or `--admin`")
    until = parse_until(expires)
    needs_documents = bool(org_ids or agent_id or person_id)
    opening = open_operation_here if needs_documents else open_operation_alone
    with opening(**where, create=True) as context:
        key, secret = create_key(
            context, name or "admin", ("admin",) if admin else scopes, agent_id=agent_id, person_id=person_id,
            org_ids=org_ids, expires_at=until,
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
    from orgkernel.operations.keys import list_expiring_keys, list_unbound_keys

    with open_current_store(store) as state:
        keys = state.keys.list()
        expiring = list_expiring_keys(state, time.time())
        unbound = list_unbound_keys(state, time.time())

    def row(key: Any) -> tuple[Any, ...]:
        until = f"revoked {show_time(key.revoked_at)}" if key.revoked_at else show_time(key.expires_at)
        whose = " by ".join(each for each in (key.agent_id, key.person_id) if each)
        orgs = " ".join(key.org_ids) or ("none" if key.is_unbound else "all")
        return key.key_id, key.name, whose, orgs, show_time(key.created_at), until, " ".join(key.scopes)

    echo_records(form, keys, ("key", "name", "whose", "organizations", "made", "until", "scopes"), row)
    for key in unbound:
        click.echo(
            printable(
                f"note: {key.key_id} names no organization, so it is good for none; state it with `orgkernel key bind {key.key_id} --org ORG`"
            ),
            err=True,
        )
    for key in expiring:
        until = show_time(key.expires_at)
        click.echo(
            printable(
                f"note: {key.key_id} expires at {until}; replace it with `orgkernel key rotate {key.key_id}`"
            ),
            err=True,
        )


@command.command("rotate")
@click.argument("key_id", metavar="KEY")
@click.option(
    "--overlap", default="24h", show_default=True, metavar="TIME", help="How long the old key remains valid."
)
@click.option(
    "--expires",
    metavar="WHEN",
    help="End of the new key: `30m`, `24h`, `7d`, or a date. Default: the lifetime of the old key.",
)
@change_options
def rotate(key_id: str, overlap: str, expires: str | None, reason: str, form: str, **where: Any) -> None:
    """Replace a key with a new one with the same rights. Both are valid for a while, so that callers need not stop."""
    seconds, until = parse_duration(overlap), parse_until(expires)
    with open_operation_alone(**where) as context:
        key, old, secret = rotate_key(context, key_id, overlap=seconds, expires_at=until, reason=reason)
    if form == "json":
        echo_indented({**msgspec.to_builtins(key), "key": secret})
    else:
        click.echo(secret)
    click.echo(
        f"{key.key_id}: keep it, it is not shown again; {old.key_id} is valid until {show_time(old.expires_at)}",
        err=True,
    )


@command.command("bind")
@click.argument("key_id", metavar="KEY")
@click.option(
    "--org",
    "org_ids",
    multiple=True,
    required=True,
    metavar="ORG",
    help="The organization it is good for; repeatable.",
)
@change_options
def bind(key_id: str, org_ids: tuple[str, ...], reason: str, form: str, **where: Any) -> None:
    """State the organizations of a key that names none.

    A key of an agent or a person from before version 0012 of the store names none, and is good for none until then. The organizations of
    a key do not change afterward.
    """
    with open_operation_here(**where) as context:
        (key,) = bind_keys(context, {key_id: org_ids}, reason)
    echo_record(form, key, f"{key_id} is good for {listing(key.org_ids)}")


@command.command("revoke")
@click.argument("key_id", metavar="KEY")
@change_options
def revoke(key_id: str, reason: str, form: str, **where: Any) -> None:
    """Revoke a key at once."""
    with open_operation_alone(**where) as context:
        key = revoke_key(context, key_id, reason)
    echo_record(form, key, f"{key_id} revoked")
