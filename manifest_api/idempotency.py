"""`Idempotency-Key`: a repeated change is answered with the response to the first one, and changes nothing.

The first response is kept for a day, for the caller and the key. It is kept in the store before it is sent, so a client that lost
the connection gets the same one.
"""

from __future__ import annotations

import json
from typing import Final

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from manifest_api.guards.caller import get_caller
from manifest_api.guards.limits import replay, take_body
from manifest_api.guards.middleware import HttpMiddleware
from manifest_api.problems import (
    BAD_REQUEST,
    NO_STORE,
    RequestRefused,
    build_refusal_response,
    build_store_problem,
)
from manifest_api.store_access import StoreAccess
from orgkernel.errors import OrgkernelError
from orgkernel.operations.idempotency import (
    KeptResponse,
    begin_request,
    digest_request,
    finish_request,
    is_idempotency_key,
)

_HEADER: Final = b"idempotency-key"
_CHANGING: Final = "POST"
"""Every change is a POST. A request with another method changes nothing, and gets 405 from its route."""
REPLAYED: Final = "Idempotency-Replayed"


class IdempotentRequests(HttpMiddleware):
    """Answer a request with an idempotency key once. Requests without a key, and questions with GET, pass through."""

    def __init__(self, app: ASGIApp, stored: StoreAccess) -> None:
        super().__init__(app)
        self._stored = stored

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        keys = [value for name, value in scope["headers"] if name == _HEADER]
        # A caller without a credential can change nothing.
        if not keys or scope["method"] != _CHANGING or not get_caller(scope).is_known:
            await self._app(scope, receive, send)
            return
        try:
            await self._answer_once(scope, receive, send, keys)
        except RequestRefused as refusal:
            await build_refusal_response(refusal)(scope, receive, send)
        except OrgkernelError as error:
            await build_store_problem(error)(scope, receive, send)

    async def _answer_once(self, scope: Scope, receive: Receive, send: Send, keys: list[bytes]) -> None:
        key = keys[0].decode("latin-1")
        if len(keys) > 1 or not is_idempotency_key(key):
            help = "send one key of 1 to 255 visible ASCII characters, such as a UUID"
            raise RequestRefused(BAD_REQUEST, "the header Idempotency-Key is not valid", help)
        body = await take_body(receive)
        if body is None:
            return
        caller = get_caller(scope).credential
        digest = digest_request(scope["method"], scope["path"], scope["query_string"], body)
        kept = await self._stored.work(lambda store: (begin_request(store, caller, key, digest),))
        if kept is None:
            # Without a store nothing can be changed, and a key that is not looked at would only seem to protect.
            raise RequestRefused(
                NO_STORE, "there is no store", "create it with `orgkernel key create --admin`"
            )
        if kept[0] is not None:
            await _build_response(kept[0], is_replayed=True)(scope, receive, send)
            return
        response = await self._run(scope, body, receive)
        await self._stored.work(lambda store: finish_request(store, caller, key, response))
        await _build_response(response, is_replayed=False)(scope, receive, send)

    async def _run(self, scope: Scope, body: bytes, receive: Receive) -> KeptResponse:
        """The response of the application to a request whose body is read."""
        head: Message = {}
        parts = bytearray()

        async def collect(message: Message) -> None:
            if message["type"] == "http.response.start":
                head.update(message)
            else:
                parts.extend(message.get("body", b""))

        # The response is kept as text, so it is not compressed.
        plain = [header for header in scope["headers"] if header[0] != b"accept-encoding"]
        await self._app({**scope, "headers": plain}, replay(body, receive), collect)
        headers = {
            name.decode("latin-1"): value.decode("latin-1")
            for name, value in head["headers"]
            if name not in (b"content-length", b"date")
        }
        return KeptResponse(head["status"], json.dumps(headers), parts.decode())


def _build_response(kept: KeptResponse, *, is_replayed: bool) -> Response:
    headers = json.loads(kept.headers)
    if is_replayed:
        headers[REPLAYED] = "true"
    return Response(kept.body, kept.status, headers)
