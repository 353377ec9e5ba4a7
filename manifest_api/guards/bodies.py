"""The body of a request, taken in whole: at most 64 KiB of it and within 10 seconds (design §11).

Nearly every body is there with the head, and then no timer is started for it: a timer costs as much as a decision.
"""

from __future__ import annotations

import asyncio
import types
from collections.abc import Generator
from typing import Any

from starlette.types import Message, Receive

from manifest_api.problems import BODY_TOO_LARGE, SLOW_BODY, Refused

MAX_BODY = 64 * 1024
BODY_SECONDS = 10.0


async def take_body(receive: Receive, seconds: float = BODY_SECONDS) -> bytes | None:
    """The body; None when the client has gone. Raises `Refused` for one that is too large or too slow."""
    first: Any = receive().__await__()
    try:
        waiting = first.send(None)
    except StopIteration as there:
        message: Message = there.value
        if message["type"] == "http.request" and not message.get("more_body", False):
            return _fitting(message.get("body", b""))
        rest = _take(receive, message)
    else:
        rest = _take(receive, None, _going_on(first, waiting))
    try:
        async with asyncio.timeout(seconds):
            return await rest
    except TimeoutError:
        raise Refused(SLOW_BODY, f"the body did not arrive within {seconds:g} seconds") from None


async def _take(
    receive: Receive, message: Message | None, going_on: Generator[Any, Any, Message] | None = None
) -> bytes | None:
    if message is None:
        assert going_on is not None
        message = await going_on  # type: ignore[misc]
    body = bytearray()
    while message["type"] != "http.disconnect":
        body += message.get("body", b"")
        if len(body) > MAX_BODY or not message.get("more_body", False):
            return _fitting(bytes(body))
        message = await receive()
    return None


@types.coroutine
def _going_on(begun: Any, waiting: Any) -> Generator[Any, Any, Message]:
    """The rest of what was begun by hand and waits for something: what it waits for goes to the loop."""
    while True:
        try:
            try:
                sent = yield waiting
            except BaseException as error:  # a cancellation, for it to see
                waiting = begun.throw(error)
            else:
                waiting = begun.send(sent)
        except StopIteration as done:
            message: Message = done.value
            return message


def _fitting(body: bytes) -> bytes:
    if len(body) > MAX_BODY:
        raise Refused(BODY_TOO_LARGE, f"the body has more than {MAX_BODY} bytes")
    return body
