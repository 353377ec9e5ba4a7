"""Standing orders, cognitive skills, and how a subject handles an intent."""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from manifest_api.answering import AnswersOfApp
from manifest_api.authzen import understand
from manifest_api.authzen_shapes import ContextData
from manifest_api.guards.caller import require_scope
from manifest_api.metrics import count_decision
from manifest_api.problems import OTHER_SUBJECT, RequestRefused
from manifest_api.questions import KNOWN_PARAMETERS, Org, Role, read_body
from manifest_api.routes.documented import declare_body, declare_responses
from orgkernel.decisions.work.capability.handling import HandlingDecision, HandlingRequest
from orgkernel.decisions.work.capability.orders import StandingOrders
from orgkernel.decisions.work.capability.proposals import Proposals
from orgkernel.decisions.work.capability.skills import SkillList
from orgkernel.diagnostics.wording import quote
from orgkernel.kernel.capability import SkillDisclosed, SkillResource
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.permissions import MAX_WORD_LENGTH, Name

router = APIRouter(tags=["capability"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])
AskingSubject = Annotated[
    str, Query(min_length=1, max_length=MAX_WORD_LENGTH, description="Who asks: `role:ID` or `agent:ID`.")
]
SkillInPath = Annotated[str, Path(description="Name of a skill.", examples=["write-posts"])]
FileInPath = Annotated[
    str, Path(description="Relative name of a file in its folder.", examples=["references/style.md"])
]
MAX_FAILED, MAX_TEXT_LENGTH = 50, 4_000


class HandlingQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How does this subject handle this intent?"""

    subject: Name
    intent: Name
    context: ContextData = {}
    """Circumstances as for an evaluation, including `on_behalf_of`, `via` and `envelope`."""
    text: Annotated[str, msgspec.Meta(max_length=MAX_TEXT_LENGTH)] = ""
    """The task in words, which triggers of skills are compared with."""
    failed: Annotated[tuple[Name, ...], msgspec.Meta(max_length=MAX_FAILED)] = ()
    """Steps that failed in this run: `reasoning`, or `TIER:NAME` such as `executable_skill:publish_post`."""


class HandlingAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The way in which a subject handles an intent."""

    decision: HandlingDecision
    ignored: tuple[str, ...]
    """Keys of the context that were not read."""


@router.get(
    "/v1/orgs/{org}/roles/{role}/standing-orders",
    responses=declare_responses(StandingOrders, 404, 409, 503, org=True),
)
async def get_standing_orders(request: Request, answers: AnswersOfApp, org: Org, role: Role) -> Response:
    """Get the standing orders of a role: federation, organization, department, role. Earlier ones take precedence."""
    return await answers.respond(request, lambda kernel: kernel.standing_orders(org, role), org)


@router.get(
    "/v1/orgs/{org}/skills", responses=declare_responses(SkillList, 404, 409, 503, kept=False, org=True)
)
async def get_skills(request: Request, answers: AnswersOfApp, org: Org, subject: AskingSubject) -> Response:
    """List the cognitive skills that a subject sees now, by name and description, and why others are withheld."""
    _require_own(request, subject)
    return await answers.respond_once(lambda kernel: kernel.cognitive_skills(org, subject), org)


@router.get(
    "/v1/orgs/{org}/skills/{name}",
    responses=declare_responses(SkillDisclosed, 404, 409, 503, kept=False, org=True),
)
async def get_skill(
    request: Request, answers: AnswersOfApp, org: Org, name: SkillInPath, subject: AskingSubject
) -> Response:
    """Get the instructions of a skill and the names of its files, if the subject may activate it now."""
    _require_own(request, subject)
    return await answers.respond_once(lambda kernel: kernel.cognitive_skill(org, subject, name), org)


@router.get(
    "/v1/orgs/{org}/skills/{name}/resources/{path:path}",
    responses=declare_responses(SkillResource, 404, 409, 503, kept=False, org=True),
)
async def get_skill_resource(
    request: Request,
    answers: AnswersOfApp,
    org: Org,
    name: SkillInPath,
    path: FileInPath,
    subject: AskingSubject,
) -> Response:
    """Get one file in the folder of a skill, if the subject may activate the skill now."""
    _require_own(request, subject)
    return await answers.respond_once(lambda kernel: kernel.skill_resource(org, subject, name, path), org)


@router.get(
    "/v1/orgs/{org}/procedure-proposals",
    responses=declare_responses(Proposals, 404, 409, 503, kept=False, org=True),
)
async def get_procedure_proposals(request: Request, answers: AnswersOfApp, org: Org) -> Response:
    """List the skills that succeeded so often that a procedure could do their work, with the evidence."""
    require_scope(request, "read")
    return await answers.respond_once(lambda kernel: kernel.proposals(org), org)


@router.post(
    "/v1/orgs/{org}/handle",
    responses=declare_responses(HandlingAnswer, 400, 404, 409, 415, 503, kept=False, org=True),
    openapi_extra=declare_body(
        HandlingQuestion, {"subject": "role:codegen_specialist", "intent": "create_post"}
    ),
)
async def post_handle(request: Request, answers: AnswersOfApp, org: Org) -> Response:
    """Find out how a subject handles an intent: by a procedure, a skill, a tool, its own reasoning, or not at all."""
    require_scope(request, "read")
    question = await read_body(request, HandlingQuestion, '{"subject": "role:co", "intent": "…"}')
    access = understand(question.subject, "", "", question.context)
    handling_request = HandlingRequest(
        question.subject, question.intent, access.request.context, access.request.on_behalf_of, access.request.via,
        access.request.envelope, question.text, question.failed,
    )  # fmt: skip
    ignored = (*access.ignored, "org") if "org" in question.context else access.ignored
    outcome = ""

    def ask(kernel: Kernel) -> HandlingAnswer:
        nonlocal outcome
        decision = kernel.handle(org, handling_request)
        outcome = decision.tier
        return HandlingAnswer(decision=decision, ignored=ignored)

    response = await answers.respond_once(ask, org)
    count_decision(request, outcome, "handle")
    return response


def _require_own(request: Request, subject: str) -> None:
    """Refuse the credential of an agent that names another subject, because the gates of that subject could differ."""
    caller = require_scope(request, "read")
    if caller.agent_id is not None and subject != f"agent:{caller.agent_id}":
        raise RequestRefused(
            OTHER_SUBJECT,
            f"the credential belongs to agent {quote(caller.agent_id)}, not to {quote(subject)}",
            f"ask with `subject=agent:{caller.agent_id}`",
        )
