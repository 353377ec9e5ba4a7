"""A fault of ours: logged whole, answered without a word of what it was (design §11)."""

from __future__ import annotations

import logging

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from manifest_api.problems import INTERNAL, problem_response
from orgkernel.diagnostics.wording import quote

logger = logging.getLogger("orgkernel.server")


def answer_fault(scope: Scope) -> Response:
    """The answer for the exception that is being handled; the log has all of it."""
    logger.exception("a fault of ours at %s %s", scope["method"], quote(scope["path"]))
    return problem_response(INTERNAL, "the server could not answer", "its log says why")


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
            await answer_fault(scope)(scope, receive, send)
