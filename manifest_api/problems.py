"""Problem documents (RFC 9457): all codes, and the response with a problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starlette.responses import Response

from manifest_api.current_request import note_problem
from manifest_api.shapes import DiagnosticRow, InvalidValue, OrganizationStanding, Problem, ProblemCode
from orgkernel.errors import OrgkernelError, OtherStoreVersion, StoreError
from orgkernel.manifest.v1 import encode

MEDIA_TYPE = "application/problem+json"
MAX_SHOWN_FINDINGS = 10
"""Findings in a problem. `GET /v1/diagnostics` lists all."""


GIVEN_TWICE = "is given more than once"
_LATER = "Wait for the number of seconds in the Retry-After header."

# fmt: off
UNKNOWN_ORGANIZATION = ProblemCode("UNKNOWN_ORGANIZATION", 404, "The organization does not exist",
    "No document declares an organization with this id. `GET /v1/orgs` lists the organizations.")
UNKNOWN_ROLE = ProblemCode("UNKNOWN_ROLE", 404, "The role does not exist",
    "The organization has no role with this id. `GET /v1/orgs/{org}` lists its roles.")
NO_CARDS = ProblemCode("NO_CARDS", 404, "The server publishes no agent cards",
    "`[a2a]` in `orgkernel.toml` says where the agents answer and where this server is reached. `sign_key` there names the "
    "key that signs cards.")
NO_CARD = ProblemCode("NO_CARD", 404, "There is no agent card",
    "A card needs a description and something that the agent can be asked for: a domain, an intent or a skill.")
NO_ISSUER = ProblemCode("NO_ISSUER", 404, "The server accepts no tokens",
    "`[oidc]` in `orgkernel.toml` names the issuer whose tokens a server accepts. Without it, only API keys are accepted.")
UNKNOWN_BILL = ProblemCode("UNKNOWN_BILL", 404, "The bill does not exist",
    "The organization sees no bill with this id. `GET /v1/orgs/{org}/bills` lists its bills.")
UNKNOWN_VERSION = ProblemCode("UNKNOWN_VERSION", 404, "The version is not kept",
    "A server keeps the last versions of an organization that it has answered from since it started. "
    "`GET /v1/orgs/{org}/changes` lists them. `orgkernel diff` compares any revision of a repository.")
UNKNOWN_LINES = ProblemCode("UNKNOWN_LINES", 404, "The lines cannot be shown",
    "The file is not one of the documents of the organization, it has fewer lines, or it has changed since it was read. "
    "`why` and the findings name files and lines.")
UNKNOWN_RULE = ProblemCode("UNKNOWN_RULE", 404, "The rule does not exist",
    "`GET /v1/rules` lists the codes of all rules.")
AMBIGUOUS_ACTIVE = ProblemCode("AMBIGUOUS_ACTIVE", 409, "Several organizations could be the active one",
    "`active` means the only organization that is served, or the one named with `serve --active ORG`. Name the "
    "organization in the request.")
NOT_SERVED = ProblemCode("NOT_SERVED", 503, "The organization has errors",
    "The documents of the organization have errors, and there is no earlier version without errors. The problem lists "
    "the findings. The organization is served as soon as its errors are fixed.")
NOT_READY = ProblemCode("NOT_READY", 503, "No organization is served",
    "No organization was found, or all of them have errors. `GET /v1/diagnostics` lists the findings.")
DRAINING = ProblemCode("DRAINING", 503, "The server is closing",
    "The server is shutting down. It finishes its current requests and accepts no new work.")
NOT_LOOPBACK = ProblemCode("NOT_LOOPBACK", 403, "The request does not come from this machine",
    "Until there are API keys, only requests from the loopback interface are answered. `orgkernel key create --admin` "
    "creates the first key.")
FORWARDED = ProblemCode("FORWARDED", 403, "The request was forwarded",
    "The request has a header that proxies add, so it may come from anywhere. Until there are API keys, forwarded "
    "requests are refused. Send the request directly, or create a key.")
FOREIGN_HOST = ProblemCode("FOREIGN_HOST", 403, "The Host header does not name this machine",
    "Without a key, the Host header must be `localhost`, an address of 127.0.0.0/8 or `[::1]`. Otherwise a web page could reach the registry under its own name.")
UNAUTHENTICATED = ProblemCode("UNAUTHENTICATED", 401, "The request needs a credential",
    "Requests that do not come from loopback need a key as `Authorization: Bearer KEY`, or a token of the identity "
    "provider. A request with a forwarded header or a foreign Host is not treated as loopback.")
BAD_CREDENTIAL = ProblemCode("BAD_CREDENTIAL", 401, "The credential is not valid",
    "The key or token is unknown, expired or revoked, or the request has several Authorization headers. The answer does "
    "not say which.")
KEY_REQUIRED = ProblemCode("KEY_REQUIRED", 401, "The request needs a key",
    "Without a key, a caller on this machine can ask questions but cannot change anything, because the governed agents run on this "
    "machine too. `orgkernel key create` creates a key with the scope that is needed.")
SCOPE_MISSING = ProblemCode("SCOPE_MISSING", 403, "The credential lacks a scope",
    "The scopes are `read`, `request`, `grant`, `approve`, `rank`, `lock`, `report` and `admin`. `admin` includes all "
    "others.")
SELF_GRANT = ProblemCode("SELF_GRANT", 403, "An agent cannot give itself a permission",
    "The credential of an agent cannot issue, approve or promote for that agent or for a role that it fills. A caller cannot approve its own request, not even under another name.")
OTHER_REQUESTER = ProblemCode("OTHER_REQUESTER", 403, "The credential belongs to another requester",
    "The credential of an agent can request permissions for that agent only.")
NO_AUTHORITY = ProblemCode("NO_AUTHORITY", 403, "The credential has no authority over the subject",
    "The act needs a superior of the subject, the owner or an operator. For acts about tools, a role whose `may_grant` lists "
    "the tools is enough. A caller cannot act on its superior. The help names the line of the chain of command.")
AGENT_INACTIVE = ProblemCode("AGENT_INACTIVE", 403, "The agent is not active",
    "The agent of the credential is suspended or decommissioned, and can change nothing until it is active again.")
RATE_LIMITED = ProblemCode("RATE_LIMITED", 429, "The caller sends too many requests",
    _LATER)
TOO_MANY_FAILURES = ProblemCode("TOO_MANY_FAILURES", 429, "The address sends too many invalid credentials",
    _LATER)
TOO_MANY_PENDING = ProblemCode("TOO_MANY_PENDING", 429, "The requester has too many pending requests",
    "Wait until some of them are answered.")
REQUEST_COOLDOWN = ProblemCode("REQUEST_COOLDOWN", 429, "The same request was made a moment ago",
    "Wait for its answer.")
REQUESTS_BLOCKED = ProblemCode("REQUESTS_BLOCKED", 429, "The requester was denied too often",
    "A person has to review the requests of this requester.")
BAD_EVALUATION = ProblemCode("BAD_EVALUATION", 400, "The question about access cannot be read",
    "A question has a subject and a resource with `type` and `id`, and an action with `name`. `errors` lists what is wrong.")
MAY_NOT_GRANT = ProblemCode("MAY_NOT_GRANT", 403, "The credential cannot grant this",
    "An agent can grant what `may_grant` of its roles lists. A caller cannot grant more than it may do itself without "
    "approval, for a longer time, or from a grant with a number of uses. The help says what it can grant.")
NOT_AN_APPROVER = ProblemCode("NOT_AN_APPROVER", 403, "The policy counts other approvers",
    "A policy requires approvals by the subjects that its `approvals` name. The help lists them.")
ALREADY_APPROVED = ProblemCode("ALREADY_APPROVED", 409, "The approver has approved the request already",
    "Policies require approvals by different subjects. A role and its agents, and an agent and the person who runs it, are one.")
APPROVED_MEANWHILE = ProblemCode("APPROVED_MEANWHILE", 409, "Others are approving the request at the same moment",
    "Approve it again.")
MAY_NOT_LOCK = ProblemCode("MAY_NOT_LOCK", 403, "The holder cannot use the tool",
    "The holder of an exclusive tool needs the level of its action `lock`. `POST /v1/orgs/{org}/why` says what is missing.")
TOOL_LOCKED = ProblemCode("TOOL_LOCKED", 409, "The tool is locked by another holder",
    "Wait until the lock is released, or break it with the scope `lock`.")
STALE_TOKEN = ProblemCode("STALE_TOKEN", 409, "The lock or the claim is no longer held",
    "It expired, was broken or transferred, or was taken again. Work under its token must stop.")
CLAIM_CONFLICT = ProblemCode("CLAIM_CONFLICT", 409, "Another holder has claimed the files",
    "The detail names the path and its holder, and the help says when the claim ends. Nothing was claimed.")
BAD_REPORT = ProblemCode("BAD_REPORT", 422, "The SALUTE report cannot be read",
    "`errors` lists what is wrong. `orgkernel schema salute_report` prints the JSON Schema of a report.")
CLAIM_WITHOUT_HANDOFF = ProblemCode("CLAIM_WITHOUT_HANDOFF", 403, "No brief covers the claimed files",
    "An agent can claim files of a brief that was handed down to it and is still being worked on. A governance document can name "
    "roles that may claim without a hand-off.")
CLAIM_LIMIT = ProblemCode("CLAIM_LIMIT", 409, "The claim is larger than the organization allows",
    "The detail names the limit: how broad a path is, how many claims a holder has, or how long a claim lasts.")
OTHER_REPORTER = ProblemCode("OTHER_REPORTER", 403, "The credential belongs to another reporter",
    "The credential of an agent can report for the roles of that agent only.")
WRONG_ORGANIZATION = ProblemCode("WRONG_ORGANIZATION", 403, "The credential belongs to another organization",
    "A key or a token of an agent or a person is good for the organizations that it names only, because another organization can declare "
    "the same name. `/v1/audit`, `/v1/diagnostics` and the paths with `*` need a credential that is good for every organization.")
UNBOUND_CREDENTIAL = ProblemCode("UNBOUND_CREDENTIAL", 403, "The credential names no organization",
    "It names an agent or a person, and no organization that declares it, so it is good for none. `orgkernel key bind` states the "
    "organization of a key from an earlier version; a token names it in the claim `org_claim` of `[oidc]`.")
OTHER_SUBJECT = ProblemCode("OTHER_SUBJECT", 403, "The credential belongs to another subject",
    "The credential of an agent can see and load the skills of that agent only.")
NO_SUBJECT = ProblemCode("NO_SUBJECT", 403, "The credential belongs to no agent or person",
    "`/mcp` answers an agent or a person about themselves. The key of an operator belongs to neither, and an organization "
    "answers only those it declares.")
FOREIGN_ORIGIN = ProblemCode("FOREIGN_ORIGIN", 403, "The request comes from a page of another origin",
    "`/mcp` is for programs. A request with an Origin header is answered only if the page is one of this server.")
TOO_MANY_FOLLOWERS = ProblemCode("TOO_MANY_FOLLOWERS", 503, "Too many clients follow the reports",
    _LATER)
UNKNOWN_AGENT = ProblemCode("UNKNOWN_AGENT", 404, "The agent does not exist",
    "No roster of the organization declares an agent with this id.")
UNKNOWN_RECORD = ProblemCode("UNKNOWN_RECORD", 404, "The record does not exist",
    "The store has no grant, request, agent, skill, result or row with this id.")
UNKNOWN_NAME = ProblemCode("UNKNOWN_NAME", 409, "A name is not declared",
    "No served document declares the subject, resource or organization.")
BAD_VALUE = ProblemCode("BAD_VALUE", 409, "A value cannot be stored",
    "The detail names the value, and the help says which values are possible.")
REFUSED = ProblemCode("REFUSED", 409, "The current state does not allow the change", "The detail says why.")
CONFLICT = ProblemCode("CONFLICT", 409, "The record is in another state", "The detail names its state.")
NOT_PENDING = ProblemCode("NOT_PENDING", 409, "The request already has an answer",
    "A request has only one answer. Make a new request.")
ALREADY_REVOKED = ProblemCode("ALREADY_REVOKED", 409, "The record is already revoked",
    "A revocation cannot be undone. Issue a new record.")
IDEMPOTENCY_KEY_REUSED = ProblemCode("IDEMPOTENCY_KEY_REUSED", 422, "The idempotency key belongs to another request",
    "A key stands for one request: the same method, path and body. Send each change with a key of its own.")
IDEMPOTENCY_KEY_IN_USE = ProblemCode("IDEMPOTENCY_KEY_IN_USE", 409, "The first request with the key has no response",
    "It is still running, or it ended without a response. Then look whether the change was made before you send it with another key.")
ALREADY_BOUND = ProblemCode("ALREADY_BOUND", 409, "The key has an organization already",
    "The organizations of a key do not change. Create another key.")
GRANT_USED_UP = ProblemCode("GRANT_USED_UP", 409, "The grant is used up",
    "The grant was used, revoked or expired in the meantime.")
PAST_UNKNOWN = ProblemCode("PAST_UNKNOWN", 409, "The state of that time is no longer known",
    "Earlier history was dropped. `serve --keep-history` keeps it longer.")
NOT_ASLEEP = ProblemCode("NOT_ASLEEP", 409, "The grant is not asleep", "Its permission already applies.")
SNAPSHOT_CHANGED = ProblemCode("SNAPSHOT_CHANGED", 409, "It is for another version of the documents",
    "The documents were edited since. Evaluate again, and ask for the version that the answer names.")
NOTHING_TO_ASK = ProblemCode("NOTHING_TO_ASK", 409, "No grant would permit this",
    "Read the reasons of the decision: a change of the documents or of the circumstances is needed.")
NO_ORGANIZATION = ProblemCode("NO_ORGANIZATION", 409, "The request names no organization",
    "A record belongs to one organization. Name it. Only some records can be stored for all organizations (`*`).")
OTHER_ORGANIZATION = ProblemCode("OTHER_ORGANIZATION", 409, "The record belongs to another organization",
    "The detail names the organization. A grant cannot be moved to another one, and a report is sent to the path of its own organization.")
MOVE_NOT_ALLOWED = ProblemCode("MOVE_NOT_ALLOWED", 409, "The agent cannot change to this state",
    "The detail names its current state.")
TRUST_TOO_LOW = ProblemCode("TRUST_TOO_LOW", 409, "The trust of the agent is too low",
    "The detail names its trust.")
SKILL_HELD = ProblemCode("SKILL_HELD", 409, "The agent already has the skill",
    "The detail names its level. An assessment changes the level.")
SKILL_SUSPENDED = ProblemCode("SKILL_SUSPENDED", 409, "The skill is suspended",
    "A suspended skill cannot be practiced until it is resumed.")
NOT_SUSPENDED = ProblemCode("NOT_SUSPENDED", 409, "The skill is not suspended", "Its level already applies.")
PREREQUISITE_MISSING = ProblemCode("PREREQUISITE_MISSING", 409, "A prerequisite is missing",
    "The detail names the skill or the qualification that is needed first.")
AGENT_UNDECLARED = ProblemCode("AGENT_UNDECLARED", 409, "No roster declares the agent",
    "The help has the line to add to a roster. Nothing was stored.")
ROLE_NOT_ASSIGNED = ProblemCode("ROLE_NOT_ASSIGNED", 409, "The roster does not assign the agent to the role",
    "The help has the assignment to add. Nothing was stored.")
ROLE_UNKNOWN = ProblemCode("ROLE_UNKNOWN", 409, "The organization has no such role", "The detail names it.")
IDENTITY_CONFLICT = ProblemCode("IDENTITY_CONFLICT", 409, "The key does not fit the agent",
    "Another agent has the key, or the agent was commissioned with another one.")
EPISODE_CONFLICT = ProblemCode("EPISODE_CONFLICT", 409, "Another episode has this id",
    "Give each piece of work an id of its own. Recording the same episode again is no conflict.")
ALREADY_INVALID = ProblemCode("ALREADY_INVALID", 409, "The result is already invalid",
    "A result is invalidated once. Record a new result instead.")
NOT_ELIGIBLE = ProblemCode("NOT_ELIGIBLE", 409, "The agent does not meet the requirements of the rank",
    "The detail names each unmet requirement. An `override`, or a `reason` for `POST …/rank`, gives the rank anyway.")
AGENT_LEFT = ProblemCode("AGENT_LEFT", 409, "The agent is decommissioned",
    "An agent that was decommissioned is neither tested nor promoted.")
RUN_RECORDED = ProblemCode("RUN_RECORDED", 409, "The run has another result",
    "Record another run of the test under its own id.")
HIGHEST_RANK = ProblemCode("HIGHEST_RANK", 409, "The agent has the highest rank", "The ladder declares no rank above it.")
NO_STORE = ProblemCode("NO_STORE", 409, "There is no store",
    "`orgkernel key create --admin` creates the store and the first key.")
STORE_FAILED = ProblemCode("STORE_FAILED", 503, "The store cannot be used",
    "Nothing was stored and nothing was decided.")
BAD_STORE = ProblemCode("BAD_STORE", 503, "The store is damaged or read-only",
    "The log of the server says which.")
STORE_VERSION = ProblemCode("STORE_VERSION", 503, "The store has another version than the server",
    "The store was upgraded or restored while the server was running. The server reads and stores nothing, because it does not "
    "know what the rows mean. Stop it, and start a server of the version of the store.")
STORE_BUSY = ProblemCode("STORE_BUSY", 503, "The store is busy", "Another process held the store for too long. Try again.")
STORE_FULL = ProblemCode("STORE_FULL", 503, "The disk of the store is full", "Nothing was stored. Free some space.")
STORE_BUDGET = ProblemCode("STORE_BUDGET", 503, "The store has used up its budget",
    "Only callers with a key get answers that must be audited, until rows are deleted or the budget is raised "
    "with `serve --store-budget`.")
UNKNOWN_ROUTE = ProblemCode("UNKNOWN_ROUTE", 404, "The path does not exist",
    "No route has this path. An id is one path segment of ASCII letters, digits, `_` and `-`. `/docs` lists the routes.")
UNKNOWN_PROBLEM = ProblemCode("UNKNOWN_PROBLEM", 404, "The problem code does not exist",
    "No answer of this version has this code.")
METHOD_NOT_ALLOWED = ProblemCode("METHOD_NOT_ALLOWED", 405, "The path does not have this method",
    "The Allow header lists the methods of the path.")
BAD_REQUEST = ProblemCode("BAD_REQUEST", 400, "The request cannot be read", "The detail says why.")
BAD_JSON = ProblemCode("BAD_JSON", 400, "The body is not JSON", "The body must be one JSON value in UTF-8.")
SLOW_BODY = ProblemCode("SLOW_BODY", 408, "The body did not arrive in time",
    "The whole body must arrive within 10 seconds.")
SLOW_HEAD = ProblemCode("SLOW_HEAD", 408, "The request headers did not arrive in time",
    "The request line and the headers must arrive within 10 seconds.")
HEAD_TOO_LARGE = ProblemCode("HEAD_TOO_LARGE", 431, "The request headers are too large",
    "The request line and the headers together may have at most 64 KiB.")
TOO_MANY_CONNECTIONS = ProblemCode("TOO_MANY_CONNECTIONS", 503, "The server has too many connections",
    "All connections are in use. Close connections that you do not need, and try again.")
BODY_TOO_LARGE = ProblemCode("BODY_TOO_LARGE", 413, "The body is too large", "A body may have at most 64 KiB.")
QUERY_TOO_LONG = ProblemCode("QUERY_TOO_LONG", 414, "The query string is too long",
    "A query string may have at most 4096 bytes.")
NOT_JSON = ProblemCode("NOT_JSON", 415, "The content type is not JSON",
    "Send the body with `Content-Type: application/json`.")
INVALID_REQUEST = ProblemCode("INVALID_REQUEST", 422, "The request is not valid for this route",
    "A parameter or a field of the body is missing, unknown, repeated or of the wrong type. `errors` lists them. "
    "`/docs` describes the route.")
BAD_CURSOR = ProblemCode("BAD_CURSOR", 409, "The cursor does not continue this list",
    "A cursor is the `next` of an earlier page of the same list. If the list has changed, start again without a cursor.")
CONTRACT_UNSOUND = ProblemCode("CONTRACT_UNSOUND", 409, "The contract is not valid",
    "Nothing was stored. `POST /v1/orgs/{org}/contracts/check` gives all findings with their places.")
CONTRACT_UNBOUND = ProblemCode("CONTRACT_UNBOUND", 409, "The contract does not fit the log of hand-offs",
    "Its session, its brief or its mission was handed down to another agent, or is not in the log. Nothing was stored. "
    "`GET /v1/orgs/{org}/handoffs` lists the log.")
DONE_DUPLICATE = ProblemCode("DONE_DUPLICATE", 409, "The session already has a result",
    "A session has exactly one result. Store a correction that names it.")
CONTRACT_EXISTS = ProblemCode("CONTRACT_EXISTS", 409, "A contract with this id is already stored",
    "Contracts are never changed. A new contract has a new id.")
LOG_MUTATED = ProblemCode("LOG_MUTATED", 409, "The log was changed in the store",
    "The stored records do not match their digests, so they are not returned. Compare the store with a backup.")
HANDOFF_REFUSED = ProblemCode("HANDOFF_REFUSED", 409, "The hand-off is not permitted",
    "The detail names the first step that fails, with its code. Nothing was stored. "
    "`POST /v1/orgs/{org}/handoffs/check` gives every step with its lines and remedies.")
HANDOFF_INCOMPLETE = ProblemCode("HANDOFF_INCOMPLETE", 409, "The hand-off still needs something",
    "The edge requires a brief or something in it, or a circumstance is not known. The detail lists what is missing. "
    "Nothing was stored.")
HANDOFF_DUPLICATE = ProblemCode("HANDOFF_DUPLICATE", 409, "The brief or the session is in use",
    "A brief is worked on once, and a session follows one brief. Nothing was stored.")
NO_GATEWAY = ProblemCode("NO_GATEWAY", 409, "The server knows no tools of a gateway",
    "The server has no gateway, and its folder has no `gateway.lock.json`, which lists the accepted tools. "
    "`orgkernel gateway report --lock FILE` reads another one.")
NO_SDK = ProblemCode("NO_SDK", 501, "MCP is not installed on the server",
    "`/mcp` needs the SDK of the Model Context Protocol: the server has to be installed as `orgkernel[mcp]`.")
INTERNAL = ProblemCode("INTERNAL", 500, "The server has an internal error",
    "The request is not the cause. The log of the server has the details.")
# fmt: on

KINDS: dict[str, ProblemCode] = {
    kind.code: kind for kind in list(globals().values()) if isinstance(kind, ProblemCode)
}


class RequestRefused(Exception):
    """A route raises it to answer with a problem."""

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
            self.headers.setdefault("WWW-Authenticate", build_challenge())


def build_challenge(error: str = "", scope: str = "") -> str:
    """The value of `WWW-Authenticate` (RFC 6750, section 3). `scope` has the scopes of tokens that are needed.

    >>> build_challenge("insufficient_scope", "orgkernel:report")
    'Bearer realm="orgkernel", error="insufficient_scope", scope="orgkernel:report"'
    """
    parts = ('realm="orgkernel"', error and f'error="{error}"', scope and f'scope="{scope}"')
    return f"Bearer {', '.join(filter(None, parts))}"


def build_problem_response(
    kind: ProblemCode,
    detail: str,
    help: str = "",
    *,
    errors: tuple[InvalidValue, ...] = (),
    organizations: tuple[OrganizationStanding, ...] = (),
    diagnostics: tuple[DiagnosticRow, ...] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    """The response. `type` is a relative reference, so it does not depend on the name of the server."""
    note_problem(kind.code)
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


def say_invalid(where: str) -> str:
    """The message for a request that is not valid at a place."""
    return f"the request is not valid at {where}"


def build_refusal_response(refused: RequestRefused) -> Response:
    """The response to a refused request."""
    return build_problem_response(
        refused.kind, refused.detail, refused.help, errors=refused.errors, headers=refused.headers
    )


def build_store_problem(error: OrgkernelError) -> Response:
    """The response if the state could not be read or written, or does not allow the change."""
    kind = KINDS.get(error.code, STORE_FAILED if isinstance(error, StoreError) else REFUSED)
    # The path of the store is for the log only. Clients do not need it.
    detail = kind.sentence if isinstance(error, StoreError) else error.message
    return build_problem_response(
        kind, detail, find_store_help(error) if isinstance(error, StoreError) else error.help
    )


def find_store_help(error: StoreError) -> str:
    """The help for a store that cannot be used. Waiting does not help if it has another version."""
    return error.help if isinstance(error, OtherStoreVersion) else "try again later"
