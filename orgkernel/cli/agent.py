"""`orgkernel agent`: who there is, and how they stand now."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, get_args

import click

from orgkernel.cli.declared import find_declared
from orgkernel.cli.declared_agents import admit, declared_agents, merged, require_rank
from orgkernel.cli.opening import cache_option, format_option, path_option
from orgkernel.cli.stores import (
    by_option,
    echo_record,
    echo_records,
    is_there,
    opened,
    reason_option,
    store_option,
)
from orgkernel.decisions.state_view import AgentState, Lifecycle
from orgkernel.diagnostics import Diagnostic
from orgkernel.diagnostics.wording import printable

if TYPE_CHECKING:
    from orgkernel.state.store import Store


@click.group("agent")
def command() -> None:
    """Say which agents there are, and how they stand: rank, trust, lifecycle."""


def _change_options(change: Callable[..., None]) -> Callable[..., None]:
    """The options of every command that changes an agent."""
    for add_option in (
        format_option("text", "json"), cache_option, store_option, path_option, reason_option, by_option,
    ):  # fmt: skip
        change = add_option(change)
    return change


@contextmanager
def _admitted(
    agent_id: str,
    actor: str,
    *,
    paths: tuple[str, ...],
    store: str | None,
    no_cache: bool,
    rank: str | None = None,
) -> Iterator[Store]:
    """The store, with an agent that the roster declares in it; a rank has to be declared as well."""
    kernel = find_declared(paths, store, no_cache=no_cache)
    if rank is not None:
        require_rank(kernel, rank)
    with opened(store, create=kernel is not None) as state:
        admit(kernel, state, agent_id, actor)
        yield state


@command.command("add")
@click.argument("agent_id", metavar="AGENT")
@click.option("--rank", metavar="RANK")
@click.option("--trust", type=click.FloatRange(0, 1), metavar="0..1", help="Mean of its trust.")
@click.option("--lifecycle", type=click.Choice(get_args(Lifecycle)), default="active", show_default=True)
@_change_options
def add(
    agent_id: str,
    rank: str | None,
    trust: float | None,
    lifecycle: Lifecycle,
    actor: str,
    reason: str,
    paths: tuple[str, ...],
    store: str | None,
    no_cache: bool,
    form: str,
) -> None:
    """Add an agent to the store: one that a roster declares, or will."""
    if rank is not None:
        require_rank(find_declared(paths, store, no_cache=no_cache), rank)
    with opened(store, create=True) as state:
        agent = state.agents.add(
            agent_id, actor=actor, rank=rank, trust=trust, lifecycle=lifecycle, reason=reason
        )
    echo_record(form, agent, f"{agent_id} added")


@command.command("set-rank")
@click.argument("agent_id", metavar="AGENT")
@click.argument("rank")
@_change_options
def set_rank(agent_id: str, rank: str, actor: str, reason: str, form: str, **where: Any) -> None:
    """Promote or demote an agent."""
    with _admitted(agent_id, actor, rank=rank, **where) as state:
        agent = state.agents.set_rank(agent_id, rank, actor=actor, reason=reason)
    echo_record(form, agent, f"{agent_id} is {rank}")


@command.command("set-trust")
@click.argument("agent_id", metavar="AGENT")
@click.argument("trust", type=click.FloatRange(0, 1))
@_change_options
def set_trust(agent_id: str, trust: float, actor: str, reason: str, form: str, **where: Any) -> None:
    """Note how far an agent is trusted, 0 to 1."""
    with _admitted(agent_id, actor, **where) as state:
        agent = state.agents.set_trust(agent_id, trust, actor=actor, reason=reason)
    echo_record(form, agent, f"{agent_id} is trusted {trust:g}")


@command.command("move")
@click.argument("agent_id", metavar="AGENT")
@click.argument("lifecycle", type=click.Choice(get_args(Lifecycle)))
@_change_options
def move(agent_id: str, lifecycle: Lifecycle, actor: str, reason: str, form: str, **where: Any) -> None:
    """Move an agent along its lifecycle: suspend, reactivate, decommission."""
    with _admitted(agent_id, actor, **where) as state:
        agent = state.agents.move(agent_id, lifecycle, actor=actor, reason=reason)
    echo_record(form, agent, f"{agent_id} is {lifecycle}")


@command.command("list")
@path_option
@store_option
@cache_option
@format_option("text", "json")
def list_(paths: tuple[str, ...], store: str | None, no_cache: bool, form: str) -> None:
    """List the agents of the rosters and of the store, as they stand now; where the two differ is said on stderr."""
    kernel = find_declared(paths, store, no_cache=no_cache)
    stored: tuple[AgentState, ...] = ()
    drift: tuple[Diagnostic, ...] = ()
    declared = tuple(declared_agents(kernel))
    if not declared or is_there(store):
        with opened(store) as state:
            stored = state.agents.list()
            drift = () if kernel is None else kernel.with_store(state).drift()
    agents = merged(stored, declared)
    echo_records(
        form,
        agents,
        ("agent", "rank", "trust", "lifecycle"),
        lambda agent: (agent.agent_id, agent.rank, agent.trust, agent.lifecycle),
    )
    for each in drift:
        click.echo(f"{each.severity.value}[{each.code}] {printable(each.message)}", err=True)
