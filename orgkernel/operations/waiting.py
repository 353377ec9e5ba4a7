"""Wait for the store on an event loop: for a row or a change, or for work in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from orgkernel.errors import NOT_IN_TIME, StoreBusy

if TYPE_CHECKING:
    from orgkernel.kernel.stored import PendingWrite

T = TypeVar("T")
WORK_SECONDS = 10.0
"""Seconds that reading or changing the store may take."""
_MAX_THREADS = 16


async def await_write(pending: PendingWrite) -> Any:
    """The result of a pending write, without blocking the event loop. Raises its error, and `StoreBusy` after a timeout."""
    if not pending.is_done:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()

        def end() -> None:
            if not done.done():
                done.set_result(None)

        def wake(_: PendingWrite) -> None:
            with suppress(RuntimeError):  # the loop was closed, so no caller is waiting
                loop.call_soon_threadsafe(end)

        pending.call_when_done(wake)
        late = loop.call_later(WORK_SECONDS, end)
        try:
            await done
        finally:
            late.cancel()
    return pending.result(timeout=0)


async def await_in_time(work: Awaitable[T]) -> T:
    """The result of work that waits for the store. Raises `StoreBusy` after a timeout."""
    try:
        async with asyncio.timeout(WORK_SECONDS):
            return await work
    except TimeoutError:
        raise StoreBusy(NOT_IN_TIME, "try again later") from None


async def run_in_store_thread(work: Callable[..., T], *arguments: Any) -> T:
    """Run work that waits for the store in a thread. These threads are separate, so others continue while a database hangs."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_get_threads(), copy_context().run, work, *arguments)


@cache
def _get_threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_MAX_THREADS, "orgkernel-waiting")
