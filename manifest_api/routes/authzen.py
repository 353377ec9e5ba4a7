"""OpenID AuthZEN 1.0: evaluation, evaluations, the three searches, and the configuration."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from manifest_api.answering import SNAPSHOT, AnswersOfApp
from manifest_api.auditing import Auditor
from manifest_api.authzen import (
    SHOWN,
    AskedAccess,
    Evaluator,
    build_evaluation,
    build_question_about_all,
    evaluate,
    fill_question,
    translate_question,
    understand,
    with_unread,
)
from manifest_api.authzen_shapes import (
    DEFAULT_RESULTS,
    MAX_RESULTS,
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
    PageAnswer,
    PageWanted,
    PartialQuestion,
    ResourceSearch,
    SearchContext,
    SubjectSearch,
    Uncertain,
)
from manifest_api.authzen_types import get_vocabulary
from manifest_api.guards.caller import Caller, require_scope
from manifest_api.guards.organizations import require_organization
from manifest_api.guards.proxies import read_base_url
from manifest_api.metrics import count_decision
from manifest_api.problems import BAD_EVALUATION, RequestRefused
from manifest_api.questions import KNOWN_PARAMETERS, build_unfit_value_refusal, read_body, start_of_page
from manifest_api.routes.documented import SHAPES, build_content, declare_access_question
from orgkernel.decisions.access.decision import AccessRow
from orgkernel.decisions.access.listing import SUBJECT_KINDS
from orgkernel.errors import OrgkernelError, StoreError
from orgkernel.kernel.kernel import Kernel
from orgkernel.manifest.v1 import encode
from orgkernel.operations.decisions import DecidedRequest, list_rows_as_decided
from orgkernel.prepared_types import prepared

router = APIRouter(tags=["access"], default_response_class=Response)
EVALUATION = "/access/v1/evaluation"
_RESOURCE_KINDS = ("tool", "credential", "data", "role")
_read_item = msgspec.json.Decoder(prepared(PartialQuestion)).decode
SHAPES[PartialQuestion.__name__] = PartialQuestion
Found = TypeVar("Found")
_EXAMPLE = {
    "subject": {"type": "role", "id": "codegen_specialist"},
    "action": {"name": "use"},
    "resource": {"type": "tool", "id": "text_editor"},
}


@router.post(
    EVALUATION, **declare_access_question(EvaluationAnswer, EvaluationQuestion, _EXAMPLE, authzen=True)
)
async def post_evaluation(request: Request) -> Response:
    """Decide whether a subject may perform an action on a resource (OpenID AuthZEN 1.0). The context has the reasons."""
    evaluator: Evaluator = request.app.state.evaluator
    answer = await evaluator.answer(request.scope, await request.body())
    return Response(answer.body, 200, {SNAPSHOT: answer.snapshot}, "application/json")


@router.post(
    "/access/v1/evaluations",
    **declare_access_question(
        EvaluationsAnswer | EvaluationAnswer,
        EvaluationsQuestion | EvaluationQuestion,
        {
            "subject": _EXAMPLE["subject"],
            "action": _EXAMPLE["action"],
            "evaluations": [
                {"resource": {"type": "tool", "id": each}} for each in ("text_editor", "scheduler")
            ],
            "options": {"evaluations_semantic": "execute_all"},
        },
        authzen=True,
    ),
    dependencies=[KNOWN_PARAMETERS],
)
async def post_evaluations(request: Request, answers: AnswersOfApp) -> Response:
    """Decide several questions: all of them, up to the first denial, or up to the first permission."""
    caller = require_scope(request, "read")
    question = await read_body(request, EvaluationsQuestion, '{"evaluations": []}', BAD_EVALUATION)
    auditor: Auditor = request.app.state.auditor
    headers = {SNAPSHOT: answers.kernel.state.latest.digest}
    if not question.evaluations:
        evaluation = await evaluate(auditor, fill_question(question, question), caller)
        count_decision(request, evaluation.context.outcome, "evaluations")
        return Response(encode(evaluation), 200, headers, "application/json")
    stop = {"deny_on_first_deny": False, "permit_on_first_permit": True}.get(
        question.options.evaluations_semantic
    )
    started: list[EvaluationAnswer | tuple[AskedAccess, DecidedRequest]] = []
    for each in question.evaluations:
        begun = await _begin(auditor, each, question, caller)
        started.append(begun)
        if (not isinstance(begun, EvaluationAnswer) and begun[1].decision.outcome == "allow") is stop:
            break
    evaluations: list[EvaluationAnswer] = []
    for begun in started:
        evaluations.append(
            begun
            if isinstance(begun, EvaluationAnswer)
            else build_evaluation(await auditor.finish(begun[1]), begun[0])
        )
        is_error = evaluations[-1].context.error is not None
        count_decision(request, "error" if is_error else evaluations[-1].context.outcome, "evaluations")
        # A grant may have been used up since it was decided, so it is looked at again.
        if evaluations[-1].decision is stop:
            break
    return Response(encode(EvaluationsAnswer(tuple(evaluations))), 200, headers, "application/json")


async def _begin(
    auditor: Auditor, written: msgspec.Raw, above: EvaluationsQuestion, caller: Caller
) -> EvaluationAnswer | tuple[AskedAccess, DecidedRequest]:
    """Decide one of several questions. An unreadable question is denied, with an error in its context."""
    try:
        try:
            each = _read_item(written)
        except msgspec.ValidationError as error:
            raise build_unfit_value_refusal(error, BAD_EVALUATION) from None
        access = translate_question(auditor.kernel, fill_question(each, above))
        return access, await auditor.begin(access.org, access.request, caller)
    except StoreError:
        raise
    except (RequestRefused, OrgkernelError) as error:
        return _build_failed_evaluation(error)


def _build_failed_evaluation(error: RequestRefused | OrgkernelError) -> EvaluationAnswer:
    if isinstance(error, RequestRefused):
        status, code, message = error.kind.status, error.kind.code, error.detail
        if error.errors:
            message = f"{message}: {'; '.join(each.message for each in error.errors)}"
    else:
        status, code, message = 404, error.code, error.message
    return EvaluationAnswer(
        False,
        EvaluationContext(outcome="deny", code=code, codes=(code,), error=EvaluationError(status, message)),
    )


@router.post(
    "/access/v1/search/subject",
    **declare_access_question(
        EntityList, SubjectSearch, {**_EXAMPLE, "subject": {"type": "role"}}, authzen=True
    ),
    dependencies=[KNOWN_PARAMETERS],
)
async def post_search_subject(request: Request, answers: AnswersOfApp) -> Response:
    """Find the subjects of one type that may do this."""
    caller = require_scope(request, "read")
    search = await read_body(request, SubjectSearch, SHOWN, BAD_EVALUATION)
    access = build_question_about_all(understand("", "", "", search.context), search.context)

    def ask(kernel: Kernel) -> EntityList:
        require_organization(caller, kernel, access.org)
        words = get_vocabulary(kernel, access.org)
        action = words.action(search.action, None, search.resource)
        resource, kind = words.resource(search.resource), words.subject_kind(search.subject.type)
        request = msgspec.structs.replace(access.request, action=action, resource=resource)
        read = words.properties_read(search.action.name)
        complete_access = with_unread(
            access, read, subject=search.subject, action=search.action, resource=search.resource
        )
        kinds = (kind,) if kind in SUBJECT_KINDS else ()
        subject_rows = kernel.who_can(access.org, action, resource, context=request.context, kinds=kinds)
        rows = list_rows_as_decided(kernel, kernel.access(access.org), subject_rows, request, caller.actor)
        names = dict.fromkeys(row.subject for row in rows if row.outcome == "allow")
        entities = words.found_subjects(search.subject.type, names)
        shown, page = _page(kernel, complete_access, search, entities)
        return EntityList(
            page, tuple(shown), _build_search_context(kernel, complete_access, rows, lambda row: row.subject)
        )

    return await answers.respond_once(ask, access.org)


@router.post(
    "/access/v1/search/resource",
    **declare_access_question(
        EntityList, ResourceSearch, {**_EXAMPLE, "resource": {"type": "tool"}}, authzen=True
    ),
    dependencies=[KNOWN_PARAMETERS],
)
async def post_search_resource(request: Request, answers: AnswersOfApp) -> Response:
    """Find the resources of one type to which a subject may do this."""
    caller = require_scope(request, "read")
    search = await read_body(request, ResourceSearch, SHOWN, BAD_EVALUATION)
    access = understand("", "", "", search.context)

    def ask(kernel: Kernel) -> EntityList:
        require_organization(caller, kernel, access.org)
        words = get_vocabulary(kernel, access.org)
        subject, kind = words.subject(search.subject), words.resource_kind(search.resource.type)
        action = words.action(search.action, search.subject, search.resource)
        request = msgspec.structs.replace(access.request, subject=subject, action=action)
        read = words.properties_read(search.action.name)
        complete_access = with_unread(
            access, read, subject=search.subject, action=search.action, resource=search.resource
        )
        kinds = (kind,) if kind in _RESOURCE_KINDS else ()
        resource_rows = kernel.what_can(access.org, subject, request=request, kinds=kinds)
        rows = list_rows_as_decided(kernel, kernel.access(access.org), resource_rows, request, caller.actor)
        names = dict.fromkeys(row.resource for row in rows if row.outcome == "allow")
        entities = words.found_resources(search.resource.type, names)
        shown, page = _page(kernel, complete_access, search, entities)
        return EntityList(
            page, tuple(shown), _build_search_context(kernel, complete_access, rows, lambda row: row.resource)
        )

    return await answers.respond_once(ask, access.org)


@router.post(
    "/access/v1/search/action",
    **declare_access_question(
        ActionList,
        ActionSearch,
        {key: _EXAMPLE[key] for key in ("subject", "resource")},
        authzen=True,
    ),
    dependencies=[KNOWN_PARAMETERS],
)
async def post_search_action(request: Request, answers: AnswersOfApp) -> Response:
    """Find the declared actions that a subject may perform on a resource."""
    caller = require_scope(request, "read")
    search = await read_body(request, ActionSearch, SHOWN, BAD_EVALUATION)
    access = understand("", "", "", search.context)

    def ask(kernel: Kernel) -> ActionList:
        require_organization(caller, kernel, access.org)
        words = get_vocabulary(kernel, access.org)
        subject, resource = words.subject(search.subject), words.resource(search.resource)
        request = msgspec.structs.replace(access.request, subject=subject, resource=resource)
        complete_access = with_unread(
            access, words.all_properties_read(), subject=search.subject, resource=search.resource
        )
        action_rows = kernel.what_can(access.org, subject, request=request)
        rows = list_rows_as_decided(kernel, kernel.access(access.org), action_rows, request, caller.actor)
        allowed = [action for row in rows if row.outcome == "allow" for action in row.actions]
        names = words.found_actions(allowed, search.subject, search.resource)
        shown, page = _page(kernel, complete_access, search, names)
        context = _build_search_context(kernel, complete_access, rows, lambda row: ", ".join(row.actions))
        return ActionList(page, tuple(map(FoundAction, shown)), context)

    return await answers.respond_once(ask, access.org)


def _build_search_context(
    kernel: Kernel, access: AskedAccess, rows: Sequence[AccessRow], name: Callable[[AccessRow], str]
) -> SearchContext:
    return SearchContext(
        ask=tuple(name(row) for row in rows if row.outcome == "ask"),
        conditional=tuple(
            Uncertain(name(row), row.outcome, row.conditions) for row in rows if row.conditional
        ),
        ignored=access.ignored,
        snapshot=kernel.organization(access.org).snapshot.digest,
        state_version=kernel.answer_version.stored_version,
    )


def _page(
    kernel: Kernel, access: AskedAccess, search: Any, entities: list[Found]
) -> tuple[list[Found], PageAnswer]:
    """One page of a list. A token only continues the same question with the same limit in the same version."""
    page: PageWanted = search.page
    version = kernel.organization(access.org).snapshot.digest, kernel.answer_version.stored_version
    question = msgspec.json.encode((version, msgspec.structs.replace(search, page=PageWanted())))
    token = page.token or page.next_token
    if page.limit is not msgspec.UNSET:
        limit = int(min(page.limit, MAX_RESULTS))
    else:
        # The standard has a client repeat the limit, and shows one that does not.
        limit_text = token.split("-")[1] if token.count("-") == 2 else ""
        known = limit_text.isascii() and limit_text.isdigit() and len(limit_text) <= len(str(MAX_RESULTS))
        limit = min(int(limit_text), MAX_RESULTS) if known else DEFAULT_RESULTS
    stamp = f"{hashlib.sha256(question).hexdigest()[:16]}-{limit}"
    start = start_of_page(token, stamp, len(entities), "token", refusal=BAD_EVALUATION)
    end = start + limit
    # A limit of 0 only counts results. It has no token, because a client that follows tokens would never finish.
    following = f"{stamp}-{end}" if limit > 0 and end < len(entities) else ""
    shown = entities[start:end]
    return shown, PageAnswer(following, len(shown), len(entities))


@router.get(
    "/.well-known/authzen-configuration",
    responses={200: {"description": "The endpoints.", "content": build_content(Configuration)}},
    dependencies=[KNOWN_PARAMETERS],
)
async def get_authzen_configuration(request: Request) -> Response:
    """Get the endpoints of this policy decision point."""
    base = read_base_url(request, request.app.state.trusted_proxies)
    access = f"{base}/access/v1"
    configuration = Configuration(
        base, f"{access}/evaluation", f"{access}/evaluations", f"{access}/search/subject",
        f"{access}/search/resource", f"{access}/search/action",
    )  # fmt: skip
    return Response(
        encode(configuration), media_type="application/json", headers={"Cache-Control": "no-cache"}
    )
