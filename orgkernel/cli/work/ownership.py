"""`orgkernel ownership`: every file has one owner, and hooks and audits enforce it."""

from __future__ import annotations

import click

from orgkernel.cli.groups import CommandGroup


@click.group(
    "ownership",
    cls=CommandGroup,
    places={
        "audit": "work.ownership_audit:audit",
        "install-hooks": "work.ownership_hooks:install",
        "hook": "work.ownership_hooks:hook",
        "verify-push": "work.ownership_pushes:verify_push",
    },
)
def command() -> None:
    """Find files that were changed by others than their owners, and install hooks that refuse such changes."""
