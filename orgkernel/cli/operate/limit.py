"""`orgkernel limit`: list the limits of calls, and what is left of them."""

from __future__ import annotations

from typing import Any

import click

from orgkernel.cli.groups import CommandGroup
from orgkernel.cli.opening import add_path_options, cache_option, format_option, org_option, with_options
from orgkernel.cli.stores import echo_records, open_current_store, open_with_state, show_time, store_option
from orgkernel.operations.limits import list_limits


@click.group("limit", cls=CommandGroup)
def command() -> None:
    """List the limits of calls, and what is left of them."""


@command.command("list")
@with_options(org_option, add_path_options, store_option, cache_option, format_option("text", "json"))
def list_(org: str, form: str, store: str | None, **where: Any) -> None:
    """List the limits of an organization with their current usage.

    A limit has a row for each subject or tool of which it counts a call now.
    """
    view = open_with_state(org=org, store=store, **where).organization(org).snapshot.index
    with open_current_store(store) as state:
        standings = list_limits(view, state)
    echo_records(
        form,
        standings,
        ("limit", "counter", "allows", "used", "left", "refills"),
        lambda each: (
            each.limit_id, each.counter or "–", each.allows, each.used, each.left, show_time(each.refills_at),
        ),
    )  # fmt: skip
