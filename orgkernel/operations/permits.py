"""Permits: the decider issues one for a single call of a tool, and an adapter requires it before the call.

A permit contains no data. Its terms are in a table of the kernel that issued it, keyed by the identity of the object, so
a copy, a pickle or a similar object is worthless. It is valid once, for a few seconds, in the process that issued it, for
one subject, resource, action and input. Presenting it for anything else voids it (docs/architecture.md). The result of
the call is recorded afterwards.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from orgkernel.decisions.access.decision import AccessDecision
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.access.tool_input import add_input, digest_input
from orgkernel.decisions.evidence.limit_usage import Charge
from orgkernel.decisions.evidence.state_records import INPUT_DIGEST, AuditEntry
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import Conflict, PermitRefused
from orgkernel.operations.decisions import build_entry
from orgkernel.operations.waiting import await_in_time, await_write, run_in_store_thread

if TYPE_CHECKING:
    from orgkernel.kernel.kernel import Kernel
    from orgkernel.kernel.stored import PendingWrite, Store

SECONDS = 10.0
"""The default lifetime of a permit in seconds, from the decision to the start of the call."""
_AGENT = "agent:"
_MAX_CHAIN_LENGTH = 500
"""The highest number of characters of a delegation chain in the audit."""


class Permit:
    """A permission for one call. It is valid only for the kernel that issued it."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Raise `TypeError`, because a copy would be worthless and would fail only later."""
        raise TypeError("a permit cannot be copied or stored")


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a permit."""

    org_id: str
    subject: str
    resource: str
    """The resource: `tool:ID` or `tool:ID:PATH`."""
    action: str
    digest: str
    """The SHA-256 of the input."""
    until: float
    process: int


@dataclass(frozen=True, slots=True)
class Ruling:
    """A decision about one call, its permit if it is allowed, and its audit row."""

    decision: AccessDecision
    permit: Permit | None
    audit_id: str
    """The name of the audit row; empty while it is not on disk yet."""
    row: PendingWrite | None = None
    """The row, if it is still being written. No answer may be sent before it has resolved."""
    call_id: str = ""
    """The id of the call in the limits that it is charged to; empty if it is charged to none. It must be settled."""


class Permits:
    """The permits of one kernel. Thread-safe."""

    def __init__(
        self,
        kernel: Kernel,
        store: Store | None = None,
        *,
        seconds: float = SECONDS,
        has_state: bool = False,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        """Create the permits of a kernel.

        With `has_state`, the kernel already decides with the state of the store, so it is not read again.
        """
        self._opened = kernel
        self._has_state = has_state
        self._store = store
        self._seconds = seconds
        self._clock = clock
        self._wall_clock = wall_clock
        self._lock = threading.Lock()
        self._book: dict[int, tuple[Permit, Terms]] = {}
        self._order: deque[tuple[float, int]] = deque()

    @property
    def kernel(self) -> Kernel:
        """The current kernel, deciding with the state of the store. It is a copy, so callers must not keep it."""
        if self._has_state or self._store is None:
            return self._opened
        return self._opened.with_store(self._store)

    def decide(
        self, org: str, request: AccessRequest, tool_input: bytes, *, permit: bool = True, actor: str = "",
        about: Mapping[str, str] | None = None,
    ) -> Ruling:  # fmt: skip
        """Decide about a call, and permit it if it is allowed. With a store, the decision is on disk before it is
        returned.

        Grants with a limited number of uses are used up in the same transaction. Without `permit`, the call is only decided
        and recorded. `actor` is the credential of the caller, and `about` adds details to the audit row. Raises as
        `Kernel.can` and the store.
        """
        call = _Call(org, add_input(request, tool_input), tool_input, permit, actor, about)
        try:
            return self._write(call)
        except Conflict:
            # Another caller has used up a grant. The state has changed, so decide again; an error of that is final.
            return self._write(call)

    async def decide_soon(
        self, org: str, request: AccessRequest, tool_input: bytes, *, permit: bool = True, actor: str = "",
        about: Mapping[str, str] | None = None, may_overlap: bool = False, is_held: bool = False,
    ) -> Ruling:  # fmt: skip
        """Decide as `decide`, for an event loop. If the state `is_held` in memory, no thread is needed to decide.

        With `may_overlap`, an allowed call that uses up no grant is permitted while its row is being written.
        """
        call = _Call(org, add_input(request, tool_input), tool_input, permit, actor, about)
        for is_last in (False, True):
            is_limited = bool(self._find_charges(call))
            decision = (
                self._decide(call, is_limited)
                if is_held and not is_limited
                else await await_in_time(run_in_store_thread(self._decide, call, is_limited))
            )
            try:
                charges = self._list_charges(call, decision)
                pending = self._submit(call, decision, charges)
                if (
                    may_overlap
                    and decision.outcome == "allow"
                    and not decision.grants
                    and not charges.charges
                ):
                    return self._rule(call, decision, "", pending)
                audit_id = "" if pending is None else await await_write(pending)
                return self._rule(call, decision, audit_id, call_id=charges.call_id)
            except Conflict:
                if is_last or self._store is None:
                    raise
                await await_in_time(run_in_store_thread(self._store.refresh))
        raise AssertionError

    def redeem(
        self, permit: object, *, org: str, subject: str, tool_id: str, action: str, tool_input: bytes
    ) -> Terms:
        """Use up a permit for exactly this call of this subject in this organization. Raises `PermitRefused`."""
        with self._lock:
            entry = self._book.get(id(permit))
            if entry is None or entry[0] is not permit:
                raise PermitRefused(
                    f"there is no permit to call {quote(tool_id)}",
                    "every call needs its own permit; `ToolContext.invoke` asks for one",
                )
            del self._book[id(permit)]
        terms = entry[1]
        if terms.until <= self._clock():
            raise PermitRefused(f"the permit to call {quote(tool_id)} has expired", "ask again")
        tool = terms.resource.split(":", 2)[1]
        if terms.process != os.getpid() or (terms.org_id, terms.subject, tool, terms.action, terms.digest) != (
            org, subject, tool_id, action, digest_input(tool_input),
        ):  # fmt: skip
            raise PermitRefused(
                f"the permit is not for this call of {quote(tool_id)}", "it is now void; request a new one"
            )
        return terms

    def _permit(self, org: str, request: AccessRequest, tool_input: bytes) -> Permit:
        permit, now = Permit(), self._clock()
        until = now + self._seconds
        terms = Terms(
            org,
            request.subject,
            request.resource,
            request.action,
            digest_input(tool_input),
            until,
            os.getpid(),
        )
        with self._lock:
            while self._order and self._order[0][0] <= now:
                _, number = self._order.popleft()
                stale = self._book.get(number)
                if stale is not None and stale[1].until <= now:
                    del self._book[number]
            # INVARIANT: the table keeps the permit alive, so no other object can have its id while the entry exists.
            self._book[id(permit)] = permit, terms
            self._order.append((until, id(permit)))
        return permit

    def _write(self, call: _Call) -> Ruling:
        decision = self._decide(call, bool(self._find_charges(call)))
        charges = self._list_charges(call, decision)
        pending = self._submit(call, decision, charges)
        return self._rule(
            call, decision, "" if pending is None else pending.result(), call_id=charges.call_id
        )

    def _decide(self, call: _Call, is_limited: bool) -> AccessDecision:
        if self._store is not None and is_limited:
            # State that is held in memory has no usage of limits, so the store is read.
            return self._opened.with_store(self._store).can(call.org, call.request)
        return self.kernel.can(call.org, call.request)

    def _find_charges(self, call: _Call) -> tuple[Charge, ...]:
        """What a call takes from limits, according to the current documents."""
        return self._opened.access(call.org).list_charges(call.request)

    def _list_charges(self, call: _Call, decision: AccessDecision) -> _Charges:
        """What a call takes from limits, under a new id; nothing for a call that is not permitted."""
        if self._store is None or not call.permit or decision.outcome != "allow":
            return _NO_CHARGES
        # Looked up after the decision: a limit that a reload brought in between must be charged.
        charges = self._find_charges(call)
        return _Charges(self._store.context.new_id("c"), charges) if charges else _NO_CHARGES

    def _submit(self, call: _Call, decision: AccessDecision, charges: _Charges) -> PendingWrite | None:
        """Submit the audit row. None if there is no store."""
        if self._store is None:
            return None
        entry = build_entry(
            self._opened.organization(call.org).snapshot.index, call.request, decision, at=self._wall_clock(),
            actor=call.actor or call.request.on_behalf_of or "",
            detail={INPUT_DIGEST: digest_input(call.tool_input), **_describe_chain(call.request), **(call.about or {})},
        )  # fmt: skip
        reserve = None
        if charges.charges:
            from orgkernel.state.limits import reserve_call

            reserve = partial(
                reserve_call, org_id=entry.org_id, call_id=charges.call_id, charges=charges.charges,
                subject=call.request.subject, tool_id=call.request.resource.split(":", 2)[1],
            )  # fmt: skip
        return self._store.audit.submit(entry, decision.grants if call.permit else (), reserve=reserve)

    def _rule(
        self,
        call: _Call,
        decision: AccessDecision,
        audit_id: str,
        row: PendingWrite | None = None,
        call_id: str = "",
    ) -> Ruling:
        allowed = call.permit and decision.outcome == "allow"
        permit = self._permit(call.org, call.request, call.tool_input) if allowed else None
        return Ruling(decision, permit, audit_id, row, call_id)


class _Charges(NamedTuple):
    """What a call takes from limits."""

    call_id: str
    charges: tuple[Charge, ...]


_NO_CHARGES = _Charges("", ())


class _Call(NamedTuple):
    """A call that is being decided."""

    org: str
    request: AccessRequest
    tool_input: bytes
    permit: bool
    actor: str
    about: Mapping[str, str] | None


def _describe_chain(request: AccessRequest) -> dict[str, str]:
    """The principal and the senders of a run, for the audit."""
    chain = {"on_behalf_of": request.on_behalf_of or "", "via": ", ".join(request.via)}
    return {name: value[:_MAX_CHAIN_LENGTH] for name, value in chain.items() if value}


def settle_call(store: Store, org_id: str, call_id: str) -> None:
    """End a call in the limits that it is charged to: its slot is free, and its window stays charged. Raises `StoreError`."""
    store.limits.settle(org_id, call_id)


def record_use(
    store: Store, org_id: str, subject: str, tool_id: str, action: str, *, code: str, seconds: float, decision: str,
    is_urgent: bool = True,
) -> PendingWrite:  # fmt: skip
    """Record a call and its result. It counts once the pending write has resolved, which can take a moment if it is not
    urgent.

    Raises `StoreError`. Uses are counted only for agents; for a role or a person there is only the audit row.
    """
    if subject.startswith(_AGENT):
        pending = store.usage.record(
            subject.removeprefix(_AGENT), tool_id, action=action, ok=not code, code=code, seconds=seconds,
            org_id=org_id, decision=decision, is_urgent=is_urgent,
        )  # fmt: skip
    else:
        pending = store.audit.submit(
            AuditEntry(
                "usage", time.time(), "failed" if code else "succeeded", subject=subject, action=action,
                resource=f"tool:{tool_id}", code=code, org_id=org_id, record_id=decision, seconds=seconds,
            ),
            is_urgent=is_urgent,
        )  # fmt: skip
    return pending


def note_found_expired(store: Store) -> None:
    """Record expired grants, if the latest read found any, unless the clock is far beyond the audit.

    After that, setting the clock back does not make them valid again.
    """
    from orgkernel.state.clock_gap import FAR_SECONDS, measure_gap

    now = store.context.clock()
    given = store.get_last_view().grants.values()
    if not any(each.expires_at is not None and each.expires_at <= now for grants in given for each in grants):
        return
    with store.context.reading() as connection:
        if measure_gap(connection, now) > FAR_SECONDS:
            return  # one minute of a clock that is weeks ahead must not end every grant for good
    store.grants.expire()


def record_gap(
    store: Store, org_id: str, subject: str, tool_id: str, action: str, *, top: str, code: str, text: str
) -> str:
    """Record that no subject could do something that needs a tool. Returns the name of the audit row. Raises `StoreError`."""
    return store.audit.write(
        AuditEntry(
            "usage", time.time(), "reported", subject=subject, actor=top, action=action, resource=f"tool:{tool_id}",
            code=code, org_id=org_id, reason=text,
        )
    )  # fmt: skip
