"""Shared by the commands that ask about access: circumstances, the organization and the stored state."""

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
    "--on-behalf-of",
    metavar="SUBJECT",
    help="Subject that triggered the run; its permissions are the upper bound.",
)
via_option = click.option(
    "--via",
    multiple=True,
    metavar="SUBJECT",
    help="Dispatchers above the subject, first to last; repeatable.",
)
# The names of the circumstances: the fields of `AccessContext`.
_FIELDS = tuple(AccessContext.__struct_fields__)


def open_with_state(paths: tuple[str, ...], org: str, store: str | None, *, no_cache: bool = False) -> Kernel:
    """The kernel for some paths with the stored state. A question never creates a store."""
    kernel = open_kernel(paths, org, no_cache=no_cache)
    here = os.getcwd()
    return kernel.with_store(StateAt(locate_store(find_project(here), here, store)))


def parse_context(text: str) -> AccessContext:
    """Parse the circumstances of a question from JSON. Raises `UsageError` for invalid ones."""
    if not text:
        return AccessContext()
    try:
        said = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise UsageError("the context is not JSON", 'write `--context \'{"channel": "slack"}\'`') from None
    if not isinstance(said, dict):
        raise UsageError("the context is not a JSON object", 'write `--context \'{"channel": "slack"}\'`')
    for name in said:
        if name not in _FIELDS:
            help = did_you_mean(name, _FIELDS) or f"known names are {listing(_FIELDS)}"
            raise UsageError(f"unknown name {quote(name)} in the context", help)
    try:
        return msgspec.convert(said, AccessContext)
    except msgspec.ValidationError as error:
        message, place = describe_unfit(error)
        raise UsageError(
            f"the context has a bad value at {quote(place.removeprefix('.'))}: {message}"
        ) from None


def question_options(command: Callable[..., None]) -> Callable[..., None]:
    """The arguments and options of a question about access. `explain_question` takes them."""
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
    """The question as text, and its explanation."""
    require_kind("subject", subject, "role:")
    require_kind("resource", resource, "tool:")
    request = AccessRequest(subject, action, resource, parse_context(context), on_behalf_of, via)
    explanation = open_with_state(paths, org, store, no_cache=no_cache).explain(org, request)
    return f"{subject} {action} {resource}", explanation


def require_kind(what: str, text: str, example: str) -> str:
    """A subject or resource with its kind. Raises `UsageError` for a name without a kind."""
    if ":" not in text:
        raise UsageError(
            f"the {what} {quote(text)} has no kind", f"write it as `KIND:ID`, such as {quote(example + text)}"
        )
    return text


def kinds_option(*kinds: str, default: tuple[str, ...]) -> Callable[[Any], Any]:
    """The option `--kind`: the kinds to list."""
    return click.option(
        "--kind", "kinds", multiple=True, type=click.Choice(kinds), default=default, show_default=True,
        help="List only this kind; repeatable.",
    )  # fmt: skip
