"""Problem documents (RFC 9457): every code there is, and the response that carries one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starlette.responses import Response

from manifest_api.shapes import Finding, InvalidValue, OrganizationStanding, Problem, ProblemKind
from orgkernel.errors import OrgkernelError, StoreError
from orgkernel.manifest.v1 import encode

MEDIA_TYPE = "application/problem+json"


def _kind(code: str, status: int, title: str, text: str) -> ProblemKind:
    return ProblemKind(code=code, status=status, title=title, text=text)


UNKNOWN_ORGANIZATION = _kind(
    "UNKNOWN_ORGANIZATION", 404, "There is no such organization",
    "No organization of this id was read. `GET /v1/orgs` lists those there are.",
)  # fmt: skip
UNKNOWN_ROLE = _kind(
    "UNKNOWN_ROLE", 404, "There is no such role",
    "The organization has no role of this id. `GET /v1/orgs/{org}` lists its roles.",
)  # fmt: skip
AMBIGUOUS_ACTIVE = _kind(
    "AMBIGUOUS_ACTIVE", 409, "It is not clear which organization is the active one",
    "`active` means the only organization served, or the one the server was started with as `--active ORG`. "
    "Name the organization instead.",
)  # fmt: skip
NOT_SERVED = _kind(
    "NOT_SERVED", 503, "The organization has errors and is not answered for",
    "The documents of the organization have errors and there is no earlier good version to answer from. The problem "
    "carries what was found. It is served as soon as the documents are in order.",
)  # fmt: skip
NOT_READY = _kind(
    "NOT_READY", 503, "No organization can be answered for",
    "No organization was read, or all of them have errors. `GET /v1/diagnostics` shows what was found.",
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
UNAUTHENTICATED = _kind(
    "UNAUTHENTICATED", 401, "Who asks is not known",
    "Off loopback everything needs a credential: a key as `Authorization: Bearer KEY`, or a token of the identity "
    "provider. A forwarded header or a foreign Host counts as off loopback.",
)  # fmt: skip
BAD_CREDENTIAL = _kind(
    "BAD_CREDENTIAL", 401, "The credential opens nothing",
    "The Authorization header carries no key and no token that is valid now: it is unknown, revoked, expired, or there "
    "are several. Why is not said.",
)  # fmt: skip
KEY_REQUIRED = _kind(
    "KEY_REQUIRED", 401, "This needs a key",
    "Without a key, this machine may ask and nothing else: the agents that are governed run on it too. "
    "`orgkernel key create` makes a key of the scope that is needed.",
)  # fmt: skip
SCOPE_MISSING = _kind(
    "SCOPE_MISSING", 403, "The credential is not good for this",
    "The scopes are `read`, `request`, `grant`, `approve`, `rank`, `lock`, `report` and `admin`; the last is good for all.",
)  # fmt: skip
SELF_GRANT = _kind(
    "SELF_GRANT", 403, "Nobody gives a permission to themselves",
    "The credential of an agent can never issue, approve or promote for that agent, nor for a role it fills.",
)  # fmt: skip
OTHER_REQUESTER = _kind(
    "OTHER_REQUESTER", 403, "Nobody asks in somebody else's name",
    "Who asks for a permission is who the credential belongs to. The credential of an agent asks for that agent.",
)  # fmt: skip
RATE_LIMITED = _kind(
    "RATE_LIMITED", 429, "Too many requests", "The Retry-After header says for how many seconds to wait.",
)  # fmt: skip
TOO_MANY_FAILURES = _kind(
    "TOO_MANY_FAILURES", 429, "Too many wrong credentials",
    "The address has shown too many wrong credentials. The Retry-After header says for how many seconds to wait.",
)  # fmt: skip
TOO_MANY_PENDING = _kind(
    "TOO_MANY_PENDING", 429, "Too many requests are pending", "The requester waits for answers already.",
)  # fmt: skip
REQUEST_COOLDOWN = _kind(
    "REQUEST_COOLDOWN", 429, "The same was asked for a moment ago", "Wait for the answer.",
)  # fmt: skip
REQUESTS_BLOCKED = _kind(
    "REQUESTS_BLOCKED", 429, "The requester was denied too often", "A person has to help.",
)  # fmt: skip
BAD_EVALUATION = _kind(
    "BAD_EVALUATION", 400, "The question about access cannot be understood",
    "A question has a subject and a resource with `type` and `id`, and an action with `name`. `errors` says what is wrong.",
)  # fmt: skip
MAY_NOT_GRANT = _kind(
    "MAY_NOT_GRANT", 403, "The role may not give this away",
    "An agent gives what `may_grant` of its roles names, and no more than it has itself. The help says what it may.",
)  # fmt: skip
MAY_NOT_LOCK = _kind(
    "MAY_NOT_LOCK", 403, "The holder may not have the tool",
    "Who holds an exclusive tool needs the level its action `lock` needs. `POST /v1/explain` says what is missing.",
)  # fmt: skip
TOOL_LOCKED = _kind(
    "TOOL_LOCKED", 409, "Somebody else holds the tool", "Wait for its release, or have the lock broken.",
)  # fmt: skip
STALE_TOKEN = _kind(
    "STALE_TOKEN", 409, "The lock is not held any more",
    "It ran out, was broken, or was taken anew: what is done with the tool under its token is overtaken.",
)  # fmt: skip
BAD_REPORT = _kind(
    "BAD_REPORT", 422, "The SALUTE report cannot be read",
    "`errors` says what is wrong with it; `orgkernel schema salute_report` prints what a report looks like.",
)  # fmt: skip
OTHER_REPORTER = _kind(
    "OTHER_REPORTER", 403, "Nobody reports in somebody else's name",
    "The credential of an agent reports for the roles that agent fills, and for no others.",
)  # fmt: skip
TOO_MANY_FOLLOWERS = _kind(
    "TOO_MANY_FOLLOWERS", 503, "Too many follow the reports already", "The Retry-After header says when to try again.",
)  # fmt: skip
UNKNOWN_AGENT = _kind(
    "UNKNOWN_AGENT", 404, "There is no such agent", "No roster of the organization declares an agent of this id.",
)  # fmt: skip
UNKNOWN_RECORD = _kind(
    "UNKNOWN_RECORD", 404, "There is no such record", "The store has no grant, request, agent or row of this id.",
)  # fmt: skip
UNKNOWN_NAME = _kind(
    "UNKNOWN_NAME", 409, "A name is not declared",
    "The subject, resource or organization is declared by no document that is served.",
)  # fmt: skip
BAD_VALUE = _kind(
    "BAD_VALUE", 409, "A value cannot be stored", "The detail says which, and the help what it may be.",
)  # fmt: skip
REFUSED = _kind(
    "REFUSED", 409, "The state does not allow it", "The detail says why.",
)  # fmt: skip
CONFLICT = _kind(
    "CONFLICT", 409, "The record is not in the state this needs", "The detail says in which it is.",
)  # fmt: skip
NOT_PENDING = _kind(
    "NOT_PENDING", 409, "The request is answered already", "A request is answered once. Ask again.",
)  # fmt: skip
ALREADY_REVOKED = _kind(
    "ALREADY_REVOKED", 409, "It is revoked already", "What is revoked stays revoked.",
)  # fmt: skip
GRANT_USED_UP = _kind(
    "GRANT_USED_UP", 409, "The grant is used up", "It was used, revoked or ran out in the meantime.",
)  # fmt: skip
MOVE_NOT_ALLOWED = _kind(
    "MOVE_NOT_ALLOWED", 409, "An agent cannot go from here to there", "The detail says where it stands.",
)  # fmt: skip
TRUST_TOO_LOW = _kind(
    "TRUST_TOO_LOW", 409, "The agent is not trusted enough", "The detail says how far it is trusted.",
)  # fmt: skip
NO_STORE = _kind(
    "NO_STORE", 409, "Nothing is remembered yet",
    "There is no store. `orgkernel key create --admin` makes it, and the first key.",
)  # fmt: skip
STORE_FAILED = _kind(
    "STORE_FAILED", 503, "The store cannot be used", "Nothing of what was asked is remembered, nor was it decided.",
)  # fmt: skip
BAD_STORE = _kind(
    "BAD_STORE", 503, "The store cannot be used as it is", "It is damaged, read-only or of another version.",
)  # fmt: skip
STORE_BUSY = _kind(
    "STORE_BUSY", 503, "The store is busy", "Somebody else held it for too long. Try again.",
)  # fmt: skip
STORE_FULL = _kind(
    "STORE_FULL", 503, "There is no room left", "The disk of the store is full; nothing was written.",
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
        self,
        kind: ProblemKind,
        detail: str,
        help: str = "",
        errors: Sequence[InvalidValue] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail
        self.help = help
        self.errors = tuple(errors)
        self.headers = dict(headers or {})
        if kind.status == 401:  # RFC 9110 §15.5.2
            self.headers.setdefault("WWW-Authenticate", 'Bearer realm="orgkernel"')


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


def refusal_response(refused: Refused) -> Response:
    """The response to what a guard or a route refused."""
    return problem_response(
        refused.kind, refused.detail, refused.help, errors=refused.errors, headers=refused.headers
    )


def problem_of_store(error: OrgkernelError) -> Response:
    """The response where the state could not be read or written, or does not allow what was asked."""
    kind = KINDS.get(error.code, STORE_FAILED if isinstance(error, StoreError) else REFUSED)
    # Where the store is, is for the log: clients need no path of the server's.
    detail = kind.title.lower() if isinstance(error, StoreError) else error.message
    return problem_response(kind, detail, "" if isinstance(error, StoreError) else error.help)
