"""The request that is being answered, for log lines and counters that are written far from the route.

Every task and thread that works for a request runs in a copy of its context, so all of them find the same request.
"""

from __future__ import annotations

from contextvars import Context, ContextVar

from starlette.types import Scope

REQUEST_ID = "orgkernel.request_id"
"""Scope key of the request id: the one that the client sent, or a new one."""
ROUTE = "orgkernel.route"
"""Key of the scope with the template of the path, where the framework did not look for the route."""
PROBLEM = "orgkernel.problem"
"""Key of the scope with the code of the problem that is the answer."""
NO_ROUTE = "none"
"""The route of a request that was refused before routing, or that has no route."""

_CURRENT: ContextVar[Scope | None] = ContextVar("orgkernel_request", default=None)
set_current = _CURRENT.set
find_current = _CURRENT.get


def note_problem(code: str) -> None:
    """Remember the problem that the current request is answered with."""
    scope = _CURRENT.get()
    if scope is not None:
        scope[PROBLEM] = code


def get_route(scope: Scope) -> str:
    """The path template of an answered request, such as `/v1/orgs/{org}`."""
    route: str | None = scope.get(ROUTE)
    if route is None:
        route = getattr(scope.get("route"), "path", NO_ROUTE)
    return route


def copy_context_without_request() -> Context:
    """A context for work that outlives the request that began it, so that no log line names that request."""
    return Context()
