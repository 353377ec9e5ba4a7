"""`orgkernel crew alert` and `orgkernel crew watch`: the current alert and watch of an organization."""

from __future__ import annotations

from typing import Any

import click

from orgkernel.cli.crew.agent_options import open_agent_operation, open_agent_question
from orgkernel.cli.opening import with_options
from orgkernel.cli.output import echo_answer, join_lines
from orgkernel.cli.stores import change_options, show_time
from orgkernel.decisions.evidence.crew_records import OrgStatus, OrgStatusKind
from orgkernel.operations.crew import set_status

_options = with_options(
    click.option("--org", metavar="ORG", help="Organization.  [default: the only or the active one]"),
    change_options,
)


@click.command("alert", short_help="Show or record the alert of an organization, such as RED.")
@click.argument("value", metavar="[ALERT]", required=False)
@_options
def alert(value: str | None, **where: Any) -> None:
    """Record the alert of an organization, such as RED; without ALERT, show it. Policies can match it."""
    _run_status("alert", value, **where)


@click.command("watch", short_help="Show or record the watch of an organization, such as beta.")
@click.argument("value", metavar="[WATCH]", required=False)
@_options
def watch(value: str | None, **where: Any) -> None:
    """Record the watch of an organization, such as beta; without WATCH, show it. Policies can match it."""
    _run_status("watch", value, **where)


def _run_status(
    kind: OrgStatusKind, value: str | None, *, org: str | None, reason: str, form: str, actor: str, paths: tuple[str, ...],
    store: str | None, no_cache: bool,
) -> None:  # fmt: skip
    status: OrgStatus | None
    if value is None:
        kernel, name = open_agent_question(org, paths, store, no_cache)
        status = kernel.access(name).state.status.get(kind)
    else:
        with open_agent_operation(actor, paths, store, no_cache) as context:
            status = set_status(context, kind, value, org=org, reason=reason)
    echo_answer(form, status, lambda: join_lines([_render_line(kind, status)]))


def _render_line(kind: OrgStatusKind, status: OrgStatus | None) -> str:
    if status is None:
        return f"no {kind} was recorded; policies that depend on it are conditional"
    reason = f": {status.reason}" if status.reason else ""
    return f"{kind} {status.value} since {show_time(status.since)}, by {status.set_by}{reason}"
