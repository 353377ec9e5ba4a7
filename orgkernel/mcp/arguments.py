"""Read the arguments of calls: known names and shapes only, and never the identity of the caller."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from orgkernel.decisions.access.plain_context import build_context
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.diagnostics.validation_text import describe_unfit
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.errors import UsageError
from orgkernel.mcp import shapes
from orgkernel.prepared_types import prepared

if TYPE_CHECKING:
    from orgkernel.mcp.asker import Asker

MAX_BYTES = 64 * 1024
"""Maximum size of the arguments of a call in bytes, the same as for a body over HTTP."""
_SUBJECT_WORDS = frozenset(
    {"subject", "agent", "as", "on_behalf_of", "via", "envelope", "org", "org_id", "requester"}
)
# Facts about a run that only the host knows. The options of the server set them.
_OF_HOST = frozenset({"now", "utc_offset"})


def read_arguments(
    tool: str, shape: type[shapes.Arguments], raw_arguments: Mapping[str, Any] | None
) -> shapes.Arguments:
    """Read the arguments of a tool call in their shape. Raises `UsageError`."""
    given = dict(raw_arguments or {})
    if len(msgspec.json.encode(given)) > MAX_BYTES:
        raise UsageError(f"the arguments have more than {MAX_BYTES} bytes", "send less")
    known = [field.encode_name for field in msgspec.structs.fields(shape)]
    for name in given:
        if name in known:
            continue
        if name in _SUBJECT_WORDS or name == "role":
            raise UsageError(
                f"the argument {quote(name)} cannot name the caller",
                "leave it out: the subject comes from the options of the server or from the key, and from no other source",
            )
        help = did_you_mean(name, known) or (
            f"arguments are {listing(known)}" if known else "it has no arguments"
        )
        raise UsageError(f"{quote(tool)} has no argument {quote(name)}", help)
    try:
        return msgspec.convert(given, prepared(shape))
    except msgspec.ValidationError as error:
        message, place = describe_unfit(error)
        where = f" at {quote(place.removeprefix('.'))}" if place else ""
        raise UsageError(
            f"the arguments do not fit{where}: {message}", f"see the schema of {quote(tool)}"
        ) from None


def list_resources_in(arguments: shapes.CanArguments) -> tuple[str, ...]:
    """The resource, or each of the paths as a part of it. Raises `UsageError`."""
    kind, _, name = arguments.resource.partition(":")
    if not kind or not name:
        raise UsageError(
            f"the resource {quote(arguments.resource)} has no kind",
            f"write it as `KIND:ID`, such as {quote(f'tool:{arguments.resource}')}",
        )
    if not arguments.paths:
        return (arguments.resource,)
    if kind != "tool" or ":" in name:
        raise UsageError("only a tool has paths", "name it as `tool:ID`, and its files in `paths`")
    return tuple(f"{arguments.resource}:{path}" for path in arguments.paths)


def build_request(asker: Asker, arguments: shapes.CanArguments, resource: str) -> AccessRequest:
    """Build the request in the name of the asker. The options of the server take precedence over arguments.

    Raises `UsageError`.
    """
    settled = msgspec.to_builtins(asker.base.context)
    argument_context = dict(arguments.context)
    for name, value in argument_context.items():
        if name in _SUBJECT_WORDS or name in _OF_HOST:
            raise UsageError(
                f"the context cannot set {quote(name)}",
                "leave it out: it comes from the options of the server, and from no other source",
            )
        if name not in AccessContext.__struct_fields__:
            known = [each for each in AccessContext.__struct_fields__ if each not in _OF_HOST]
            help = did_you_mean(name, known) or f"known names are {listing(known, len(known))}"
            raise UsageError(f"unknown name {quote(name)} in the context", help)
        if name in settled and settled[name] != value:
            raise UsageError(
                f"the context sets {quote(name)} to another value than the server was started with",
                "leave it out",
            )
    context = build_context({**argument_context, **settled})
    return msgspec.structs.replace(asker.base, action=arguments.action, resource=resource, context=context)
