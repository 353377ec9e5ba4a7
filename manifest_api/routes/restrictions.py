"""Restrictions: what somebody is left less than roles, policies and grants give. Changes need the scope `grant`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from manifest_api.access_shapes import Note
from manifest_api.holding_shapes import RestrictionPage
from manifest_api.questions import Cursor, only
from manifest_api.routes.documented import body_of, stored
from manifest_api.store_requests import (
    DEFAULT_ROWS,
    Limit,
    existing_in_store,
    json_response,
    page_from_store,
    write,
)
from orgkernel.diagnostics.wording import quote
from orgkernel.operations.permissions import RestrictionDraft, issue_restriction, lift_restriction

router = APIRouter(tags=["restrictions"])
RestrictionId = Annotated[str, Path(description="Id of a restriction.", examples=["x-0123456789ab"])]


@router.get(
    "/v1/restrictions",
    response_class=Response,
    responses=stored("RestrictionPage", 409),
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
    responses=stored("Restriction", 404, 409),
    dependencies=[only()],
)
async def get_restriction(request: Request, restriction: RestrictionId) -> Response:
    """One restriction, also one that holds no more."""
    return json_response(
        await existing_in_store(
            request,
            lambda store: store.restrictions.get(restriction),
            f"restriction {quote(restriction)}",
            "/v1/restrictions?all=true",
        )
    )


@router.post(
    "/v1/restrictions",
    response_class=Response,
    status_code=201,
    responses=stored("Restriction", 400, 401, 409, 415, status=201),
    openapi_extra=body_of(
        "RestrictionDraft", {"subject": "agent:worf", "resources": ["tool:browser_agent"], "level": "read"}
    ),
    dependencies=[only()],
)
async def post_restriction(request: Request) -> Response:
    """Leave a subject no more than a level. An agent's credential restricts what its roles may grant, and others only."""
    example = '{"subject": "agent:ID", "resources": ["tool:ID"]}'
    return await write(request, "grant", RestrictionDraft, example, issue_restriction, 201)


@router.post(
    "/v1/restrictions/{restriction}/lift",
    response_class=Response,
    responses=stored("Restriction", 400, 401, 404, 409, 415),
    openapi_extra=body_of("Note", {"reason": "done"}),
    dependencies=[only()],
)
async def post_lifting(request: Request, restriction: RestrictionId) -> Response:
    """Lift a restriction from now on; its history stays. To an agent's credential that is the same as giving."""
    return await write(
        request,
        "grant",
        Note,
        '{"reason": "…"}',
        lambda context, note: lift_restriction(context, restriction, note.reason),
    )
