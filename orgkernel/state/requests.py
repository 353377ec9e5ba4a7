"""Requests for a permission: pending, then approved, denied or expired; never anything else afterwards.

A request without an answer in time has expired, even before that is recorded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, get_args

import msgspec
from sqlalchemy import and_, func, insert, select, update

from orgkernel.decisions.evidence.state_records import (
    Approval,
    AuditEntry,
    PermissionRequest,
    RequestApproval,
    RequestKind,
    RequestStatus,
)
from orgkernel.decisions.evidence.state_view import ALL_ORGANIZATIONS, Grant, Waiver
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.documents.records import LEVELS, ToolLevel
from orgkernel.errors import Conflict, Refused, TooManyRequests
from orgkernel.runtime.utc import as_utc
from orgkernel.state.chain import clean_text, clean_value
from orgkernel.state.grants import insert_grant, require_resources
from orgkernel.state.request_inputs import delete_inputs, find_input, insert_input
from orgkernel.state.rows import (
    StoreContext,
    clean_record,
    decode_record,
    encode_row,
    require_bound,
    require_id,
    require_record,
    require_reference,
    require_word,
)
from orgkernel.state.tables import requests
from orgkernel.state.writer import Transaction

APPROVED_MEANWHILE = "APPROVED_MEANWHILE"
TIMERS: Mapping[RequestKind, float] = {"access": 86_400.0, "command": 120.0, "action": 3_600.0}
"""Seconds in which a request has to be answered."""
GRANTED: Mapping[Approval, float | None] = {"once": 3_600.0, "day": 86_400.0, "always": None}
"""Lifetime in seconds of a grant for one use. It is short, because it is not a standing grant."""
_NARROWEST_FIRST: tuple[Approval, ...] = ("once", "day", "always")
REQUESTERS = ("agent", "person", "role", "system", "webhook")


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """How much one requester may ask. The sources require limits without naming numbers; these numbers were
    chosen here.
    """

    pending: int = 5
    """So many pending requests for the same resources, so those of one tool do not block another one …"""
    pending_in_all: int = 25
    """… and so many pending requests altogether."""
    cooldown: float = 60.0
    """Seconds before the same request may be made again."""
    denials: int = 3
    """So many denials …"""
    denial_window: float = 86_400.0
    """… within this time, and then no request may be made for as long."""


class ApprovalStep(NamedTuple):
    """One approval of a request that needs several, checked against the approvals that were stored before it."""

    added: RequestApproval
    seen: tuple[RequestApproval, ...]
    approved_by: tuple[str, ...]
    """The approvers that count, including the added one."""
    is_last: bool
    """Whether no further approval is needed."""


def require_room(transaction: Transaction, request: PermissionRequest, limits: RequestLimits) -> None:
    """Whether the requester may ask once more; raises `TooManyRequests`."""
    now, connection = transaction.now, transaction.connection
    mine = and_(requests.c.requester == request.requester, requests.c.org_id == request.org_id)
    # A clock that was set back must not lock requesters out, so requests in the future are not recent.
    soon = now + limits.cooldown
    resources = encode_row(request)["resources"]
    waits = (
        mine,
        requests.c.status == "pending",
        requests.c.created_at <= soon,
        requests.c.expires_at > now,
    )
    waiting = connection.execute(
        select(requests.c.request_id, requests.c.resources).where(*waits).order_by(requests.c.created_at)
    ).all()
    same = [row.request_id for row in waiting if row.resources == resources]
    for ids, most, what in (
        (same, limits.pending, f" for {listing(request.resources)}"),
        ([row.request_id for row in waiting], limits.pending_in_all, ""),
    ):
        if len(ids) >= most:
            raise TooManyRequests(
                f"{quote(request.requester)} has {len(ids)} pending requests{what}: {listing(ids)}",
                "wait for an answer to one of them",
                "TOO_MANY_PENDING",
            )
    denied = connection.scalar(
        select(func.count()).where(
            mine,
            requests.c.status == "denied",
            requests.c.response_at > now - limits.denial_window,
            requests.c.response_at <= soon,
        )
    )
    if (denied or 0) >= limits.denials:
        raise TooManyRequests(
            f"{quote(request.requester)} was denied {denied} times", "ask a person", "REQUESTS_BLOCKED"
        )
    recent = connection.execute(
        select(requests)
        .where(
            mine,
            requests.c.status != "approved",  # an approved request can be made again
            requests.c.resources == resources,
            requests.c.action.is_not_distinct_from(request.action),
            requests.c.input_digest.is_not_distinct_from(request.input_digest),
            requests.c.snapshot.is_not_distinct_from(request.snapshot),
            requests.c.created_at > now - limits.cooldown,
            requests.c.created_at <= soon,
        )
        .order_by(requests.c.created_at.desc())
    ).first()
    if recent is not None:
        earlier, again = decode_record(PermissionRequest, recent), as_utc(recent.created_at + limits.cooldown)
        if earlier.status == "denied":
            raise TooManyRequests(
                describe_denial(earlier), f"the same can be requested again at {again}", "REQUEST_COOLDOWN"
            )
        raise TooManyRequests(
            f"{quote(request.requester)} asked for the same less than {limits.cooldown:g} seconds ago: request {quote(earlier.request_id)}",
            f"wait for an answer; the same can be requested again at {again}",
            "REQUEST_COOLDOWN",
        )


def describe_denial(request: PermissionRequest) -> str:
    """A denial with the words of the approver, for the requester."""
    words = f": {request.response_reason}" if request.response_reason else ", without a reason"
    return f"{quote(request.responder or 'operator')} denied request {quote(request.request_id)}{words}"


class Requests:
    """The requests of a store."""

    def __init__(self, context: StoreContext, limits: RequestLimits) -> None:
        self._context = context
        self._limits = limits

    def create(
        self,
        requester: str,
        resources: Sequence[str],
        *,
        kind: RequestKind = "access",
        level: ToolLevel = "full",
        waives: Sequence[Waiver] = (),
        org_id: str = ALL_ORGANIZATIONS,
        channel: str | None = None,
        session: str | None = None,
        reason: str = "",
        summary: str = "",
        original_message: str = "",
        tool_call_id: str | None = None,
        context: Mapping[str, Any] | None = None,
        action: str | None = None,
        input_digest: str | None = None,
        snapshot: str | None = None,
        tool_input: bytes | None = None,
    ) -> PermissionRequest:
        """Ask. `tool_input` is the encoded input of the call, which is kept while the request is pending.

        Raises `TooManyRequests` (`TOO_MANY_PENDING`, `REQUEST_COOLDOWN`, `REQUESTS_BLOCKED`) and `Refused`.
        """
        require_reference("the requester", requester, REQUESTERS)
        require_resources("request", resources)
        require_word("the kind", kind, TIMERS)
        require_word("the level", level, LEVELS)
        require_id("the organization", org_id)
        require_bound(action, input_digest, snapshot)
        for waiver in waives:
            require_word("the waiver", waiver, get_args(Waiver))
        draft = PermissionRequest(
            self._context.new_id("r"),
            requester,
            tuple(resources),
            0.0,
            0.0,
            kind,
            level,
            tuple(waives),
            org_id,
            channel,
            session,
            reason,
            summary,
            original_message,
            tool_call_id,
            None if context is None else clean_value(context),
            action=action,
            input_digest=input_digest,
            snapshot=snapshot,
        )

        def change(transaction: Transaction) -> PermissionRequest:
            now = transaction.now
            request = msgspec.structs.replace(
                clean_record(draft), created_at=now, expires_at=now + TIMERS[kind]
            )
            require_room(transaction, request, self._limits)
            transaction.connection.execute(insert(requests).values(**encode_row(request)))
            if tool_input is not None:
                insert_input(transaction.connection, request.request_id, tool_input)
            transaction.touch()
            _note(transaction, request, "created", "")
            return request

        return self._context.change(change)

    def approve(
        self,
        request_id: str,
        approval: Approval,
        *,
        responder: str,
        reason: str = "",
        step: ApprovalStep | None = None,
    ) -> tuple[PermissionRequest, Grant | None]:
        """Say yes: once, for a day or always. The request and the grant it led to.

        A `step` is one of several approvals: no grant comes before the last. Raises `Conflict`: `NOT_PENDING`, and
        `APPROVED_MEANWHILE` if other approvals are stored than the step has seen.
        """
        require_word("the approval", approval, GRANTED)

        def change(transaction: Transaction) -> tuple[PermissionRequest, Grant | None]:
            request = _require_pending(transaction, request_id)
            if responder == request.requester:
                raise Refused(f"{quote(responder)} cannot approve its own request", code="SELF_GRANT")
            given, approved_by = approval, tuple[str, ...]()
            if step is not None:
                request = _add_approval(transaction, request, step)
                if not step.is_last:
                    _note(transaction, request, "partly_approved", responder, reason)
                    return request, None
                counted = [each for each in request.approvals if each.approver in step.approved_by]
                given = min((each.approval for each in counted), key=_NARROWEST_FIRST.index)
                approved_by = step.approved_by
            holds = GRANTED[given]
            wanted = Grant(
                self._context.new_id("g"), request.requester, request.resources, request.level, request.waives,
                request.org_id or "", request.channel, request.session, reason or request.reason, responder,
                expires_at=None if holds is None else transaction.now + holds,
                uses_left=1 if given == "once" else None, request_id=request_id, action=request.action,
                input_digest=request.input_digest, snapshot=request.snapshot, approved_by=approved_by,
            )  # fmt: skip
            grant = insert_grant(transaction, wanted)
            done = _answer(transaction, request, "approved", given, responder, reason, grant.grant_id)
            return done, grant

        return self._context.change(change)

    def deny(self, request_id: str, *, responder: str, reason: str = "") -> PermissionRequest:
        """Say no; raises `UnknownRecord`, `Conflict` (`NOT_PENDING`)."""

        def change(transaction: Transaction) -> PermissionRequest:
            request = _require_pending(transaction, request_id)
            return _answer(transaction, request, "denied", "deny", responder, reason, None)

        return self._context.change(change)

    def expire(self) -> int:
        """Record requests that were not answered in time. Returns their number."""
        return self._context.change(_expire)

    def get(self, request_id: str) -> PermissionRequest | None:
        """One request; None if there is none."""
        query = select(requests).where(requests.c.request_id == request_id)
        request = self._context.find(PermissionRequest, query)
        return None if request is None else _get_state_at(request, self._context.clock())

    def get_input(self, request_id: str) -> bytes | None:
        """The encoded input of the call that a pending request is for; None if none is kept. Raises `BadStore`."""
        with self._context.reading() as connection:
            query = select(requests.c.status, requests.c.expires_at).where(
                requests.c.request_id == request_id
            )
            row = connection.execute(query).one_or_none()
            if row is None or row.status != "pending" or row.expires_at <= self._context.clock():
                return None
            return find_input(connection, request_id)

    def list(
        self, status: RequestStatus | None = None, requester: str | None = None
    ) -> tuple[PermissionRequest, ...]:
        """Requests, oldest first; one whose time has run out is expired."""
        query = select(requests).order_by(requests.c.created_at, requests.c.request_id)
        if requester is not None:
            query = query.where(requests.c.requester == requester)
        now = self._context.clock()
        candidates = (_get_state_at(each, now) for each in self._context.read(PermissionRequest, query))
        return tuple(request for request in candidates if status in (None, request.status))


def _require_pending(transaction: Transaction, request_id: str) -> PermissionRequest:
    record = require_record(
        transaction, PermissionRequest, requests, request_id, "request", "`orgkernel request list` shows all"
    )
    request = _get_state_at(record, transaction.now)
    if request.status != "pending":
        raise Conflict(
            f"the request {quote(request_id)} is {request.status}", "ask again", code="NOT_PENDING"
        )
    return request


def _add_approval(
    transaction: Transaction, request: PermissionRequest, step: ApprovalStep
) -> PermissionRequest:
    # The step was checked before this transaction. In between, another replica can have stored an approval.
    if request.approvals != step.seen:
        raise Conflict(f"the request {quote(request.request_id)} was approved by another subject meanwhile",
                       "approve it again", code=APPROVED_MEANWHILE)  # fmt: skip
    added = msgspec.structs.replace(clean_record(step.added), at=transaction.now)
    request = msgspec.structs.replace(request, approvals=(*request.approvals, added))
    transaction.connection.execute(
        update(requests)
        .where(requests.c.request_id == request.request_id)
        .values(approvals=encode_row(request)["approvals"])
    )
    transaction.touch()
    return request


def _get_state_at(request: PermissionRequest, now: float) -> PermissionRequest:
    if request.status == "pending" and request.expires_at <= now:
        return msgspec.structs.replace(request, status="expired")
    return request


def _answer(
    transaction: Transaction,
    request: PermissionRequest,
    status: RequestStatus,
    response: str,
    responder: str,
    reason: str,
    grant_id: str | None,
) -> PermissionRequest:
    values = {
        "status": status, "response": response, "responder": clean_text(responder), "response_at": transaction.now,
        "response_reason": clean_text(reason), "grant_id": grant_id,
    }  # fmt: skip
    transaction.connection.execute(
        update(requests).where(requests.c.request_id == request.request_id).values(**values)
    )
    delete_inputs(transaction.connection, (request.request_id,))
    transaction.touch()
    done = msgspec.structs.replace(request, **values)
    _note(transaction, done, status, responder, reason)
    return done


def _expire(transaction: Transaction) -> int:
    due = (requests.c.status == "pending", requests.c.expires_at <= transaction.now)
    rows = transaction.connection.execute(select(requests).where(*due).order_by(requests.c.request_id)).all()
    for row in rows:
        transaction.connection.execute(
            update(requests).where(requests.c.request_id == row.request_id).values(status="expired")
        )
        transaction.touch()
        _note(transaction, decode_record(PermissionRequest, row), "expired", "")
    delete_inputs(transaction.connection, [row.request_id for row in rows])
    return len(rows)


def _note(
    transaction: Transaction, request: PermissionRequest, activity: str, actor: str, reason: str = ""
) -> None:
    transaction.audit(
        AuditEntry(
            "request",
            transaction.now,
            activity,
            subject=request.requester,
            actor=actor,
            resource=request.resources[0],
            level=request.level,
            org_id=request.org_id or "",
            channel=request.channel or "",
            session=request.session or "",
            record_id=request.request_id,
            grants=(request.grant_id,) if request.grant_id else (),
            reason=reason or (request.reason if activity == "created" else ""),
            detail={
                "kind": request.kind,
                "resources": list(request.resources),
                "waives": list(request.waives),
                "action": request.action,
                "input_digest": request.input_digest,
                "snapshot": request.snapshot,
            }
            if activity == "created"
            else {"response": request.response}
            if request.response
            else None,
        )
    )
