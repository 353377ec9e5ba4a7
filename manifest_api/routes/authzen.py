"""OpenID AuthZEN 1.0: evaluation, evaluations, the three searches, and where they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from manifest_api.answering import SNAPSHOT, AnswersOfApp
from manifest_api.auditing import Auditor
from manifest_api.authzen import Asked, context_of, filled, named, understand, with_unread
from manifest_api.authzen_shapes import (
    Configuration,
    Evaluation,
    EvaluationContext,
    EvaluationError,
    Evaluations,
    EvaluationsQuestion,
)
from manifest_api.evaluating import Evaluator, as_evaluation, evaluate
from manifest_api.guards.caller import Caller, require_scope
from manifest_api.problems import BAD_EVALUATION, Refused
from manifest_api.questions import only, read_body
from manifest_api.routes.documented import body_of, content, told
from orgkernel.errors import OrgkernelError, StoreError
from orgkernel.manifest.v1 import encode

router = APIRouter(tags=["access"])
EVALUATION = "/access/v1/evaluation"
_ANSWERS = (400, 401, 404, 409, 415, 429, 503)
_RESOURCE_KINDS = ("tool", "credential", "data", "role")
_EXAMPLE = {
    "subject": {"type": "role", "id": "codegen_specialist"},
    "action": {"name": "use"},
    "resource": {"type": "tool", "id": "text_editor"},
}


@router.post(
    EVALUATION,
    response_class=Response,
    responses=told("Evaluation", *_ANSWERS, kept=False),
    openapi_extra=body_of("EvaluationQuestion", _EXAMPLE),
)
async def post_evaluation(request: Request) -> Response:
    """Whether a subject may do something to a resource (OpenID AuthZEN 1.0), with the reasons in the context."""
    evaluator: Evaluator = request.app.state.evaluator
    said = await evaluator.answer(request.scope, await request.body())
    return Response(said.body, 200, {SNAPSHOT: said.snapshot}, "application/json")


@router.post(
    "/access/v1/evaluations",
    response_class=Response,
    responses=told("Evaluations|Evaluation", *_ANSWERS, kept=False),
    openapi_extra=body_of(
        "EvaluationsQuestion",
        {
            "subject": _EXAMPLE["subject"],
            "action": _EXAMPLE["action"],
            "evaluations": [
                {"resource": {"type": "tool", "id": each}} for each in ("text_editor", "scheduler")
            ],
            "options": {"evaluations_semantic": "execute_all"},
        },
    ),
    dependencies=[only()],
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
    started: list[Callable[[], Any]] = []
    for each in asked.evaluations:
        begun, decision = _begin(auditor, each, asked, caller)
        started.append(begun)
        if decision is stop:
            break
    found: list[Evaluation] = []
    for begun in started:
        found.append(await begun())
        # A grant may have been used up since it was decided, so it is looked at again.
        if found[-1].decision is stop:
            break
    return Response(encode(Evaluations(tuple(found))), 200, headers, "application/json")


def _begin(
    auditor: Auditor, each: Any, above: EvaluationsQuestion, caller: Caller
) -> tuple[Callable[[], Any], bool]:
    """Decide one of several; what cannot be asked is an error of its own and no permission."""
    said = understand(
        "", "", "", context_of(each, above)
    )  # malformed circumstances are an error of the whole request
    try:
        question = filled(each, above)
        subject, action, resource = question.subject, question.action, question.resource
        request = msgspec.structs.replace(
            said.request, subject=named(subject), action=action.name, resource=named(resource)
        )
        asked = with_unread(
            Asked(said.org, request, said.ignored), subject=subject, action=action, resource=resource
        )
        begun = auditor.begin(asked.org, asked.request, caller)
    except StoreError:
        raise
    except (Refused, OrgkernelError) as error:
        failed = _failed(error)

        async def give() -> Evaluation:
            return failed

        return give, False

    async def finish() -> Evaluation:
        return as_evaluation(await auditor.finish(begun), asked)

    return finish, begun.decision.outcome == "allow"


def _failed(error: Refused | OrgkernelError) -> Evaluation:
    status = error.kind.status if isinstance(error, Refused) else 404
    code = error.kind.code if isinstance(error, Refused) else error.code
    message = error.detail if isinstance(error, Refused) else error.message
    return Evaluation(
        False,
        EvaluationContext(outcome="deny", code=code, codes=(code,), error=EvaluationError(status, message)),
    )


@router.get(
    "/.well-known/authzen-configuration",
    response_class=Response,
    responses={200: {"description": "The endpoints.", "content": content("Configuration")}},
    dependencies=[only()],
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
