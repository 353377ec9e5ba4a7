"""Reports as they are stored, for all who follow them: one task looks at the store, however many there are.

A follower has a place, the number of the last report it was given, and nothing else: no report waits for anybody here
but the last few hundred, which are shared. Who is further behind reads from the store. So nothing is missed and nothing
given twice, also across servers of one store, since numbers rise with every report that is committed.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from manifest_api.problems import TOO_MANY_FOLLOWERS, Refused
from manifest_api.store_access import StoreAccess
from orgkernel.decisions.state_view import StoredReport

logger = logging.getLogger("orgkernel.server")

LOOK_SECONDS = 0.5
"""Between two looks at the store: by how much a report of another server may be late."""
MOST_FOLLOWERS = 256
_SHARED = 512
_PAGE = 200


class Feed:
    """What was reported lately. Used from one event loop."""

    def __init__(self, store_access: StoreAccess, look_seconds: float = LOOK_SECONDS) -> None:
        self._store_access = store_access
        self._look_seconds = look_seconds
        self._shared: deque[StoredReport] = deque()
        self._complete_after = 0
        """All reports after this number, up to `_seen`, are in `_shared`."""
        self._seen = 0
        self._looking: asyncio.Task[None] | None = None
        self._news = asyncio.Event()
        self._wake = asyncio.Event()
        self._is_failing = False
        self.followers = 0
        self.is_closed = False

    @asynccontextmanager
    async def following(self) -> AsyncIterator[None]:
        """While inside, the store is looked at; raises `Refused` when too many follow already."""
        if self.followers >= MOST_FOLLOWERS:
            raise Refused(
                TOO_MANY_FOLLOWERS,
                f"{MOST_FOLLOWERS} follow the reports already",
                "ask for `GET /v1/salute` instead",
                headers={"Retry-After": "30"},
            )
        self.followers += 1
        try:
            yield
        finally:
            self.followers -= 1
            if not self.followers and self._looking is not None:
                self._looking.cancel()
                self._looking = None

    async def last_number(self) -> int:
        """The number of the report stored last. Raises `StoreError`."""
        return await self._store_access.work(lambda store: store.reports.last_number()) or 0

    async def after(self, number: int, seconds: float) -> tuple[StoredReport, ...]:
        """The next reports after a number; nothing where none came for so many seconds, or the feed was closed."""
        if self._looking is None:
            last = await self.last_number()
            if self._looking is None and not self.is_closed:  # another follower may have been quicker
                self._complete_after = self._seen = last
                self._shared.clear()
                self._looking = asyncio.create_task(self._look())
        news = self._news
        found = await self._find(number)
        if not found and not self.is_closed:
            try:
                async with asyncio.timeout(seconds):
                    await news.wait()
            except TimeoutError:
                return ()
            found = await self._find(number)
        return found

    def wake(self) -> None:
        """Something was stored by this server: look at once."""
        self._wake.set()

    def close(self) -> None:
        """Nobody is given anything more; who waits is told so."""
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
                found = await self._read(self._seen)
            except Exception as error:  # whatever it was: who follows would wait for ever without a look
                self._say_failing(str(error))
                found = ()
            else:
                self._is_failing = False
            if found:
                self._share(found)
            if len(found) < _PAGE:
                try:
                    async with asyncio.timeout(self._look_seconds):
                        await self._wake.wait()
                except TimeoutError:
                    continue

    def _share(self, found: tuple[StoredReport, ...]) -> None:
        self._shared.extend(found)
        self._seen = found[-1].number
        while len(self._shared) > _SHARED:
            self._complete_after = self._shared.popleft().number
        news, self._news = self._news, asyncio.Event()
        news.set()

    def _say_failing(self, message: str) -> None:
        if not self._is_failing:
            logger.error("reports cannot be followed: %s", message)
        self._is_failing = True
