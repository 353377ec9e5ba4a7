"""Audited decisions: an answer is sent after its audit row is on disk (docs/how-to/store.md)."""

from __future__ import annotations

import time
from collections.abc import Callable

from manifest_api.access_offers import AccessRequestOffer, find_offer
from manifest_api.guards.authentication import Rates
from manifest_api.guards.caller import Caller
from manifest_api.guards.organizations import require_organization
from manifest_api.problems import RATE_LIMITED, STORE_BUDGET, RequestRefused
from manifest_api.spans import span
from manifest_api.store_access import StoreAccess
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.errors import Conflict
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.context import Actor
from orgkernel.operations.decisions import TRIES, Answered, DecidedRequest, decide
from orgkernel.operations.waiting import await_write

AUDITED_PER_SECOND = 100
"""Audited questions per second of all callers without a key together, because each is a row on the disk."""
AUDITED_AT_ONCE = 2_000


class Auditor:
    """Decides, writes audit rows and waits for them on the event loop. Simultaneous questions share one commit."""

    def __init__(
        self, kernel: Kernel, store_access: StoreAccess, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._kernel = kernel
        self._store_access = store_access
        self._clock = clock
        self._without_key = Rates(AUDITED_PER_SECOND, AUDITED_AT_ONCE)

    @property
    def kernel(self) -> Kernel:
        """The kernel that decides."""
        return self._kernel

    @property
    def is_auditing(self) -> bool:
        """Whether a decision made now is audited. Raises `StoreError`."""
        return self._store_access.held() is not None

    async def begin(self, org: str, request: AccessRequest, caller: Caller) -> DecidedRequest:
        """Decide, and submit the audit row.

        Raises what `Kernel.can` raises, `StoreError`, and `RequestRefused` if a caller without a key exceeds the
        rate limit, or if a credential is not valid in the organization.
        """
        require_organization(caller, self._kernel, org)
        store = self._store_access.held()
        if store is not None and not caller.is_known:
            self._refuse_flooding(caller)
        return await self._decide(org, request, caller.actor)

    async def _decide(self, org: str, request: AccessRequest, actor: Actor) -> DecidedRequest:
        """Decide with the state in memory, and in a thread if the usage of limits has to be read from the store."""
        if self._store_access.held() is not None and self._kernel.access(org).list_charges(request):
            decided = await self._store_access.work(
                lambda store: decide(self._kernel, store, org, request, actor)
            )
            if decided is not None:
                return decided
        return decide(self._kernel, self._store_access.held(), org, request, actor)

    def _refuse_flooding(self, caller: Caller) -> None:
        if self._store_access.capacity.is_used_up:
            raise RequestRefused(STORE_BUDGET, STORE_BUDGET.sentence, "ask with a key, or see `/readyz`")
        wait = self._without_key.take(caller.credential, self._clock())
        if wait:
            raise RequestRefused(
                RATE_LIMITED,
                f"callers without a key may ask {AUDITED_PER_SECOND} audited questions a second",
                "wait for the seconds in `Retry-After`, or ask with a key",
                headers={"Retry-After": str(max(1, round(wait + 0.5)))},
            )

    async def finish(self, decided: DecidedRequest) -> Answered:
        """The answer, after its row is on disk. Raises `StoreError` if the row could not be written."""
        for _ in range(TRIES):
            if decided.pending is None:
                return decided.answer()
            try:
                with span("audit"):
                    row = await await_write(decided.pending)
                return decided.answer(row)
            except Conflict:
                # Another caller has consumed the last use of the grant, so the answer is different now.
                await self._store_access.refresh()
                decided = await self._decide(decided.org, decided.asked, decided.actor)
        return decided.answer_used_up()

    async def find_offer(
        self, decided: DecidedRequest, answered: Answered, caller: Caller
    ) -> AccessRequestOffer | None:
        """The request for a refused permission, if one can be made. Raises `StoreError`."""
        if decided.pending is None:
            return None  # without a store there are no requests
        return await find_offer(
            self._store_access, self._kernel, decided.org, decided.asked, answered[0], caller
        )
