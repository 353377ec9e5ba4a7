"""`orgkernel task`: work from its plan to its result, with the hand-offs and decisions on the way."""

from __future__ import annotations

import click

from orgkernel.cli.groups import CommandGroup


@click.group(
    "task",
    cls=CommandGroup,
    places={
        "plan": "work.plan",
        "check": "work.contracts:check",
        "record": "work.contracts:record",
        "list": "work.contracts:list_",
        "show": "work.contracts:show",
        "next": "work.contracts:next_",
        "handoff": "work.handoffs",
        "log": "work.decision_log",
    },
)
def command() -> None:
    """Plan, brief, hand down and report work, and log decisions.

    `check`, `record`, `list`, `show` and `next` manage contracts: briefs, results, blockers and others.
    """
