"""The fast path: the route that is asked before every call of a tool, reached without the framework's routing.

It is the same function the documented route calls, behind the same guards, limits, headers and refusals; only looking
for the route and its parameters, and the objects of the framework, are left out: they cost more than the answer
(ADR 0011). `create_app(kernel, fast_path=False)` switches it off.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from manifest_api.answering import SNAPSHOT
from manifest_api.authzen import Said
from manifest_api.guards.limits import take_body
from manifest_api.guards.middleware import StandardHeaders, answer_fault, with_standard
from manifest_api.guards.request_head import read_head
from manifest_api.problems import Refused, refusal_response
from manifest_api.refusals import refuse_by_kernel
from orgkernel.errors import OrgkernelError

Headers = list[tuple[bytes, bytes]]
Route = Callable[[Scope, bytes], Awaitable[Said]]
"""From a request and its body to the answer."""


def build_fast_path(app: FastAPI, answer: Route) -> ASGIApp:
    """The function of a route as an application of its own."""
    # The headers of one snapshot but for the length, which stands between the two parts.
    prepared: tuple[str, Headers, Headers] = ("", [], [])

    async def call(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal prepared
        try:
            body = await take_body(receive) if read_head(scope).has_body else b""
            if body is None:
                return  # the client is gone: nobody to answer
            said = await answer(scope, body)
        except Refused as error:
            await StandardHeaders(refusal_response(error))(scope, receive, send)
            return
        except OrgkernelError as error:
            response = await _refuse(Request({**scope, "app": app}), error)
            await StandardHeaders(response)(scope, receive, send)
            return
        except Exception:
            await StandardHeaders(answer_fault(scope))(scope, receive, send)
            return
        if prepared[0] != said.snapshot:
            prepared = (said.snapshot, *_prepare(said.snapshot))
        _, before, after = prepared
        headers = [*before, (b"content-length", b"%d" % len(said.body)), *after]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": said.body})

    return call


async def _refuse(request: Request, error: OrgkernelError) -> Response:
    try:
        return await refuse_by_kernel(request, error)
    except Exception:
        return answer_fault(request.scope)


def _prepare(snapshot: str) -> tuple[Headers, Headers]:
    """The headers of the framework's response and the standard ones, before and after the length."""
    headers = with_standard(Response(b"", 200, {SNAPSHOT: snapshot}, "application/json").raw_headers)
    place = next(number for number, (name, _) in enumerate(headers) if name == b"content-length")
    return headers[:place], headers[place + 1 :]
