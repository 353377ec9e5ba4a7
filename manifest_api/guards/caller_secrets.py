"""No answer repeats a secret of the request: not as the id of a subject, not in the words of a command, not in a
refusal.

A secret in the path, the query or the body of a request is masked in the answer. The rest of the answer is
unchanged: the secret of a new key is shown once. Answers in other forms than JSON do not repeat requests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import parse_qsl, unquote_plus

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.types import Message, Receive, Scope, Send

from manifest_api.guards.middleware import HttpMiddleware
from orgkernel.runtime.secret_shapes import map_secrets

_WORD: Final = re.compile(r"[A-Za-z0-9_-]{6,}")
_MAX_COUNT: Final = 256 * 1024
"""Maximum number of characters of a request that are searched."""
_MAX_INLINE: Final = 4 * 1024
"""Length from which a request is searched in a thread, so that no other request waits."""


class CallerSecrets(HttpMiddleware):
    """Mask in each answer the secrets of its request."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        sent = bytearray()
        start: Message | None = None
        body = b""

        async def receive_noticing() -> Message:
            message = await receive()
            if message["type"] == "http.request" and len(sent) < _MAX_COUNT:
                sent.extend(message.get("body", b""))
            return message

        async def send_without(message: Message) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start" and _is_json(message):
                start = message
            elif start is None:
                await send(message)
            else:
                body += message.get("body", b"")
                if not message.get("more_body"):
                    request_lines = [*_list_address_lines(scope), *_list_body_lines(bytes(sent))]
                    secrets = await _find_secrets("\n".join(request_lines)[:_MAX_COUNT], body)
                    await _send_without(secrets, start, body, send)

        await self._app(scope, receive_noticing, send_without)


def _list_address_lines(scope: Scope) -> Iterator[str]:
    """The path and the query, complete and in parts, so that characters next to a secret are not treated as part of
    it.
    """
    path, query = scope["path"], scope["query_string"].decode("latin-1")
    yield path
    yield from path.split("/")
    if query:
        yield unquote_plus(query)
        yield from (f"{name}: {value}" for name, value in parse_qsl(query))


def _list_body_lines(body: bytes) -> Iterator[str]:
    """The strings of a body, each after its key."""

    def lines(value: Any, key: str) -> Iterator[str]:
        if isinstance(value, str):
            yield f"{key}: {value}" if key else value
        elif isinstance(value, dict):
            for name, each in value.items():
                yield from lines(each, name)
        elif isinstance(value, list):
            for each in value:
                yield from lines(each, key)

    try:
        yield from lines(msgspec.json.decode(body), "")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        yield body.decode("utf-8", "replace")


def find_request_secrets(request_text: str, answer: bytes) -> dict[str, str]:
    """The secrets of a request, if the answer contains a word of it."""
    answer_text = answer.decode("utf-8", "replace")
    repeated = any(word in answer_text for word in set(_WORD.findall(request_text)))
    return map_secrets(request_text) if repeated else {}


async def _find_secrets(request_text: str, answer: bytes) -> dict[str, str]:
    if len(request_text) <= _MAX_INLINE:
        return find_request_secrets(request_text, answer)
    return await run_in_threadpool(find_request_secrets, request_text, answer)


async def _send_without(secrets: dict[str, str], start: Message, body: bytes, send: Send) -> None:
    for secret, mask in secrets.items():
        body = body.replace(json.dumps(secret, ensure_ascii=False)[1:-1].encode(), mask.encode())
    if secrets:
        length = (b"content-length", b"%d" % len(body))
        start = {**start, "headers": [each for each in start["headers"] if each[0] != length[0]] + [length]}
    await send(start)
    await send({"type": "http.response.body", "body": body})


def _is_json(start: Message) -> bool:
    return any(name == b"content-type" and b"json" in value for name, value in start["headers"])
