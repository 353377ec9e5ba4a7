"""`orgkernel key card`: the key that signs agent cards."""

from __future__ import annotations

import time

import click

from orgkernel.cli.groups import CommandGroup
from orgkernel.cli.stores import parse_duration, show_time
from orgkernel.exchange.a2a.keys import CardKeys, create_card_key, render_keys, rotate_card_key


@click.group("card", cls=CommandGroup)
def command() -> None:
    """Create, rotate and show the key that signs agent cards (A2A). It needs the extra `orgkernel[signing]`."""


@command.command("create")
@click.argument("file")
def create(file: str) -> None:
    """Create a key in a new file that only this user can read. Prints its id."""
    click.echo(create_card_key(file).public_key["kid"])


@command.command("rotate")
@click.argument("file")
@click.option(
    "--overlap",
    default="30d",
    show_default=True,
    metavar="TIME",
    help="How long the old public key remains published.",
)
def rotate(file: str, overlap: str) -> None:
    """Replace the card key. A running server signs with the new key at once. Prints the id of the new key."""
    now = time.time()
    until = now + parse_duration(overlap)
    click.echo(rotate_card_key(file, now, until).public_key["kid"])
    click.echo(f"the old key is published until {show_time(until)}", err=True)


@command.command("show", short_help="Print the public keys that verify cards, as a JWKS.")
@click.argument("file")
def show(file: str) -> None:
    """Print the public keys that verify cards, as a JWKS: the current one, then the former ones."""
    click.echo(render_keys(CardKeys(file).published(time.time())), nl=False)
