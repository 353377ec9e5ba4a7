"""`orgkernel role`: the standing orders and the PACE tier of a role."""

from __future__ import annotations

import click

from orgkernel.cli.groups import CommandGroup


@click.group("role", cls=CommandGroup, places={"orders": "crew.orders", "pace": "crew.pace"})
def command() -> None:
    """Show the standing orders or the PACE tier of a role. `orgkernel manifest ROLE` shows the rest."""
