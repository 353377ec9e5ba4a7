"""Parameters and bodies of requests. Unknown parameters are refused, not ignored."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
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
    GIVEN_TWICE,
    INVALID_REQUEST,
    NOT_JSON,
    RequestRefused,
    say_invalid,
)
from manifest_api.shapes import InvalidValue, ProblemCode
from orgkernel.decisions.evidence.state_view import ALL_ORGANIZATIONS, Lifecycle
from orgkernel.diagnostics.validation_text import describe_unfit
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.documents.records import RoleType
from orgkernel.kernel.kernel import Kernel
from orgkernel.loading.files import SourceText
from orgkernel.loading.files import decode as decode_text
from orgkernel.manifest.crew import AgentFilter
from orgkernel.manifest.filters import RoleFilter
from orgkernel.operations.permissions import MAX_WORD_LENGTH
from orgkernel.prepared_types import prepared

DEFAULT_ROLES, MAX_ROLES = 50, 200
LATEST_TIME = 1e11
DEFAULT_AGENTS, MAX_AGENTS = 100, 1000
DEFAULT_ORGANIZATIONS, MAX_ORGANIZATIONS = 50, 200
DEFAULT_FINDINGS, MAX_FINDINGS = 200, 1000


def declare_path_id(what: str, example: str) -> Any:
    """A path parameter. Its pattern is for clients; for other strings, the kernel reports an unknown id."""
    return Path(
        description=f"Id of {what}.",
        json_schema_extra={"pattern": "^[A-Za-z_][A-Za-z0-9_-]{0,99}$"},
        examples=[example],
    )


def declare_word(description: str) -> Any:
    """A query parameter with one word."""
    return Query(min_length=1, max_length=MAX_WORD_LENGTH, description=description)


Org = Annotated[str, declare_path_id("an organization, or `active`", "software_dev")]
OrgOrAll = Annotated[
    str,
    Path(
        description=f"Id of an organization, `active`, or `{ALL_ORGANIZATIONS}` for all organizations.",
        json_schema_extra={"pattern": r"^([A-Za-z_][A-Za-z0-9_-]{0,99}|\*)$"},
        examples=["software_dev"],
    ),
]
Role = Annotated[str, declare_path_id("a role", "codegen_specialist")]
Cursor = Annotated[str | None, declare_word("The `next` of the previous page.")]
AsOf = Annotated[
    float | None,
    Query(
        ge=0,
        le=LATEST_TIME,
        description="Seconds since 1970-01-01 UTC: stored state as it was then. The documents are the current ones.",
    ),
]


def open_kernel_as_of(kernel: Kernel, at: float | None) -> Kernel:
    """The kernel, or one with the state of an earlier time."""
    return kernel if at is None else kernel.as_of(at)


@dataclass(frozen=True, slots=True)
class CrewQuestion:
    """The selected roles, and the page of the list."""

    wanted: RoleFilter
    agents: AgentFilter
    cursor: str | None
    limit: int


async def read_crew_question(
    role_type: Annotated[RoleType | None, Query(description="Only roles of this type.")] = None,
    domain: Annotated[
        str | None, declare_word("Only roles that handle this domain. It may be an alias.")
    ] = None,
    plan: Annotated[str | None, declare_word("Only roles that follow this plan.")] = None,
    tool: Annotated[str | None, declare_word("Only roles that are equipped with this tool.")] = None,
    skill: Annotated[str | None, declare_word("Only roles that require this skill.")] = None,
    reports_to: Annotated[str | None, declare_word("Only roles with this direct superior.")] = None,
    department: Annotated[str | None, declare_word("The department.")] = None,
    layer: Annotated[str | None, declare_word("The hand-off layer.")] = None,
    role: Annotated[str | None, declare_word("Only this role, if an agent fills it.")] = None,
    rank: Annotated[str | None, declare_word("Only roles that an agent of this rank fills.")] = None,
    min_level: Annotated[
        int | None,
        Query(
            ge=1, le=7, description="Only roles with an agent at this level of the skill, or of any skill."
        ),
    ] = None,
    qualification: Annotated[
        str | None, declare_word("Only roles with an agent that has passed this test.")
    ] = None,
    intent: Annotated[
        str | None, declare_word("Only roles that serve this intent and have an agent.")
    ] = None,
    watch: Annotated[str | None, declare_word("Only roles that an agent fills in this watch.")] = None,
    lifecycle: Annotated[
        Lifecycle | None, Query(description="Only roles with an agent in this state.")
    ] = None,
    cursor: Cursor = None,
    limit: Annotated[
        int, Query(ge=1, le=MAX_ROLES, description="Maximum number of roles on a page.")
    ] = DEFAULT_ROLES,
) -> CrewQuestion:
    """The question from the query parameters."""
    wanted = RoleFilter(
        role_type=role_type, domain=domain, plan=plan, tool=tool, skill=skill, reports_to=reports_to,
        department=department, layer=layer,
    )  # fmt: skip
    agents = AgentFilter(
        role=role, rank=rank, skill=None if min_level is None else skill, min_level=min_level,
        qualification=qualification, intent=intent, watch=watch, lifecycle=lifecycle,
    )  # fmt: skip
    return CrewQuestion(wanted, agents, cursor, limit)


CrewQuery = Annotated[CrewQuestion, Depends(read_crew_question)]


@dataclass(frozen=True, slots=True)
class AgentQuestion:
    """The selected agents, and the page of the list."""

    wanted: AgentFilter
    cursor: str | None
    limit: int


async def read_agent_question(
    role: Annotated[str | None, declare_word("Only agents that fill this role.")] = None,
    department: Annotated[str | None, declare_word("Only agents with a role in this department.")] = None,
    rank: Annotated[str | None, declare_word("Only agents of this rank.")] = None,
    skill: Annotated[str | None, declare_word("Only agents that hold this skill.")] = None,
    min_level: Annotated[
        int | None,
        Query(ge=1, le=7, description="Lowest level of the skill, or of any skill, decay included."),
    ] = None,
    qualification: Annotated[str | None, declare_word("Only agents that have passed this test.")] = None,
    tool: Annotated[
        str | None, declare_word("Only agents with a role that is equipped with this tool.")
    ] = None,
    intent: Annotated[str | None, declare_word("Only agents with a role that serves this intent.")] = None,
    watch: Annotated[str | None, declare_word("Only agents that fill a role in this watch.")] = None,
    lifecycle: Annotated[Lifecycle | None, Query(description="Only agents in this state.")] = None,
    cursor: Cursor = None,
    limit: Annotated[
        int, Query(ge=1, le=MAX_AGENTS, description="Maximum number of agents on a page.")
    ] = DEFAULT_AGENTS,
) -> AgentQuestion:
    """The question from the query parameters."""
    wanted = AgentFilter(
        role=role, department=department, rank=rank, skill=skill, min_level=min_level, qualification=qualification,
        tool=tool, intent=intent, watch=watch, lifecycle=lifecycle,
    )  # fmt: skip
    return AgentQuestion(wanted, cursor, limit)


AgentQuery = Annotated[AgentQuestion, Depends(read_agent_question)]


def start_of_page(
    cursor: str | None, stamp: str, count: int, name: str = "cursor", *, refusal: ProblemCode = BAD_CURSOR
) -> int:
    """The start of a page in a list of `count` items, from a cursor `STAMP-START`.

    A stamp names one version of one list.
    """
    if not cursor:
        return 0
    number = cursor.rpartition("-")[2]
    start = int(number) if number.isascii() and number.isdigit() and len(number) < 10 else 0
    if cursor != f"{stamp}-{start}" or not 0 < start < count:
        raise RequestRefused(
            refusal,
            f"the {name} does not continue this list in its current version",
            f"start again without a {name}",
        )
    return start


async def _refuse_unknown_parameters(request: Request) -> None:
    if request.query_params:
        refuse_unknown_parameters(request, tuple(_list_parameters(request.scope["route"].dependant)))


def refuse_unknown_parameters(request: Request, names: Sequence[str]) -> None:
    """Raise `RequestRefused` for an unknown or repeated query parameter."""
    if not request.scope["query_string"]:
        return
    seen: set[str] = set()
    errors = []
    for name, _ in request.query_params.multi_items():
        if name not in names:
            hint = did_you_mean(name, names) or (f"parameters are {listing(names)}" if names else "")
            errors.append(InvalidValue(where=f"query.{name}", message=f"is not known; {hint}".rstrip("; ")))
        elif name in seen:
            errors.append(InvalidValue(where=f"query.{name}", message=GIVEN_TWICE))
        seen.add(name)
    if errors:
        where = listing(each.where for each in errors)
        raise RequestRefused(INVALID_REQUEST, say_invalid(where), "see `/docs`", errors)


def _list_parameters(dependant: Dependant) -> Iterator[str]:
    """The query parameters of a route, including those of its dependencies."""
    yield from (field.alias for field in dependant.query_params)
    for each in dependant.dependencies:
        yield from _list_parameters(each)


KNOWN_PARAMETERS = Depends(_refuse_unknown_parameters)
"""A dependency that refuses unknown and repeated query parameters."""

Shape = TypeVar("Shape")


async def read_body(
    request: Request, shape: type[Shape], example: str, kind: ProblemCode = INVALID_REQUEST
) -> Shape:
    """Read the body as a value of a type. Raises `RequestRefused` with this kind of problem."""
    decode: Callable[[bytes], Shape] = msgspec.json.Decoder(prepared(shape)).decode
    return parse_body(request.scope, await request.body(), decode, example, kind)


def read_body_text(name: str, value: msgspec.Raw) -> SourceText:
    """Read a document in a body: an object, or a string with YAML or JSON. An object has places in its own JSON."""
    text = bytes(value)
    if text[:1] == b'"':
        text = msgspec.json.decode(text, type=str).encode("utf-8", "surrogatepass")
    return decode_text(name, name, text)


def parse_body(
    scope: Scope,
    body: bytes,
    decode: Callable[[bytes], Shape],
    example: str,
    kind: ProblemCode = INVALID_REQUEST,
) -> Shape:
    """Parse a body like `read_body`, after it was read."""
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
        question = decode(body)
        refuse_repeated_names(body, kind)
    except msgspec.ValidationError as error:
        raise build_unfit_value_refusal(error, kind) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise RequestRefused(BAD_JSON, BAD_JSON.sentence, f"send an object such as {example}") from None
    return question


def refuse_repeated_names(body: bytes, kind: ProblemCode) -> None:
    """Refuse JSON objects with a repeated name (RFC 7493, section 2.3), which two readers could read differently."""

    def check(pairs: list[tuple[str, Any]]) -> None:
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            name = next(each for number, each in enumerate(names) if each in names[:number])
            raise RequestRefused(
                kind,
                f"an object in the body has the name {quote(name)} more than once",
                "send each name only once",
                [InvalidValue(where="body", message=f"has the name {quote(name)} more than once")],
            )

    # Numbers stay text: only the names matter, and an integer of a million digits takes long to read.
    json.loads(body, object_pairs_hook=check, parse_int=str, parse_float=str, parse_constant=str)


def build_unfit_value_refusal(
    error: msgspec.ValidationError, kind: ProblemCode = INVALID_REQUEST, inside: str = "body"
) -> RequestRefused:
    """The problem for a value that does not fit."""
    message, place = describe_unfit(error)
    where = inside + place
    return RequestRefused(
        kind,
        say_invalid(quote(where)),
        "see `/docs`",
        [InvalidValue(where=where, message=message)],
    )
