"""A route that is asked all the time, reached without the framework's routing.

It is the same function the documented route calls, behind the same guards, limits, headers and refusals; only looking
for the route and its parameters is left out, which costs more than the answer (ADR 0011).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from manifest_api.guards.faults import Faults
from manifest_api.guards.headers import StandardHeaders
from manifest_api.guards.limits import BodyLimits
from manifest_api.problems import Refused, refusal_response
from manifest_api.refusals import refuse_by_kernel
from orgkernel.errors import OrgkernelError


def build_short_way(app: FastAPI, answer: Callable[[Request], Awaitable[Response]]) -> ASGIApp:
    """The function of a route as an application of its own."""

    async def call(scope: Scope, receive: Receive, send: Send) -> None:
        request = Request({**scope, "app": app}, receive)
        try:
            response = await answer(request)
        except Refused as error:
            response = refusal_response(error)
        except OrgkernelError as error:
            response = await refuse_by_kernel(request, error)
        await response(scope, receive, send)

    return StandardHeaders(Faults(BodyLimits(call)))
