"""One evaluation of OpenID AuthZEN 1.0: the one function that the documented route and the short way to it call."""

from __future__ import annotations

import msgspec
from starlette.types import Scope

from manifest_api.auditing import Auditor
from manifest_api.authzen import Asked, named, understand, with_unread
from manifest_api.authzen_shapes import Evaluation, EvaluationContext, EvaluationQuestion
from manifest_api.guards.caller import Caller, require_scope_of
from manifest_api.guards.request_head import read_head
from manifest_api.problems import BAD_EVALUATION, Refused
from manifest_api.questions import parse_body
from manifest_api.response_cache import ResponseCache
from orgkernel.kernel.kernel import Kernel
from orgkernel.manifest.v1 import encode
from orgkernel.operations.decisions import Answered

SHOWN = '{"subject": {"type": "role", "id": "co"}, "action": {"name": "use"}, "resource": {"type": "tool", "id": "x"}}'
MAX_BYTES = 16 * 1024 * 1024
# Of the objects around an answer and its question.
_OVERHEAD = 500
_decode = msgspec.json.Decoder(EvaluationQuestion).decode

Question = tuple[str, bytes, bytes]
"""Who asks, the content type and the body as it was sent."""


class Said(msgspec.Struct, frozen=True, gc=False):
    """An answer as it is sent, and the snapshot it came from."""

    body: bytes
    snapshot: str

    @property
    def size(self) -> int:
        """Bytes it takes in memory, roughly: a question is about as long as its answer."""
        return 2 * len(self.body) + _OVERHEAD


class Evaluator:
    """Evaluations of one kernel. The same question of the same state is answered as before, where no answer is written
    down: a row of the audit is a new one every time.
    """

    def __init__(self, kernel: Kernel, auditor: Auditor) -> None:
        self._kernel = kernel
        self._auditor = auditor
        self.cache: ResponseCache[Question, Said] = ResponseCache(MAX_BYTES)

    async def answer(self, scope: Scope, body: bytes) -> Said:
        """The answer to the body of a request. Raises `Refused`, and what the kernel raises."""
        caller = require_scope_of(scope, "read")
        if scope["query_string"]:
            raise Refused(BAD_EVALUATION, "the question is the body; there are no parameters", "see `/docs`")
        standpoint = None if self._auditor.writes_down else self._kernel.standpoint
        asked: Question = caller.credential, read_head(scope).content_type, body
        if standpoint is not None:
            said = self.cache.find(standpoint, asked)
            if said is not None:
                return said
        question = parse_body(scope, body, _decode, SHOWN, BAD_EVALUATION)
        evaluation = await evaluate(self._auditor, question, caller)
        said = Said(encode(evaluation), evaluation.context.snapshot)
        if standpoint is not None:
            # Were the documents read again meanwhile, nobody stands there any more and nobody finds it.
            self.cache.put(standpoint, asked, said)
        return said


async def evaluate(auditor: Auditor, question: EvaluationQuestion, caller: Caller) -> Evaluation:
    """One question, answered and written down."""
    subject, action, resource = question.subject, question.action, question.resource
    asked = understand(named(subject), action.name, named(resource), question.context)
    asked = with_unread(asked, subject=subject, action=action, resource=resource)
    started = auditor.begin(asked.org, asked.request, caller)
    return as_evaluation(await auditor.finish(started), asked)


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
