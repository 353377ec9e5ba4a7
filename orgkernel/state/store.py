"""An open store, built from its parts. The caller provides clock and randomness."""

from __future__ import annotations

import atexit
import contextlib
import copy
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from types import TracebackType

from orgkernel.decisions.evidence.crew_records import RankMove
from orgkernel.decisions.evidence.state_records import ToolUsage
from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.state.agents import Agents, Results
from orgkernel.state.audit import AuditLog
from orgkernel.state.believed_clock import BelievedClock
from orgkernel.state.checkpoints import Checkpoints
from orgkernel.state.claims import Claims
from orgkernel.state.contracts import Contracts
from orgkernel.state.crew import Crew
from orgkernel.state.database import close_engine, make_engine, translate_error
from orgkernel.state.future_rows import count_terms_from_now
from orgkernel.state.grants import Grants, Restrictions
from orgkernel.state.handoffs import Handoffs
from orgkernel.state.idempotency_keys import IdempotencyKeys
from orgkernel.state.keys import Keys
from orgkernel.state.limits import CallLimits
from orgkernel.state.location import StoreLocation
from orgkernel.state.locks import Locks
from orgkernel.state.migrating import prepare
from orgkernel.state.past import read_past, read_rank_changes
from orgkernel.state.reports import KEPT_SECONDS, Reports
from orgkernel.state.requests import RequestLimits, Requests
from orgkernel.state.rows import StoreContext
from orgkernel.state.signing import Tokens
from orgkernel.state.skills import Skills
from orgkernel.state.store_lock import StoreLock
from orgkernel.state.usage import Usage
from orgkernel.state.view import Views
from orgkernel.state.writer import Writer


class Store:
    """The store of all records. One per process is enough, and any thread may use it.

    It opens at once and starts to write with the first change. Close it to have deferred rows written.
    """

    def __init__(
        self,
        location: StoreLocation,
        *,
        clock: Callable[[], float],
        tokens: Tokens,
        limits: RequestLimits | None = None,
        busy_seconds: float = 5.0,
        kept_reports: float = KEPT_SECONDS,
        read_only: bool = False,
    ) -> None:
        """Open a store. Raises `BadStore` if it cannot be used, `StoreBusy` if it is locked.

        `kept_reports` is for how many seconds SALUTE reports are kept that are not the latest. A store that is
        `read_only` is neither created nor upgraded, and no file next to it is written.
        """
        self.location = location
        self.folder = Checkpoints(location.checkpoints, tokens, clock)
        self.engine = make_engine(location, busy_seconds, read_only=read_only)
        self._lock = None
        try:
            if not read_only:  # whose file would be made
                self._lock = StoreLock(location, alone=False, seconds=busy_seconds)
            prepare(self.engine, location.shown, create=not read_only)
        except Exception as error:
            close_engine(self.engine)
            if self._lock is not None:
                self._lock.close()
            raise translate_error(error, location.shown) from None
        self._writer = Writer(self.engine, location.shown, clock, self.folder)
        context = StoreContext(self.engine, location.shown, self._writer, clock, tokens)
        self.context = context
        self._views = Views(context)
        self._limits = limits or RequestLimits()
        self._put_together(context)
        self.usage = Usage(context)
        self.limits = CallLimits(context)
        self.reports = Reports(context, kept_reports)
        self.audit = AuditLog(context)
        atexit.register(self.close)

    def _put_together(self, context: StoreContext) -> None:
        """Create the parts whose changes record the right of the actor."""
        self.agents = Agents(context)
        self.claims = Claims(context)
        self.contracts = Contracts(context)
        self.crew = Crew(context)
        self.handoffs = Handoffs(context)
        self.grants = Grants(context)
        self.restrictions = Restrictions(context)
        self.requests = Requests(context, self._limits)
        self.results = Results(context)
        self.skills = Skills(context)
        self.locks = Locks(context)
        self.keys = Keys(context, self._views.version)
        self.idempotency_keys = IdempotencyKeys(context)

    def act_by_right(self, right: Mapping[str, str]) -> Store:
        """The same store, whose audit records the right of each change. Only the original store must be closed."""
        noting = copy.copy(self)
        noting._put_together(replace(self.context, right=right))
        return noting

    def read_view(self, org_id: str | None = None) -> StateView:
        """The state as decisions read it: the same object until something changes."""
        return self._views.read(org_id)

    def read_past(self, org_id: str, at: float) -> StateView:
        """The state of an organization as it was at a time. Raises `Refused` (`PAST_UNKNOWN`)."""
        return read_past(self.context, org_id, at)

    def list_rank_changes(
        self, org_id: str, agent_id: str, start: str | None, until: float | None = None
    ) -> tuple[RankMove, ...]:
        """Changes of an agent's rank up to a time, oldest first."""
        return read_rank_changes(self.context, org_id, agent_id, start, until)

    def list_tool_usage(self, agent_ids: Collection[str]) -> tuple[ToolUsage, ...]:
        """The calls of these agents, counted by agent and tool."""
        return self.usage.list(agent_ids)

    def get_last_view(self, org_id: str | None = None) -> StateView:
        """The state that was read last, without reading the store again."""
        return self._views.last(org_id)

    def refresh(self) -> None:
        """Read the state and the keys as they are now, for `get_last_view` and `keys.find_known`."""
        self.keys.refresh(self._views.read().version)

    def is_current(self) -> bool:
        """Whether the last view is known to be current, without waiting."""
        version = self.keys.known[0]
        return version >= 0 and version == self._views.last().version and self._views.is_current()

    def count_terms_from_now(self) -> int:
        """Count the terms of rows that are dated after the clock from now. Returns their number. The clock must be believed."""
        BelievedClock(self.folder.path).note(self.context.clock())
        return count_terms_from_now(self.context)

    def expire(self) -> None:
        """Record in the audit what has expired, and end claims. A server calls it regularly. The clock must be believed."""
        self.requests.expire()
        self.grants.expire()
        self.restrictions.expire()
        self.claims.expire()

    @property
    def problem(self) -> Exception | None:
        """Why checkpoints of the audit cannot be written although its rows are; None while all is well."""
        return self._writer.problem

    @property
    def waiting(self) -> int:
        """Audit rows and changes that wait for the disk."""
        return self._writer.waiting

    def close(self) -> None:
        """Write waiting rows, and close the connections."""
        with contextlib.suppress(Exception):  # no longer registered: closed before
            atexit.unregister(self.close)
        self._writer.close()
        self._views.close()
        close_engine(self.engine)
        if self._lock is not None:
            self._lock.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
