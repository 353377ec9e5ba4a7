"""What a place and a code in another answer mean: the lines of the document, and the page of the rule."""

from __future__ import annotations

import os
from typing import Annotated

import msgspec
from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from manifest_api.answering import AnswersOfApp
from manifest_api.problems import UNKNOWN_LINES, UNKNOWN_RULE, RequestRefused
from manifest_api.questions import KNOWN_PARAMETERS, Org
from manifest_api.routes.documented import declare_responses
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.errors import BadProject
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.settings import find_project
from orgkernel.rules.pages import build_all_pages
from orgkernel.snapshots.excerpts import read_excerpt

router = APIRouter(tags=["registry"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])
MAX_AROUND = 20


class Excerpt(msgspec.Struct, frozen=True, kw_only=True):
    """Some lines of a document. What could be a secret is masked, and long lines are cut."""

    org_id: str
    file: str
    line: int
    first: int
    """The number of the first of `lines`."""
    lines: tuple[str, ...]
    is_stale: bool
    """Whether the organization is answered from an earlier version, so that a place of it could be elsewhere in these lines."""


class RuleLine(msgspec.Struct, frozen=True, kw_only=True):
    """A rule of the check, in a word and a sentence."""

    code: str
    name: str
    severity: str
    """The severity, unless the settings of the project have another one."""
    summary: str


class RuleList(msgspec.Struct, frozen=True, kw_only=True):
    """All rules, in the order of their codes."""

    rules: tuple[RuleLine, ...]


class RulePage(RuleLine, frozen=True, kw_only=True):
    """The page of a rule."""

    text: str
    """The page in Markdown, as `orgkernel rule` prints it."""


@router.get("/v1/orgs/{org}/lines", responses=declare_responses(Excerpt, 404, 409, 503, org=True))
async def get_lines(
    request: Request,
    answers: AnswersOfApp,
    org: Org,
    file: Annotated[
        str,
        Query(
            min_length=1,
            max_length=1_000,
            description="Name of a file, as `why` and the findings of the organization name it.",
            examples=["software_dev/org.yaml"],
        ),
    ],
    line: Annotated[int, Query(ge=1, le=2**31, description="Number of a line, from 1.")],
    around: Annotated[
        int, Query(ge=0, le=MAX_AROUND, description="Number of lines before and after it.")
    ] = 3,
) -> Response:
    """Get the lines around a place in a document of the organization, as they were read. A name of any other file is unknown."""

    def ask(kernel: Kernel) -> Excerpt:
        served = kernel.organization(org)
        records = served.snapshot.records
        is_known = file in records.files
        lines = (
            read_excerpt(kernel.state.latest.tree, file, line, around, _list_project_folders())
            if is_known
            else None
        )
        if lines is None:
            raise RequestRefused(
                UNKNOWN_LINES,
                f"line {line} of {quote(file)} cannot be shown",
                "ask for a place of the current answers: the file could have changed since it was read",
            )
        return Excerpt(
            org_id=records.org_id,
            file=file,
            line=line,
            first=max(1, line - around),
            lines=tuple(lines),
            is_stale=served.stale,
        )

    return await answers.respond(request, ask, org)


@router.get("/v1/rules", responses=declare_responses(RuleList))
async def get_rules(request: Request, answers: AnswersOfApp) -> Response:
    """List the rules of the check."""
    return await answers.respond(request, lambda _: RuleList(rules=tuple(_list_rules())))


@router.get("/v1/rules/{code}", responses=declare_responses(RulePage, 404))
async def get_rule(
    request: Request,
    answers: AnswersOfApp,
    code: Annotated[
        str, Path(pattern=r"^[A-Z]{3}\d{3}$", description="Code of a rule.", examples=["ORG202"])
    ],
) -> Response:
    """Get the page of a rule: what it checks, why it matters, and how to correct what it finds."""
    pages = build_all_pages()

    def ask(_: Kernel) -> RulePage:
        page = pages.get(code)
        if page is None:
            help = did_you_mean(code, pages) or "`GET /v1/rules` lists all rules"
            raise RequestRefused(UNKNOWN_RULE, f"there is no rule {quote(code)}", help)
        return RulePage(
            code=page.code,
            name=page.name,
            severity=page.severity.value,
            summary=page.summary,
            text=page.text,
        )

    return await answers.respond(request, ask)


def _list_project_folders() -> list[str]:
    """The folder of the project that the server runs in, if there is one. Other files are shown only below the paths that
    were named: the current folder of a service can be the root of the disk.
    """
    try:
        project = find_project(os.getcwd())
    except BadProject:
        return []
    return [os.path.realpath(project.folder)] if project.file else []


def _list_rules() -> list[RuleLine]:
    return [
        RuleLine(code=each.code, name=each.name, severity=each.severity.value, summary=each.summary)
        for each in build_all_pages().values()
    ]
