"""Problem documents (RFC 9457): every code there is, and the response that carries one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starlette.responses import Response

from manifest_api.shapes import Finding, InvalidValue, OrganizationStanding, Problem, ProblemKind
from orgkernel.crew.v1 import encode

MEDIA_TYPE = "application/problem+json"


def _kind(code: str, status: int, title: str, text: str) -> ProblemKind:
    return ProblemKind(code=code, status=status, title=title, text=text)


UNKNOWN_ORGANIZATION = _kind(
    "UNKNOWN_ORGANIZATION", 404, "There is no such organisation",
    "No organisation of this id was read. `GET /v1/orgs` lists those there are.",
)  # fmt: skip
UNKNOWN_ROLE = _kind(
    "UNKNOWN_ROLE", 404, "There is no such role",
    "The organisation has no role of this id. `GET /v1/orgs/{org}` lists its roles.",
)  # fmt: skip
AMBIGUOUS_ACTIVE = _kind(
    "AMBIGUOUS_ACTIVE", 409, "It is not clear which organisation is the active one",
    "`active` means the only organisation served, or the one the server was started with as `--active ORG`. "
    "Name the organisation instead.",
)  # fmt: skip
NOT_SERVED = _kind(
    "NOT_SERVED", 503, "The organisation has errors and is not answered for",
    "The documents of the organisation have errors and there is no earlier good version to answer from. The problem "
    "carries what was found. It is served as soon as the documents are in order.",
)  # fmt: skip
NOT_READY = _kind(
    "NOT_READY", 503, "No organisation can be answered for",
    "No organisation was read, or all of them have errors. `GET /v1/diagnostics` shows what was found.",
)  # fmt: skip
NOT_LOOPBACK = _kind(
    "NOT_LOOPBACK", 403, "Only this machine may ask",
    "Without keys the registry answers requests from the loopback interface and no others.",
)  # fmt: skip
FORWARDED = _kind(
    "FORWARDED", 403, "A forwarded request does not come from this machine",
    "The request carries a header that proxies add, so whoever asks may be anywhere. Until there are keys, such "
    "requests are refused; ask directly.",
)  # fmt: skip
FOREIGN_HOST = _kind(
    "FOREIGN_HOST", 403, "The Host header does not name this machine",
    "Only `localhost`, addresses of 127.0.0.0/8 and `[::1]` are accepted as Host, so that a web page elsewhere cannot "
    "reach the registry by pointing a name of its own at the loopback address.",
)  # fmt: skip
UNKNOWN_ROUTE = _kind(
    "UNKNOWN_ROUTE", 404, "There is nothing at this path",
    "No route has this path. Ids are one path segment of ASCII letters, digits, `_` and `-`. `/docs` lists the routes.",
)  # fmt: skip
UNKNOWN_PROBLEM = _kind(
    "UNKNOWN_PROBLEM", 404, "There is no problem of this code", "No answer of this version carries this code.",
)  # fmt: skip
METHOD_NOT_ALLOWED = _kind(
    "METHOD_NOT_ALLOWED", 405, "The path exists, the method does not",
    "The Allow header lists the methods of the path.",
)  # fmt: skip
BAD_REQUEST = _kind(
    "BAD_REQUEST", 400, "The request cannot be understood", "The detail says what is wrong with it.",
)  # fmt: skip
BAD_JSON = _kind(
    "BAD_JSON", 400, "The body is not JSON", "The body has to be one JSON value in UTF-8.",
)  # fmt: skip
SLOW_BODY = _kind(
    "SLOW_BODY", 408, "The body did not arrive in time", "A body has to arrive whole within 10 seconds.",
)  # fmt: skip
BODY_TOO_LARGE = _kind(
    "BODY_TOO_LARGE", 413, "The body is too large", "A body has at most 64 KiB.",
)  # fmt: skip
QUERY_TOO_LONG = _kind(
    "QUERY_TOO_LONG", 414, "The query string is too long", "A query string has at most 4096 bytes.",
)  # fmt: skip
NOT_JSON = _kind(
    "NOT_JSON", 415, "The body is not said to be JSON", "Send the body with `Content-Type: application/json`.",
)  # fmt: skip
INVALID_REQUEST = _kind(
    "INVALID_REQUEST", 422, "The request does not fit the route",
    "A parameter or a field of the body is missing, unknown, repeated or of the wrong kind. `errors` says which; "
    "`/docs` says what fits.",
)  # fmt: skip
BAD_CURSOR = _kind(
    "BAD_CURSOR", 409, "The cursor does not continue this list",
    "Cursors come from the `next` of an earlier page of the same list. When the list has changed so that the cursor no "
    "longer has a place in it, start again without one.",
)  # fmt: skip
INTERNAL = _kind(
    "INTERNAL", 500, "The server has a fault",
    "This is our fault, not that of the request. The server's log has the details.",
)  # fmt: skip

KINDS: dict[str, ProblemKind] = {
    kind.code: kind for kind in list(globals().values()) if isinstance(kind, ProblemKind)
}


class Refused(Exception):
    """Raised by a route to answer with a problem."""

    def __init__(
        self, kind: ProblemKind, detail: str, help: str = "", errors: Sequence[InvalidValue] = ()
    ) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail
        self.help = help
        self.errors = tuple(errors)


def problem_response(
    kind: ProblemKind,
    detail: str,
    help: str = "",
    *,
    errors: tuple[InvalidValue, ...] = (),
    organizations: tuple[OrganizationStanding, ...] = (),
    diagnostics: tuple[Finding, ...] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    """The response; `type` is a relative reference, so it holds whatever name the server is reached by."""
    problem = Problem(
        type=f"/problems/{kind.code}",
        title=kind.title,
        status=kind.status,
        detail=detail,
        code=kind.code,
        help=help,
        errors=errors,
        organizations=organizations,
        diagnostics=diagnostics,
    )
    return Response(encode(problem), kind.status, dict(headers or {}), MEDIA_TYPE)
