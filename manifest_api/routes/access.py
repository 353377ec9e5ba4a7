"""Access questions in orgkernel's terms: why, who-can and what-can, and the envelope of a sender."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from manifest_api.answering import AnswersOfApp
from manifest_api.authzen import AskedAccess, build_question_about_all, understand
from manifest_api.authzen_shapes import ContextData
from manifest_api.guards.caller import require_scope
from manifest_api.metrics import count_decision
from manifest_api.questions import KNOWN_PARAMETERS, Org, read_body
from manifest_api.routes.documented import declare_access_question
from orgkernel.decisions.access.decision import AccessDecision, AccessRow, Remedy, TraceLine, Who
from orgkernel.decisions.access.envelope import AccessEnvelope
from orgkernel.decisions.reasons import Reason
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.permissions import Name

router = APIRouter(tags=["access"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])
_EXAMPLE = {"subject": "role:codegen_specialist", "action": "use", "resource": "tool:text_editor"}
NamedSubjectKind = Literal["role", "agent", "person", "system", "webhook"]
ResourceKind = Literal["tool", "credential", "data", "role"]


class WhyQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """May this subject perform this action on this resource, and why?"""

    subject: Name
    action: Name
    resource: Name
    context: ContextData = {}
    """Circumstances as for an evaluation, including `on_behalf_of`, `via` and `envelope`."""


class EnvelopeQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What may a sender use, and which session gets its messages?"""

    subject: Name
    """`sender:PLATFORM/SPACE/ID` or `sender:PLATFORM/ID`, `person:ID`, `system:ID`, `webhook:ID`, `agent:ID` or `role:ID`."""
    context: ContextData = {}


class EnvelopeFound(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a sender may use now. The question does not change any state."""

    envelope: AccessEnvelope
    ignored: tuple[str, ...]
    """Keys of the context that were not read."""


class WhoCanQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which subjects may perform this action on this resource?"""

    action: Name
    resource: Name
    kinds: tuple[NamedSubjectKind, ...] = ("role", "agent", "person", "system", "webhook")
    context: ContextData = {}


_REMEDIES_WITH_EFFECTS = 5
"""For this many remedies, the answer counts the other requests that each would also allow."""


class WhatCanQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What may this subject do?"""

    subject: Name
    kinds: tuple[ResourceKind, ...] = ("tool", "credential", "data", "role")
    context: ContextData = {}


class ExplanationAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A decision with its reasons."""

    decision: AccessDecision
    reasons: tuple[Reason, ...]
    trace: tuple[TraceLine, ...]
    """One or more lines for each access layer, in their order."""
    remedies: tuple[Remedy, ...]
    who_can: Who
    ignored: tuple[str, ...]
    """Keys of the context that were not read."""


class AccessRows(msgspec.Struct, frozen=True, kw_only=True):
    """Permissions: allowed, subject to approval, or dependent on circumstances."""

    rows: tuple[AccessRow, ...]
    ignored: tuple[str, ...]
    snapshot: str
    state_version: int


@router.post(
    "/v1/orgs/{org}/why", **declare_access_question(ExplanationAnswer, WhyQuestion, _EXAMPLE, org=True)
)
async def post_why(request: Request, answers: AnswersOfApp, org: Org) -> Response:
    """Explain a decision: every access layer with its lines, the changes that would allow it, and who already can."""
    require_scope(request, "read")
    question = await read_body(request, WhyQuestion, '{"subject": "role:co", …}')
    access = _understand(org, question.subject, question.action, question.resource, question.context)

    outcome = ""

    def ask(kernel: Kernel) -> ExplanationAnswer:
        nonlocal outcome
        explanation = kernel.why(access.org, access.request, counted=_REMEDIES_WITH_EFFECTS)
        outcome = explanation.decision.outcome
        return ExplanationAnswer(
            decision=explanation.decision, reasons=explanation.reasons, trace=explanation.trace, remedies=explanation.remedies,
            who_can=explanation.who_can, ignored=access.ignored,
        )  # fmt: skip

    # "Once", because the answer is never cached. `ask` runs again if the version changes meanwhile.
    response = await answers.respond_once(ask, access.org)
    count_decision(request, outcome, "why")
    return response


@router.post(
    "/v1/orgs/{org}/envelope",
    **declare_access_question(EnvelopeFound, EnvelopeQuestion, {"subject": _EXAMPLE["subject"]}, org=True),
)
async def post_envelope(request: Request, answers: AnswersOfApp, org: Org) -> Response:
    """List what a sender may use in the given circumstances: session, tools, credentials and data."""
    require_scope(request, "read")
    question = await read_body(request, EnvelopeQuestion, '{"subject": "sender:slack/company/U-1"}')
    access = _understand(org, question.subject, "", "", question.context)

    def ask(kernel: Kernel) -> EnvelopeFound:
        envelope = kernel.envelope(access.org, question.subject, access.request.context)
        return EnvelopeFound(envelope=envelope, ignored=access.ignored)

    return await answers.respond_once(ask, access.org)


@router.post(
    "/v1/orgs/{org}/who-can",
    **declare_access_question(
        AccessRows, WhoCanQuestion, {"action": _EXAMPLE["action"], "resource": _EXAMPLE["resource"]}, org=True
    ),
)
async def post_who_can(request: Request, answers: AnswersOfApp, org: Org) -> Response:
    """List who may do something, who needs an approval, and for whom it depends on circumstances."""
    require_scope(request, "read")
    question = await read_body(request, WhoCanQuestion, '{"action": "use", "resource": "tool:x"}')
    access = _understand(org, "", question.action, question.resource, question.context)
    access = build_question_about_all(access, question.context)

    def ask(kernel: Kernel) -> AccessRows:
        about = (question.action, question.resource)
        rows = kernel.who_can(access.org, *about, context=access.request.context, kinds=question.kinds)
        return _build_rows(kernel, access, rows)

    return await answers.respond_once(ask, access.org)


@router.post(
    "/v1/orgs/{org}/what-can",
    **declare_access_question(AccessRows, WhatCanQuestion, {"subject": _EXAMPLE["subject"]}, org=True),
)
async def post_what_can(request: Request, answers: AnswersOfApp, org: Org) -> Response:
    """List what a subject may do, what needs an approval, and what depends on circumstances."""
    require_scope(request, "read")
    question = await read_body(request, WhatCanQuestion, '{"subject": "role:co"}')
    access = _understand(org, question.subject, "", "", question.context)

    def ask(kernel: Kernel) -> AccessRows:
        rows = kernel.what_can(access.org, question.subject, request=access.request, kinds=question.kinds)
        return _build_rows(kernel, access, rows)

    return await answers.respond_once(ask, access.org)


def _understand(org: str, subject: str, action: str, resource: str, context: dict[str, Any]) -> AskedAccess:
    """Read a question whose organization is in the path.

    An organization in the context is ignored, and the answer lists it.
    """
    access = understand(subject, action, resource, context)
    ignored = (*access.ignored, "org") if "org" in context else access.ignored
    return msgspec.structs.replace(access, org=org, ignored=ignored)


def _build_rows(kernel: Kernel, access: AskedAccess, rows: tuple[AccessRow, ...]) -> AccessRows:
    return AccessRows(
        rows=rows,
        ignored=access.ignored,
        snapshot=kernel.organization(access.org).snapshot.digest,
        state_version=kernel.answer_version.stored_version,
    )
