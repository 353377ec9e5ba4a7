"""`orgkernel command check`: which destructive operations a shell command would do."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator

import click

from orgkernel.cli.groups import CommandGroup
from orgkernel.cli.opening import format_option, open_kernel
from orgkernel.cli.output import echo_answer, join_lines
from orgkernel.cli.work.contract_files import read_brief, read_contract_file
from orgkernel.decisions.command_programs import build_programs
from orgkernel.decisions.work.contracts.command_permission import CommandPermission, permit_command
from orgkernel.decisions.work.contracts.reading import expect_readable
from orgkernel.documents.records import Preflight
from orgkernel.shell.catalog import CommandPrograms
from orgkernel.shell.check import CommandExplanation, explain_command
from orgkernel.shell.ownership import Ground
from orgkernel.shell.verdict import DestructiveOperation, UnreadPart

LIMIT = 1_000_000
"""Most bytes that are read from standard input."""
_EXIT_CODES = {"allow": 0, "deny": 1, "cannot_tell": 2}


_org_option = click.option(
    "--org",
    metavar="ORG",
    help="Organization whose command catalog entries also apply.  [default: shipped entries only]",
)


@click.group("command", cls=CommandGroup)
def command() -> None:
    """Find destructive operations in a shell command, and explain how it is read."""


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
@click.option("--brief", metavar="FILE", help="Brief of the task, which lists the operations it authorizes.")
@click.option(
    "--preflight",
    "preflights",
    multiple=True,
    metavar="FILE",
    help="Preflight of a destructive operation in the command; repeatable.",
)
@_org_option
@format_option("text", "json")
@click.pass_context
def check(
    ctx: click.Context,
    words: tuple[str, ...],
    root: str | None,
    own: tuple[str, ...],
    brief: str | None,
    preflights: tuple[str, ...],
    org: str | None,
    form: str,
) -> None:
    """Find destructive operations in COMMAND. Write `--` before it; `-` reads it from standard input.

    One word is read as a script, as `sh -c` does; several are the words of one program. Nothing is run. A destructive
    command is allowed if the brief authorizes its operations and the steps before each of them are recorded.

    Exit codes: 0 allowed, 1 refused, 2 cannot tell.
    """
    ground = Ground(root=None if root is None else os.path.abspath(root), own=own or None)
    given = None if brief is None else read_brief(brief)
    done = [expect_readable(read_contract_file(each), Preflight) for each in preflights]
    permission = permit_command(_read_text(words), ground, given, done, _find_programs(org))
    echo_answer(
        form, permission, lambda: join_lines(_render_lines(permission, asks=given is not None or bool(done)))
    )
    ctx.exit(_EXIT_CODES[permission.permission])


@command.command("explain", context_settings={"ignore_unknown_options": False})
@click.argument("words", metavar="COMMAND...", nargs=-1, required=True)
@_org_option
@format_option("text", "json")
def explain(words: tuple[str, ...], org: str | None, form: str) -> None:
    """Show how COMMAND is read, program by program.

    The output names the entry of each program in the command catalog, and how each word is interpreted.
    Write `--` before the command. Nothing is run.
    """
    explanation = explain_command(_read_text(words), programs=_find_programs(org))
    echo_answer(form, explanation, lambda: join_lines(_render_explanation(explanation)))


def _find_programs(org: str | None) -> CommandPrograms | None:
    """The programs that an organization knows. None for the shipped catalog alone."""
    if org is None:
        return None
    return build_programs(open_kernel((), org).organization(org).snapshot.records)


def _render_explanation(explanation: CommandExplanation) -> Iterator[str]:
    yield explanation.outcome.replace("_", " ")
    for program in explanation.programs:
        through = f" (through {' > '.join(program.through)})" if program.through else ""
        effects = ", ".join(program.operations or program.effects) or "read by its own rules"
        yield f"  {program.entry}: {effects}{through} [{program.place}]"
        width = max((len(use.word) for use in program.uses), default=0)
        for use in program.uses:
            yield f"      {use.word.ljust(width)}  {use.role.replace('_', ' ')}"
    for operation in explanation.operations:
        yield f"  {_place(operation)} {operation.id}: {operation.message}{_render_through(operation)}"
    for part in explanation.unread:
        yield f"  {_place(part)} not read: {part.message}{_render_through(part)}"


def _read_text(words: tuple[str, ...]) -> str:
    if words == ("-",):
        return sys.stdin.buffer.read(LIMIT).decode("utf-8", "surrogateescape")
    return words[0] if len(words) == 1 else shlex.join(words)


def _render_lines(permission: CommandPermission, *, asks: bool) -> Iterator[str]:
    allowed = permission.permission == "allow" and permission.outcome == "destructive"
    yield permission.outcome.replace("_", " ") + (", and allowed" if allowed else "")
    for operation in permission.operations:
        yield f"  {_place(operation)} {operation.id}: {operation.message}{_render_through(operation)}{_render_entry(operation)}"
    for part in permission.unread:
        yield f"  {_place(part)} not read: {part.message}{_render_through(part)}{_render_entry(part)}"
    for refusal in permission.refusals if asks else ():
        yield f"  {refusal.code}: {refusal.message}"
        yield f"      {refusal.help}"


def _render_entry(part: DestructiveOperation | UnreadPart) -> str:
    return f" [{part.entry}]" if part.entry else ""


def _place(part: DestructiveOperation | UnreadPart) -> str:
    return f"{part.at.line}:{part.at.column}"


def _render_through(part: DestructiveOperation | UnreadPart) -> str:
    return f" (through {' > '.join(part.through)})" if part.through else ""
