"""The fast path: single evaluations, which runtimes request before every tool call, skip the routing of the framework.

The fast path calls the same function as the documented route, behind the same guards and limits, with the same headers
and refusals. It only leaves out the routing and the request objects of the framework, which cost more than the answer
(ADR 0011). The engine `fast_path` (`orgkernel.engines`) switches it off.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import lru_cache

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from manifest_api.answering import SNAPSHOT
from manifest_api.authzen import Said
from manifest_api.guards.limits import take_body
from manifest_api.guards.middleware import StandardHeaders, answer_fault, with_standard
from manifest_api.guards.request_head import read_head
from manifest_api.problems import RequestRefused, build_refusal_response
from manifest_api.refusals import refuse_by_kernel
from orgkernel.errors import OrgkernelError


def build_fast_path(app: FastAPI, answer: Callable[[Scope, bytes], Awaitable[Said]]) -> ASGIApp:
    """Build an ASGI application from the function of a route."""

    async def call(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body = await take_body(receive) if read_head(scope).has_body else b""
            if body is None:
                return  # the client has disconnected
            evaluation = await answer(scope, body)
        except RequestRefused as error:
            response = build_refusal_response(error)
        except OrgkernelError as error:
            response = await _refuse(Request({**scope, "app": app}), error)
        except Exception:
            response = answer_fault(scope)
        else:
            headers, place = _build_headers(evaluation.snapshot)
            headers = [
                *headers[:place],
                (b"content-length", b"%d" % len(evaluation.body)),
                *headers[place + 1 :],
            ]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": evaluation.body})
            return
        await StandardHeaders(response)(scope, receive, send)

    return call


@lru_cache(maxsize=1)
def _build_headers(snapshot: str) -> tuple[list[tuple[bytes, bytes]], int]:
    """The headers of an answer, and the index of the content length among them."""
    headers = with_standard(Response(b"", 200, {SNAPSHOT: snapshot}, "application/json").raw_headers)
    return headers, [name for name, _ in headers].index(b"content-length")


async def _refuse(request: Request, error: OrgkernelError) -> Response:
    try:
        return await refuse_by_kernel(request, error)
    except Exception:
        return answer_fault(request.scope)
