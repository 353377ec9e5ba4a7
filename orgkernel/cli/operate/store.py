"""`orgkernel store`: upgrade, back up, restore, repair and describe the store."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import click

from orgkernel.cli.groups import CommandGroup
from orgkernel.cli.opening import format_option
from orgkernel.cli.output import echo_indented, format_count
from orgkernel.cli.stores import (
    echo_records,
    locate_current_store,
    open_current_store,
    open_declared_kernel,
    open_operation,
    reason_option,
    store_option,
)
from orgkernel.diagnostics.wording import listing, printable, quote
from orgkernel.errors import UsageError
from orgkernel.operations.context import OPERATOR
from orgkernel.runtime.progress import show_stage


@click.group("store", cls=CommandGroup)
def command() -> None:
    """Upgrade, back up, restore and describe the store."""


@command.command("upgrade")
@click.option(
    "--while-connected",
    is_flag=True,
    help="Upgrade although other programs have the store open. Those of the older version then refuse every question and change "
    "until they are started again.",
)
@click.option(
    "--key-org",
    "key_orgs",
    multiple=True,
    metavar="[KEY=]ORG",
    help="The organization of a key of an agent or a person that names none, or of all such keys; repeatable.",
)
@click.option(
    "--leave-keys", is_flag=True, help="Leave such keys without an organization: they are good for none."
)
@store_option
def upgrade(store: str | None, while_connected: bool, key_orgs: tuple[str, ...], leave_keys: bool) -> None:
    """Upgrade the store to the version of this program, or create it.

    Keys of agents and people from before version 0012 name no organization. The upgrade asks for it.
    """
    from orgkernel.operations import upkeep
    from orgkernel.operations.keys import bind_keys, require_organizations

    location = locate_current_store(store)
    keys = upkeep.list_keys_to_bind(location)
    org_ids = _assign_organizations([key.key_id for key in keys], key_orgs)
    kernel = open_declared_kernel(()) if org_ids else None
    for each in org_ids.values():
        require_organizations(kernel, each)
    left = [key for key in keys if key.key_id not in org_ids]
    if left and not leave_keys and upkeep.needs_upgrade(location):
        raise UsageError(
            f"{format_count(len(left), 'key')} of agents or people {'names' if len(left) == 1 else 'name'} no organization: "
            + listing(f"{key.key_id} ({key.name}, {key.subject})" for key in left),
            "state it with `--key-org ORG`, or `--key-org KEY=ORG` for one key; `--leave-keys` leaves them good for none",
        )
    with show_stage("upgrading the store"):
        before, after = upkeep.upgrade(location, while_connected=while_connected)
    if before == after:
        click.echo(f"version {after}, nothing to do", err=True)
    else:
        click.echo(f"version {before or 'none'} → {after}", err=True)
    if org_ids:
        with open_operation(OPERATOR, store, kernel) as context:
            for bound in bind_keys(context, org_ids, "stated at the upgrade of the store"):
                click.echo(f"{bound.key_id} is good for {listing(bound.org_ids)}", err=True)
    for key in left:
        click.echo(
            printable(
                f"note: {key.key_id} is good for no organization; state it with `orgkernel key bind {key.key_id} --org ORG`"
            ),
            err=True,
        )


def _assign_organizations(key_ids: Sequence[str], key_orgs: tuple[str, ...]) -> dict[str, list[str]]:
    """The organizations of each key: those that name the key, else those that name none. Raises `UsageError`."""
    general = [each for each in key_orgs if "=" not in each]
    chosen: dict[str, list[str]] = {key_id: list(general) for key_id in key_ids} if general else {}
    named: dict[str, list[str]] = {}
    for key_id, _, org_id in (each.partition("=") for each in key_orgs if "=" in each):
        named.setdefault(key_id, []).append(org_id)
    for key_id in named:
        if key_id not in key_ids:
            raise UsageError(
                f"{quote(key_id)} is no valid key without an organization",
                f"such keys are {listing(key_ids)}" if key_ids else "there are no such keys",
            )
    return chosen | named


@command.command("backup")
@click.argument("target", metavar="FILE")
@store_option
def backup(target: str, store: str | None) -> None:
    """Copy the store to FILE and its checkpoints to FILE.audit.

    Other processes can write in the meantime. A store of an older version is copied unchanged.
    """
    from orgkernel.operations.upkeep import copy_store

    with show_stage("copying the store"):
        version = copy_store(locate_current_store(store), os.path.abspath(target))
    click.echo(
        printable(
            f"copied version {version} to {target} and {target}.audit; the latter contains the signing key, so keep both private"
        ),
        err=True,
    )


@command.command("restore")
@click.argument("backup", metavar="FILE")
@reason_option
@store_option
def restore(backup: str, reason: str, store: str | None) -> None:
    """Replace the store with the backup FILE. The replaced store is kept under another name.

    Stop the server first: a store that is open in another process is not replaced. The audit log records that the store
    was restored.
    """
    from orgkernel.operations.upkeep import restore_store

    with show_stage("restoring the store"):
        done = restore_store(locate_current_store(store), os.path.abspath(backup), OPERATOR, reason)
    sentences = [f"restored version {done.version} from {backup}"]
    if done.replaced:
        sentences.append(f"the replaced store is {done.replaced}")
    if done.copied_checkpoints:
        sentences.append("there were no checkpoints here, so those of the backup were copied")
    click.echo(printable("; ".join(sentences)), err=True)
    if done.lost:
        rows = sum(last - first + 1 for first, last in done.lost.values())
        click.echo(
            f"not in the backup: {format_count(rows, 'row')} of the audit; see `orgkernel audit verify`, "
            "then accept that with `orgkernel audit accept --reason TEXT`",
            err=True,
        )


@command.command("fix-dates", short_help="Restart terms that were dated in the future.")
@store_option
def fix_dates(store: str | None) -> None:
    """Restart the terms of all rows that are dated in the future: locks, claims, grants, requests, results, skills and keys.

    They were written while a clock was ahead. A server does the same when it has run for ten minutes, so this command is for a store
    without a server. The clock must be right.
    """
    from orgkernel.operations.upkeep import begin_future_terms

    with open_current_store(store) as state:
        rows = begin_future_terms(state)
    click.echo(f"{format_count(rows, 'term')} {'begins' if rows == 1 else 'begin'} now", err=True)


@command.command("info", short_help="Print where the store is, its version and its size.")
@store_option
@format_option("text", "json")
def info(store: str | None, form: str) -> None:
    """Print the location of the store, its version and the number of records."""
    from orgkernel.operations.upkeep import describe_store

    with open_current_store(store) as state:
        description = describe_store(state)
    if form == "json":
        echo_indented(description)
        return
    size = "–" if description.bytes is None else f"{description.bytes:,} bytes"
    facts: list[tuple[str, Any]] = [
        ("engine", description.engine),
        ("place", description.place),
        ("version", description.version),
        ("state version", description.state_version),
        ("size", size),
        ("checkpoints", description.checkpoints),
    ]
    facts += [(f"rows of {name}", f"{number:,}") for name, number in description.rows.items()]
    echo_records("text", facts, ("what", "value"), lambda fact: fact)
