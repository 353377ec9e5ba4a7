"""The limits of calls, and what is left of them."""

from __future__ import annotations

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from manifest_api.questions import KNOWN_PARAMETERS, Cursor, Org
from manifest_api.routes.documented import declare_store_responses
from manifest_api.store_requests import DEFAULT_ROWS, RowLimit, build_json_response, page_from_store
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.limits import LimitStanding, list_limits

router = APIRouter(tags=["access"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])


class LimitPage(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of an organization, by name. Without a store, nothing is counted, so the page is empty."""

    limits: tuple[LimitStanding, ...]
    next: str | None


@router.get("/v1/orgs/{org}/limits", responses=declare_store_responses(LimitPage, 404, 409))
async def get_limits(
    request: Request, org: Org, cursor: Cursor = None, limit: RowLimit = DEFAULT_ROWS
) -> Response:
    """List the limits of calls, with what is left for each subject or tool of which a call is counted now."""
    kernel: Kernel = request.app.state.answers.kernel
    view = kernel.organization(org).snapshot.index
    shown, following = await page_from_store(
        request,
        lambda store: list_limits(view, store),
        lambda each: f"{each.limit_id}/{each.allows}/{each.counter or ''}",
        cursor,
        limit,
    )
    return build_json_response(LimitPage(limits=shown, next=following))
