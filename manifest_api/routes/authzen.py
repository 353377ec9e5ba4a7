"""OpenID AuthZEN 1.0: evaluation, evaluations, the three searches (who may do this, to what, which actions) in pages, and where they are."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from manifest_api.answering import SNAPSHOT, Answers, AnswersOfApp
from manifest_api.auditing import Auditor
from manifest_api.authzen import (
    SHOWN,
    AskedAccess,
    Evaluator,
    as_evaluation,
    context_of,
    evaluate,
    filled,
    named,
    of_nobody,
    understand,
    with_unread,
)
from manifest_api.authzen_shapes import (
    ActionList,
    ActionSearch,
    Configuration,
    EntityList,
    EvaluationAnswer,
    EvaluationContext,
    EvaluationError,
    EvaluationQuestion,
    EvaluationsAnswer,
    EvaluationsQuestion,
    FoundAction,
    FoundEntity,
    PageAnswer,
    PageWanted,
    PartialQuestion,
    ResourceSearch,
    SearchContext,
    SubjectSearch,
    Uncertain,
)
from manifest_api.guards.caller import Caller, require_scope
from manifest_api.problems import BAD_EVALUATION, RequestRefused
from manifest_api.questions import KNOWN_PARAMETERS, read_body, start_of_page
from manifest_api.routes.documented import access_question, content
from orgkernel.decisions.access.decision import AccessRow
from orgkernel.decisions.access.listing import SUBJECT_KINDS
from orgkernel.errors import OrgkernelError, StoreError
from orgkernel.kernel.kernel import Kernel
from orgkernel.manifest.v1 import encode
from orgkernel.operations.decisions import Decided, rows_as_told

router = APIRouter(tags=["access"], default_response_class=Response)
EVALUATION = "/access/v1/evaluation"
_RESOURCE_KINDS = ("tool", "credential", "data", "role")
_EXAMPLE = {
    "subject": {"type": "role", "id": "codegen_specialist"},
    "action": {"name": "use"},
    "resource": {"type": "tool", "id": "text_editor"},
}


@router.post(EVALUATION, **access_question(EvaluationAnswer, EvaluationQuestion, _EXAMPLE))
async def post_evaluation(request: Request) -> Response:
    """Whether a subject may do something to a resource (OpenID AuthZEN 1.0), with the reasons in the context."""
    evaluator: Evaluator = request.app.state.evaluator
    said = await evaluator.answer(request.scope, await request.body())
    return Response(said.body, 200, {SNAPSHOT: said.snapshot}, "application/json")


@router.post(
    "/access/v1/evaluations",
    **access_question(
        EvaluationsAnswer | EvaluationAnswer,
        EvaluationsQuestion,
        {
            "subject": _EXAMPLE["subject"],
            "action": _EXAMPLE["action"],
            "evaluations": [
                {"resource": {"type": "tool", "id": each}} for each in ("text_editor", "scheduler")
            ],
            "options": {"evaluations_semantic": "execute_all"},
        },
    ),
    dependencies=[KNOWN_PARAMETERS],
)
async def post_evaluations(request: Request, answers: AnswersOfApp) -> Response:
    """Several questions at once: all of them, up to the first denial, or up to the first permission."""
    caller = require_scope(request, "read")
    asked = await read_body(request, EvaluationsQuestion, '{"evaluations": []}', BAD_EVALUATION)
    auditor: Auditor = request.app.state.auditor
    headers = {SNAPSHOT: answers.kernel.state.latest.digest}
    if not asked.evaluations:
        evaluation = await evaluate(auditor, filled(asked, asked), caller)
        return Response(encode(evaluation), 200, headers, "application/json")
    stop = {"deny_on_first_deny": False, "permit_on_first_permit": True}.get(
        asked.options.evaluations_semantic
    )
    started: list[EvaluationAnswer | tuple[AskedAccess, Decided]] = []
    for each in asked.evaluations:
        begun = _begin(auditor, each, asked, caller)
        started.append(begun)
        if (not isinstance(begun, EvaluationAnswer) and begun[1].decision.outcome == "allow") is stop:
            break
    found: list[EvaluationAnswer] = []
    for begun in started:
        found.append(
            begun
            if isinstance(begun, EvaluationAnswer)
            else as_evaluation(await auditor.finish(begun[1]), begun[0])
        )
        # A grant may have been used up since it was decided, so it is looked at again.
        if found[-1].decision is stop:
            break
    return Response(encode(EvaluationsAnswer(tuple(found))), 200, headers, "application/json")


def _begin(
    auditor: Auditor, each: PartialQuestion, above: EvaluationsQuestion, caller: Caller
) -> EvaluationAnswer | tuple[AskedAccess, Decided]:
    """Decide one of several; what cannot be asked is an error of its own and no permission."""
    # Malformed circumstances are an error of the whole request.
    said = understand("", "", "", context_of(each, above))
    try:
        question = filled(each, above)
        subject, action, resource = question.subject, question.action, question.resource
        request = msgspec.structs.replace(
            said.request, subject=named(subject), action=action.name, resource=named(resource)
        )
        asked = AskedAccess(said.org, request, said.ignored)
        asked = with_unread(asked, subject=subject, action=action, resource=resource)
        return asked, auditor.begin(asked.org, asked.request, caller)
    except StoreError:
        raise
    except (RequestRefused, OrgkernelError) as error:
        return _failed(error)


def _failed(error: RequestRefused | OrgkernelError) -> EvaluationAnswer:
    status = error.kind.status if isinstance(error, RequestRefused) else 404
    code = error.kind.code if isinstance(error, RequestRefused) else error.code
    message = error.detail if isinstance(error, RequestRefused) else error.message
    return EvaluationAnswer(
        False,
        EvaluationContext(outcome="deny", code=code, codes=(code,), error=EvaluationError(status, message)),
    )


@router.post(
    "/access/v1/search/subject",
    **access_question(EntityList, SubjectSearch, {**_EXAMPLE, "subject": {"type": "role"}}, paged=True),
    dependencies=[KNOWN_PARAMETERS],
)
async def post_search_subject(request: Request, answers: AnswersOfApp) -> Response:
    """Who may do this: subjects of one type, each of which would be permitted."""
    caller = require_scope(request, "read")
    search = await read_body(request, SubjectSearch, SHOWN, BAD_EVALUATION)
    asked = understand("", search.action.name, named(search.resource), search.context)
    asked = of_nobody(asked, search.context)
    asked = with_unread(asked, subject=search.subject, action=search.action, resource=search.resource)

    def rows(kernel: Kernel) -> Sequence[AccessRow]:
        kinds = (search.subject.type,) if search.subject.type in SUBJECT_KINDS else ()
        about = (asked.request.action, asked.request.resource)
        found = kernel.who_can(asked.org, *about, context=asked.request.context, kinds=kinds)
        return rows_as_told(kernel, kernel.access(asked.org), found, asked.request, caller.actor)

    return await _entities(answers, asked, search, rows, lambda row: row.subject)


@router.post(
    "/access/v1/search/resource",
    **access_question(EntityList, ResourceSearch, {**_EXAMPLE, "resource": {"type": "tool"}}, paged=True),
    dependencies=[KNOWN_PARAMETERS],
)
async def post_search_resource(request: Request, answers: AnswersOfApp) -> Response:
    """To what a subject may do this: resources of one type, each of which would be permitted."""
    caller = require_scope(request, "read")
    search = await read_body(request, ResourceSearch, SHOWN, BAD_EVALUATION)
    asked = understand(named(search.subject), search.action.name, "", search.context)
    asked = with_unread(asked, subject=search.subject, action=search.action, resource=search.resource)

    def rows(kernel: Kernel) -> Sequence[AccessRow]:
        kinds = (search.resource.type,) if search.resource.type in _RESOURCE_KINDS else ()
        found = kernel.what_can(asked.org, asked.request.subject, request=asked.request, kinds=kinds)
        return rows_as_told(kernel, kernel.access(asked.org), found, asked.request, caller.actor)

    return await _entities(answers, asked, search, rows, lambda row: row.resource)


@router.post(
    "/access/v1/search/action",
    **access_question(
        ActionList, ActionSearch, {key: _EXAMPLE[key] for key in ("subject", "resource")}, paged=True
    ),
    dependencies=[KNOWN_PARAMETERS],
)
async def post_search_action(request: Request, answers: AnswersOfApp) -> Response:
    """What a subject may do to a resource: declared actions, each of which would be permitted."""
    caller = require_scope(request, "read")
    search = await read_body(request, ActionSearch, SHOWN, BAD_EVALUATION)
    asked = understand(named(search.subject), "", named(search.resource), search.context)
    asked = with_unread(asked, subject=search.subject, resource=search.resource)

    def ask(kernel: Kernel) -> ActionList:
        rows = rows_as_told(
            kernel,
            kernel.access(asked.org),
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
    asked: AskedAccess,
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
    kernel: Kernel, asked: AskedAccess, rows: Sequence[AccessRow], name: Callable[[AccessRow], str]
) -> SearchContext:
    return SearchContext(
        ask=tuple(name(row) for row in rows if row.outcome == "ask"),
        conditional=tuple(
            Uncertain(name(row), row.outcome, row.conditions) for row in rows if row.conditional
        ),
        ignored=asked.ignored,
        snapshot=kernel.organization(asked.org).snapshot.digest,
        state_version=kernel.answer_version.stored_version,
    )


def _page(kernel: Kernel, asked: AskedAccess, search: Any, found: list[str]) -> tuple[list[str], PageAnswer]:
    """One page of a list. A token continues the list of one version and one question, and no other."""
    page: PageWanted = search.page
    version = kernel.organization(asked.org).snapshot.digest, kernel.answer_version.stored_version
    question = msgspec.json.encode((version, msgspec.structs.replace(search, page=PageWanted())))
    stamp = hashlib.sha256(question).hexdigest()[:16]
    start = start_of_page(page.token or page.next_token, stamp, len(found), "token")
    end = start + int(page.limit)
    shown = found[start:end]
    following = f"{stamp}-{end}" if end < len(found) else ""
    return shown, PageAnswer(following, len(shown), len(found))


@router.get(
    "/.well-known/authzen-configuration",
    responses={200: {"description": "The endpoints.", "content": content(Configuration)}},
    dependencies=[KNOWN_PARAMETERS],
)
async def get_authzen_configuration(request: Request) -> Response:
    """Where this policy decision point answers what, by the name it was asked under."""
    base = f"{request.url.scheme}://{request.url.netloc}"
    access = f"{base}/access/v1"
    found = Configuration(
        base, f"{access}/evaluation", f"{access}/evaluations", f"{access}/search/subject",
        f"{access}/search/resource", f"{access}/search/action",
    )  # fmt: skip
    return Response(encode(found), media_type="application/json", headers={"Cache-Control": "no-cache"})
