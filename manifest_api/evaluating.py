"""One evaluation of OpenID AuthZEN 1.0: the one function that the documented route and the short way to it call."""

from __future__ import annotations

import msgspec
from starlette.types import Scope

from manifest_api.auditing import Answered, Auditor
from manifest_api.authzen import Asked, named, understand, with_unread
from manifest_api.authzen_shapes import Evaluation, EvaluationContext, EvaluationQuestion
from manifest_api.guards.caller import Caller, require_scope_of
from manifest_api.problems import BAD_EVALUATION, Refused
from manifest_api.questions import parse_body
from orgkernel.crew.v1 import encode

SHOWN = '{"subject": {"type": "role", "id": "co"}, "action": {"name": "use"}, "resource": {"type": "tool", "id": "x"}}'
_decode = msgspec.json.Decoder(EvaluationQuestion).decode


async def answer_evaluation(auditor: Auditor, scope: Scope, body: bytes) -> tuple[bytes, str]:
    """The answer as it is sent, and the snapshot it came from. Raises `Refused`, and what the kernel raises."""
    caller = require_scope_of(scope, "read")
    if scope["query_string"]:
        raise Refused(BAD_EVALUATION, "the question is the body; there are no parameters", "see `/docs`")
    question = parse_body(scope, body, _decode, SHOWN, BAD_EVALUATION)
    evaluation = await evaluate(auditor, question, caller)
    return encode(evaluation), evaluation.context.snapshot


async def evaluate(auditor: Auditor, question: EvaluationQuestion, caller: Caller) -> Evaluation:
    """One question, answered and written down."""
    subject, action, resource = question.subject, question.action, question.resource
    asked = understand(named(subject), action.name, named(resource), question.context)
    asked = with_unread(asked, subject=subject, action=action, resource=resource)
    return as_evaluation(await auditor.finish(auditor.begin(asked.org, asked.request, caller)), asked)


def as_evaluation(answered: Answered, asked: Asked) -> Evaluation:
    """A decision in the words of AuthZEN."""
    decision, reasons, row = answered
    return Evaluation(
        decision.outcome == "allow",
        EvaluationContext(
            outcome=decision.outcome,
            code=decision.code,
            codes=decision.codes,
            reasons=reasons,
            level_required=decision.level_required,
            level_effective=decision.level_effective,
            obligations=decision.obligations,
            snapshot=decision.snapshot,
            state_version=decision.state_version,
            audit=row,
            ignored=asked.ignored,
        ),
    )
