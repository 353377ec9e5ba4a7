"""What may be asked in a path, a query and a body; anything else is refused, nothing is silently ignored."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import msgspec
from fastapi import Depends, Path, Query, Request
from fastapi.dependencies.models import Dependant
from starlette.types import Scope

from manifest_api.guards.request_head import read_head
from manifest_api.problems import (
    BAD_CURSOR,
    BAD_EVALUATION,
    BAD_JSON,
    INVALID_REQUEST,
    NOT_JSON,
    RequestRefused,
)
from manifest_api.shapes import InvalidValue, ProblemCode
from orgkernel.diagnostics.validation_text import describe_unfit
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.manifest.filters import RoleFilter
from orgkernel.operations.permissions import LONGEST_WORD
from orgkernel.records.role_profile import RoleType

DEFAULT_ROLES, MOST_ROLES = 50, 200
DEFAULT_ORGANIZATIONS, MOST_ORGANIZATIONS = 50, 200
DEFAULT_FINDINGS, MOST_FINDINGS = 200, 1000


def id_in_path(what: str, example: str) -> Any:
    """A parameter of the path. Its pattern is for clients: the kernel answers for any other text too, that there is no such id."""
    return Path(
        description=f"Id of {what}.",
        json_schema_extra={"pattern": "^[A-Za-z_][A-Za-z0-9_-]{0,99}$"},
        examples=[example],
    )


def word(description: str) -> Any:
    """A query parameter that is a word."""
    return Query(min_length=1, max_length=LONGEST_WORD, description=description)


Org = Annotated[str, id_in_path("an organization, or `active`", "software_dev")]
Role = Annotated[str, id_in_path("a role", "codegen_specialist")]
OrgQuery = Annotated[str, word("Id of an organization, or `active`.")]
Cursor = Annotated[str | None, word("The `next` of the page before.")]


@dataclass(frozen=True, slots=True)
class CrewQuestion:
    """Which roles, and which page of them."""

    wanted: RoleFilter
    cursor: str | None
    limit: int


async def crew_question(
    role_type: Annotated[RoleType | None, Query(description="Type of the role.")] = None,
    domain: Annotated[str | None, word("A domain the role handles, or an alias of it.")] = None,
    plan: Annotated[str | None, word("A plan the role follows.")] = None,
    tool: Annotated[str | None, word("A tool the role is equipped with.")] = None,
    skill: Annotated[str | None, word("A skill the role requires.")] = None,
    reports_to: Annotated[str | None, word("The direct superior.")] = None,
    department: Annotated[str | None, word("The department.")] = None,
    layer: Annotated[str | None, word("The dispatch layer.")] = None,
    cursor: Cursor = None,
    limit: Annotated[int, Query(ge=1, le=MOST_ROLES, description="Most roles on a page.")] = DEFAULT_ROLES,
) -> CrewQuestion:
    """The question, from the parameters of the query."""
    wanted = RoleFilter(
        role_type=role_type, domain=domain, plan=plan, tool=tool, skill=skill, reports_to=reports_to,
        department=department, layer=layer,
    )  # fmt: skip
    return CrewQuestion(wanted, cursor, limit)


CrewQuery = Annotated[CrewQuestion, Depends(crew_question)]


def start_of_page(
    cursor: str | None, stamp: str, count: int, name: str = "cursor", *, first: bool = False
) -> int:
    """Where a page begins in a list of `count`, by a cursor `STAMP-START`. A stamp names one version of one list.

    With `first`, the cursor may also name the first page.
    """
    if not cursor:
        return 0
    number = cursor.rpartition("-")[2]
    start = int(number) if number.isascii() and number.isdigit() and len(number) < 10 else 0
    if cursor != f"{stamp}-{start}" or not (first or start > 0) or start >= count:
        raise RequestRefused(
            BAD_CURSOR, f"the {name} continues no list of this version", f"start again without a {name}"
        )
    return start


async def _refuse_unknown_parameters(request: Request) -> None:
    if not request.query_params:
        return
    names = tuple(_parameters_of(request.scope["route"].dependant))
    seen: set[str] = set()
    errors = []
    for name, _ in request.query_params.multi_items():
        if name not in names:
            hint = did_you_mean(name, names) or (f"parameters are {listing(names)}" if names else "")
            errors.append(InvalidValue(where=f"query.{name}", message=f"is not known; {hint}".rstrip("; ")))
        elif name in seen:
            errors.append(InvalidValue(where=f"query.{name}", message="is given more than once"))
        seen.add(name)
    if errors:
        where = listing(each.where for each in errors)
        raise RequestRefused(INVALID_REQUEST, f"the request does not fit at {where}", "see `/docs`", errors)


def _parameters_of(dependant: Dependant) -> Iterator[str]:
    """The query parameters that a route declares, those of its dependencies included."""
    yield from (field.alias for field in dependant.query_params)
    for each in dependant.dependencies:
        yield from _parameters_of(each)


KNOWN_PARAMETERS = Depends(_refuse_unknown_parameters)
"""A dependency that refuses query parameters the route does not declare, and repeated ones."""

Shape = TypeVar("Shape")


async def read_body(
    request: Request, shape: type[Shape], example: str, kind: ProblemCode = INVALID_REQUEST
) -> Shape:
    """The body as a shape; what does not fit is a problem of this kind."""
    decode: Callable[[bytes], Shape] = msgspec.json.Decoder(shape).decode
    return parse_body(request.scope, await request.body(), decode, example, kind)


def parse_body(
    scope: Scope,
    body: bytes,
    decode: Callable[[bytes], Shape],
    example: str,
    kind: ProblemCode = INVALID_REQUEST,
) -> Shape:
    """As `read_body`, of a body that is there."""
    content_type = read_head(scope).content_type
    if content_type != b"application/json":
        media_type = content_type.decode("latin-1")
        raise RequestRefused(
            # AuthZEN has one status for every request that cannot be read.
            BAD_EVALUATION if kind is BAD_EVALUATION else NOT_JSON,
            f"the content type is {quote(media_type)}",
            "send `Content-Type: application/json`",
        )
    try:
        found = decode(body)
        refuse_repeated_names(body, kind)
    except msgspec.ValidationError as error:
        raise unfit(error, kind) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise RequestRefused(BAD_JSON, "the body is not JSON", f"send an object such as {example}") from None
    return found


def refuse_repeated_names(body: bytes, kind: ProblemCode) -> None:
    """Refuse JSON in which an object has a name twice (RFC 7493, section 2.3): two readers could read two questions."""

    def check(pairs: list[tuple[str, Any]]) -> None:
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            name = next(each for number, each in enumerate(names) if each in names[:number])
            raise RequestRefused(
                kind,
                f"an object in the body has the name {quote(name)} more than once",
                "send each name once",
                [InvalidValue(where="body", message=f"has the name {quote(name)} more than once")],
            )

    # Numbers stay text: only the names matter, and an integer of a million digits takes long to read.
    json.loads(body, object_pairs_hook=check, parse_int=str, parse_float=str, parse_constant=str)


def unfit(
    error: msgspec.ValidationError, kind: ProblemCode = INVALID_REQUEST, inside: str = "body"
) -> RequestRefused:
    """The problem of a value that does not fit."""
    message, place = describe_unfit(error)
    where = inside + place
    return RequestRefused(
        kind,
        f"the request does not fit at {quote(where)}",
        "see `/docs`",
        [InvalidValue(where=where, message=message)],
    )
