"""Calls a Python function."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

from orgkernel.errors import BadToolbox
from orgkernel.toolbox.adapters.adapter import (
    Adapter,
    Call,
    Redeem,
    Reply,
    choose_entry,
    describe_error,
    reply_not_served,
)
from orgkernel.toolbox.providers import PythonFunction


class FunctionAdapter(Adapter):
    """Calls a function in this process. An async function runs on the event loop, any other in a thread of its own."""

    def __init__(self, tool_id: str, provider: PythonFunction, redeem: Redeem) -> None:
        """Raises `BadToolbox` if it is not a function."""
        super().__init__(tool_id, redeem)
        functions = provider.function
        for function in functions.values() if isinstance(functions, Mapping) else [functions]:
            if not callable(function):
                raise BadToolbox(f"what serves `{tool_id}` is not a function: {type(function).__name__}")
        self._functions = functions
        self._credentials_as = provider.credentials_as

    async def _call(self, call: Call) -> Reply:
        function = choose_entry(self._functions, call.action, call.is_sole_action)
        if function is None:
            return reply_not_served(self.tool_id, call.action)
        arguments = call.arguments
        if self._credentials_as is not None:
            arguments[self._credentials_as] = dict(call.credentials)
        try:
            inspect.signature(function).bind(**arguments)
        except TypeError as error:
            return Reply("failed", error=f"the input does not fit the function: {error}")
        except ValueError:
            pass  # some built-in functions have no signature
        try:
            if inspect.iscoroutinefunction(function):
                output = await function(**arguments)
            else:
                output = await _run_in_thread(call, function, arguments)
                if inspect.isawaitable(output):
                    output = await output
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise  # we are stopped; otherwise it was the tool that gave up
            return Reply("failed", error="the tool was cancelled", is_uncertain=True)
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            return Reply("failed", error=describe_error(error), is_uncertain=True)
        return Reply("done", output)


async def _run_in_thread(call: Call, function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Run a function in a daemon thread, so that a function that hangs does not keep the process from ending."""
    ended: Future[Any] = Future()
    ended.set_running_or_notify_cancel()
    context = contextvars.copy_context()

    def work() -> None:
        try:
            output = context.run(function, **arguments)
        except StopIteration as error:
            ended.set_exception(RuntimeError(f"the function raised {error!r}"))  # a future cannot store it
        except BaseException as error:
            ended.set_exception(error)
        else:
            ended.set_result(output)

    call.threads.append(ended)
    threading.Thread(target=work, name="orgkernel tool", daemon=True).start()
    waiting = asyncio.wrap_future(ended)
    try:
        return await waiting
    finally:
        if not waiting.done():
            waiting.cancel()
