"""`orgkernel agent`: the agents, and their rank, trust and lifecycle now."""

from __future__ import annotations

from typing import Any, get_args

import click

from orgkernel.cli.crew.agent_options import agent_argument, agent_change_options, open_agent_operation
from orgkernel.cli.crew.agent_record import COMMANDS as RECORD_COMMANDS
from orgkernel.cli.crew.agent_skills import COMMANDS as SKILL_COMMANDS
from orgkernel.cli.groups import CommandGroup
from orgkernel.cli.opening import add_path_options, cache_option, format_option
from orgkernel.cli.stores import (
    all_orgs_option,
    does_store_exist,
    echo_record,
    echo_records,
    get_named_organization,
    open_declared_kernel,
    open_operation_here,
    open_question,
    store_option,
)
from orgkernel.decisions.evidence.state_view import Lifecycle
from orgkernel.diagnostics import Diagnostic
from orgkernel.diagnostics.wording import printable, quote
from orgkernel.errors import UsageError
from orgkernel.operations.agents import (
    add_agent,
    list_agents,
    list_declared_agents,
    move_agent,
    record_result,
    set_rank,
    set_trust,
)


@click.group("agent", cls=CommandGroup)
def command() -> None:
    """List and commission agents, record their work, and change their rank, trust, lifecycle and skills.

    With `--by`, a change needs a superior of the agent, or the owner.
    """


for other_command in (*RECORD_COMMANDS, *SKILL_COMMANDS):
    command.add_command(other_command)


@command.command("add")
@agent_argument
@click.option("--rank", metavar="RANK", help="Rank from the rank ladder.")
@click.option("--trust", type=click.FloatRange(0, 1), metavar="0..1", help="Trust in the agent.")
@click.option(
    "--lifecycle", type=click.Choice(get_args(Lifecycle)), default="active", show_default=True,
    help="Initial state of the agent.",
)  # fmt: skip
@agent_change_options
def add(
    agent_id: str, rank: str | None, actor: str, paths: tuple[str, ...], store: str | None, no_cache: bool, form: str,
    **values: Any,
) -> None:  # fmt: skip
    """Add an agent to the store. A roster declares it, or will declare it."""
    with open_operation_here(actor, paths, store, no_cache, create=True) as context:
        agent = add_agent(context, agent_id, rank=rank, **values)
    echo_record(form, agent, f"{agent_id} added")


@command.command("set-rank")
@agent_argument
@click.argument("rank")
@agent_change_options
def set_rank_(agent_id: str, rank: str, org: str | None, reason: str, form: str, **where: Any) -> None:
    """Promote or demote an agent."""
    with open_agent_operation(**where) as context:
        agent = set_rank(context, agent_id, rank, org=org, reason=reason)
    echo_record(form, agent, f"{agent_id} is {rank}")


@command.command("set-trust")
@agent_argument
@click.argument("trust", type=click.FloatRange(0, 1))
@agent_change_options
def set_trust_(agent_id: str, trust: float, org: str | None, reason: str, form: str, **where: Any) -> None:
    """Set the trust in an agent, 0 to 1."""
    with open_agent_operation(**where) as context:
        agent = set_trust(context, agent_id, trust, org=org, reason=reason)
    echo_record(form, agent, f"{agent_id} is trusted {trust:g}")


@command.command("move", short_help="Suspend, reactivate or decommission an agent.")
@agent_argument
@click.argument("lifecycle", type=click.Choice(get_args(Lifecycle)), metavar="STATE")
@all_orgs_option
@agent_change_options
def move(
    agent_id: str, lifecycle: Lifecycle, org: str | None, all_orgs: bool, reason: str, form: str, **where: Any
) -> None:
    """Suspend, reactivate or decommission an agent, or end its probation.

    STATE is `registered`, `probationary`, `active`, `suspended` or `decommissioned`.

    `--all-orgs` sets the state of every agent of this name in every organization, whatever is stored for one of them.
    """
    org = get_named_organization(org, all_orgs)
    with open_agent_operation(**where) as context:
        agent = move_agent(context, agent_id, lifecycle, org=org, reason=reason)
    echo_record(form, agent, f"{agent_id} is {lifecycle}")


@command.command("qualify")
@agent_argument
@click.argument("qualification")
@click.option("--score", type=float, required=True, metavar="0..1", help="Score of the agent.")
@click.option("--sample-size", type=int, metavar="N", help="Number of cases behind the score.")
@click.option(
    "--digest",
    "digests",
    multiple=True,
    metavar="NAME[=DIGEST]",
    help="Digest of something that was tested, such as `model=…`, `prompt=…`, `tools=…`, `policy=…`, `test_set=…`. Without "
    "`=DIGEST`, the current one of a skill, standing orders or tool that the qualification names. Repeatable.",
)
@click.option(
    "--run",
    default="",
    metavar="ID",
    help="Run of the test, such as a build number. The same result of a run is stored once; without a run, a repeated result raises no skill.",
)
@agent_change_options
def qualify(
    agent_id: str, qualification: str, score: float, sample_size: int | None, digests: tuple[str, ...], run: str,
    org: str | None, reason: str, form: str, **where: Any,
) -> None:  # fmt: skip
    """Record the score of an agent in a test. It passes if the score reaches the threshold of the test."""
    tested = dict(_parse_named_digest(each) for each in digests)
    with open_agent_operation(**where) as context:
        result = record_result(
            context,
            agent_id,
            qualification,
            score,
            sample_size=sample_size,
            digests=tested,
            run=run,
            org=org,
            reason=reason,
        )
    echo_record(
        form, result, f"{agent_id} {'passed' if result.passed else 'failed'} {qualification} with {score:g}"
    )


def _parse_named_digest(text: str) -> tuple[str, str]:
    name, equals, digest = text.partition("=")
    if not name or (equals and not digest):
        raise UsageError(
            f"{quote(text)} is not a digest",
            "write it as `NAME=DIGEST`, or as `NAME` for a part whose digest orgkernel computes",
        )
    return name, digest


@command.command("list", short_help="List the agents of the rosters and of the store.")
@add_path_options
@store_option
@cache_option
@format_option("text", "json")
def list_(paths: tuple[str, ...], store: str | None, no_cache: bool, form: str) -> None:
    """List the agents of the rosters and of the store, with their current state.

    Differences between the two are printed on stderr.
    """
    kernel = open_declared_kernel(paths, no_cache=no_cache)
    agents = list_declared_agents(kernel)
    drift: tuple[Diagnostic, ...] = ()
    if not agents or does_store_exist(store):
        with open_question(store, kernel) as context:
            agents, drift = list_agents(context)
    echo_records(
        form,
        agents,
        ("agent", "organization", "rank", "lifecycle", "trust"),
        lambda agent: (agent.agent_id, agent.org_id, agent.rank, agent.lifecycle, agent.trust_now),
    )
    for each in drift:
        click.echo(f"{each.severity.value}[{each.code}] {printable(each.message)}", err=True)
