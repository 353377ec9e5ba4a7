"""Shell commands: which destructive operations they would do. Nothing is run."""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from manifest_api.answering import AnswersOfApp
from manifest_api.guards.caller import require_scope
from manifest_api.questions import KNOWN_PARAMETERS, read_body
from manifest_api.routes.documented import body_of, told
from orgkernel.decisions.shell_commands.check import check_command
from orgkernel.decisions.shell_commands.ownership import Ground
from orgkernel.decisions.shell_commands.verdict import CommandCheck

router = APIRouter(tags=["commands"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])
LONGEST_COMMAND, LONGEST_PATH, MOST_GLOBS = 100_000, 4_096, 64
OwnedPath = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_PATH)]


class CommandQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which destructive operations would this command do?"""

    command: Annotated[str, msgspec.Meta(max_length=LONGEST_COMMAND)]
    """A script of a POSIX shell or bash, as `sh -c` reads it."""
    root: OwnedPath | None = None
    """The absolute path of the directory the command would run in."""
    own: Annotated[tuple[OwnedPath, ...], msgspec.Meta(max_length=MOST_GLOBS)] | None = None
    """Globs of what the task may delete and overwrite. Without them, all that is below the root."""


@router.post(
    "/v1/commands/check",
    responses=told(CommandCheck, 400, 415, kept=False),
    openapi_extra=body_of(CommandQuestion, {"command": "git push --force", "own": ["build/**"]}),
)
async def post_command_check(request: Request, answers: AnswersOfApp) -> Response:
    """Find the destructive operations in a shell command, and what of it cannot be read. Nothing is run."""
    require_scope(request, "read")
    asked = await read_body(request, CommandQuestion, '{"command": "git push --force"}')
    ground = Ground(root=asked.root, own=asked.own)
    return await answers.respond_once(lambda _: check_command(asked.command, ground))
