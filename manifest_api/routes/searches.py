"""OpenID AuthZEN 1.0: who may do this, to what, and which actions; in pages."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from manifest_api.answering import Answers, AnswersOfApp
from manifest_api.authzen import Asked, named, of_nobody, understand, with_unread
from manifest_api.authzen_shapes import (
    ActionList,
    ActionSearch,
    EntityList,
    FoundAction,
    FoundEntity,
    Page,
    PageAnswer,
    ResourceSearch,
    SearchContext,
    SubjectSearch,
    Uncertain,
)
from manifest_api.guards.caller import require_scope
from manifest_api.problems import BAD_CURSOR, BAD_EVALUATION, Refused
from manifest_api.questions import only, read_body
from manifest_api.routes.documented import body_of, told
from orgkernel.decisions.access.decision import AccessRow
from orgkernel.decisions.access.listing import SUBJECT_KINDS
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.decisions import rows_as_told

router = APIRouter(tags=["access"])
_ANSWERS = (400, 401, 404, 409, 415, 429, 503)
_RESOURCE_KINDS = ("tool", "credential", "data", "role")
_EXAMPLE = {
    "subject": {"type": "role", "id": "codegen_specialist"},
    "action": {"name": "use"},
    "resource": {"type": "tool", "id": "text_editor"},
}
_SHOWN = '{"subject": {"type": "role", "id": "co"}, "action": {"name": "use"}, "resource": {"type": "tool", "id": "x"}}'


@router.post(
    "/access/v1/search/subject",
    response_class=Response,
    responses=told("EntityList", *_ANSWERS, kept=False, paged=True),
    openapi_extra=body_of("SubjectSearch", {**_EXAMPLE, "subject": {"type": "role"}}),
    dependencies=[only()],
)
async def post_search_subject(request: Request, answers: AnswersOfApp) -> Response:
    """Who may do this: subjects of one type, each of which would be permitted."""
    caller = require_scope(request, "read")
    search = await read_body(request, SubjectSearch, _SHOWN, BAD_EVALUATION)
    asked = understand("", search.action.name, named(search.resource), search.context)
    asked = of_nobody(asked, search.context)
    asked = with_unread(asked, subject=search.subject, action=search.action, resource=search.resource)

    def rows(kernel: Kernel) -> Sequence[AccessRow]:
        kinds = (search.subject.type,) if search.subject.type in SUBJECT_KINDS else ()
        found = kernel.who_can(
            asked.org,
            asked.request.action,
            asked.request.resource,
            context=asked.request.context,
            kinds=kinds,
        )
        return rows_as_told(kernel.access_desk(asked.org), found, asked.request, caller.actor)

    return await _entities(answers, asked, search, rows, lambda row: row.subject)


@router.post(
    "/access/v1/search/resource",
    response_class=Response,
    responses=told("EntityList", *_ANSWERS, kept=False, paged=True),
    openapi_extra=body_of("ResourceSearch", {**_EXAMPLE, "resource": {"type": "tool"}}),
    dependencies=[only()],
)
async def post_search_resource(request: Request, answers: AnswersOfApp) -> Response:
    """To what a subject may do this: resources of one type, each of which would be permitted."""
    caller = require_scope(request, "read")
    search = await read_body(request, ResourceSearch, _SHOWN, BAD_EVALUATION)
    asked = understand(named(search.subject), search.action.name, "", search.context)
    asked = with_unread(asked, subject=search.subject, action=search.action, resource=search.resource)

    def rows(kernel: Kernel) -> Sequence[AccessRow]:
        kinds = (search.resource.type,) if search.resource.type in _RESOURCE_KINDS else ()
        found = kernel.what_can(asked.org, asked.request.subject, request=asked.request, kinds=kinds)
        return rows_as_told(kernel.access_desk(asked.org), found, asked.request, caller.actor)

    return await _entities(answers, asked, search, rows, lambda row: row.resource)


@router.post(
    "/access/v1/search/action",
    response_class=Response,
    responses=told("ActionList", *_ANSWERS, kept=False, paged=True),
    openapi_extra=body_of("ActionSearch", {key: _EXAMPLE[key] for key in ("subject", "resource")}),
    dependencies=[only()],
)
async def post_search_action(request: Request, answers: AnswersOfApp) -> Response:
    """What a subject may do to a resource: declared actions, each of which would be permitted."""
    caller = require_scope(request, "read")
    search = await read_body(request, ActionSearch, _SHOWN, BAD_EVALUATION)
    asked = understand(named(search.subject), "", named(search.resource), search.context)
    asked = with_unread(asked, subject=search.subject, resource=search.resource)

    def ask(kernel: Kernel) -> ActionList:
        rows = rows_as_told(
            kernel.access_desk(asked.org),
            kernel.what_can(asked.org, asked.request.subject, request=asked.request),
            asked.request,
            caller.actor,
        )
        found = [action for row in rows if row.outcome == "allow" for action in row.actions]
        shown, page = _page(kernel, asked, search, found)
        context = _context(kernel, asked, rows, lambda row: ", ".join(row.actions))
        return ActionList(tuple(FoundAction(name) for name in shown), page, context)

    return await answers.respond_once(ask, asked.org)


async def _entities(
    answers: Answers,
    asked: Asked,
    search: SubjectSearch | ResourceSearch,
    read: Callable[[Kernel], Sequence[AccessRow]],
    name: Callable[[AccessRow], str],
) -> Response:
    def ask(kernel: Kernel) -> EntityList:
        rows = read(kernel)
        found = list(dict.fromkeys(name(row) for row in rows if row.outcome == "allow"))
        shown, page = _page(kernel, asked, search, found)
        entities = tuple(FoundEntity(kind, each) for kind, _, each in (text.partition(":") for text in shown))
        return EntityList(entities, page, _context(kernel, asked, rows, name))

    return await answers.respond_once(ask, asked.org)


def _context(
    kernel: Kernel, asked: Asked, rows: Sequence[AccessRow], name: Callable[[AccessRow], str]
) -> SearchContext:
    return SearchContext(
        ask=tuple(name(row) for row in rows if row.outcome == "ask"),
        conditional=tuple(
            Uncertain(name(row), row.outcome, row.conditions) for row in rows if row.conditional
        ),
        ignored=asked.ignored,
        snapshot=kernel.organization(asked.org).snapshot.digest,
        state_version=kernel.standpoint.stored_version,
    )


def _page(kernel: Kernel, asked: Asked, search: Any, found: list[str]) -> tuple[list[str], PageAnswer]:
    """One page of a list. A token continues the list of one version and one question, and no other."""
    page: Page = search.page
    version = kernel.organization(asked.org).snapshot.digest, kernel.standpoint.stored_version
    question = msgspec.json.encode((version, msgspec.structs.replace(search, page=Page())))
    stamp = hashlib.sha256(question).hexdigest()[:16]
    token = page.token or page.next_token
    start = 0
    if token:
        number = token.rpartition("-")[2]
        start = int(number) if number.isascii() and number.isdigit() and len(number) < 10 else 0
        if token != f"{stamp}-{start}" or not 0 < start < len(found):
            raise Refused(
                BAD_CURSOR, "the token continues no list of this version", "start again without a token"
            )
    end = start + int(page.limit)
    shown = found[start:end]
    following = f"{stamp}-{end}" if end < len(found) else ""
    return shown, PageAnswer(following, len(shown), len(found))
