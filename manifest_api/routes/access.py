"""Access in our own words: a decision with its whole trace, who can, and what somebody can."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from manifest_api.access_shapes import (
    AccessRows,
    EnvelopeFound,
    EnvelopeQuestion,
    Explained,
    ExplainQuestion,
    WhatCanQuestion,
    WhoCanQuestion,
)
from manifest_api.answering import AnswersOfApp
from manifest_api.authzen import Asked, of_nobody, understand
from manifest_api.guards.caller import require_scope
from manifest_api.questions import only, read_body
from manifest_api.routes.documented import body_of, told
from orgkernel.decisions.access.decision import AccessRow
from orgkernel.kernel.kernel import Kernel

router = APIRouter(tags=["access"])
_ANSWERS = (400, 401, 404, 409, 415, 429, 503)
_EXAMPLE = {"subject": "role:codegen_specialist", "action": "use", "resource": "tool:text_editor"}


def _body(shape: str, *names: str) -> dict[str, Any]:
    example = {name: _EXAMPLE[name] for name in names}
    return body_of(shape, example)


@router.post(
    "/v1/explain",
    response_class=Response,
    responses=told("Explained", *_ANSWERS, kept=False, org=True),
    openapi_extra=_body("ExplainQuestion", *_EXAMPLE),
    dependencies=[only()],
)
async def post_explain(request: Request, answers: AnswersOfApp) -> Response:
    """Why a subject may, or may not: every layer, the lines it rests on, what would change it, and who can."""
    require_scope(request, "read")
    question = await read_body(request, ExplainQuestion, '{"subject": "role:co", …}')
    asked = _understand(question.org, question.subject, question.action, question.resource, question.context)

    def ask(kernel: Kernel) -> Explained:
        found = kernel.explain(asked.org, asked.request)
        return Explained(
            decision=found.decision, reasons=found.reasons, trace=found.trace, remedies=found.remedies,
            who_can=found.who_can, ignored=asked.ignored,
        )  # fmt: skip

    return await answers.respond_once(ask, asked.org)


@router.post(
    "/v1/envelope",
    response_class=Response,
    responses=told("EnvelopeFound", *_ANSWERS, kept=False, org=True),
    openapi_extra=_body("EnvelopeQuestion", "subject"),
    dependencies=[only()],
)
async def post_envelope(request: Request, answers: AnswersOfApp) -> Response:
    """What a sender gets in some circumstances, before anything particular is asked: the session, the tools, the data."""
    require_scope(request, "read")
    question = await read_body(request, EnvelopeQuestion, '{"subject": "sender:slack/company/U-1"}')
    asked = _understand(question.org, question.subject, "", "", question.context)

    def ask(kernel: Kernel) -> EnvelopeFound:
        found = kernel.envelope(asked.org, question.subject, asked.request.context)
        return EnvelopeFound(envelope=found, ignored=asked.ignored)

    return await answers.respond_once(ask, asked.org)


@router.post(
    "/v1/who-can",
    response_class=Response,
    responses=told("AccessRows", *_ANSWERS, kept=False, org=True),
    openapi_extra=_body("WhoCanQuestion", "action", "resource"),
    dependencies=[only()],
)
async def post_who_can(request: Request, answers: AnswersOfApp) -> Response:
    """Who may do something, who must ask, and who could in other circumstances."""
    require_scope(request, "read")
    question = await read_body(request, WhoCanQuestion, '{"action": "use", "resource": "tool:x"}')
    asked = _understand(question.org, "", question.action, question.resource, question.context)
    asked = of_nobody(asked, question.context)
    return await answers.respond_once(
        _rows(
            asked,
            lambda kernel: kernel.who_can(
                asked.org,
                question.action,
                question.resource,
                context=asked.request.context,
                kinds=question.kinds,
            ),
        ),
        asked.org,
    )


@router.post(
    "/v1/what-can",
    response_class=Response,
    responses=told("AccessRows", *_ANSWERS, kept=False, org=True),
    openapi_extra=_body("WhatCanQuestion", "subject"),
    dependencies=[only()],
)
async def post_what_can(request: Request, answers: AnswersOfApp) -> Response:
    """What somebody may do, must ask for, and could do in other circumstances."""
    require_scope(request, "read")
    question = await read_body(request, WhatCanQuestion, '{"subject": "role:co"}')
    asked = _understand(question.org, question.subject, "", "", question.context)
    return await answers.respond_once(
        _rows(
            asked,
            lambda kernel: kernel.what_can(
                asked.org, question.subject, request=asked.request, kinds=question.kinds
            ),
        ),
        asked.org,
    )


def _understand(org: str, subject: str, action: str, resource: str, context: dict[str, Any]) -> Asked:
    """A question whose organization is said once, in the body; one in the context is ignored, and said to be."""
    asked = understand(subject, action, resource, context)
    ignored = (*asked.ignored, "org") if "org" in context else asked.ignored
    return msgspec.structs.replace(asked, org=org, ignored=ignored)


def _rows(asked: Asked, read: Callable[[Kernel], tuple[AccessRow, ...]]) -> Callable[[Kernel], AccessRows]:
    return lambda kernel: AccessRows(
        rows=read(kernel),
        ignored=asked.ignored,
        snapshot=kernel.organization(asked.org).snapshot.digest,
        state_version=kernel.standpoint.stored_version,
    )
