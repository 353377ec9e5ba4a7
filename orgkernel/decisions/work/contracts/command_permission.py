"""Decide whether a shell command may run: it destroys nothing, or its brief authorizes it and its pre-flight is
complete.

Fails closed: a command that cannot be parsed is denied, whatever a brief authorizes, and a pre-flight is valid for one
run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from orgkernel.diagnostics.wording import quote
from orgkernel.shell.catalog import CommandPrograms
from orgkernel.shell.check import check_command
from orgkernel.shell.ownership import Ground
from orgkernel.shell.verdict import CommandCheck

if TYPE_CHECKING:
    from orgkernel.documents.records import Brief, Preflight

Permission = Literal["allow", "deny", "cannot_tell"]


class CommandRefusal(msgspec.Struct, frozen=True, kw_only=True):
    """A reason why a command may not run."""

    code: Literal["DESTRUCTIVE_NOT_AUTHORISED", "PREFLIGHT_STEP_MISSING"]
    operation: str
    """The id of the operation in the catalog."""
    step: str | None = None
    """The first missing step, such as `backup`. It is null if the operation is not authorized."""
    message: str
    help: str


class CommandPermission(CommandCheck, frozen=True, kw_only=True):
    """The facts about a shell command, and whether it may run."""

    permission: Permission
    refusals: tuple[CommandRefusal, ...] = ()


def permit_command(
    command: str,
    ground: Ground | None = None,
    brief: Brief | None = None,
    preflights: Sequence[Preflight] = (),
    programs: CommandPrograms | None = None,
) -> CommandPermission:
    """The permission for a command. `ground` is where it would run, `brief` authorizes it, and `programs` are those that the
    organization knows.

    >>> permit_command("pytest -q").permission, permit_command("git push --force").refusals[0].code
    ('allow', 'DESTRUCTIVE_NOT_AUTHORISED')
    """
    return permit_checked(check_command(command, ground, programs), command, brief, preflights)


def permit_checked(
    command_check: CommandCheck, command: str, brief: Brief | None, preflights: Sequence[Preflight] = ()
) -> CommandPermission:
    """The permission for a command that was checked."""
    operations = dict.fromkeys(each.id for each in command_check.operations)
    refusals = tuple(
        refusal
        for operation in operations
        if (refusal := _refuse(command, operation, brief, preflights)) is not None
    )
    permission: Permission = "deny" if refusals else "cannot_tell" if command_check.unread else "allow"
    return CommandPermission(
        outcome=command_check.outcome,
        operations=command_check.operations,
        unread=command_check.unread,
        permission=permission,
        refusals=refusals,
    )


def _say_refused(operation: str, problem: str) -> str:
    return f"the command would do {quote(operation)}, and {problem}"


def _refuse(
    command: str, operation: str, brief: Brief | None, preflights: Sequence[Preflight]
) -> CommandRefusal | None:
    if brief is None or operation not in brief.destructive:
        clause = (
            "there is no brief that authorizes it" if brief is None else "the brief does not authorize it"
        )
        return CommandRefusal(
            code="DESTRUCTIVE_NOT_AUTHORISED",
            operation=operation,
            message=_say_refused(operation, clause),
            help="list the operation in `spec.scope.destructive` of the brief, or report it as pending",
        )
    from orgkernel.decisions.work.contracts.preflights import BEFORE

    own = [
        each for each in preflights if each.operation == operation and each.command.strip() == command.strip()
    ]
    problems = [_find_problem(each, brief) for each in own]
    if None in problems:
        return None
    step, problem = next(filter(None, problems), (BEFORE[0].field, "no pre-flight of this command was given"))
    return CommandRefusal(
        code="PREFLIGHT_STEP_MISSING",
        operation=operation,
        step=step,
        message=_say_refused(operation, problem),
        help="record all steps up to `backup`, then check the command again",
    )


def _find_problem(preflight: Preflight, brief: Brief) -> tuple[str, str] | None:
    """The first step that is missing before the operation, and the reason. None if it may be carried out."""
    from orgkernel.decisions.work.contracts.findings import is_same_id
    from orgkernel.decisions.work.contracts.preflights import BEFORE, find_missing_steps

    for finding in find_missing_steps(preflight):
        return str(finding.route[0]), finding.message
    named = preflight.authorization.brief if preflight.authorization else None
    if not is_same_id(named, brief.id):
        return (
            "authorization",
            f"the authorization names the brief {quote(named or 'none')}, which is another one",
        )
    if preflight.execution is not None:
        return BEFORE[0].field, "its pre-flight was already used for a run"
    return None
