"""`orgkernel store`: the place where everything is remembered."""

from __future__ import annotations

import os
from typing import Any

import click

from orgkernel.cli.opening import format_option
from orgkernel.cli.stores import echo_record, echo_records, located, opened, store_option
from orgkernel.diagnostics.wording import printable


@click.group("store")
def command() -> None:
    """Upgrade, back up and describe the store."""


@command.command("upgrade")
@store_option
def upgrade(store: str | None) -> None:
    """Bring a store to the version this program needs; a new one is made."""
    from orgkernel.operations import upkeep

    before, after = upkeep.upgrade(located(store))
    if before == after:
        click.echo(f"version {after}, nothing to do", err=True)
    else:
        click.echo(f"version {before or 'none'} → {after}", err=True)


@command.command("backup")
@click.argument("target", metavar="FILE")
@store_option
def backup(target: str, store: str | None) -> None:
    """Copy the store to FILE and its checkpoints to FILE.audit, while others may write."""
    from orgkernel.operations.upkeep import copy_store

    with opened(store) as state:
        copy_store(state, os.path.abspath(target))
    click.echo(
        printable(f"copied to {target} and {target}.audit, which holds the key: keep both private"), err=True
    )


@command.command("info")
@store_option
@format_option("text", "json")
def info(store: str | None, form: str) -> None:
    """Say where the store is, its version, and how much is in it."""
    from orgkernel.operations.upkeep import describe_store

    with opened(store) as state:
        found = describe_store(state)
    if form == "json":
        echo_record(form, found, "")
        return
    size = "–" if found.bytes is None else f"{found.bytes:,} bytes"
    facts: list[tuple[str, Any]] = [
        ("engine", found.engine),
        ("place", found.place),
        ("version", found.version),
        ("state version", found.state_version),
        ("size", size),
        ("checkpoints", found.checkpoints),
    ]
    facts += [(f"rows of {name}", f"{number:,}") for name, number in found.rows.items()]
    echo_records("text", facts, ("what", "value"), lambda fact: fact)
