"""Calls an HTTP API."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import quote, urlsplit

from orgkernel.errors import BadToolbox
from orgkernel.runtime.url_secrets import mask_urls
from orgkernel.toolbox.adapters.adapter import (
    Adapter,
    Call,
    Redeem,
    Reply,
    build_headers,
    choose_entry,
    reply_not_served,
)
from orgkernel.toolbox.adapters.tls import build_tls_context
from orgkernel.toolbox.failures import describe_failure, describe_redirect, is_redirect
from orgkernel.toolbox.providers import HttpApi

METHODS = ("GET", "HEAD", "DELETE", "POST", "PUT", "PATCH")
WITHOUT_BODY = ("GET", "HEAD", "DELETE")
# Status codes for "not now": the request was not executed.
NOT_NOW = (429, 503)
_PATH_FIELD = re.compile(r"\{(\w+)\}")
MAX_SHOWN_LENGTH = 500
"""How many characters of the body of an error are shown."""


class HttpAdapter(Adapter):
    """Sends a request for each call.

    Redirects are not followed, because they could send a credential to another server.
    """

    def __init__(self, tool_id: str, provider: HttpApi, redeem: Redeem) -> None:
        """Raises `BadToolbox` for an invalid address or route, and if `httpx2` is not installed."""
        super().__init__(tool_id, redeem, provider)
        try:
            import httpx2
        except ImportError:
            raise BadToolbox(
                "calling an HTTP API needs `httpx2`", "install the extra `orgkernel[http]`"
            ) from None
        address = urlsplit(provider.url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise BadToolbox(f"`{tool_id}`: `{mask_urls(provider.url)}` is not the address of an HTTP API")
        routes = provider.routes
        for route in [routes] if isinstance(routes, str) else routes.values():
            method, _, path = route.partition(" ")
            if method not in METHODS or not path.startswith("/"):
                raise BadToolbox(f"`{tool_id}`: `{route}` is not a route", "write for example `POST /posts`")
        self._provider = provider
        self._http = httpx2

    async def _call(self, call: Call) -> Reply:
        route = choose_entry(self._provider.routes, call.action, call.is_sole_action)
        if route is None:
            return reply_not_served(self.tool_id, call.action)
        headers, missing = build_headers(self._provider, call.credentials)
        if missing:
            return Reply("unavailable", error=missing)
        method, _, path = route.partition(" ")
        # A copy of its own: what fills the path is taken out of it, so it is not sent a second time in the query or body.
        arguments = call.arguments
        try:
            url = self._provider.url.rstrip("/") + _PATH_FIELD.sub(
                lambda match: _take_segment(arguments, match[1]), path
            )
        except ValueError as error:
            return Reply("failed", error=str(error))
        try:
            return await self._send(method, url, headers, arguments)
        except (self._http.ConnectError, self._http.ConnectTimeout, self._http.PoolTimeout) as error:
            return Reply("unavailable", error=f"it cannot be reached: {describe_failure(error)}")
        except (self._http.HTTPError, self._http.InvalidURL, OSError) as error:
            text = f"it did not answer: {describe_failure(error)}"
            return Reply("unavailable", error=text, is_uncertain=True)

    async def _send(self, method: str, url: str, headers: dict[str, str], arguments: dict[str, Any]) -> Reply:
        body: dict[str, Any] = (
            {"params": _flatten(arguments)} if method in WITHOUT_BODY else {"json": arguments}
        )
        if not arguments:
            body = {}
        async with (
            # The caller limits the time; the library's own limit would be five seconds.
            self._http.AsyncClient(
                verify=build_tls_context(), timeout=None, follow_redirects=False
            ) as client,
            client.stream(method, url, headers=headers, **body) as response,
        ):
            content = bytearray()
            async for chunk in response.aiter_bytes():
                content += chunk
                if len(content) > self._provider.max_bytes:
                    limit = self._provider.max_bytes
                    return Reply(
                        "failed", error=f"the answer is longer than {limit} bytes", is_uncertain=True
                    )
            return _reply(response.status_code, response.headers.get("content-type", ""), bytes(content))


def _take_segment(arguments: dict[str, Any], name: str) -> str:
    """Take an argument out, as one segment of a path. Raises `ValueError` if it would lead to another path."""
    value = arguments.pop(name, None)
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise ValueError(f"the path needs `{name}` as a string or a number")
    if str(value) in ("", ".", ".."):
        raise ValueError(f"`{name}` cannot be a part of a path: `{value}`")
    return quote(str(value), safe="")


def _flatten(arguments: dict[str, Any]) -> dict[str, Any]:
    """Convert arguments to a query. Values other than strings, numbers and lists of them are written as JSON."""
    return {
        name: value if isinstance(value, str | int | float | list) and _is_plain(value) else json.dumps(value)
        for name, value in arguments.items()
        if value is not None
    }


def _is_plain(value: Any) -> bool:
    parts = value if isinstance(value, list) else [value]
    return all(isinstance(part, str | int | float) and not isinstance(part, bool) for part in parts)


def _reply(status: int, kind: str, content: bytes) -> Reply:
    metadata = {"status": status}
    if 200 <= status < 300:
        if not content:
            return Reply("done", None, metadata=metadata)
        if "json" not in kind:
            return Reply("done", content.decode("utf-8", "replace"), metadata=metadata)
        try:
            return Reply("done", json.loads(content), metadata=metadata)
        except (ValueError, RecursionError):  # RecursionError: lists nested in lists, thousands of them
            return Reply(
                "failed",
                error="the answer is not valid JSON",
                metadata=metadata,
                is_uncertain=True,
            )
    if is_redirect(status):
        return Reply("failed", error=describe_redirect(status), metadata=metadata)
    body_text = content.decode("utf-8", "replace")[:MAX_SHOWN_LENGTH].strip()
    error = f"it answered {status}" + (f": {body_text}" if body_text else "")
    if status in NOT_NOW:
        return Reply("unavailable", error=error, metadata=metadata)
    if status >= 500:
        return Reply("unavailable", error=error, metadata=metadata, is_uncertain=True)
    return Reply("failed", error=error, metadata=metadata)
