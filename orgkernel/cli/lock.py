"""`orgkernel lock`: who holds which exclusive tool."""

from __future__ import annotations

import click

from orgkernel.cli.opening import format_option
from orgkernel.cli.stores import (
    by_option,
    echo_record,
    echo_records,
    opened,
    reason_option,
    show_time,
    store_option,
)


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
@click.argument("org_id", metavar="ORG")
@click.argument("tool_id", metavar="TOOL")
@by_option
@reason_option
@store_option
@format_option("text", "json")
def break_(org_id: str, tool_id: str, actor: str, reason: str, store: str | None, form: str) -> None:
    """Take a TOOL out of its holder's hands; the old lock's token is refused from then on."""
    with opened(store) as state:
        lock = state.locks.break_(org_id, tool_id, actor=actor, reason=reason)
    echo_record(form, lock, f"the lock {lock.token} of {tool_id} was taken from {lock.holder}")
