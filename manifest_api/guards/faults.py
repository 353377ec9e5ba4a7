"""A fault of ours: logged whole, answered without a word of what it was (design §11)."""

from __future__ import annotations

import logging

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from manifest_api.problems import INTERNAL, problem_response
from orgkernel.diagnostics.wording import quote

logger = logging.getLogger("orgkernel.server")


class Faults:
    """Answer 500 for an exception that nobody inside expected."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def send_noticing(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, send_noticing)
        except Exception:
            if started:
                raise  # the server closes the connection: half a response must not look whole
            logger.exception("a fault of ours at %s %s", scope["method"], quote(scope["path"]))
            response = problem_response(INTERNAL, "the server could not answer", "its log says why")
            await response(scope, receive, send)
