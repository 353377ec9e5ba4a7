"""Waiting: for a call no longer than it may take, for the store without holding up the event loop, for a callback."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from orgkernel.errors import OrgkernelError
from orgkernel.toolbox.adapters.adapter import Adapter, Call, Reply

T = TypeVar("T")
GRACE = 0.5
"""Seconds a call that is stopped has to tidy up before the caller goes on without it."""
SETTLE = 8.0
"""Seconds it has before its event loop ends; the MCP SDK takes up to six to end a process that does not want to."""


async def run_for(
    adapter: Adapter, permit: object, call: Call, seconds: float | None, tasks: list[asyncio.Task[Reply]]
) -> Reply | None:
    """How a call ended, None when it took too long; the call is put among `tasks`, because it may then still run.

    Raises `PermitRefused`. A call that does not let itself be stopped is left behind, so that the caller goes on.
    """
    task = asyncio.ensure_future(adapter.run(permit, call))
    tasks.append(task)
    try:
        done, _ = await asyncio.wait({task}, timeout=seconds)
        if not done:
            task.cancel()
            await asyncio.wait({task}, timeout=GRACE)
            task.add_done_callback(_seen)
            return None
    except asyncio.CancelledError:
        task.cancel()
        task.add_done_callback(_seen)
        raise
    if task.cancelled():
        return Reply("failed", error="the call was cancelled", is_uncertain=True)
    error = task.exception()
    if error is not None and not isinstance(error, OrgkernelError):
        text = f"an error of orgkernel itself: {type(error).__name__}: {error}"
        return Reply("failed", error=text, is_uncertain=True)
    return task.result()


async def settled(work: Coroutine[Any, Any, T]) -> T:
    """What some work returns, once the calls it gave up have tidied up, where they do within a few seconds.

    The event loop ends with it, and would stop them at that a second time: a server process could be left running.
    """
    answer = await work
    left = asyncio.all_tasks() - {asyncio.current_task()}
    if left:
        await asyncio.wait(left, timeout=SETTLE)
    return answer


def _seen(task: asyncio.Task[Reply]) -> None:
    """Nobody waits for it any more; an error of it is no news."""
    if not task.cancelled():
        task.exception()


async def in_thread(function: Callable[..., T], *arguments: Any, **named: Any) -> T:
    """What a function returns that waits for the store."""
    return await asyncio.to_thread(function, *arguments, **named)


async def answer_of(callback: Callable[..., Any], *arguments: Any) -> Any:
    """What a callback of the host answers, sync or async; a sync one runs in a thread and may wait."""
    if inspect.iscoroutinefunction(callback):
        return await callback(*arguments)
    answer = await asyncio.to_thread(callback, *arguments)
    return await answer if inspect.isawaitable(answer) else answer
