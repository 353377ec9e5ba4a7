"""Restrictions: what somebody is left less than roles, policies and grants give. Changes need the scope `grant`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from manifest_api.access_shapes import Note
from manifest_api.answering import AnswersOfApp
from manifest_api.guards.caller import require_scope
from manifest_api.holding_shapes import RestrictionDraft, RestrictionPage
from manifest_api.questions import Cursor, only, read_body
from manifest_api.routes.documented import body_of, remembered
from manifest_api.store_requests import (
    DEFAULT_ROWS,
    Limit,
    existing_in_store,
    json_response,
    page_from_store,
    refuse_giving_too_much,
    with_store,
)
from orgkernel.decisions.state_view import Grant, Restriction
from orgkernel.diagnostics.wording import quote
from orgkernel.kernel.grant_check import require_declared

router = APIRouter(tags=["restrictions"])
RestrictionId = Annotated[str, Path(description="Id of a restriction.", examples=["x-0123456789ab"])]
_ALL = "/v1/restrictions?all=true"


@router.get(
    "/v1/restrictions",
    response_class=Response,
    responses=remembered("RestrictionPage", 409),
    dependencies=[only("subject", "all", "cursor", "limit")],
)
async def get_restrictions(
    request: Request,
    subject: Annotated[str | None, Query(max_length=200, description="Only those of one subject.")] = None,
    everything: Annotated[
        bool, Query(alias="all", description="Also what was lifted or has expired.")
    ] = False,
    cursor: Cursor = None,
    limit: Limit = DEFAULT_ROWS,
) -> Response:
    """Restrictions in the order in which they were issued."""
    shown, following = await page_from_store(
        request,
        lambda store: store.restrictions.list(subject, active_only=not everything),
        lambda each: each.restriction_id,
        cursor,
        limit,
    )
    return json_response(RestrictionPage(restrictions=shown, next=following))


@router.get(
    "/v1/restrictions/{restriction}",
    response_class=Response,
    responses=remembered("Restriction", 404, 409),
    dependencies=[only()],
)
async def get_restriction(request: Request, restriction: RestrictionId) -> Response:
    """One restriction, also one that holds no more."""
    return json_response(await _existing(request, restriction))


@router.post(
    "/v1/restrictions",
    response_class=Response,
    status_code=201,
    responses=remembered("Restriction", 400, 401, 409, 415, status=201),
    openapi_extra=body_of(
        "RestrictionDraft", {"subject": "agent:worf", "resources": ["tool:browser_agent"], "level": "read"}
    ),
    dependencies=[only()],
)
async def post_restriction(request: Request, answers: AnswersOfApp) -> Response:
    """Leave a subject no more than a level. An agent's credential restricts what its roles may grant, and others only."""
    caller = require_scope(request, "grant")
    draft = await read_body(request, RestrictionDraft, '{"subject": "agent:ID", "resources": ["tool:ID"]}')
    touched = Grant("", draft.subject, tuple(draft.resources), "observe", org_id=draft.org_id)
    require_declared(answers.kernel.state, touched)  # a misspelt one would restrict nobody, unnoticed
    await refuse_giving_too_much(caller, answers.kernel, touched)
    made = await with_store(
        request,
        lambda store: store.restrictions.issue(
            draft.subject, draft.resources, issued_by=caller.credential, level=draft.level, org_id=draft.org_id,
            reason=draft.reason, expires_at=draft.expires_at,
        ),
    )  # fmt: skip
    return json_response(made, 201)


@router.post(
    "/v1/restrictions/{restriction}/lift",
    response_class=Response,
    responses=remembered("Restriction", 400, 401, 404, 409, 415),
    openapi_extra=body_of("Note", {"reason": "done"}),
    dependencies=[only()],
)
async def post_lifting(request: Request, answers: AnswersOfApp, restriction: RestrictionId) -> Response:
    """Lift a restriction from now on; its history stays. To an agent's credential that is the same as giving."""
    caller = require_scope(request, "grant")
    note = await read_body(request, Note, '{"reason": "…"}')
    if caller.agent_id is not None:
        found = await _existing(request, restriction)
        given = Grant("", found.subject, found.resources, "full", org_id=found.org_id)
        await refuse_giving_too_much(caller, answers.kernel, given)
    lifted = await with_store(
        request,
        lambda store: store.restrictions.revoke(restriction, actor=caller.credential, reason=note.reason),
    )
    return json_response(lifted)


async def _existing(request: Request, restriction_id: str) -> Restriction:
    return await existing_in_store(
        request,
        lambda store: store.restrictions.get(restriction_id),
        f"restriction {quote(restriction_id)}",
        _ALL,
    )
