"""HEAD wherever there is GET: the same response without its body (RFC 9110 §9.3.2)."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

IS_HEAD = "orgkernel.is_head"
"""Where in the scope stands that the body is for nobody: what goes on without end need not begin."""


class HeadAsGet:
    """Ask GET inside, keep the headers, drop the body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def send_without_body(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        await self._app({**scope, "method": "GET", IS_HEAD: True}, receive, send_without_body)
