"""What a route says about its responses in the OpenAPI document; the schemas themselves come from msgspec."""

from __future__ import annotations

from typing import Any, get_args

from manifest_api.shapes import Problem

SHAPES: dict[str, Any] = {"Problem": Problem}
"""The types that routes answer and take, by name: each is noted where a route is declared."""
REFERENCE = "#/components/schemas/{name}"
PROBLEM = {"application/problem+json": {"schema": {"$ref": REFERENCE.format(name="Problem")}}}
_SNAPSHOT = {
    "Orgkernel-Snapshot": {
        "description": "Digest of the version answered from.",
        "schema": {"type": "string"},
    }
}
_STALE = {
    "Orgkernel-Stale": {
        "description": "`true` when the answer is from the last good version, because what is on disk has errors.",
        "schema": {"type": "string", "enum": ["true"]},
    }
}
_ETAG = {"ETag": {"description": "Strong: hash of the representation.", "schema": {"type": "string"}}}
_LINK = {"Link": {"description": 'The next page, as `rel="next"`.', "schema": {"type": "string"}}}
_REASONS = {
    400: "The body is not JSON, or asks nothing that can be understood.",
    401: "This needs a credential, or the one that was shown opens nothing.",
    404: "There is no such organization or role.",
    415: "The body is not said to be JSON.",
    429: "Too many requests, or too many wrong credentials.",
    503: "The store cannot be used, or the organization has errors and no earlier good version; what was found is listed.",
}


def told(
    shape: Any, *problems: int, kept: bool = True, paged: bool = False, org: bool = False
) -> dict[int | str, Any]:
    """The responses of a route: an answer of one shape, and problems.

    `kept` answers have an ETag, those of an organization may be stale, those of a list may have another page.
    """
    headers = {
        **_SNAPSHOT,
        **(_ETAG if kept else {}),
        **(_STALE if org else {}),
        **(_LINK if paged and kept else {}),
    }
    responses: dict[int | str, Any] = {
        200: {"description": "The answer.", "headers": headers, "content": content(shape)}
    }
    if kept:
        responses[304] = {"description": "The client has the answer already.", "headers": headers}
    reasons = _REASONS | {409: _conflict(paged, org)}
    return responses | {status: {"description": reasons[status], "content": PROBLEM} for status in problems}


def stored(shape: Any, *problems: int, status: int = 200) -> dict[int | str, Any]:
    """The responses of a route that reads or changes what is stored."""
    reasons = _REASONS | {
        404: "There is no such record.",
        409: "There is no store yet, the record is in another state, or the cursor names no row.",
    }
    return {
        status: {"description": "The answer.", "content": content(shape)},
        **{each: {"description": reasons[each], "content": PROBLEM} for each in (*problems, 429, 503)},
    }


def change(
    gives: Any, takes: Any, example: object, *, made: bool = False, names_record: bool = True
) -> dict[str, Any]:
    """How a route is declared that changes what is stored: its answer and its problems, and the body it takes.

    `made` says that something new is stored; a route that `names_record` answers 404 where there is none of the name.
    """
    problems = (400, 401, 404, 409, 415) if names_record else (400, 401, 409, 415)
    status = 201 if made else 200
    return {
        "status_code": status,
        "responses": stored(gives, *problems, status=status),
        "openapi_extra": body_of(takes, example),
    }


def access_question(
    gives: Any, takes: Any, example: object, *, authzen: bool = False, **said: bool
) -> dict[str, Any]:
    """How a route is declared that answers a question about access; `said` is what `told` is told besides.

    Routes of AuthZEN answer 400 for every request that they cannot read, whatever the reason.
    """
    problems = (400, 401, 404, 409, 429, 503) if authzen else (400, 401, 404, 409, 415, 429, 503)
    return {
        "responses": told(gives, *problems, kept=False, **said),
        "openapi_extra": body_of(takes, example),
    }


def body_of(shape: Any, example: object) -> dict[str, Any]:
    """The body a route takes."""
    return {"requestBody": {"required": True, "content": content(shape, example)}}


def _conflict(paged: bool, org: bool) -> str:
    """Why a route can be in conflict with the state of the registry."""
    ambiguous = ["`active` could mean several organizations; they are listed."] if org else []
    return " ".join(ambiguous + (["The cursor continues no list of this version."] if paged else []))


def content(shape: Any, example: object = None) -> dict[str, Any]:
    """JSON of a type, or of one of several."""
    shapes = {each.__name__: each for each in get_args(shape) or (shape,)}
    SHAPES.update(shapes)
    references = [{"$ref": REFERENCE.format(name=name)} for name in shapes]
    schema: dict[str, Any] = {"schema": references[0] if len(references) == 1 else {"anyOf": references}}
    return {"application/json": schema | ({"example": example} if example is not None else {})}
