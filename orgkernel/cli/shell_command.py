"""`orgkernel command check`: which destructive operations a shell command would do."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator

import click

from orgkernel.cli.opening import format_option
from orgkernel.cli.output import as_text, echo_answer
from orgkernel.decisions.shell_commands.check import check_command
from orgkernel.decisions.shell_commands.ownership import Ground
from orgkernel.decisions.shell_commands.verdict import CommandCheck, DestructiveOperation, UnreadPart

LIMIT = 1_000_000
"""Most bytes that are read from standard input."""
_EXIT_CODES = {"harmless": 0, "destructive": 1, "cannot_tell": 2}


@click.group("command")
def command() -> None:
    """Find destructive operations in a shell command, without running it."""


@command.command("check", context_settings={"ignore_unknown_options": False})
@click.argument("words", metavar="COMMAND...", nargs=-1, required=True)
@click.option("--root", metavar="DIR", help="Directory the command would run in. It need not exist.")
@click.option(
    "--own",
    "own",
    multiple=True,
    metavar="GLOB",
    help="What the task may delete and overwrite; repeatable.  [default: all that is below the root]",
)
@format_option("text", "json")
@click.pass_context
def check(
    ctx: click.Context, words: tuple[str, ...], root: str | None, own: tuple[str, ...], form: str
) -> None:
    """Find destructive operations in COMMAND. Write `--` before it; `-` reads it from standard input.

    One word is read as a script, as `sh -c` does; several are the words of one program. Nothing is run.

    Exit codes: 0 harmless, 1 destructive, 2 cannot tell.
    """
    ground = Ground(root=None if root is None else os.path.abspath(root), own=own or None)
    found = check_command(_text(words), ground)
    echo_answer(form, found, lambda: as_text(_lines(found)))
    ctx.exit(_EXIT_CODES[found.outcome])


def _text(words: tuple[str, ...]) -> str:
    if words == ("-",):
        return sys.stdin.buffer.read(LIMIT).decode("utf-8", "surrogateescape")
    return words[0] if len(words) == 1 else shlex.join(words)


def _lines(found: CommandCheck) -> Iterator[str]:
    yield found.outcome.replace("_", " ")
    for operation in found.operations:
        yield f"  {_place(operation)} {operation.id}: {operation.message}{_through(operation)}"
    for part in found.unread:
        yield f"  {_place(part)} not read: {part.message}{_through(part)}"


def _place(part: DestructiveOperation | UnreadPart) -> str:
    return f"{part.at.line}:{part.at.column}"


def _through(part: DestructiveOperation | UnreadPart) -> str:
    return f" (through {' > '.join(part.through)})" if part.through else ""
