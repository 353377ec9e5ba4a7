"""Grants and restrictions, in addition to roles and policies. Changes need a credential with the scope `grant`."""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from manifest_api.questions import KNOWN_PARAMETERS, Cursor
from manifest_api.routes.documented import change, stored
from manifest_api.store_requests import (
    DEFAULT_ROWS,
    ReasonBody,
    RowLimit,
    json_response,
    page_from_store,
    record_response,
    write,
    write_with_reason,
)
from orgkernel.decisions.access.waivers import ListedGrant, list_grant
from orgkernel.decisions.evidence.state_view import Grant, Restriction
from orgkernel.diagnostics.wording import quote
from orgkernel.operations.permissions import (
    GrantDraft,
    Name,
    RestrictionDraft,
    Text,
    issue_grant,
    issue_restriction,
    lift_restriction,
    revoke_grant,
    wake_grant,
)

router = APIRouter(tags=["grants"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])
GrantId = Annotated[str, Path(description="Id of a grant.", examples=["g-0123456789ab"])]
restrictions_router = APIRouter(
    tags=["restrictions"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS]
)
RestrictionId = Annotated[str, Path(description="Id of a restriction.", examples=["x-0123456789ab"])]


class GrantPage(msgspec.Struct, frozen=True, kw_only=True):
    """Grants in the order in which they were issued."""

    grants: tuple[ListedGrant, ...]
    next: str | None


@router.get("/v1/grants", responses=stored(GrantPage, 409))
async def get_grants(
    request: Request,
    subject: Annotated[str | None, Query(max_length=200, description="Only those of this subject.")] = None,
    everything: Annotated[
        bool, Query(alias="all", description="Also revoked, used up and expired grants.")
    ] = False,
    cursor: Cursor = None,
    limit: RowLimit = DEFAULT_ROWS,
) -> Response:
    """Grants in the order in which they were issued."""
    shown, following = await page_from_store(
        request,
        lambda store: store.grants.list(subject, active_only=not everything),
        lambda grant: grant.grant_id,
        cursor,
        limit,
    )
    return json_response(GrantPage(grants=tuple(map(list_grant, shown)), next=following))


@router.get("/v1/grants/{grant}", responses=stored(Grant, 404, 409))
async def get_grant(request: Request, grant: GrantId) -> Response:
    """Get a grant, even if it is no longer valid."""
    return await record_response(
        request, lambda store: store.grants.get(grant), f"grant {quote(grant)}", "/v1/grants?all=true"
    )


@router.post(
    "/v1/grants",
    **change(
        Grant,
        GrantDraft,
        {"subject": "agent:worf", "resources": ["tool:browser_agent"]},
        made=True,
        names_record=False,
    ),
)
async def post_grant(request: Request) -> Response:
    """Issue a grant. The credential determines the issuer."""
    example = '{"subject": "agent:ID", "resources": ["tool:ID"]}'
    return await write(request, "grant", GrantDraft, example, issue_grant, 201)


@router.post("/v1/grants/{grant}/revoke", **change(Grant, ReasonBody, {"reason": "done"}))
async def post_revocation(request: Request, grant: GrantId) -> Response:
    """Revoke a grant from now on. Its history is kept."""
    return await write_with_reason(
        request, "grant", lambda context, reason: revoke_grant(context, grant, reason)
    )


class WakeBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The organization to wake a grant for, if it has none, and why."""

    org_id: Name | None = None
    reason: Text = ""


@router.post("/v1/grants/{grant}/wake", **change(Grant, WakeBody, {"reason": "the role is meant to have it"}))
async def post_waking(request: Request, grant: GrantId) -> Response:
    """Let a grant that is asleep give again. A grant without an organization is woken for the one that is named."""
    return await write(
        request, "grant", WakeBody, '{"reason": "…"}',
        lambda context, body: wake_grant(context, grant, body.org_id, body.reason),
    )  # fmt: skip


class RestrictionPage(msgspec.Struct, frozen=True, kw_only=True):
    """Restrictions in the order in which they were issued."""

    restrictions: tuple[Restriction, ...]
    next: str | None


@restrictions_router.get("/v1/restrictions", responses=stored(RestrictionPage, 409))
async def get_restrictions(
    request: Request,
    subject: Annotated[str | None, Query(max_length=200, description="Only those of this subject.")] = None,
    everything: Annotated[
        bool, Query(alias="all", description="Also lifted and expired restrictions.")
    ] = False,
    cursor: Cursor = None,
    limit: RowLimit = DEFAULT_ROWS,
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


@restrictions_router.get("/v1/restrictions/{restriction}", responses=stored(Restriction, 404, 409))
async def get_restriction(request: Request, restriction: RestrictionId) -> Response:
    """Get a restriction, even if it is no longer valid."""
    return await record_response(
        request,
        lambda store: store.restrictions.get(restriction),
        f"restriction {quote(restriction)}",
        "/v1/restrictions?all=true",
    )


@restrictions_router.post(
    "/v1/restrictions",
    **change(
        Restriction,
        RestrictionDraft,
        {"subject": "agent:worf", "resources": ["tool:browser_agent"], "level": "read"},
        made=True,
        names_record=False,
    ),
)
async def post_restriction(request: Request) -> Response:
    """Limit a subject to a level. The credential of an agent or a person needs a right over the subject."""
    example = '{"subject": "agent:ID", "resources": ["tool:ID"]}'
    return await write(request, "grant", RestrictionDraft, example, issue_restriction, 201)


@restrictions_router.post(
    "/v1/restrictions/{restriction}/lift", **change(Restriction, ReasonBody, {"reason": "done"})
)
async def post_lifting(request: Request, restriction: RestrictionId) -> Response:
    """Lift a restriction from now on. Its history is kept. The credential of an agent needs the same rights as for a
    grant.
    """
    return await write_with_reason(
        request, "grant", lambda context, reason: lift_restriction(context, restriction, reason)
    )
