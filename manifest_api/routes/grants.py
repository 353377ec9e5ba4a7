"""Grants and restrictions, in addition to roles and policies. Changes need a credential with the scope `grant`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeVar, cast

import msgspec
from fastapi import APIRouter, Path, Query, Request
from msgspec.structs import asdict
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from manifest_api.guards.caller import require_scope
from manifest_api.questions import KNOWN_PARAMETERS, Cursor, OrgOrAll, read_body
from manifest_api.routes.documented import declare_body, declare_change, declare_store_responses
from manifest_api.store_requests import (
    DEFAULT_ROWS,
    ReasonBody,
    RowLimit,
    build_json_response,
    choose_listed_organization,
    find_in_store,
    page_from_store,
    record_response,
    require_known,
    with_store,
    write,
    write_with_reason,
)
from orgkernel.decisions.access.waivers import ListedGrant, list_grant
from orgkernel.decisions.evidence.state_view import Grant, Restriction
from orgkernel.diagnostics.wording import quote
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.context import Actor, Context
from orgkernel.operations.organizations import is_valid_in
from orgkernel.operations.permissions import (
    GrantDraft,
    GrantPreview,
    GrantTerms,
    RestrictionDraft,
    RestrictionTerms,
    RevocationPreview,
    issue_grant,
    issue_restriction,
    lift_restriction,
    preview_grant,
    preview_revocation,
    revoke_grant,
    wake_grant,
)

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store

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


@router.get("/v1/orgs/{org}/grants", responses=declare_store_responses(GrantPage, 404, 409))
async def get_grants(
    request: Request,
    org: OrgOrAll,
    subject: Annotated[str | None, Query(max_length=200, description="Only grants of this subject.")] = None,
    everything: Annotated[
        bool, Query(alias="all", description="Include revoked, used up and expired grants.")
    ] = False,
    cursor: Cursor = None,
    limit: RowLimit = DEFAULT_ROWS,
) -> Response:
    """List the current grants of an organization, in the order in which they were issued."""
    org_id = choose_listed_organization(request, org)
    shown, following = await page_from_store(
        request,
        lambda store: tuple(
            each
            for each in store.grants.list(subject, active_only=not everything)
            if is_valid_in(each, org_id)
        ),
        lambda grant: grant.grant_id,
        cursor,
        limit,
    )
    return build_json_response(GrantPage(grants=tuple(map(list_grant, shown)), next=following))


@router.get("/v1/orgs/{org}/grants/{grant}", responses=declare_store_responses(Grant, 404, 409))
async def get_grant(request: Request, org: OrgOrAll, grant: GrantId) -> Response:
    """Get a grant, even if it is no longer valid."""
    org_id = choose_listed_organization(request, org)
    return await record_response(
        request,
        lambda store: _find_in_organization(store.grants.get(grant), org_id),
        f"grant {quote(grant)}",
        f"/v1/orgs/{org}/grants?all=true",
    )


@router.post(
    "/v1/orgs/{org}/grants",
    **declare_change(
        Grant,
        GrantTerms,
        {"subject": "agent:worf", "resources": ["tool:browser_agent"]},
        creates_record=True,
    ),
)
async def post_grant(request: Request, org: OrgOrAll) -> Response:
    """Issue a grant in an organization, or with `*` in all of them. The credential determines the issuer."""
    example = '{"subject": "agent:ID", "resources": ["tool:ID"]}'

    def issue(context: Context, terms: GrantTerms) -> Grant:
        require_known(context.kernel, org)
        return issue_grant(context, GrantDraft(**asdict(terms), org_id=org))

    return await write(request, "grant", GrantTerms, example, issue, 201)


@router.post(
    "/v1/orgs/{org}/grant-preview",
    responses=declare_store_responses(GrantPreview, 400, 404, 409, 415),
    openapi_extra=declare_body(GrantTerms, {"subject": "agent:worf", "resources": ["tool:browser_agent"]}),
)
async def post_grant_preview(request: Request, org: OrgOrAll) -> Response:
    """Get what a grant would allow, and who could issue it. Nothing is stored, and the scope `read` is enough.

    The documents decide who could issue it, so there is an answer without a store too.
    """
    require_scope(request, "read")
    kernel: Kernel = request.app.state.answers.kernel
    require_known(kernel, org)
    terms = await read_body(request, GrantTerms, '{"subject": "agent:ID", "resources": ["tool:ID"]}')
    draft = GrantDraft(**asdict(terms), org_id=org)
    preview = await find_in_store(
        request, lambda store: preview_grant(Context(kernel, store, Actor("")), draft)
    )
    if preview is None:
        without_store = Context(kernel, cast("Store", None), Actor(""))
        preview = await run_in_threadpool(preview_grant, without_store, draft)
    return build_json_response(preview)


@router.get(
    "/v1/orgs/{org}/grants/{grant}/revocation", responses=declare_store_responses(RevocationPreview, 404, 409)
)
async def get_revocation_preview(request: Request, org: OrgOrAll, grant: GrantId) -> Response:
    """Get a grant, and what its subject would lose if the grant were revoked. Nothing is stored."""
    kernel: Kernel = request.app.state.answers.kernel
    preview = await with_store(
        request, lambda store: preview_revocation(Context(kernel, store, Actor("")), grant, org=org)
    )
    return build_json_response(preview)


@router.post("/v1/orgs/{org}/grants/{grant}/revoke", **declare_change(Grant, ReasonBody, {"reason": "done"}))
async def post_revocation(request: Request, org: OrgOrAll, grant: GrantId) -> Response:
    """Revoke a grant. Its history is kept."""
    return await write_with_reason(
        request, "grant", lambda context, reason: revoke_grant(context, grant, reason, org=org)
    )


@router.post(
    "/v1/orgs/{org}/grants/{grant}/wake",
    **declare_change(Grant, ReasonBody, {"reason": "the role is meant to have it"}),
)
async def post_waking(request: Request, org: OrgOrAll, grant: GrantId) -> Response:
    """Let a grant that is asleep give again. A grant without an organization is woken for the one in the path."""
    return await write_with_reason(
        request, "grant", lambda context, reason: wake_grant(context, grant, org, reason)
    )


Issued = TypeVar("Issued", Grant, Restriction)


def _find_in_organization(record: Issued | None, org_id: str | None) -> Issued | None:
    return None if record is None or not is_valid_in(record, org_id) else record


class RestrictionPage(msgspec.Struct, frozen=True, kw_only=True):
    """Restrictions in the order in which they were issued."""

    restrictions: tuple[Restriction, ...]
    next: str | None


@restrictions_router.get(
    "/v1/orgs/{org}/restrictions", responses=declare_store_responses(RestrictionPage, 404, 409)
)
async def get_restrictions(
    request: Request,
    org: OrgOrAll,
    subject: Annotated[
        str | None, Query(max_length=200, description="Only restrictions of this subject.")
    ] = None,
    everything: Annotated[
        bool, Query(alias="all", description="Include lifted and expired restrictions.")
    ] = False,
    cursor: Cursor = None,
    limit: RowLimit = DEFAULT_ROWS,
) -> Response:
    """List the current restrictions of an organization, in the order in which they were issued."""
    org_id = choose_listed_organization(request, org)
    shown, following = await page_from_store(
        request,
        lambda store: tuple(
            each
            for each in store.restrictions.list(subject, active_only=not everything)
            if is_valid_in(each, org_id)
        ),
        lambda each: each.restriction_id,
        cursor,
        limit,
    )
    return build_json_response(RestrictionPage(restrictions=shown, next=following))


@restrictions_router.get(
    "/v1/orgs/{org}/restrictions/{restriction}", responses=declare_store_responses(Restriction, 404, 409)
)
async def get_restriction(request: Request, org: OrgOrAll, restriction: RestrictionId) -> Response:
    """Get a restriction, even if it is no longer valid."""
    org_id = choose_listed_organization(request, org)
    return await record_response(
        request,
        lambda store: _find_in_organization(store.restrictions.get(restriction), org_id),
        f"restriction {quote(restriction)}",
        f"/v1/orgs/{org}/restrictions?all=true",
    )


@restrictions_router.post(
    "/v1/orgs/{org}/restrictions",
    **declare_change(
        Restriction,
        RestrictionTerms,
        {"subject": "agent:worf", "resources": ["tool:browser_agent"], "level": "read"},
        creates_record=True,
    ),
)
async def post_restriction(request: Request, org: OrgOrAll) -> Response:
    """Limit a subject to a level, in an organization or with `*` in all of them.

    The credential of an agent or a person needs a right over the subject.
    """
    example = '{"subject": "agent:ID", "resources": ["tool:ID"]}'

    def issue(context: Context, terms: RestrictionTerms) -> Restriction:
        require_known(context.kernel, org)
        return issue_restriction(context, RestrictionDraft(**asdict(terms), org_id=org))

    return await write(request, "grant", RestrictionTerms, example, issue, 201)


@restrictions_router.post(
    "/v1/orgs/{org}/restrictions/{restriction}/lift",
    **declare_change(Restriction, ReasonBody, {"reason": "done"}),
)
async def post_lifting(request: Request, org: OrgOrAll, restriction: RestrictionId) -> Response:
    """Lift a restriction. Its history is kept. The credential of an agent needs the same rights as for a grant."""
    return await write_with_reason(
        request, "grant", lambda context, reason: lift_restriction(context, restriction, reason, org=org)
    )
