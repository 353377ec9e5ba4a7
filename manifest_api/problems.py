"""Problem documents (RFC 9457): every code there is, and the response that carries one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starlette.responses import Response

from manifest_api.shapes import DiagnosticRow, InvalidValue, OrganizationStanding, Problem, ProblemCode
from orgkernel.errors import OrgkernelError, StoreError
from orgkernel.manifest.v1 import encode

MEDIA_TYPE = "application/problem+json"


# fmt: off
UNKNOWN_ORGANIZATION = ProblemCode("UNKNOWN_ORGANIZATION", 404, "There is no such organization",
    "No organization of this id was read. `GET /v1/orgs` lists those there are.")
UNKNOWN_ROLE = ProblemCode("UNKNOWN_ROLE", 404, "There is no such role",
    "The organization has no role of this id. `GET /v1/orgs/{org}` lists its roles.")
AMBIGUOUS_ACTIVE = ProblemCode("AMBIGUOUS_ACTIVE", 409, "It is not clear which organization is the active one",
    "`active` means the only organization served, or the one the server was started with as `--active ORG`. "
    "Name the organization instead.")
NOT_SERVED = ProblemCode("NOT_SERVED", 503, "The organization has errors and is not answered for",
    "The documents of the organization have errors and there is no earlier good version to answer from. The problem "
    "carries what was found. It is served as soon as the documents are in order.")
NOT_READY = ProblemCode("NOT_READY", 503, "No organization can be answered for",
    "No organization was read, or all of them have errors. `GET /v1/diagnostics` shows what was found.")
NOT_LOOPBACK = ProblemCode("NOT_LOOPBACK", 403, "Only this machine may ask",
    "Without keys the registry answers requests from the loopback interface and no others.")
FORWARDED = ProblemCode("FORWARDED", 403, "A forwarded request does not come from this machine",
    "The request carries a header that proxies add, so whoever asks may be anywhere. Until there are keys, such "
    "requests are refused; ask directly.")
FOREIGN_HOST = ProblemCode("FOREIGN_HOST", 403, "The Host header does not name this machine",
    "Only `localhost`, addresses of 127.0.0.0/8 and `[::1]` are accepted as Host, so that a web page elsewhere cannot "
    "reach the registry by pointing a name of its own at the loopback address.")
UNAUTHENTICATED = ProblemCode("UNAUTHENTICATED", 401, "Who asks is not known",
    "Off loopback everything needs a credential: a key as `Authorization: Bearer KEY`, or a token of the identity "
    "provider. A forwarded header or a foreign Host counts as off loopback.")
BAD_CREDENTIAL = ProblemCode("BAD_CREDENTIAL", 401, "The credential opens nothing",
    "The Authorization header carries no key and no token that is valid now: it is unknown, revoked, expired, or there "
    "are several. Why is not said.")
KEY_REQUIRED = ProblemCode("KEY_REQUIRED", 401, "This needs a key",
    "Without a key, this machine may ask and nothing else: the agents that are governed run on it too. "
    "`orgkernel key create` makes a key of the scope that is needed.")
SCOPE_MISSING = ProblemCode("SCOPE_MISSING", 403, "The credential is not good for this",
    "The scopes are `read`, `request`, `grant`, `approve`, `rank`, `lock`, `report` and `admin`; the last is good for all.")
SELF_GRANT = ProblemCode("SELF_GRANT", 403, "Nobody gives a permission to themselves",
    "The credential of an agent can never issue, approve or promote for that agent, nor for a role it fills. Nobody approves "
    "what they asked for under another name.")
OTHER_REQUESTER = ProblemCode("OTHER_REQUESTER", 403, "Nobody asks in somebody else's name",
    "Who asks for a permission is who the credential belongs to. The credential of an agent asks for that agent.")
NO_AUTHORITY = ProblemCode("NO_AUTHORITY", 403, "This needs a right over the subject",
    "Acting on somebody needs a superior of theirs, the owner or an operator; where the act is about tools, also a role whose "
    "`may_grant` names them. Nobody acts on a superior. The help names the line of the chain of command.")
AGENT_INACTIVE = ProblemCode("AGENT_INACTIVE", 403, "The agent is not at work",
    "The agent that the credential belongs to is suspended or decommissioned, and changes nothing until it is active again.")
RATE_LIMITED = ProblemCode("RATE_LIMITED", 429, "Too many requests",
    "The Retry-After header says for how many seconds to wait.")
TOO_MANY_FAILURES = ProblemCode("TOO_MANY_FAILURES", 429, "Too many wrong credentials",
    "The address has shown too many wrong credentials. The Retry-After header says for how many seconds to wait.")
TOO_MANY_PENDING = ProblemCode("TOO_MANY_PENDING", 429, "Too many requests are pending",
    "The requester waits for answers already.")
REQUEST_COOLDOWN = ProblemCode("REQUEST_COOLDOWN", 429, "The same was asked for a moment ago", "Wait for the answer.")
REQUESTS_BLOCKED = ProblemCode("REQUESTS_BLOCKED", 429, "The requester was denied too often", "A person has to help.")
BAD_EVALUATION = ProblemCode("BAD_EVALUATION", 400, "The question about access cannot be understood",
    "A question has a subject and a resource with `type` and `id`, and an action with `name`. `errors` says what is wrong.")
MAY_NOT_GRANT = ProblemCode("MAY_NOT_GRANT", 403, "The credential may not give this away",
    "An agent gives what `may_grant` of its roles names. Nobody gives more than they are allowed themselves without asking, "
    "for longer, or from a grant for a number of uses. The help says what they may.")
MAY_NOT_LOCK = ProblemCode("MAY_NOT_LOCK", 403, "The holder may not have the tool",
    "Who holds an exclusive tool needs the level its action `lock` needs. `POST /v1/explain` says what is missing.")
TOOL_LOCKED = ProblemCode("TOOL_LOCKED", 409, "Somebody else holds the tool",
    "Wait for its release, or have the lock broken.")
STALE_TOKEN = ProblemCode("STALE_TOKEN", 409, "The lock is not held any more",
    "It ran out, was broken, or was taken anew: what is done with the tool under its token is overtaken.")
BAD_REPORT = ProblemCode("BAD_REPORT", 422, "The SALUTE report cannot be read",
    "`errors` says what is wrong with it; `orgkernel schema salute_report` prints what a report looks like.")
OTHER_REPORTER = ProblemCode("OTHER_REPORTER", 403, "Nobody reports in somebody else's name",
    "The credential of an agent reports for the roles that agent fills, and for no others.")
TOO_MANY_FOLLOWERS = ProblemCode("TOO_MANY_FOLLOWERS", 503, "Too many follow the reports already",
    "The Retry-After header says when to try again.")
UNKNOWN_AGENT = ProblemCode("UNKNOWN_AGENT", 404, "There is no such agent",
    "No roster of the organization declares an agent of this id.")
UNKNOWN_RECORD = ProblemCode("UNKNOWN_RECORD", 404, "There is no such record",
    "The store has no grant, request, agent or row of this id.")
UNKNOWN_NAME = ProblemCode("UNKNOWN_NAME", 409, "A name is not declared",
    "The subject, resource or organization is declared by no document that is served.")
BAD_VALUE = ProblemCode("BAD_VALUE", 409, "A value cannot be stored",
    "The detail says which, and the help what it may be.")
REFUSED = ProblemCode("REFUSED", 409, "The state does not allow it", "The detail says why.")
CONFLICT = ProblemCode("CONFLICT", 409, "The record is not in the state this needs", "The detail says in which it is.")
NOT_PENDING = ProblemCode("NOT_PENDING", 409, "The request is answered already",
    "A request is answered once. Ask again.")
ALREADY_REVOKED = ProblemCode("ALREADY_REVOKED", 409, "It is revoked already", "What is revoked stays revoked.")
GRANT_USED_UP = ProblemCode("GRANT_USED_UP", 409, "The grant is used up",
    "It was used, revoked or ran out in the meantime.")
MOVE_NOT_ALLOWED = ProblemCode("MOVE_NOT_ALLOWED", 409, "An agent cannot go from here to there",
    "The detail says where it stands.")
TRUST_TOO_LOW = ProblemCode("TRUST_TOO_LOW", 409, "The agent is not trusted enough",
    "The detail says how far it is trusted.")
NO_STORE = ProblemCode("NO_STORE", 409, "Nothing is remembered yet",
    "There is no store. `orgkernel key create --admin` makes it, and the first key.")
STORE_FAILED = ProblemCode("STORE_FAILED", 503, "The store cannot be used",
    "Nothing of what was asked is remembered, nor was it decided.")
BAD_STORE = ProblemCode("BAD_STORE", 503, "The store cannot be used as it is",
    "It is damaged, read-only or of another version.")
STORE_BUSY = ProblemCode("STORE_BUSY", 503, "The store is busy", "Somebody else held it for too long. Try again.")
STORE_FULL = ProblemCode("STORE_FULL", 503, "There is no room left",
    "The disk of the store is full; nothing was written.")
UNKNOWN_ROUTE = ProblemCode("UNKNOWN_ROUTE", 404, "There is nothing at this path",
    "No route has this path. Ids are one path segment of ASCII letters, digits, `_` and `-`. `/docs` lists the routes.")
UNKNOWN_PROBLEM = ProblemCode("UNKNOWN_PROBLEM", 404, "There is no problem of this code",
    "No answer of this version carries this code.")
METHOD_NOT_ALLOWED = ProblemCode("METHOD_NOT_ALLOWED", 405, "The path exists, the method does not",
    "The Allow header lists the methods of the path.")
BAD_REQUEST = ProblemCode("BAD_REQUEST", 400, "The request cannot be understood",
    "The detail says what is wrong with it.")
BAD_JSON = ProblemCode("BAD_JSON", 400, "The body is not JSON", "The body has to be one JSON value in UTF-8.")
SLOW_BODY = ProblemCode("SLOW_BODY", 408, "The body did not arrive in time",
    "A body has to arrive whole within 10 seconds.")
BODY_TOO_LARGE = ProblemCode("BODY_TOO_LARGE", 413, "The body is too large", "A body has at most 64 KiB.")
QUERY_TOO_LONG = ProblemCode("QUERY_TOO_LONG", 414, "The query string is too long",
    "A query string has at most 4096 bytes.")
NOT_JSON = ProblemCode("NOT_JSON", 415, "The body is not said to be JSON",
    "Send the body with `Content-Type: application/json`.")
INVALID_REQUEST = ProblemCode("INVALID_REQUEST", 422, "The request does not fit the route",
    "A parameter or a field of the body is missing, unknown, repeated or of the wrong kind. `errors` says which; "
    "`/docs` says what fits.")
BAD_CURSOR = ProblemCode("BAD_CURSOR", 409, "The cursor does not continue this list",
    "Cursors come from the `next` of an earlier page of the same list. When the list has changed so that the cursor no "
    "longer has a place in it, start again without one.")
INTERNAL = ProblemCode("INTERNAL", 500, "The server has a fault",
    "This is our fault, not that of the request. The server's log has the details.")
# fmt: on

KINDS: dict[str, ProblemCode] = {
    kind.code: kind for kind in list(globals().values()) if isinstance(kind, ProblemCode)
}


class RequestRefused(Exception):
    """Raised by a route to answer with a problem."""

    def __init__(
        self,
        kind: ProblemCode,
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
    kind: ProblemCode,
    detail: str,
    help: str = "",
    *,
    errors: tuple[InvalidValue, ...] = (),
    organizations: tuple[OrganizationStanding, ...] = (),
    diagnostics: tuple[DiagnosticRow, ...] = (),
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


def refusal_response(refused: RequestRefused) -> Response:
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
