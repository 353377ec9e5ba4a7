"""Request a missing permission: find a pending request for it, or file the smallest one.

A request for a call is only for that call: its action, its input, and the version of the documents that refused it.
After an edit of the documents it can no longer be approved, and an earlier approval is no longer valid.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from orgkernel.decisions.access.decision import AccessDecision, Remedy, RemedyChange
from orgkernel.decisions.access.remedy_steps import STATED
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.access.tool_input import find_digest
from orgkernel.decisions.evidence.state_records import PermissionRequest
from orgkernel.decisions.evidence.state_view import ALL_ORGANIZATIONS
from orgkernel.diagnostics.wording import LISTED, listing, quote
from orgkernel.documents.records import LEVELS
from orgkernel.errors import Refused, TooManyRequests
from orgkernel.operations.context import Context
from orgkernel.operations.organizations import choose_organization
from orgkernel.operations.permissions import BAD_VALUE, RequestDraft, ask
from orgkernel.prepared_types import prepared

if TYPE_CHECKING:
    from orgkernel.kernel.kernel import Kernel
    from orgkernel.kernel.stored import Store

NOTHING_TO_ASK = "NOTHING_TO_ASK"
_BY_THE_CALLER = ("state", "lock", *STATED)
"""Changes that the caller can make without an approval."""
_MAX_REASON_LENGTH = 4_000
_PLAIN_NAME = re.compile("[A-Za-z_][A-Za-z0-9_.-]{0,39}")


def find_pending(
    store: Store, org_id: str, request: AccessRequest, decision: AccessDecision
) -> tuple[PermissionRequest, ...]:
    """The subject's pending requests for at least this, oldest first."""
    needed = LEVELS.index(decision.level_required) if decision.level_required in LEVELS else 0
    tool_input = request.context.input
    digest = None if tool_input is None else find_digest(tool_input)
    return tuple(
        each
        for each in store.requests.list("pending", request.subject)
        if request.resource in each.resources
        and each.org_id in (org_id, ALL_ORGANIZATIONS)
        and each.channel in (None, request.context.channel)
        and each.session in (None, request.context.session)
        and each.action in (None, request.action)
        and each.input_digest in (None, digest)
        and each.snapshot in (None, decision.snapshot)
        and LEVELS.index(each.level) >= needed
    )


def find_smallest_grant(kernel: Kernel, org_id: str, request: AccessRequest) -> RemedyChange | None:
    """The smallest grant that would permit a request after the caller's own changes; None if no grant would."""
    return select_smallest_grant(kernel.why(org_id, request).remedies, request.subject)


def select_smallest_grant(remedies: Iterable[Remedy], subject: str) -> RemedyChange | None:
    """Select the smallest grant to a subject that is enough together with the caller's own changes; None if none is."""
    for remedy in remedies:
        missing = [change for change in remedy.changes if change.kind not in _BY_THE_CALLER]
        # A request for the grant also collects the approvals that policies require.
        missing = [change for change in missing if change.kind != "approvals"] or missing
        change = missing[0] if len(missing) == 1 else None
        if change is not None and change.kind in ("grant", "approvals") and change.subject in ("", subject):
            return change
    return None


def file_request_for_call(
    context: Context,
    request: AccessRequest,
    decision: AccessDecision,
    reason: str = "",
    *,
    org: str | None = None,
) -> PermissionRequest:
    """The pending request for exactly this call, filed if there is none. An approval permits the call once more.

    The request states the arguments of the call, or an empty object. `decision` is the one that refused it,
    in the organization `org`, by default the served or active one. Raises `Refused`: `NOTHING_TO_ASK` if no
    grant would permit the call, `SNAPSHOT_CHANGED` if the documents were edited since the refusal, and as `ask`;
    and `TooManyRequests`.
    """
    org_id = choose_organization(context, org)
    tool_input = request.context.input
    digest = None if tool_input is None else find_digest(tool_input)
    if tool_input is None or digest is None:
        raise Refused(
            f"the call of {quote(request.resource)} has no input that an approval can be bound to",
            "state the arguments as JSON, or an empty object if there are none",
            BAD_VALUE,
        )
    draft = msgspec.structs.replace(
        _draft(context, org_id, request, decision), input_digest=digest, input=dict(tool_input), snapshot=decision.snapshot,
        reason=reason[:_MAX_REASON_LENGTH],
        summary=_summarize(request, tuple(tool_input)),
    )  # fmt: skip
    try:
        return _find_same(context.store, draft) or ask(context, draft, list_principals(request))
    except TooManyRequests:
        # Another process could have filed the request between the check and the write.
        same = _find_same(context.store, draft)
        if same is None:
            raise
        return same


def list_principals(request: AccessRequest) -> tuple[str, ...]:
    """The principals for whom the subject acts."""
    return request.via if request.on_behalf_of is None else (request.on_behalf_of, *request.via)


def _draft(context: Context, org_id: str, request: AccessRequest, decision: AccessDecision) -> RequestDraft:
    """The request for the missing permission, not yet bound to a call. Raises `Refused` if no grant is missing."""
    resource, level = request.resource, decision.level_required
    waives: tuple[str, ...] = ()
    if decision.outcome != "ask":
        change = (
            None if decision.outcome == "allow" else find_smallest_grant(context.documents, org_id, request)
        )
        if change is None:
            raise Refused(
                f"no grant would permit {quote(request.subject)} {quote(request.action)} {quote(request.resource)}",
                f"`orgkernel why {request.subject} {request.action} {request.resource}` shows what decides",
                NOTHING_TO_ASK,
            )
        resource, waives = change.value, change.waives
    draft_fields = {
        "requester": request.subject, "resources": (resource,), "kind": "action", "level": level or None, "waives": waives,
        "org_id": org_id, "action": request.action,
    }  # fmt: skip
    try:
        return msgspec.convert(draft_fields, prepared(RequestDraft))
    except msgspec.ValidationError:
        raise Refused(
            f"{quote(request.subject)} cannot ask for {quote(request.resource)}",
            "an agent, a person, a role, a system origin or a webhook asks for a tool, a credential or a data tier",
            BAD_VALUE,
        ) from None


def _find_same(store: Store, draft: RequestDraft) -> PermissionRequest | None:
    """The oldest pending request for exactly the same."""
    same = (
        "resources",
        "kind",
        "level",
        "waives",
        "org_id",
        "channel",
        "session",
        "action",
        "input_digest",
        "snapshot",
    )
    return next(
        (
            each
            for each in store.requests.list("pending", draft.requester)
            if all(getattr(each, name) == getattr(draft, name) for name in same)
        ),
        None,
    )


def _summarize(request: AccessRequest, names: tuple[str, ...]) -> str:
    """A summary of the call, which stays. It has no values of arguments, and names only if they are plain."""
    plain = sorted(each for each in names if _PLAIN_NAME.fullmatch(each))
    shown = plain[:LISTED]
    arguments_text = listing(shown)
    if len(names) > len(shown):
        arguments_text += (
            f"{' and ' if shown else ''}{len(names) - len(shown)} {'more' if shown else 'arguments'}"
        )
    return f"{request.action} of {request.resource} with {arguments_text or 'no arguments'}"
