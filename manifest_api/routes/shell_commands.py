"""Shell commands: which destructive operations they would do, and whether they may. Nothing is run."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from manifest_api.answering import AnswersOfApp
from manifest_api.guards.caller import require_scope
from manifest_api.questions import KNOWN_PARAMETERS, read_body
from manifest_api.routes.contracts import read_value
from manifest_api.routes.documented import declare_body, declare_responses
from orgkernel.decisions.work.contracts.command_permission import CommandPermission, permit_command
from orgkernel.decisions.work.contracts.reading import expect_readable, expect_sound
from orgkernel.documents.records import Brief, Preflight
from orgkernel.shell.ownership import Ground

router = APIRouter(tags=["commands"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])
LONGEST_COMMAND, LONGEST_PATH, MOST_GLOBS, MOST_PREFLIGHTS = 100_000, 4_096, 64, 16
WrittenPath = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_PATH)]


class CommandQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which destructive operations would this command do?"""

    command: Annotated[str, msgspec.Meta(max_length=LONGEST_COMMAND)]
    """A script of a POSIX shell or bash, as `sh -c` reads it."""
    root: WrittenPath | None = None
    """The absolute path of the directory the command would run in."""
    own: Annotated[tuple[WrittenPath, ...], msgspec.Meta(max_length=MOST_GLOBS)] | None = None
    """Globs of files that the task may delete and overwrite. By default, all files below the root."""
    brief: dict[str, Any] | str | None = None
    """The brief of the task, which lists the operations it authorizes: an object, or a string with YAML or JSON."""
    preflights: Annotated[tuple[dict[str, Any] | str, ...], msgspec.Meta(max_length=MOST_PREFLIGHTS)] = ()
    """The pre-flights of destructive operations in the command, in the same way."""


@router.post(
    "/v1/commands/check",
    responses=declare_responses(CommandPermission, 400, 415, kept=False),
    openapi_extra=declare_body(CommandQuestion, {"command": "git push --force", "own": ["build/**"]}),
)
async def post_command_check(request: Request, answers: AnswersOfApp) -> Response:
    """Find the destructive operations in a shell command, and say whether it may run. Nothing is run."""
    require_scope(request, "read")
    question = await read_body(request, CommandQuestion, '{"command": "git push --force"}')
    ground = Ground(root=question.root, own=question.own)
    brief = None if question.brief is None else expect_sound(read_value("brief", question.brief), Brief)
    preflights = [expect_readable(read_value("preflight", each), Preflight) for each in question.preflights]
    return await answers.respond_once(lambda _: permit_command(question.command, ground, brief, preflights))
