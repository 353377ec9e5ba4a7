"""Grants: permissions in addition to what roles and policies give. Changes need a credential of the scope `grant`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from manifest_api.access_shapes import GrantPage, Note
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
from orgkernel.operations.permissions import GrantDraft, issue_grant, revoke_grant

router = APIRouter(tags=["grants"])
GrantId = Annotated[str, Path(description="Id of a grant.", examples=["g-0123456789ab"])]


@router.get(
    "/v1/grants",
    response_class=Response,
    responses=stored("GrantPage", 409),
    dependencies=[only("subject", "all", "cursor", "limit")],
)
async def get_grants(
    request: Request,
    subject: Annotated[str | None, Query(max_length=200, description="Only those of one subject.")] = None,
    everything: Annotated[
        bool, Query(alias="all", description="Also what was revoked, used up or has expired.")
    ] = False,
    cursor: Cursor = None,
    limit: Limit = DEFAULT_ROWS,
) -> Response:
    """Grants in the order in which they were issued."""
    shown, following = await page_from_store(
        request,
        lambda store: store.grants.list(subject, active_only=not everything),
        lambda grant: grant.grant_id,
        cursor,
        limit,
    )
    return json_response(GrantPage(grants=shown, next=following))


@router.get(
    "/v1/grants/{grant}",
    response_class=Response,
    responses=stored("Grant", 404, 409),
    dependencies=[only()],
)
async def get_grant(request: Request, grant: GrantId) -> Response:
    """One grant, also one that holds no more."""
    return json_response(
        await existing_in_store(
            request, lambda store: store.grants.get(grant), f"grant {quote(grant)}", "/v1/grants?all=true"
        )
    )


@router.post(
    "/v1/grants",
    response_class=Response,
    status_code=201,
    responses=stored("Grant", 400, 401, 409, 415, status=201),
    openapi_extra=body_of("GrantDraft", {"subject": "agent:worf", "resources": ["tool:browser_agent"]}),
    dependencies=[only()],
)
async def post_grant(request: Request) -> Response:
    """Give a permission. Who gives it is the credential, and nothing the body says."""
    example = '{"subject": "agent:ID", "resources": ["tool:ID"]}'
    return await write(request, "grant", GrantDraft, example, issue_grant, 201)


@router.post(
    "/v1/grants/{grant}/revoke",
    response_class=Response,
    responses=stored("Grant", 400, 401, 404, 409, 415),
    openapi_extra=body_of("Note", {"reason": "done"}),
    dependencies=[only()],
)
async def post_revocation(request: Request, grant: GrantId) -> Response:
    """Take a grant back from now on; its history stays."""
    return await write(
        request,
        "grant",
        Note,
        '{"reason": "…"}',
        lambda context, note: revoke_grant(context, grant, note.reason),
    )
