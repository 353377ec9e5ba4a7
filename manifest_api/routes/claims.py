"""Claims of files: who works on which. Claiming, extending, releasing and transferring need the scope `report`."""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from manifest_api.questions import KNOWN_PARAMETERS, Cursor, Org, OrgOrAll, declare_word
from manifest_api.routes.documented import declare_change, declare_store_responses
from manifest_api.routes.locks import Holder
from manifest_api.store_requests import (
    DEFAULT_ROWS,
    RowLimit,
    build_json_response,
    choose_listed_organization,
    page_from_store,
    write,
)
from orgkernel.decisions.ownership.claims import FileClaim
from orgkernel.operations.claims import (
    claim_files,
    extend_claim,
    list_claims,
    release_claim,
    transfer_claim,
)
from orgkernel.operations.permissions import ID, Name, Text

router = APIRouter(tags=["claims"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])
ClaimToken = Annotated[int, Path(ge=1, le=9_007_199_254_740_991, description="Token of the claim.")]
ClaimHolder = Annotated[str, msgspec.Meta(pattern=f"^(agent|person|role|system):{ID}")]
"""The holder. A role holds the files of a hand-off that named no agent."""
ClaimSeconds = Annotated[float, msgspec.Meta(gt=0, le=604_800)]
ClaimPaths = Annotated[tuple[str, ...], msgspec.Meta(min_length=1, max_length=200)]


class ClaimDraft(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request to claim files."""

    paths: ClaimPaths
    """Paths and globs from the root of the project. All of them are claimed, or none."""
    holder: Holder | None = None
    """Not needed with the credential of an agent, which claims for that agent only."""
    session: Name | None = None
    """Session in which the holder works."""
    planner: Holder | None = None
    """Subject that planned the work."""
    seconds: ClaimSeconds | None = None
    """How long the claim lasts. By default an hour."""
    reason: Text = ""


class ClaimExtension(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request to let a claim last longer."""

    holder: ClaimHolder | None = None
    """Not needed with the credential of an agent."""
    seconds: ClaimSeconds | None = None
    """How long it lasts from now. By default an hour."""
    reason: Text = ""


class ClaimReturn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request to release a claim."""

    holder: ClaimHolder | None = None
    """Not needed with the credential of an agent."""
    reason: Text = ""


class ClaimTransfer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request to hand a claim over."""

    to: Holder
    holder: ClaimHolder | None = None
    """Not needed with the credential of an agent."""
    session: Name | None = None
    """Session in which the new holder works."""
    reason: Text = ""


class ClaimPage(msgspec.Struct, frozen=True, kw_only=True):
    """The live claims, by organization and token."""

    claims: tuple[FileClaim, ...]
    next: str | None


@router.get("/v1/orgs/{org}/claims", responses=declare_store_responses(ClaimPage, 404, 409))
async def get_claims(
    request: Request,
    org: OrgOrAll,
    path: Annotated[str | None, declare_word("Only claims that overlap with this path or glob.")] = None,
    cursor: Cursor = None,
    limit: RowLimit = DEFAULT_ROWS,
) -> Response:
    """List the current claims, by organization and token."""
    org_id = choose_listed_organization(request, org)
    shown, following = await page_from_store(
        request,
        lambda store: list_claims(store, org_id, path),
        lambda claim: f"{claim.org_id}/{claim.token}",
        cursor,
        limit,
    )
    return build_json_response(ClaimPage(claims=shown, next=following))


@router.post(
    "/v1/orgs/{org}/claims",
    **declare_change(
        FileClaim, ClaimDraft, {"paths": ["src/search/**"], "session": "shop-worker-1"}, creates_record=True
    ),
)
async def post_claim(request: Request, org: Org) -> Response:
    """Claim files, all of them or none. Other holders cannot claim overlapping files until the claim ends.

    A claim is not a permission. The token increases with every claim of the organization.
    """
    return await write(
        request, "report", ClaimDraft, '{"paths": ["src/search/**"]}',
        lambda context, given: claim_files(
            context, org, given.paths, given.holder, seconds=given.seconds, session=given.session,
            planner=given.planner, reason=given.reason,
        ),
        201,
    )  # fmt: skip


@router.post(
    "/v1/orgs/{org}/claims/{token}/extend", **declare_change(FileClaim, ClaimExtension, {"seconds": 600})
)
async def post_claim_extend(request: Request, org: Org, token: ClaimToken) -> Response:
    """Let a claim last longer. Its end is never moved back."""
    return await write(
        request, "report", ClaimExtension, '{"seconds": 600}',
        lambda context, given: extend_claim(
            context, org, token, given.holder, seconds=given.seconds, reason=given.reason
        ),
    )  # fmt: skip


@router.post(
    "/v1/orgs/{org}/claims/{token}/release",
    **declare_change(FileClaim, ClaimReturn, {"reason": "it is done"}),
)
async def post_claim_release(request: Request, org: Org, token: ClaimToken) -> Response:
    """Release a claim. A claim that is no longer held cannot be released."""
    return await write(
        request, "report", ClaimReturn, '{"reason": "it is done"}',
        lambda context, given: release_claim(context, org, token, given.holder, reason=given.reason),
    )  # fmt: skip


@router.post(
    "/v1/orgs/{org}/claims/{token}/transfer",
    **declare_change(FileClaim, ClaimTransfer, {"to": "agent:clerk"}),
)
async def post_claim_transfer(request: Request, org: Org, token: ClaimToken) -> Response:
    """Transfer a claim. The new holder gets a new token, and the old token is no longer valid."""
    return await write(
        request, "report", ClaimTransfer, '{"to": "agent:clerk"}',
        lambda context, given: transfer_claim(
            context, org, token, given.to, given.holder, session=given.session, reason=given.reason
        ),
    )  # fmt: skip
