"""`orgkernel can`, `why`, `who-can` and `what-can`: who may do what, and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click
import msgspec

from orgkernel.cli.decisions import (
    as_data,
    render_decision,
    render_envelope,
    render_rows,
    render_why,
    why_empty,
)
from orgkernel.cli.opening import cache_option, format_option, path_option, with_options
from orgkernel.cli.output import echo_answer
from orgkernel.cli.stores import open_with_state, store_option
from orgkernel.decisions.access.decision import AccessExplanation
from orgkernel.decisions.access.listing import SUBJECT_KINDS
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.diagnostics.validation_text import describe_unfit
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.errors import UsageError
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.registry import ACTIVE

_EXIT = {"allow": 0, "deny": 1, "ask": 3}
_RESOURCE_KINDS = ("tool", "credential", "data", "role")
# The names of the circumstances: the fields of `AccessContext`.
_CIRCUMSTANCES = tuple(AccessContext.__struct_fields__)

_org_option = click.option(
    "--org", default=ACTIVE, show_default=True, metavar="ORG", help="Organization, or `active`."
)
_behalf_option = click.option(
    "--on-behalf-of",
    metavar="SUBJECT",
    help="Subject that triggered the run; its permissions are the upper bound.",
)
_via_option = click.option(
    "--via",
    multiple=True,
    metavar="SUBJECT",
    help="Dispatchers above the subject, first to last; repeatable.",
)
_circumstances = (
    click.option(
        "--context", "context", default="", metavar="JSON",
        help='Circumstances, such as `{"channel": "slack", "pace": "contingent"}`.',
    ),
    store_option,
    cache_option,
)  # fmt: skip
_question_options = with_options(
    click.argument("subject"), click.argument("action"), click.argument("resource"), _org_option, path_option,
    _behalf_option, _via_option, *_circumstances, format_option("text", "json"),
)  # fmt: skip


def _kinds_option(kinds: tuple[str, ...]) -> Callable[[Any], Any]:
    return click.option(
        "--kind", "kinds", multiple=True, type=click.Choice(kinds), default=kinds, show_default=True,
        help="List only this kind; repeatable.",
    )  # fmt: skip


@click.command("can")
@_question_options
def can(**question: Any) -> None:
    """Check whether SUBJECT may do ACTION on RESOURCE, such as `role:dev use tool:text_editor`.

    Subjects are `role:ID`, `agent:ID`, `person:ID`, `system:ID`, `webhook:ID` or `sender:PLATFORM/ID`. Resources are
    `tool:ID`, `tool:ID:PATH`, `credential:ID`, `data:TIER` or `role:ID`. The stored state is included.

    Exits 0 for allow, 1 for deny, 3 for ask, 2 if it cannot run.
    """
    _explain(render_decision, trace=False, **question)


@click.command("why")
@_question_options
def why(**question: Any) -> None:
    """Explain why SUBJECT may or may not do ACTION on RESOURCE: each layer, what it changed, and its lines.

    Subjects, resources and exit codes are the same as for `orgkernel can`.
    """
    _explain(render_why, trace=True, **question)


def _explain(
    render: Callable[[str, AccessExplanation], str], *, trace: bool, subject: str, action: str, resource: str, org: str,
    paths: tuple[str, ...], on_behalf_of: str | None, via: tuple[str, ...], context: str, store: str | None,
    no_cache: bool, form: str,
) -> None:  # fmt: skip
    _require_kind("subject", subject, "role:")
    _require_kind("resource", resource, "tool:")
    request = AccessRequest(subject, action, resource, _parse_context(context), on_behalf_of, via)
    explanation = open_with_state(paths, org, store, no_cache=no_cache).explain(org, request)
    asked = f"{subject} {action} {resource}"
    echo_answer(form, as_data(explanation, trace=trace), lambda: render(asked, explanation))
    raise click.exceptions.Exit(_EXIT[explanation.decision.outcome])


@click.command("who-can")
@click.argument("action")
@click.argument("resource")
@_org_option
@path_option
@_kinds_option(SUBJECT_KINDS)
@with_options(*_circumstances)
@format_option("text", "json")
def who_can(
    action: str, resource: str, org: str, paths: tuple[str, ...], kinds: tuple[str, ...], context: str,
    store: str | None, no_cache: bool, form: str,
) -> None:  # fmt: skip
    """List the subjects that may do ACTION on RESOURCE, that need an approval, or that could in other circumstances.

    Exits 0 if the list has entries, 1 if it is empty, 2 if it cannot run.
    """
    _require_kind("resource", resource, "tool:")
    kernel = open_with_state(paths, org, store, no_cache=no_cache)
    rows = kernel.who_can(org, action, resource, context=_parse_context(context), kinds=kinds)
    echo_answer(form, rows, lambda: render_rows(rows, by_subject=True))
    if not rows:
        _exit_empty("no subject may do this", kernel, org, AccessRequest("system:cron", action, resource))


@click.command("what-can")
@click.argument("subject")
@_org_option
@path_option
@_kinds_option(_RESOURCE_KINDS)
@_behalf_option
@_via_option
@with_options(*_circumstances)
@click.option(
    "--envelope", is_flag=True, help="Also show the session of its messages, and the matching policies."
)
@format_option("text", "json")
def what_can(
    subject: str, org: str, paths: tuple[str, ...], kinds: tuple[str, ...], on_behalf_of: str | None,
    via: tuple[str, ...], context: str, store: str | None, no_cache: bool, envelope: bool, form: str,
) -> None:  # fmt: skip
    """List what SUBJECT may do, what needs an approval, and what it could do in other circumstances.

    Exits 0 if the list has entries, 1 if it is empty, 2 if it cannot run.
    """
    _require_kind("subject", subject, "role:")
    request = AccessRequest(subject, "", "", _parse_context(context), on_behalf_of, via)
    kernel = open_with_state(paths, org, store, no_cache=no_cache)
    if envelope and (on_behalf_of or via):
        raise UsageError(
            "--envelope cannot be combined with `--on-behalf-of` or `--via`",
            "remove `--on-behalf-of` and `--via`",
        )
    if envelope:
        found = kernel.envelope(org, subject, request.context)
        echo_answer(form, found, lambda: render_envelope(found))
        return
    rows = kernel.what_can(org, subject, request=request, kinds=kinds)
    echo_answer(form, rows, lambda: render_rows(rows, by_subject=False))
    if not rows:
        asked = msgspec.structs.replace(request, action="read", resource="data:none")
        _exit_empty("this subject may do nothing", kernel, org, asked)


def _exit_empty(nothing: str, kernel: Kernel, org: str, request: AccessRequest) -> None:
    click.echo(why_empty(nothing, kernel, org, request), err=True)
    raise click.exceptions.Exit(1)


def _parse_context(text: str) -> AccessContext:
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
        if name not in _CIRCUMSTANCES:
            help = did_you_mean(name, _CIRCUMSTANCES) or f"known names are {listing(_CIRCUMSTANCES)}"
            raise UsageError(f"unknown name {quote(name)} in the context", help)
    try:
        return msgspec.convert(said, AccessContext)
    except msgspec.ValidationError as error:
        message, place = describe_unfit(error)
        raise UsageError(
            f"the context has a bad value at {quote(place.removeprefix('.'))}: {message}"
        ) from None


def _require_kind(what: str, text: str, example: str) -> None:
    """Raise `UsageError` for a subject or resource without a kind."""
    if ":" not in text:
        raise UsageError(
            f"the {what} {quote(text)} has no kind", f"write it as `KIND:ID`, such as {quote(example + text)}"
        )
