"""`orgkernel crew`: list agents by role, skill, rank and other filters."""

from __future__ import annotations

from typing import Any, get_args

import click

from orgkernel.cli import completing
from orgkernel.cli.groups import CommandGroup, refuse_options_before
from orgkernel.cli.opening import (
    add_path_options,
    cache_option,
    format_option,
    note_out_of_service,
    org_option,
)
from orgkernel.cli.output import echo_answer
from orgkernel.cli.stores import as_of_option, open_with_state, store_option
from orgkernel.decisions.evidence.state_view import Lifecycle
from orgkernel.manifest.crew import AgentFilter, AgentList


@click.group(
    "crew",
    cls=CommandGroup,
    invoke_without_command=True,
    places={
        "vacancies": "crew.vacancies",
        "leadership": "crew.leadership",
        "alert": "crew.alert:alert",
        "watch": "crew.alert:watch",
    },
)
@org_option
@add_path_options
@click.option("--role", shell_complete=completing.roles, help="Only agents that fill this role.")
@click.option("--department", help="Only agents with a role in this department.")
@click.option("--rank", help="Only agents of this rank.")
@click.option("--skill", help="Only agents that hold this skill.")
@click.option(
    "--min-level",
    type=click.IntRange(1, 7),
    metavar="1..7",
    help="Lowest level of the skill, or of any skill, decay included.",
)
@click.option("--qualification", help="Only agents that have passed this test.")
@click.option(
    "--tool", shell_complete=completing.tools, help="Only agents with a role equipped with this tool."
)
@click.option("--intent", help="Only agents with a role that serves this intent.")
@click.option("--watch", help="Only agents that fill a role in this watch.")
@click.option("--lifecycle", type=click.Choice(get_args(Lifecycle)), help="Only agents in this state.")
@as_of_option
@store_option
@cache_option
@format_option("table", "json")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    org: str,
    paths: tuple[str, ...],
    as_of: str | None,
    store: str | None,
    no_cache: bool,
    form: str,
    **filters: Any,
) -> None:
    """List the agents that match every filter, with their current state; or show the crew's vacancies, alert or
    watch.

    `orgkernel manifest --agent AGENT` shows everything about one agent.
    """
    if ctx.invoked_subcommand is not None:
        refuse_options_before(ctx)
        return
    kernel = open_with_state(paths, org, store, as_of=as_of, no_cache=no_cache)
    note_out_of_service(kernel.organization(org).snapshot)
    agent_list = kernel.agents(org, AgentFilter(**filters))
    for sentence in agent_list.unknown_words:
        click.echo(f"note: {sentence}", err=True)
    echo_answer(form, agent_list, lambda: _render(agent_list))


def _render(agent_list: AgentList) -> str:
    from orgkernel.cli.tables import create_table, draw

    table = create_table("agent", "callsign", "roles", "rank", "trust", "watches", "lifecycle")
    for each in agent_list.agents:
        trust = "" if each.trust is None else f"{each.trust:.2f}"
        table.add_row(
            each.agent_id, each.callsign, ", ".join(each.roles), each.rank or "", trust, ", ".join(each.watches),
            each.lifecycle,
        )  # fmt: skip
    return draw(table) if agent_list.agents else "no agent matches\n"
