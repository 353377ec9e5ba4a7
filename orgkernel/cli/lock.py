"""`orgkernel lock`: who holds which exclusive tool."""

from __future__ import annotations

from typing import Any

import click

from orgkernel.cli.opening import format_option
from orgkernel.cli.stores import (
    acting_here,
    change_options,
    echo_record,
    echo_records,
    opened,
    show_time,
    store_option,
)
from orgkernel.operations.locks import break_lock


@click.group("lock")
def command() -> None:
    """Say who holds which exclusive tool, and break a lock."""


@command.command("list")
@click.option("--org", metavar="ORG", help="Only those of one organization.")
@store_option
@format_option("text", "json")
def list_(org: str | None, store: str | None, form: str) -> None:
    """List the locks that are held."""
    with opened(store) as state:
        locks = state.locks.list(org)
    echo_records(
        form,
        locks,
        ("org", "tool", "token", "since", "until", "holder"),
        lambda lock: (
            lock.org_id, lock.tool_id, lock.token, show_time(lock.acquired_at), show_time(lock.expires_at), lock.holder,
        ),
    )  # fmt: skip


@command.command("break")
@click.argument("org", metavar="ORG")
@click.argument("tool_id", metavar="TOOL")
@change_options
def break_(org: str, tool_id: str, reason: str, form: str, **where: Any) -> None:
    """Take a TOOL out of its holder's hands; the old lock's token is refused from then on."""
    with acting_here(**where) as context:
        lock = break_lock(context, org, tool_id, reason)
    echo_record(form, lock, f"the lock {lock.token} of {tool_id} was taken from {lock.holder}")
