"""What the commands that ask about access share: circumstances, the organization, and the state that counts."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import click
import msgspec

from orgkernel.cli.opening import cache_option, format_option, open_kernel, path_option
from orgkernel.cli.stores import store_option
from orgkernel.decisions.access.decision import AccessExplanation
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.diagnostics.validation_text import describe_unfit
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.errors import UsageError
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.registry import ACTIVE
from orgkernel.kernel.settings import find_project
from orgkernel.kernel.stored import StateAt, locate_store

org_option = click.option(
    "--org", default=ACTIVE, show_default=True, metavar="ORG", help="Organization, or `active`."
)
context_option = click.option(
    "--context", "context", default="", metavar="JSON",
    help='Circumstances, such as `{"channel": "slack", "pace": "contingent"}`.',
)  # fmt: skip
behalf_option = click.option(
    "--on-behalf-of", metavar="SUBJECT", help="Who triggered the run: it gets no more than they have."
)
via_option = click.option(
    "--via", multiple=True, metavar="SUBJECT", help="Who dispatched whom, first to last; repeatable."
)
# What states of the world a question can be asked under: `AccessContext` has them all.
_FIELDS = tuple(AccessContext.__struct_fields__)


def open_with_state(paths: tuple[str, ...], org: str, store: str | None, *, no_cache: bool = False) -> Kernel:
    """The kernel over some paths, deciding with what is stored; a question makes no store where there is none."""
    kernel = open_kernel(paths, org, no_cache=no_cache)
    here = os.getcwd()
    return kernel.with_store(StateAt(locate_store(find_project(here), here, store)))


def parse_context(text: str) -> AccessContext:
    """The circumstances of a question as JSON; raises `UsageError` for what they cannot be."""
    if not text:
        return AccessContext()
    try:
        said = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise UsageError("the context is not JSON", 'write `--context \'{"channel": "slack"}\'`') from None
    if not isinstance(said, dict):
        raise UsageError("the context is not an object", 'write `--context \'{"channel": "slack"}\'`')
    for name in said:
        if name not in _FIELDS:
            help = did_you_mean(name, _FIELDS) or f"a context has {listing(_FIELDS)}"
            raise UsageError(f"a context has no {quote(name)}", help)
    try:
        return msgspec.convert(said, AccessContext)
    except msgspec.ValidationError as error:
        message, place = describe_unfit(error)
        raise UsageError(f"the context does not fit at {quote(place.removeprefix('.'))}: {message}") from None


def question_options(command: Callable[..., None]) -> Callable[..., None]:
    """The arguments and options of a question whether somebody may do something; `explain_question` takes them."""
    for add in (
        format_option("text", "json"), cache_option, store_option, context_option, via_option, behalf_option,
        path_option, org_option, click.argument("resource"), click.argument("action"), click.argument("subject"),
    ):  # fmt: skip
        command = add(command)
    return command


def explain_question(
    *,
    subject: str,
    action: str,
    resource: str,
    org: str,
    paths: tuple[str, ...],
    on_behalf_of: str | None,
    via: tuple[str, ...],
    context: str,
    store: str | None,
    no_cache: bool,
) -> tuple[str, AccessExplanation]:
    """The question in words, and its answer."""
    require_kind("subject", subject, "role:")
    require_kind("resource", resource, "tool:")
    request = AccessRequest(subject, action, resource, parse_context(context), on_behalf_of, via)
    explanation = open_with_state(paths, org, store, no_cache=no_cache).explain(org, request)
    return f"{subject} {action} {resource}", explanation


def require_kind(what: str, text: str, example: str) -> str:
    """A subject or resource with its kind; raises `UsageError` for a bare name, which no decision could mean."""
    if ":" not in text:
        raise UsageError(
            f"the {what} {quote(text)} has no kind", f"write it as `KIND:ID`, such as {quote(example + text)}"
        )
    return text


def kinds_option(*kinds: str, default: tuple[str, ...]) -> Callable[[Any], Any]:
    """`--kind`, of what is listed."""
    return click.option(
        "--kind", "kinds", multiple=True, type=click.Choice(kinds), default=default, show_default=True,
        help="Only these; repeatable.",
    )  # fmt: skip
