"""New reports as server-sent events (HTML Living Standard §9.2).

A single task polls the store for all followers. A follower only has a position, the number of the last report it
received. The last few hundred reports are shared in memory, and a follower that is further behind reads from the store.
Report numbers rise with every commit, so no report is missed or sent twice, even with several servers on one store.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from fastapi.sse import EventSourceResponse, format_sse_event
from starlette.types import Message, Receive, Scope, Send

from manifest_api.current_request import copy_context_without_request
from manifest_api.guards.caller import get_caller
from manifest_api.guards.middleware import IS_HEAD
from manifest_api.problems import TOO_MANY_FOLLOWERS, RequestRefused
from manifest_api.store_access import StoreAccess
from manifest_api.store_log import log_store_failure
from orgkernel.decisions.evidence.state_view import StoredReport
from orgkernel.errors import OrgkernelError

logger = logging.getLogger("orgkernel.server")

LOOK_SECONDS = 0.5
"""Seconds between two polls of the store. A report of another server can be late by this time."""
MAX_FOLLOWERS = 256
MAX_PER_CALLER = 32
"""Streams of one credential, or of one address without a credential."""
MAX_WITHOUT_KEY = 128
"""Streams of callers without a credential. The others are kept for those with one."""
HEARTBEAT_SECONDS = 15.0
"""Seconds between heartbeat lines, so that no proxy considers the connection dead."""
SEND_SECONDS = 20.0
"""A follower that takes no data for this many seconds is dropped. It can reconnect and continue."""
STREAM_SECONDS = 600.0
"""Seconds after which a client must reconnect and authenticate again, because its token may have been revoked."""
_RETRY_MS = 2_000
_SHARED = 512
_PAGE = 200


class Feed:
    """The recent reports. Used from one event loop."""

    def __init__(self, store_access: StoreAccess, look_seconds: float = LOOK_SECONDS) -> None:
        self._store_access = store_access
        self._look_seconds = look_seconds
        self._shared: deque[StoredReport] = deque()
        self._complete_after = 0
        """`_shared` contains all reports after this number, up to `_seen`."""
        self._seen = 0
        self._looking: asyncio.Task[None] | None = None
        self._news = asyncio.Event()
        self._wake = asyncio.Event()
        self._is_failing = False
        self.followers = 0
        self._askers: Counter[str] = Counter()
        self._without_key = 0
        self.is_closed = False

    @asynccontextmanager
    async def following(self, asker: str = "", *, has_key: bool = True) -> AsyncIterator[None]:
        """Poll the store inside this context. Raises `RequestRefused` if there are too many followers."""
        self._refuse_too_many(asker, has_key)
        self.followers += 1
        self._askers[asker] += 1
        self._without_key += not has_key
        try:
            yield
        finally:
            self.followers -= 1
            self._askers[asker] -= 1
            self._askers += Counter()  # forgets those who have left
            self._without_key -= not has_key
            if not self.followers and self._looking is not None:
                self._looking.cancel()
                self._looking = None

    def _refuse_too_many(self, asker: str, has_key: bool) -> None:
        if self.followers >= MAX_FOLLOWERS:
            detail = f"{MAX_FOLLOWERS} clients already follow the reports"
        elif self._askers[asker] >= MAX_PER_CALLER:
            detail = f"this caller already follows the reports {MAX_PER_CALLER} times"
        elif not has_key and self._without_key >= MAX_WITHOUT_KEY:
            detail = f"{MAX_WITHOUT_KEY} clients without a key already follow the reports"
        else:
            return
        raise RequestRefused(
            TOO_MANY_FOLLOWERS,
            detail,
            "use `GET /v1/orgs/{org}/salute` instead",
            headers={"Retry-After": "30"},
        )

    async def last_number(self) -> int:
        """The number of the latest report. Raises `StoreError`."""
        return await self._store_access.work(lambda store: store.reports.last_number()) or 0

    async def after(self, number: int, seconds: float) -> tuple[StoredReport, ...]:
        """The reports after a number. Empty if none arrived within `seconds`, or if the feed was closed."""
        if self._looking is None:
            last = await self.last_number()
            if self._looking is None and not self.is_closed:  # another follower may have been quicker
                self._complete_after = self._seen = last
                self._shared.clear()
                self._looking = asyncio.create_task(self._look(), context=copy_context_without_request())
        news = self._news
        reports = await self._find(number)
        if not reports and not self.is_closed:
            try:
                async with asyncio.timeout(seconds):
                    await news.wait()
            except TimeoutError:
                return ()
            reports = await self._find(number)
        return reports

    def wake(self) -> None:
        """Poll at once, because this server stored a report."""
        self._wake.set()

    def close(self) -> None:
        """Stop. Waiting followers return at once."""
        self.is_closed = True
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None
        self._news.set()

    async def _find(self, number: int) -> tuple[StoredReport, ...]:
        if number >= self._complete_after:
            return tuple(report for report in self._shared if report.number > number)
        return await self._read(number)

    async def _read(self, number: int) -> tuple[StoredReport, ...]:
        return await self._store_access.work(lambda store: store.reports.after(number, limit=_PAGE)) or ()

    async def _look(self) -> None:
        while True:
            self._wake.clear()
            try:
                await self._store_access.refresh()
                reports = await self._read(self._seen)
            except Exception as error:  # whatever it was: who follows would wait for ever without a look
                self._say_failing(str(error))
                reports = ()
            else:
                self._is_failing = False
            if reports:
                self._share(reports)
            if len(reports) < _PAGE:
                try:
                    async with asyncio.timeout(self._look_seconds):
                        await self._wake.wait()
                except TimeoutError:
                    continue

    def _share(self, reports: tuple[StoredReport, ...]) -> None:
        self._shared.extend(reports)
        self._seen = reports[-1].number
        while len(self._shared) > _SHARED:
            self._complete_after = self._shared.popleft().number
        news, self._news = self._news, asyncio.Event()
        news.set()

    def _say_failing(self, message: str) -> None:
        if not self._is_failing:
            logger.error("reports cannot be followed: %s", message)
        self._is_failing = True


class _Gone(Exception):
    """The client no longer takes data."""


class EventStream(EventSourceResponse):
    """A stream with an event for each selected report. The id of an event is the number of its report."""

    def __init__(
        self,
        feed: Feed,
        number: int,
        encode: Callable[[StoredReport], bytes | None],
        may_follow: Callable[[], Awaitable[bool]],
        *,
        is_reset: bool = False,
        lasts: float = STREAM_SECONDS,
    ) -> None:
        """Stream the reports after `number` that `encode` selects, while `may_follow`, which is asked before each write.

        `is_reset` says that earlier reports are lost.
        """
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(self._write(), headers=headers)
        self._feed = feed
        self._number = number
        self._encode = encode
        self._may_follow = may_follow
        self._is_reset = is_reset
        self._lasts = lasts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get(IS_HEAD):
            await send(
                {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
            )
            await send({"type": "http.response.body", "body": b""})
            return
        caller = get_caller(scope)
        client = scope.get("client")
        asker = caller.credential if caller.is_known else f"address:{client[0] if client else ''}"

        async def send_in_time(message: Message) -> None:
            try:
                async with asyncio.timeout(SEND_SECONDS):
                    await send(message)
            except TimeoutError:
                raise _Gone from None

        async with self._feed.following(asker, has_key=caller.is_known):
            try:
                await super().__call__(scope, receive, send_in_time)
            except _Gone:
                logger.warning(
                    "a client that follows the reports read nothing for %g seconds and was disconnected",
                    SEND_SECONDS,
                )

    async def _write(self) -> AsyncIterator[bytes]:
        end = time.monotonic() + self._lasts
        start = format_sse_event(retry=_RETRY_MS)
        if self._is_reset:
            start += format_sse_event(event="reset", data_str="{}", id=str(self._number))
        else:
            start += format_sse_event(id=str(self._number))
        yield start
        while not self._feed.is_closed and time.monotonic() < end:
            try:
                reports = await self._feed.after(self._number, min(HEARTBEAT_SECONDS, self._lasts))
                if not await self._may_follow():
                    return
            except OrgkernelError as error:
                log_store_failure(f"reports cannot be followed: {error.message}")
                return
            events = []
            for report in reports:
                data = self._encode(report)
                self._number = report.number
                if data is not None:
                    event_id = str(report.number)
                    events.append(format_sse_event(event="report", data_str=data.decode(), id=event_id))
            # An id without data moves the place of a client whose filter let nothing through.
            yield b"".join(events) or format_sse_event(comment="still here", id=str(self._number))
