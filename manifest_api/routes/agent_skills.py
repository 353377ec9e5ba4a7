"""Skills, test results and promotions of agents. Changes need a credential with the scope `rank`."""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from manifest_api.answering import AnswersOfApp
from manifest_api.guards.caller import get_caller
from manifest_api.questions import KNOWN_PARAMETERS, AsOf, Org, declare_path_id, open_kernel_as_of
from manifest_api.routes.agents import AgentPath
from manifest_api.routes.documented import declare_change, declare_responses, declare_store_responses
from manifest_api.store_requests import (
    DEFAULT_ROWS,
    ReasonBody,
    RowLimit,
    build_json_response,
    with_store,
    write,
    write_with_reason,
)
from orgkernel.decisions.crew.promotion import PromotionDecision
from orgkernel.decisions.crew.skill_profile import SkillProfile
from orgkernel.decisions.evidence.qualifications import QualificationRecord
from orgkernel.decisions.evidence.state_records import SkillAssessment
from orgkernel.decisions.evidence.state_view import AgentState, QualificationResult, SkillRecord, SkillSource
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.agents import invalidate_result, promote_agent
from orgkernel.operations.context import Context
from orgkernel.operations.permissions import Name, Text
from orgkernel.operations.skills import (
    acquire_skill,
    assess_skill,
    exercise_skill,
    list_skill_history,
    resume_skill,
    suspend_skill,
)

router = APIRouter(tags=["agents"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])
SkillPath = Annotated[str, declare_path_id("a skill", "communication")]
ResultPath = Annotated[int, Path(description="Number of a result.", ge=1, le=2**53)]
Level = Annotated[int, msgspec.Meta(ge=1, le=7)]


class SkillBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A skill that an agent has learned."""

    skill: Name
    level: Level = 1
    source: SkillSource = "experience"
    reason: Text = ""


class SkillHistory(msgspec.Struct, frozen=True, kw_only=True):
    """Changes of the skills of an agent, oldest first."""

    changes: tuple[SkillAssessment, ...]
    next: int | None
    """The `after` of the next page; null on the last one."""


class AssessmentBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An assessed level."""

    level: Level
    source: SkillSource = "assessment"
    reason: Text = ""


class PromotionBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Promote to the next rank."""

    override: Text = ""
    """Why the agent is promoted although a requirement is not met."""
    reason: Text = ""


@router.get(
    "/v1/orgs/{org}/agents/{agent}/skills", responses=declare_responses(SkillProfile, 404, 409, 503, org=True)
)
async def get_agent_skills(
    request: Request, answers: AnswersOfApp, org: Org, agent: AgentPath, as_of: AsOf = None
) -> Response:
    """Get the skills of an agent at their current levels, and what is missing for its roles and ranks."""
    return await answers.respond(
        request, lambda kernel: open_kernel_as_of(kernel, as_of).skill_profile(org, agent), org
    )


@router.post(
    "/v1/orgs/{org}/agents/{agent}/skills",
    **declare_change(
        SkillRecord,
        SkillBody,
        {"skill": "communication", "reason": "trained with the butler"},
        creates_record=True,
    ),
)
async def post_skill(request: Request, org: Org, agent: AgentPath) -> Response:
    """Record that an agent has learned a skill. Its prerequisites are required at their levels. Never by its own credential."""
    return await write(
        request, "rank", SkillBody, '{"skill": "ID"}',
        lambda context, new: acquire_skill(
            context, agent, new.skill, level=new.level, source=new.source, org=org, reason=new.reason
        ),
        201,
    )  # fmt: skip


@router.get(
    "/v1/orgs/{org}/agents/{agent}/skill-history", responses=declare_store_responses(SkillHistory, 404, 409)
)
async def get_skill_history(
    request: Request,
    org: Org,
    agent: AgentPath,
    after: Annotated[int, Query(ge=0, le=2**53, description="The `next` of the previous page.")] = 0,
    limit: RowLimit = DEFAULT_ROWS,
) -> Response:
    """List every change of the skills of an agent, oldest first."""
    kernel: Kernel = request.app.state.answers.kernel
    actor = get_caller(request).actor
    nothing: tuple[SkillAssessment, ...] = ()
    changes = await with_store(
        request,
        lambda store: list_skill_history(
            Context(kernel, store, actor), agent, org=org, after=after, limit=limit
        ),
        nothing,
    )
    following = changes[-1].assessment_id if len(changes) == limit else None
    return build_json_response(SkillHistory(changes=changes, next=following))


@router.post(
    "/v1/orgs/{org}/agents/{agent}/skills/{skill}/exercise",
    **declare_change(SkillRecord, ReasonBody, {"reason": "the morning letters"}),
)
async def post_exercise(request: Request, org: Org, agent: AgentPath, skill: SkillPath) -> Response:
    """Record that an agent has practiced a skill, which restarts its decay. The agent's own credential is refused."""
    return await write_with_reason(
        request, "rank", lambda context, reason: exercise_skill(context, agent, skill, org=org, reason=reason)
    )


