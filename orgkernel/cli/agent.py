"""`orgkernel agent`: who there is, and how they stand now."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import partial
from typing import Any, get_args

import click

from orgkernel.cli.opening import cache_option, format_option, path_option, with_options
from orgkernel.cli.stores import (
    acting,
    change_options,
    echo_record,
    echo_records,
    find_declared,
    find_for_actor,
    is_there,
    store_option,
)
from orgkernel.decisions.state_view import AgentState, Lifecycle
from orgkernel.diagnostics import Diagnostic
from orgkernel.diagnostics.wording import printable
from orgkernel.operations.agents import (
    add_agent,
    declared_agents,
    list_agents,
    move_agent,
    set_rank,
    set_trust,
)
from orgkernel.operations.context import Context


@click.group("agent")
def command() -> None:
    """Say which agents there are, and how they stand: rank, trust, lifecycle."""


# The options of every command that changes an agent.
_change_options = with_options(
    click.option("--org", metavar="ORG", help="Organization whose roster and ranks count. Default: all."),
    change_options,
)


def _acting(
    actor: str, paths: tuple[str, ...], store: str | None, no_cache: bool
) -> AbstractContextManager[Context]:
    """What an operation on an agent works with; where the documents declare agents, the store is made for them."""
    kernel = find_declared(paths, no_cache=no_cache)
    return acting(actor, store, kernel, create=kernel is not None)


@command.command("add")
@click.argument("agent_id", metavar="AGENT")
@click.option("--rank", metavar="RANK")
@click.option("--trust", type=click.FloatRange(0, 1), metavar="0..1", help="Mean of its trust.")
@click.option("--lifecycle", type=click.Choice(get_args(Lifecycle)), default="active", show_default=True)
@_change_options
def add(
    agent_id: str, rank: str | None, actor: str, paths: tuple[str, ...], store: str | None, no_cache: bool, form: str,
    **values: Any,
) -> None:  # fmt: skip
    """Add an agent to the store: one that a roster declares, or will."""
    find = find_declared if rank is not None else partial(find_for_actor, actor)
    kernel = find(paths, no_cache=no_cache)
    with acting(actor, store, kernel, create=True) as context:
        agent = add_agent(context, agent_id, rank=rank, **values)
    echo_record(form, agent, f"{agent_id} added")


@command.command("set-rank")
@click.argument("agent_id", metavar="AGENT")
@click.argument("rank")
@_change_options
def set_rank_(agent_id: str, rank: str, org: str | None, reason: str, form: str, **where: Any) -> None:
    """Promote or demote an agent."""
    with _acting(**where) as context:
        agent = set_rank(context, agent_id, rank, org=org, reason=reason)
    echo_record(form, agent, f"{agent_id} is {rank}")


@command.command("set-trust")
@click.argument("agent_id", metavar="AGENT")
@click.argument("trust", type=click.FloatRange(0, 1))
@_change_options
def set_trust_(agent_id: str, trust: float, org: str | None, reason: str, form: str, **where: Any) -> None:
    """Note how far an agent is trusted, 0 to 1."""
    with _acting(**where) as context:
        agent = set_trust(context, agent_id, trust, org=org, reason=reason)
    echo_record(form, agent, f"{agent_id} is trusted {trust:g}")


@command.command("move")
@click.argument("agent_id", metavar="AGENT")
@click.argument("lifecycle", type=click.Choice(get_args(Lifecycle)))
@_change_options
def move(agent_id: str, lifecycle: Lifecycle, org: str | None, reason: str, form: str, **where: Any) -> None:
    """Move an agent along its lifecycle: suspend, reactivate, decommission."""
    with _acting(**where) as context:
        agent = move_agent(context, agent_id, lifecycle, org=org, reason=reason)
    echo_record(form, agent, f"{agent_id} is {lifecycle}")


@command.command("list")
@path_option
@store_option
@cache_option
@format_option("text", "json")
def list_(paths: tuple[str, ...], store: str | None, no_cache: bool, form: str) -> None:
    """List the agents of the rosters and of the store, as they stand now; where the two differ is said on stderr."""
    kernel = find_declared(paths, no_cache=no_cache)
    agents: tuple[AgentState, ...] = tuple(declared_agents(kernel).values())
    drift: tuple[Diagnostic, ...] = ()
    if not agents or is_there(store):
        with acting("", store, kernel) as context:
            agents, drift = list_agents(context)
    echo_records(
        form,
        agents,
        ("agent", "rank", "trust", "lifecycle"),
        lambda agent: (agent.agent_id, agent.rank, agent.trust, agent.lifecycle),
    )
    for each in drift:
        click.echo(f"{each.severity.value}[{each.code}] {printable(each.message)}", err=True)
