"""Questions and answers of OpenID AuthZEN 1.0, and their meaning in orgkernel.

The type and id of a subject, resource or action are those of orgkernel (`{"type": "role", "id": "co"}` is `role:co`),
or those that the `authzen.types` of the organization translates. The context names the circumstances of
`AccessContext`, and also `org`, `on_behalf_of`, `via` and `envelope`. The time is always the server's, because a caller
that chose the time could revive a grant that has expired. Other keys of the context, and properties that
`authzen.types` does not name, are listed as `ignored` in the answer. A misspelled key is therefore visible, and so is a
property that did not decide. The standard leaves it to the decision point which attributes it reads (AuthZEN 1.0,
"Information Model").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from starlette.types import Scope

from manifest_api.access_offers import AccessRequestOffer
from manifest_api.auditing import Auditor
from manifest_api.authzen_shapes import (
    AuthzenAction,
    AuthzenEntity,
    EntityType,
    EvaluationAnswer,
    EvaluationContext,
    EvaluationQuestion,
    KnownCircumstances,
    PartialAction,
    PartialEntity,
    PartialQuestion,
)
from manifest_api.authzen_types import get_vocabulary
from manifest_api.guards.caller import Caller, require_scope
from manifest_api.guards.request_head import read_head
from manifest_api.problems import BAD_EVALUATION, RequestRefused
from manifest_api.questions import build_unfit_value_refusal, parse_body
from manifest_api.response_cache import ResponseCache
from manifest_api.shapes import InvalidValue
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.diagnostics.wording import listing
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.names import ACTIVE
from orgkernel.manifest.v1 import encode
from orgkernel.operations.decisions import Answered
from orgkernel.prepared_types import prepared

SHOWN = '{"subject": {"type": "role", "id": "co"}, "action": {"name": "use"}, "resource": {"type": "tool", "id": "x"}}'
MAX_BYTES = 16 * 1024 * 1024
# Of the objects around an answer and its question.
_OVERHEAD = 500
_decode = msgspec.json.Decoder(prepared(EvaluationQuestion)).decode

Question = tuple[str, bytes, bytes]
"""The credential, the content type and the unparsed body."""


class AskedAccess(msgspec.Struct, frozen=True):
    """A question in the words of orgkernel."""

    org: str
    request: AccessRequest
    ignored: tuple[str, ...] = ()


_SAID = frozenset(KnownCircumstances.__struct_fields__)
_OURS = tuple(name for name in AccessContext.__struct_fields__ if name in _SAID)
_NOTHING = AccessContext()


def understand(subject: str, action: str, resource: str, circumstances: Mapping[str, Any]) -> AskedAccess:
    """A question with its circumstances. Raises `RequestRefused`."""
    if not circumstances:
        return AskedAccess(ACTIVE, AccessRequest(subject, action, resource, _NOTHING))
    try:
        known = msgspec.convert(circumstances, prepared(KnownCircumstances))
    except msgspec.ValidationError as error:
        raise build_unfit_value_refusal(error, BAD_EVALUATION, "body.context") from None
    context = AccessContext(**{name: getattr(known, name) for name in _OURS})
    if context.depth or context.children or context.concurrent:
        counts = {name: int(getattr(known, name)) for name in ("depth", "children", "concurrent")}
        context = msgspec.structs.replace(context, **counts)
    request = AccessRequest(subject, action, resource, context, known.on_behalf_of, known.via, known.envelope)
    return AskedAccess(known.org, request, tuple(name for name in circumstances if name not in _SAID))


def with_unread(
    access: AskedAccess,
    read: frozenset[str] = frozenset(),
    **parts: AuthzenEntity | EntityType | AuthzenAction,
) -> AskedAccess:
    """A question with the names of unread properties, such as `subject.properties.department`."""
    unread = [
        f"{name}.properties.{each}"
        for name, part in parts.items()
        for each in part.properties
        if f"{name}.{each}" not in read
    ]
    unread += [f"{name}.id" for name, part in parts.items() if isinstance(part, EntityType) and part.id]
    return msgspec.structs.replace(access, ignored=(*access.ignored, *unread)) if unread else access


def build_question_about_all(access: AskedAccess, circumstances: Mapping[str, Any]) -> AskedAccess:
    """A question about all subjects. It ignores `on_behalf_of`, `via` and `envelope`, which belong to one subject."""
    unread = tuple(name for name in ("on_behalf_of", "via", "envelope") if name in circumstances)
    return msgspec.structs.replace(access, ignored=(*access.ignored, *unread)) if unread else access


def fill_question(question: PartialQuestion, above: PartialQuestion) -> EvaluationQuestion:
    """A complete question: missing parts come from the top level.

    Raises `RequestRefused` if a part is missing there too.

    A part replaces the one at the top level as a whole. Only a missing `type`, `id` or `name` is taken from there.
    """
    missing: list[str] = []
    subject = _fill_entity("subject", question.subject, above.subject, missing)
    action = _fill_action(question.action, above.action, missing)
    resource = _fill_entity("resource", question.resource, above.resource, missing)
    if subject is None or action is None or resource is None:
        raise RequestRefused(
            BAD_EVALUATION,
            f"the question lacks {listing(missing)}",
            "see `/docs`",
            [InvalidValue(where=f"body.{name}", message="is missing") for name in missing],
        )
    return EvaluationQuestion(subject, action, resource, choose_context(question, above))


def _fill_entity(
    name: str,
    entity: PartialEntity | msgspec.UnsetType,
    above: PartialEntity | msgspec.UnsetType,
    missing: list[str],
) -> AuthzenEntity | None:
    chosen = above if entity is msgspec.UNSET else entity
    if chosen is msgspec.UNSET:
        missing.append(name)
        return None
    kind, known = chosen.type, chosen.id
    if above is not msgspec.UNSET:
        kind = above.type if kind is msgspec.UNSET else kind
        known = above.id if known is msgspec.UNSET else known
    if kind is msgspec.UNSET:
        missing.append(f"{name}.type")
    if known is msgspec.UNSET:
        missing.append(f"{name}.id")
    if kind is msgspec.UNSET or known is msgspec.UNSET:
        return None
    return AuthzenEntity(kind, known, chosen.properties)


def _fill_action(
    action: PartialAction | msgspec.UnsetType, above: PartialAction | msgspec.UnsetType, missing: list[str]
) -> AuthzenAction | None:
    chosen = above if action is msgspec.UNSET else action
    if chosen is msgspec.UNSET:
        missing.append("action")
        return None
    name = chosen.name
    if name is msgspec.UNSET and above is not msgspec.UNSET:
        name = above.name
    if name is msgspec.UNSET:
        missing.append("action.name")
        return None
    return AuthzenAction(name, chosen.properties)


def choose_context(question: PartialQuestion, above: PartialQuestion) -> dict[str, Any]:
    """The context of a question, or the top-level one."""
    for context in (question.context, above.context):
        if context is not msgspec.UNSET:
            return context
    return {}


class Said(msgspec.Struct, frozen=True, gc=False):
    """An encoded answer, and the snapshot that it came from."""

    body: bytes
    snapshot: str
    outcome: str

    @property
    def size(self) -> int:
        """Approximate size in memory in bytes. A question is about as long as its answer."""
        return 2 * len(self.body) + _OVERHEAD


class Evaluator:
    """Answers evaluations from one kernel.

    Without an audit, a repeated question in the same version is answered from the cache. With an audit, every answer
    has its own row.
    """

    def __init__(self, kernel: Kernel, auditor: Auditor, count: Callable[[str, str], None]) -> None:
        """`count` is called with the outcome of each decision and the surface."""
        self._kernel = kernel
        self._auditor = auditor
        self._count = count
        self.cache: ResponseCache[Question, Said] = ResponseCache(MAX_BYTES)

    async def answer(self, scope: Scope, body: bytes) -> Said:
        """The answer to a request body. Raises `RequestRefused`, and the errors of the kernel."""
        caller = require_scope(scope, "read")
        if scope["query_string"]:
            raise RequestRefused(BAD_EVALUATION, "this route has no query parameters", "see `/docs`")
        answer_version = None if self._auditor.is_auditing else self._kernel.answer_version
        cache_key: Question = caller.credential, read_head(scope).content_type, body
        if answer_version is not None:
            answer = self.cache.find(answer_version, cache_key)
            if answer is not None:
                self._count(answer.outcome, "evaluation")
                return answer
        question = parse_body(scope, body, _decode, SHOWN, BAD_EVALUATION)
        evaluation = await evaluate(self._auditor, question, caller)
        answer = Said(encode(evaluation), evaluation.context.snapshot, evaluation.context.outcome)
        self._count(answer.outcome, "evaluation")
        if answer_version is not None:
            # If the documents were reloaded meanwhile, the entry belongs to an old version and is never found.
            self.cache.put(answer_version, cache_key, answer)
        return answer


def translate_question(kernel: Kernel, question: EvaluationQuestion) -> AskedAccess:
    """A question in the words of its organization. Raises `RequestRefused`, and what `Kernel.organization` raises."""
    subject, action, resource = question.subject, question.action, question.resource
    access = understand("", "", "", question.context)
    words = get_vocabulary(kernel, access.org)
    request = msgspec.structs.replace(
        access.request,
        subject=words.subject(subject),
        action=words.action(action, subject, resource),
        resource=words.resource(resource),
    )
    access = msgspec.structs.replace(access, request=request)
    read = words.properties_read(action.name)
    return with_unread(access, read, subject=subject, action=action, resource=resource)


async def evaluate(auditor: Auditor, question: EvaluationQuestion, caller: Caller) -> EvaluationAnswer:
    """One question, answered and audited."""
    access = translate_question(auditor.kernel, question)
    started = await auditor.begin(access.org, access.request, caller)
    answered = await auditor.finish(started)
    return build_evaluation(answered, access, await auditor.find_offer(started, answered, caller))


def build_evaluation(
    answered: Answered, access: AskedAccess, offer: AccessRequestOffer | None = None
) -> EvaluationAnswer:
    """A decision as an AuthZEN answer."""
    decision, reasons, row = answered
    return EvaluationAnswer(
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
            ignored=access.ignored,
            access_request=offer,
        ),
    )
