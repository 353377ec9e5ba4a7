"""`orgkernel role`: what holds for a role."""

from __future__ import annotations

import click

from orgkernel.cli.groups import Group


@click.group("role", cls=Group, places={"orders": "crew.orders", "pace": "crew.pace"})
def command() -> None:
    """Show the standing orders or the PACE tier of a role. `orgkernel manifest ROLE` shows the rest."""
