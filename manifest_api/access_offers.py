"""Offers to request a refused permission: the answer to an evaluation names the request that waits for approval, or the body of a
new one.

The member `context.access_request` is the one that the draft "Access Request and Approval" of AuthZEN reserves. Requests are
made at `POST /v1/orgs/{org}/requests`, in the words of orgkernel. The tasks and signed approvals of the draft are not implemented.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec
from starlette.concurrency import run_in_threadpool

from manifest_api.guards.caller import Caller
from manifest_api.store_access import StoreAccess
from orgkernel.decisions.access.decision import AccessDecision
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.kernel.clock import read_clock
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.asking import find_pending, find_smallest_grant
from orgkernel.operations.permissions import RequestTerms
from orgkernel.prepared_types import prepared
from orgkernel.runtime.utc import as_utc

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store

_OFFER_SECONDS = 300.0
"""Seconds for which it can be expected that a request would still be of use."""
_REQUESTER = re.compile("(agent|person|role|system|webhook):[!-~]+")


class AccessRequestOffer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A request for a refused permission. It permits nothing: evaluate again after it was approved."""

    org_id: str
    """The organization of the request."""
    expires_at: str
    """When the request, or this offer, ends."""
    request_id: str = ""
    """The request that waits for an answer."""
    request: RequestTerms | None = None
    """The body for `POST /v1/orgs/{org}/requests`, if there is no request yet."""


async def find_offer(
    store_access: StoreAccess,
    kernel: Kernel,
    org: str,
    request: AccessRequest,
    decision: AccessDecision,
    caller: Caller,
) -> AccessRequestOffer | None:
    """The offer for a caller with the scope `request` that asks for itself or as an operator.

    None if no grant would help.

    Raises `StoreError`.
    """
    # The scope must be explicit: a gateway with an admin key asks often and makes no requests.
    if decision.outcome not in ("deny", "ask") or "request" not in caller.scopes:
        return None
    if caller.actor.member not in ("", request.subject) or not _REQUESTER.fullmatch(request.subject):
        return None
    org_id = kernel.organization(org).snapshot.org_id
    pending = await store_access.work(lambda store: _find_pending(store, org_id, request, decision))
    if pending is not None:
        return pending
    draft = await run_in_threadpool(_draft, kernel, org_id, request)
    if draft is None or not store_access.is_open:
        return None
    return AccessRequestOffer(
        org_id=org_id, expires_at=as_utc(read_clock()[0] + _OFFER_SECONDS) or "", request=draft
    )


def _find_pending(
    store: Store, org_id: str, request: AccessRequest, decision: AccessDecision
) -> AccessRequestOffer | None:
    """The oldest request of the subject that asks for at least this."""
    for each in find_pending(store, org_id, request, decision):
        return AccessRequestOffer(
            org_id=org_id, expires_at=as_utc(each.expires_at) or "", request_id=each.request_id
        )
    return None


def _draft(kernel: Kernel, org_id: str, request: AccessRequest) -> RequestTerms | None:
    """The request for the smallest grant that would permit it."""
    change = find_smallest_grant(kernel, org_id, request)
    if change is None:
        return None
    terms_fields = {
        "requester": request.subject, "resources": (change.value,), "level": change.level or None,
        "waives": change.waives,
    }  # fmt: skip
    return msgspec.convert(terms_fields, prepared(RequestTerms))
