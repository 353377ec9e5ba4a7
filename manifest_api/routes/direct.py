"""Routes that are asked by their path alone skip what the framework does for queries, bodies and dependencies.

It is the same documented route with the same answer; a query, which such a route does not know, goes the usual way and
is refused there.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from inspect import signature
from typing import Any

from fastapi import Request
from fastapi.routing import APIRoute
from starlette.responses import Response

_GIVEN = frozenset({"request", "answers"})


class DirectRoute(APIRoute):
    """A route that calls its function at once where its path says everything."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        usual = super().get_route_handler()
        endpoint = self.endpoint
        if self.methods != {"GET"} or set(signature(endpoint).parameters) != _GIVEN | set(
            self.param_convertors
        ):
            return usual

        async def answer(request: Request) -> Response:
            if request.scope["query_string"]:
                return await usual(request)
            response: Response = await endpoint(
                request=request, answers=request.app.state.answers, **request.path_params
            )
            return response

        return answer