@router.post(
    "/v1/orgs/{org}/agents/{agent}/skills/{skill}/assess",
    **declare_change(SkillRecord, AssessmentBody, {"level": 4, "reason": "worked alone for a week"}),
)
async def post_assessment(request: Request, org: Org, agent: AgentPath, skill: SkillPath) -> Response:
    """Record the assessed level of an agent's skill. The agent's own credential is refused."""
    return await write(
        request, "rank", AssessmentBody, '{"level": 4}',
        lambda context, assessment: assess_skill(
            context, agent, skill, assessment.level, source=assessment.source, org=org, reason=assessment.reason
        ),
    )  # fmt: skip


@router.post(
    "/v1/orgs/{org}/agents/{agent}/skills/{skill}/suspend",
    **declare_change(SkillRecord, ReasonBody, {"reason": "retraining"}),
)
async def post_skill_suspension(request: Request, org: Org, agent: AgentPath, skill: SkillPath) -> Response:
    """Suspend a skill of an agent. Until it is resumed, the skill is ignored and does not decay."""
    return await write_with_reason(
        request, "rank", lambda context, reason: suspend_skill(context, agent, skill, org=org, reason=reason)
    )


@router.post(
    "/v1/orgs/{org}/agents/{agent}/skills/{skill}/resume",
    **declare_change(SkillRecord, ReasonBody, {"reason": "retrained"}),
)
async def post_skill_resumption(request: Request, org: Org, agent: AgentPath, skill: SkillPath) -> Response:
    """Resume a suspended skill of an agent."""
    return await write_with_reason(
        request, "rank", lambda context, reason: resume_skill(context, agent, skill, org=org, reason=reason)
    )


@router.get(
    "/v1/orgs/{org}/agents/{agent}/results",
    responses=declare_responses(QualificationRecord, 404, 409, 503, org=True),
)
async def get_results(
    request: Request, answers: AnswersOfApp, org: Org, agent: AgentPath, as_of: AsOf = None
) -> Response:
    """Get the results of an agent in every test: whether it passed, its baseline and its drift."""
    return await answers.respond(
        request, lambda kernel: open_kernel_as_of(kernel, as_of).qualification_record(org, agent), org
    )


@router.post(
    "/v1/orgs/{org}/agents/{agent}/results/{result}/invalidate",
    **declare_change(QualificationResult, ReasonBody, {"reason": "the test set was in the prompt"}),
)
async def post_invalidation(request: Request, org: Org, agent: AgentPath, result: ResultPath) -> Response:
    """Invalidate a result, with a reason. The result is kept. The agent's own credential is refused."""
    return await write_with_reason(
        request, "rank",
        lambda context, reason: invalidate_result(context, agent, result, org=org, reason=reason),
    )  # fmt: skip


@router.get(
    "/v1/orgs/{org}/agents/{agent}/promotion",
    responses=declare_responses(PromotionDecision, 404, 409, 503, org=True),
)
async def get_promotion(
    request: Request, answers: AnswersOfApp, org: Org, agent: AgentPath, as_of: AsOf = None
) -> Response:
    """Get the ranks that an agent could have, with each requirement met or not, and the evidence. Nothing changes."""
    return await answers.respond(
        request, lambda kernel: open_kernel_as_of(kernel, as_of).promotion(org, agent), org
    )


@router.post(
    "/v1/orgs/{org}/agents/{agent}/promotion",
    **declare_change(AgentState, PromotionBody, {"reason": "the review of October"}),
)
async def post_promotion(request: Request, org: Org, agent: AgentPath) -> Response:
    """Give an agent the next rank, if it meets every requirement or `override` gives a reason for an exception.

    The agent's own credential is refused.
    """
    return await write(
        request, "rank", PromotionBody, '{"reason": "…"}',
        lambda context, promotion: promote_agent(
            context, agent, override=promotion.override, org=org, reason=promotion.reason
        ),
    )  # fmt: skip
