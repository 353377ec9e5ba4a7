"""Permits: what the decider hands out for one call of one tool, and what an adapter asks for before it calls anything.

A permit has nothing in it. What it permits is written in the book of the kernel that made it, beside the permit itself,
and only that very object finds its line again: a copy, a pickle or a look-alike finds none. It is good once, for a few
seconds, in the process that made it, for one subject, resource, action and input; presenting it for anything else voids
it (docs/architecture.md). How a call ended is noted afterwards.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from orgkernel.decisions.access.decision import AccessDecision
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.access.tool_input import add_input, digest_input
from orgkernel.decisions.evidence.state_records import INPUT_DIGEST, AuditEntry
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import Conflict, PermitRefused
from orgkernel.operations.decisions import build_entry
from orgkernel.operations.waiting import in_store_thread, in_time, resolved

if TYPE_CHECKING:
    from orgkernel.kernel.kernel import Kernel
    from orgkernel.kernel.stored import Store, Ticket

SECONDS = 10.0
"""How long a permit is good for, unless said otherwise: the time from the decision to the call, not that of the call."""
_AGENT = "agent:"
_LONGEST = 500
"""Characters of a chain in the audit."""


class Permit:
    """Leave to make one call. Worth nothing to anybody but the kernel that made it."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Copies would be worthless; raises `TypeError`, so that nobody finds out later."""
        raise TypeError("a permit cannot be copied or stored")


@dataclass(frozen=True, slots=True)
class Terms:
    """What a permit is for."""

    org_id: str
    subject: str
    resource: str
    """`tool:ID` or `tool:ID:PATH`."""
    action: str
    digest: str
    """SHA-256 of the input."""
    until: float
    process: int


@dataclass(frozen=True, slots=True)
class Ruling:
    """A decision about one call, the permit where it allows it, and the audit row that says so."""

    decision: AccessDecision
    permit: Permit | None
    audit_id: str
    """Empty while the row is not on the disk yet."""
    row: Ticket | None = None
    """A row that is still on its way: nothing may be answered before it has resolved."""


