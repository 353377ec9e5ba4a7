"""The gate: who may not ask is refused, what was answered before is answered again, the rest goes in.

In this order, in one place: nothing is answered from the cache that a guard has not let pass (design §10).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Receive, Scope, Send

from manifest_api.guards.faults import Faults
from manifest_api.guards.head import HeadAsGet
from manifest_api.guards.headers import StandardHeaders
from manifest_api.guards.limits import refuse_too_long
from manifest_api.guards.loopback import refuse_strangers
from manifest_api.guards.request_head import read_head
from manifest_api.problems import problem_response

if TYPE_CHECKING:
    from manifest_api.answering import Answers


class Gate:
    """What every request meets first."""

    def __init__(self, app: ASGIApp, answers: Answers) -> None:
        self._app = app
        self._answers = answers
        self._refuse = HeadAsGet(StandardHeaders(Faults(_refuse)))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            else:
                await send({"type": "websocket.close", "code": 1008})
            return
        head = read_head(scope)
        if refuse_strangers(scope, head) is not None:
            await self._refuse(scope, receive, send)
            return
        # What comes with a body is not for the cache to judge: the body may be too large. What is in the cache has a
        # path and a query within the limits, or it would not have been answered the first time.
        if not head.has_body:
            kept = self._answers.find_kept(scope, head)
            if kept is not None:
                await kept.send(head.conditions, send, scope["method"])
                return
        if refuse_too_long(scope, head) is not None:
            await self._refuse(scope, receive, send)
            return
        await self._app(scope, receive, send)


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    head = read_head(scope)
    refusal = refuse_strangers(scope, head) or refuse_too_long(scope, head)
    assert refusal is not None
    await problem_response(*refusal)(scope, receive, send)
