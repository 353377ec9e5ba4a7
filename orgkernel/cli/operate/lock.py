"""`orgkernel lock`: list, take, release and break locks of exclusive tools."""

from __future__ import annotations

from typing import Any

import click

from orgkernel.cli.circumstances import context_option, parse_context
from orgkernel.cli.groups import CommandGroup
from orgkernel.cli.opening import format_option
from orgkernel.cli.stores import (
    change_options,
    echo_record,
    echo_records,
    open_current_store,
    open_operation_here,
    show_time,
    store_option,
)
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.operations.locks import acquire_lock, break_lock, release_lock


@click.group("lock", cls=CommandGroup)
def command() -> None:
    """List, take, release and break the locks of exclusive tools."""


@command.command("list")
@click.option("--org", metavar="ORG", help="Only locks of one organization.")
@store_option
@format_option("text", "json")
def list_(org: str | None, store: str | None, form: str) -> None:
    """List the locks that are held."""
    with open_current_store(store) as state:
        locks = state.locks.list(org)
    echo_records(
        form,
        locks,
        ("org", "tool", "token", "since", "until", "holder"),
        lambda lock: (
            lock.org_id, lock.tool_id, lock.token, show_time(lock.acquired_at), show_time(lock.expires_at), lock.holder,
        ),
    )  # fmt: skip


@command.command("acquire", short_help="Take an exclusive tool for a subject.")
@click.argument("org", metavar="ORG")
@click.argument("tool_id", metavar="TOOL")
@click.argument("holder", metavar="SUBJECT")
@click.option(
    "--seconds",
    type=click.FloatRange(min=1),
    metavar="N",
    help="How long to hold it. Default and maximum: the timeout of the tool.",
)
@context_option
@change_options
def acquire(
    org: str,
    tool_id: str,
    holder: str,
    seconds: float | None,
    context_json: str,
    reason: str,
    form: str,
    **where: Any,
) -> None:
    """Take an exclusive TOOL for SUBJECT, if it may use the tool and no other holder has it."""
    circumstances = AccessRequest("", "lock", "", parse_context(context_json))
    with open_operation_here(**where, create=True) as context:
        lock = acquire_lock(context, org, tool_id, holder, circumstances, seconds=seconds, reason=reason)
    echo_record(form, lock, f"{holder} holds {tool_id} with token {lock.token}")


@command.command("release")
@click.argument("org", metavar="ORG")
@click.argument("tool_id", metavar="TOOL")
@click.argument("token", type=click.IntRange(min=1))
@click.argument("holder", metavar="SUBJECT")
@change_options
def release(org: str, tool_id: str, token: int, holder: str, reason: str, form: str, **where: Any) -> None:
    """Release a TOOL of SUBJECT, by the TOKEN of its lock."""
    with open_operation_here(**where) as context:
        lock = release_lock(context, org, tool_id, token, holder)
    echo_record(form, lock, f"{holder} released {tool_id}")


@command.command("break", short_help="Break the lock of a tool, so that its holder loses it.")
@click.argument("org", metavar="ORG")
@click.argument("tool_id", metavar="TOOL")
@change_options
def break_(org: str, tool_id: str, reason: str, form: str, **where: Any) -> None:
    """Break the lock of a TOOL: its holder loses the tool, and the token of the lock is no longer accepted.

    With `--by`, this needs a superior of the holder, or the owner.
    """
    with open_operation_here(**where) as context:
        lock = break_lock(context, org, tool_id, reason)
    echo_record(form, lock, f"the lock {lock.token} of {tool_id}, held by {lock.holder}, is broken")
