"""`orgkernel crew leadership`: who is asked and delegated to."""

from __future__ import annotations

from typing import Any

import click

from orgkernel.cli.crew.agent_options import question_options
from orgkernel.cli.output import echo_answer
from orgkernel.cli.stores import open_question
from orgkernel.decisions.crew.leadership import LeadershipObservation
from orgkernel.kernel.names import ACTIVE


@click.command("leadership", short_help="Count who is asked and delegated to.")
@question_options
def command(
    form: str, org: str | None, paths: tuple[str, ...], store: str | None, no_cache: bool, **_: Any
) -> None:
    """Count the recorded hand-offs to and from each subject, also those outside the chain of command.

    This is an observation: no rank, right or dispatch depends on it.
    """
    from orgkernel.cli.opening import open_kernel
    from orgkernel.operations.handoffs import observe_leadership_of

    kernel = open_kernel(paths, org or ACTIVE, no_cache=no_cache)
    with open_question(store, kernel) as context:
        observation = observe_leadership_of(context, org or ACTIVE)
    echo_answer(form, observation, lambda: _render(observation))


def _render(observation: LeadershipObservation) -> str:
    from orgkernel.cli.tables import create_table, draw

    table = create_table("subject", "received", "senders", "outside chain", "passed on", "receivers")
    for each in observation.counts:
        numbers = (each.received, each.senders, each.received_outside_chain, each.passed_on, each.receivers)
        table.add_row(each.subject, *map(str, numbers))
    return draw(table) if observation.counts else "no hand-off is recorded\n"
