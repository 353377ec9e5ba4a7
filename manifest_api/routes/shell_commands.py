"""Shell commands: which destructive operations they would do, and whether they may. Nothing is run."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from manifest_api.answering import AnswersOfApp
from manifest_api.guards.caller import require_scope
from manifest_api.questions import KNOWN_PARAMETERS, Org, read_body
from manifest_api.routes.contracts import read_value
from manifest_api.routes.documented import declare_body, declare_responses
from orgkernel.decisions.command_programs import build_programs
from orgkernel.decisions.work.contracts.command_permission import CommandPermission, permit_command
from orgkernel.decisions.work.contracts.reading import expect_readable, expect_sound
from orgkernel.documents.records import Brief, Preflight
from orgkernel.kernel.kernel import Kernel
from orgkernel.shell.catalog import CommandPrograms
from orgkernel.shell.check import CommandExplanation, explain_command
from orgkernel.shell.ownership import Ground

router = APIRouter(tags=["commands"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])
MAX_COMMAND_LENGTH, MAX_PATH_LENGTH, MAX_GLOBS, MAX_PREFLIGHTS = 100_000, 4_096, 64, 16
WrittenPath = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_PATH_LENGTH)]


class ExplanationQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How is this command read?"""

    command: Annotated[str, msgspec.Meta(max_length=MAX_COMMAND_LENGTH)]
    """A script of a POSIX shell or bash, as `sh -c` reads it."""


class CommandQuestion(ExplanationQuestion, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which destructive operations would this command do?"""

    root: WrittenPath | None = None
    """The absolute path of the directory the command would run in."""
    own: Annotated[tuple[WrittenPath, ...], msgspec.Meta(max_length=MAX_GLOBS)] | None = None
    """Globs of files that the task may delete and overwrite. By default, all files below the root."""
    brief: dict[str, Any] | str | None = None
    """The brief of the task, which lists the operations it authorizes: an object, or a string with YAML or JSON."""
    preflights: Annotated[tuple[dict[str, Any] | str, ...], msgspec.Meta(max_length=MAX_PREFLIGHTS)] = ()
    """The pre-flights of destructive operations in the command, in the same way."""


_EXAMPLE = {"command": "git push --force origin main"}


@router.post(
    "/v1/commands/check",
    responses=declare_responses(CommandPermission, 400, 415, kept=False),
    openapi_extra=declare_body(CommandQuestion, {"command": "git push --force", "own": ["build/**"]}),
)
async def post_command_check(request: Request, answers: AnswersOfApp) -> Response:
    """Find the destructive operations in a shell command, and say whether it may run. Nothing is run."""
    return await _check(request, answers, None)


@router.post(
    "/v1/orgs/{org}/commands/check",
    responses=declare_responses(CommandPermission, 400, 404, 409, 415, kept=False),
    openapi_extra=declare_body(CommandQuestion, {"command": "git push --force", "own": ["build/**"]}),
)
async def post_organization_command_check(request: Request, answers: AnswersOfApp, org: Org) -> Response:
    """Find the destructive operations in a shell command, with the programs that the organization adds."""
    return await _check(request, answers, org)


@router.post(
    "/v1/commands/explain",
    responses=declare_responses(CommandExplanation, 400, 415, kept=False),
    openapi_extra=declare_body(ExplanationQuestion, _EXAMPLE),
)
async def post_command_explanation(request: Request, answers: AnswersOfApp) -> Response:
    """Explain how a shell command is read: the entry of each program in the command catalog, and what its words are."""
    return await _explain(request, answers, None)


@router.post(
    "/v1/orgs/{org}/commands/explain",
    responses=declare_responses(CommandExplanation, 400, 404, 409, 415, kept=False),
    openapi_extra=declare_body(ExplanationQuestion, _EXAMPLE),
)
async def post_organization_command_explanation(
    request: Request, answers: AnswersOfApp, org: Org
) -> Response:
    """Explain how a shell command is read, with the programs that the organization adds."""
    return await _explain(request, answers, org)


async def _check(request: Request, answers: AnswersOfApp, org: str | None) -> Response:
    require_scope(request, "read")
    question = await read_body(request, CommandQuestion, '{"command": "git push --force"}')
    ground = Ground(root=question.root, own=question.own)
    brief = None if question.brief is None else expect_sound(read_value("brief", question.brief), Brief)
    preflights = [expect_readable(read_value("preflight", each), Preflight) for each in question.preflights]

    def decide(kernel: Kernel) -> CommandPermission:
        programs = _find_programs(kernel, org)
        return permit_command(question.command, ground, brief, preflights, programs)

    return await answers.respond_once(decide, org)


async def _explain(request: Request, answers: AnswersOfApp, org: str | None) -> Response:
    require_scope(request, "read")
    question = await read_body(request, ExplanationQuestion, '{"command": "git push --force origin main"}')
    return await answers.respond_once(
        lambda kernel: explain_command(question.command, programs=_find_programs(kernel, org)), org
    )


def _find_programs(kernel: Kernel, org: str | None) -> CommandPrograms | None:
    """The programs that an organization knows. None for the shipped catalog alone."""
    return None if org is None else build_programs(kernel.organization(org).snapshot.records)
