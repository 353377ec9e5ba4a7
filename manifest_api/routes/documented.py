"""The responses of routes in the OpenAPI document. The schemas come from msgspec."""

from __future__ import annotations

from typing import Any, get_args

from manifest_api.shapes import Problem

SHAPES: dict[str, Any] = {"Problem": Problem}
"""The types of bodies and answers by name. Each is added where a route is declared."""
REFERENCE = "#/components/schemas/{name}"
PROBLEM = {"application/problem+json": {"schema": {"$ref": REFERENCE.format(name="Problem")}}}
API_KEY, IDENTITY_TOKEN = "apiKey", "identityToken"
SECURITY_SCHEMES = {
    API_KEY: {
        "type": "http",
        "scheme": "bearer",
        "description": "An API key of the store. It begins with `orgk_`, and `orgkernel key create` creates one.",
    },
    IDENTITY_TOKEN: {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": "A token of the identity provider that `[oidc]` in `orgkernel.toml` names.",
    },
}
"""The types of credentials, as the OpenAPI document describes them."""
WITH_CREDENTIAL: list[dict[str, list[str]]] = [{API_KEY: []}, {IDENTITY_TOKEN: []}]
"""The security of a route that needs a credential."""
MAY_ASK: list[dict[str, list[str]]] = [*WITH_CREDENTIAL, {}]
"""The security of a route that answers callers on loopback without a credential."""
_SNAPSHOT = {
    "Orgkernel-Snapshot": {
        "description": "Digest of the version that answered.",
        "schema": {"type": "string"},
    }
}
_STALE = {
    "Orgkernel-Stale": {
        "description": "`true` if the answer comes from the last good version, because the documents on disk have errors.",
        "schema": {"type": "string", "enum": ["true"]},
    }
}
_ETAG = {"ETag": {"description": "Strong: hash of the representation.", "schema": {"type": "string"}}}
_LINK = {"Link": {"description": 'The next page, as `rel="next"`.', "schema": {"type": "string"}}}
_REASONS = {
    400: "The body is not JSON, or the question cannot be read.",
    401: "The request needs a credential, or its credential is not valid.",
    404: "The organization or role does not exist.",
    415: "The content type is not JSON.",
    501: "MCP is not installed on the server.",
    429: "Too many requests, or too many invalid credentials.",
    503: "The store cannot be used, or the organization has errors and no earlier good version. The problem lists the findings.",
}


def declare_responses(
    shape: Any, *problems: int, kept: bool = True, paged: bool = False, org: bool = False
) -> dict[int | str, Any]:
    """The responses of a route: an answer of one type, and problems.

    `kept` answers have an ETag. Answers about an organization may be stale. A list may have another page.
    """
    headers = {
        **_SNAPSHOT,
        **(_ETAG if kept else {}),
        **(_STALE if org else {}),
        **(_LINK if paged and kept else {}),
    }
    responses: dict[int | str, Any] = {
        200: {"description": "The answer.", "headers": headers, "content": build_content(shape)}
    }
    if kept:
        responses[304] = {"description": "The client has the answer already.", "headers": headers}
    reasons = _REASONS | {409: _describe_conflicts(paged, org)}
    return responses | {status: {"description": reasons[status], "content": PROBLEM} for status in problems}


def declare_store_responses(shape: Any, *problems: int, status: int = 200) -> dict[int | str, Any]:
    """The responses of a route that reads or changes the store."""
    reasons = _REASONS | {
        404: "The organization or the record does not exist.",
        409: "There is no store, the record is in another state, or the cursor names no row.",
    }
    return {
        status: {"description": "The answer.", "content": build_content(shape)},
        **{each: {"description": reasons[each], "content": PROBLEM} for each in (*problems, 429, 503)},
    }


def declare_change(
    gives: Any, takes: Any, example: object, *, creates_record: bool = False
) -> dict[str, Any]:
    """The declaration of a route that changes the store: its answer, its problems and its body.

    `creates_record` is true if the route creates a record. Every such route answers 404 if the organization or the record does
    not exist.
    """
    problems = (400, 401, 404, 409, 415)
    status = 201 if creates_record else 200
    return {
        "status_code": status,
        "responses": declare_store_responses(gives, *problems, status=status),
        "openapi_extra": declare_body(takes, example)
        | {"security": WITH_CREDENTIAL, "parameters": [_IDEMPOTENCY_KEY]},
    }


_IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
    "description": "Names the request. A repetition with the same key changes nothing and gets the first response.",
}


def declare_access_question(
    gives: Any, takes: Any, example: object, *, authzen: bool = False, **options: bool
) -> dict[str, Any]:
    """The declaration of a route that answers a question about access. `options` has further arguments of `declare_responses`.

    Routes of AuthZEN answer 400 for every request that they cannot read.
    """
    problems = (400, 401, 404, 409, 429, 503) if authzen else (400, 401, 404, 409, 415, 429, 503)
    return {
        "responses": declare_responses(gives, *problems, kept=False, **options),
        "openapi_extra": declare_body(takes, example),
    }


def declare_body(shape: Any, example: object) -> dict[str, Any]:
    """The body of a route."""
    return {"requestBody": {"required": True, "content": build_content(shape, example)}}


def _describe_conflicts(paged: bool, org: bool) -> str:
    """The conflicts of a route with the state of the registry."""
    ambiguous = ["`active` could mean several organizations, and the problem lists them."] if org else []
    return " ".join(
        ambiguous + (["The cursor does not continue the list in its current version."] if paged else [])
    )


def build_content(shape: Any, example: object = None) -> dict[str, Any]:
    """JSON content of one of several types."""
    shapes = {each.__name__: each for each in get_args(shape) or (shape,)}
    SHAPES.update(shapes)
    references = [{"$ref": REFERENCE.format(name=name)} for name in shapes]
    schema: dict[str, Any] = {"schema": references[0] if len(references) == 1 else {"anyOf": references}}
    return {"application/json": schema | ({"example": example} if example is not None else {})}