class Permits:
    """The permits of one kernel. Safe to use from several threads."""

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
        """With `has_state`, the kernel already decides with the state of the store; then it is not asked of the store."""
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
        """The kernel as it is now, deciding with the state of the store; it is a copy, so it is not to be kept."""
        if self._has_state or self._store is None:
            return self._opened
        return self._opened.with_store(self._store)

    def decide(
        self, org: str, request: AccessRequest, tool_input: bytes, *, permit: bool = True, actor: str = "",
        about: Mapping[str, str] | None = None,
    ) -> Ruling:  # fmt: skip
        """Decide about a call and, where it is allowed, permit it. With a store, what is answered is on the disk first.

        Grants that are good for a number of uses are used by this, in the same transaction. Without `permit` it is only
        decided and written down. `actor` is the credential of whoever calls, and `about` what else the audit has of the call.
        Raises what `Kernel.can` and the store raise.
        """
        call = _Call(org, add_input(request, tool_input), tool_input, permit, actor, about)
        try:
            return self._write(call)
        except Conflict:
            # Somebody used up a grant since. The state has changed, so it is decided anew; if that fails, it fails.
            return self._write(call)

    async def decide_soon(
        self, org: str, request: AccessRequest, tool_input: bytes, *, permit: bool = True, actor: str = "",
        about: Mapping[str, str] | None = None, may_overlap: bool = False, is_held: bool = False,
    ) -> Ruling:  # fmt: skip
        """`decide` for an event loop. If the state `is_held` in memory, no thread is needed to decide.

        With `may_overlap`, a call that is allowed and uses no grant up is permitted while its row is on its way.
        """
        call = _Call(org, add_input(request, tool_input), tool_input, permit, actor, about)
        for is_last in (False, True):
            decision = self._decide(call) if is_held else await in_time(in_store_thread(self._decide, call))
            try:
                ticket = self._submit(call, decision)
                if may_overlap and decision.outcome == "allow" and not decision.grants:
                    return self._rule(call, decision, "", ticket)
                return self._rule(call, decision, "" if ticket is None else await resolved(ticket))
            except Conflict:
                if is_last or self._store is None:
                    raise
                await in_time(in_store_thread(self._store.refresh))
        raise AssertionError

    def redeem(self, permit: object, *, tool_id: str, action: str, tool_input: bytes) -> Terms:
        """Use up a permit for exactly this call; raises `PermitRefused`."""
        with self._lock:
            entry = self._book.get(id(permit))
            if entry is None or entry[0] is not permit:
                raise PermitRefused(
                    f"there is no permit to call {quote(tool_id)}",
                    "each call needs a permit of its own; `ToolContext.invoke` asks for one",
                )
            del self._book[id(permit)]
        terms = entry[1]
        if terms.until <= self._clock():
            raise PermitRefused(f"the permit to call {quote(tool_id)} has expired", "ask again")
        tool = terms.resource.split(":", 2)[1]
        if terms.process != os.getpid() or (tool, terms.action, terms.digest) != (
            tool_id, action, digest_input(tool_input),
        ):  # fmt: skip
            raise PermitRefused(
                f"the permit is not for this call of {quote(tool_id)}", "it is void now; ask again"
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
            # INVARIANT: the book holds the permit, so its id names no other object while the line stands.
            self._book[id(permit)] = permit, terms
            self._order.append((until, id(permit)))
        return permit

    def _write(self, call: _Call) -> Ruling:
        decision = self._decide(call)
        ticket = self._submit(call, decision)
        return self._rule(call, decision, "" if ticket is None else ticket.result())

    def _decide(self, call: _Call) -> AccessDecision:
        return self.kernel.can(call.org, call.request)

    def _submit(self, call: _Call, decision: AccessDecision) -> Ticket | None:
        """Hand the row in. None where there is no store."""
        if self._store is None:
            return None
        entry = build_entry(
            self._opened.organization(call.org).snapshot.index, call.request, decision, at=self._wall_clock(),
            actor=call.actor or call.request.on_behalf_of or "",
            detail={INPUT_DIGEST: digest_input(call.tool_input), **_chain_of(call.request), **(call.about or {})},
        )  # fmt: skip
        return self._store.audit.submit(entry, decision.grants if call.permit else ())

    def _rule(
        self,
        call: _Call,
        decision: AccessDecision,
        audit_id: str,
        row: Ticket | None = None,
    ) -> Ruling:
        allowed = call.permit and decision.outcome == "allow"
        permit = self._permit(call.org, call.request, call.tool_input) if allowed else None
        return Ruling(decision, permit, audit_id, row)


class _Call(NamedTuple):
    """A call that is decided about."""

    org: str
    request: AccessRequest
    tool_input: bytes
    permit: bool
    actor: str
    about: Mapping[str, str] | None


def _chain_of(request: AccessRequest) -> dict[str, str]:
    """Who triggered the run and who handed work to whom, for the audit."""
    chain = {"on_behalf_of": request.on_behalf_of or "", "via": ", ".join(request.via)}
    return {name: value[:_LONGEST] for name, value in chain.items() if value}


def record_use(
    store: Store, org_id: str, subject: str, tool_id: str, action: str, *, code: str, seconds: float, decision: str,
    is_urgent: bool = True,
) -> Ticket:  # fmt: skip
    """Note a call and how it ended. It counts once the ticket has resolved, which may take a moment if it is not urgent;
    raises `StoreError`.

    Uses are counted for agents; of a role or a person there is the row of the audit alone.
    """
    if subject.startswith(_AGENT):
        ticket = store.usage.record(
            subject.removeprefix(_AGENT), tool_id, action=action, ok=not code, code=code, seconds=seconds,
            org_id=org_id, decision=decision, is_urgent=is_urgent,
        )  # fmt: skip
    else:
        ticket = store.audit.submit(
            AuditEntry(
                "usage", time.time(), "failed" if code else "succeeded", subject=subject, action=action,
                resource=f"tool:{tool_id}", code=code, org_id=org_id, record_id=decision, seconds=seconds,
            ),
            is_urgent=is_urgent,
        )  # fmt: skip
    return ticket


def note_found_expired(store: Store) -> None:
    """Note what expired, if a grant has that was read last. Afterwards, no clock that is set back makes it good again."""
    now = store.context.clock()
    given = store.get_last_view().grants.values()
    if any(each.expires_at is not None and each.expires_at <= now for grants in given for each in grants):
        store.expire()


def record_gap(
    store: Store, org_id: str, subject: str, tool_id: str, action: str, *, top: str, code: str, text: str
) -> str:
    """Note that nobody could do what a tool was needed for; the name of the audit row. Raises `StoreError`."""
    return store.audit.write(
        AuditEntry(
            "usage", time.time(), "reported", subject=subject, actor=top, action=action, resource=f"tool:{tool_id}",
            code=code, org_id=org_id, reason=text,
        )
    )  # fmt: skip
