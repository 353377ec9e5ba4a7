"""What `grant` and `restriction` share: both say something about a subject and resources, until a time or for good."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from orgkernel.cli.opening import cache_option, format_option, path_option
from orgkernel.cli.stores import (
    acting,
    by_option,
    echo_record,
    find_declared,
    reason_option,
    show_time,
    store_option,
)
from orgkernel.operations.context import Context, actor_named
from orgkernel.records.levels import LEVELS

_Command = Callable[..., Any]
_ABOUT = (
    click.argument("subject"),
    click.argument("resources", nargs=-1, required=True, metavar="RESOURCE..."),
    click.option("--org", metavar="ORG", help="Organization it holds in. Default: all."),
    click.option("--expires", metavar="WHEN", help="`30m`, `24h`, `7d`, or a date. Default: never."),
)  # fmt: skip
_BY_WHOM = (by_option, reason_option, path_option, store_option, cache_option, format_option("text", "json"))


def issuing(level: str, help: str, *more: Callable[[_Command], _Command]) -> Callable[[_Command], _Command]:
    """The arguments of a command that issues, with the `level` it has by default; `more` come after the level."""
    of_level = click.option("--level", type=click.Choice(LEVELS), default=level, show_default=True, help=help)

    return _with((*_ABOUT[:2], of_level, *more, *_ABOUT[2:], *_BY_WHOM))


def listing_of(over: str) -> Callable[[_Command], _Command]:
    """The options of a command that lists; `over` is what has happened to those that hold no more."""
    return _with(
        (
            click.option("--subject", metavar="SUBJECT", help="Only those of one subject."),
            click.option("--all", "everything", is_flag=True, help=f"Also what was {over}."),
            store_option,
            format_option("text", "json"),
        )
    )


def _with(options: Sequence[Callable[[_Command], _Command]]) -> Callable[[_Command], _Command]:
    def add(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def ending(
    name: str, what: str, done: str, end: Callable[[Context, str, str], Any], help: str
) -> click.Command:
    """The command that ends one of them by an operation."""

    @click.command(name, help=help)
    @click.argument("record_id", metavar=what.upper())
    @by_option
    @reason_option
    @path_option
    @store_option
    @cache_option
    @format_option("text", "json")
    def command(
        record_id: str,
        actor: str,
        reason: str,
        paths: tuple[str, ...],
        store: str | None,
        no_cache: bool,
        form: str,
    ) -> None:
        kernel = find_declared(paths, no_cache=no_cache) if actor_named(actor).member else None
        with acting(actor, store, kernel) as context:
            ended = end(context, record_id, reason)
        echo_record(form, ended, f"{record_id} {done}")

    return command


def show_end(record: Any, ended: str) -> str:
    """Until when something holds, or when it `ended`."""
    return f"{ended} {show_time(record.revoked_at)}" if record.revoked_at else show_time(record.expires_at)
