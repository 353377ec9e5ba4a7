"""`orgkernel can`, `why`, `who-can` and `what-can`: who may do what, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import click
import msgspec

from orgkernel.cli import completing
from orgkernel.cli.circumstances import context_option, input_option, parse_context
from orgkernel.cli.named import choose_reference
from orgkernel.cli.opening import (
    add_path_options,
    cache_option,
    format_option,
    note_out_of_service,
    org_option,
    with_options,
)
from orgkernel.cli.output import echo_answer, join_lines, list_places, paint, render_reasons
from orgkernel.cli.stores import open_with_state, store_option
from orgkernel.decisions.access.decision import AccessExplanation, AccessRow, RemedyEdit, TraceLine
from orgkernel.decisions.access.envelope import AccessEnvelope
from orgkernel.decisions.access.layer import NEUTRAL
from orgkernel.decisions.access.listing import SUBJECT_KINDS
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.diagnostics.wording import printable, quote
from orgkernel.errors import UsageError
from orgkernel.kernel.kernel import Kernel

_SHOWN_REMEDIES = 5
_EXIT = {"allow": 0, "deny": 1, "ask": 3, "conditional": 4}
_RESOURCE_KINDS = ("tool", "credential", "data", "role")

_behalf_option = click.option(
    "--on-behalf-of",
    metavar="SUBJECT",
    help="Subject that triggered the run; its tools, credentials and data are the upper bound.",
)
_via_option = click.option(
    "--via",
    multiple=True,
    metavar="SUBJECT",
    help="Subjects that handed the work down, first to last; repeatable.",
)
_circumstances = (
    context_option,
    store_option,
    cache_option,
)  # fmt: skip
_question_options = with_options(
    click.argument("subject", shell_complete=completing.subjects),
    click.argument("action", shell_complete=completing.actions),
    click.argument("resource", shell_complete=completing.resources),
    org_option, add_path_options,
    _behalf_option, _via_option, input_option, *_circumstances, format_option("text", "json"),
)  # fmt: skip


def _add_kinds_option(kinds: tuple[str, ...]) -> Callable[[Any], Any]:
    return click.option(
        "--kind", "kinds", multiple=True, type=click.Choice(kinds), default=kinds, show_default=True,
        help="List only this kind; repeatable.",
    )  # fmt: skip


@click.command("can")
@_question_options
def can(**question: Any) -> None:
    """Check whether SUBJECT may do ACTION on RESOURCE, such as `role:dev use tool:text_editor`.

    Subjects are `role:ID`, `agent:ID`, `person:ID`, `system:ID`, `webhook:ID`, `sender:PLATFORM/SPACE/ID` or `sender:PLATFORM/ID`.
    Resources are `tool:ID`, `tool:ID:PATH`, `credential:ID`, `data:TIER` or `role:ID`. The stored state is included.

    Exits 0 for allow, 1 for deny, 3 for ask, 4 for conditional, 2 if it cannot run. Conditional means that the answer
    depends on a circumstance that `--context` does not state.
    """
    _explain(render_decision, trace=False, **question)


@click.command("why")
@_question_options
def why(**question: Any) -> None:
    """Explain why SUBJECT may or may not do ACTION on RESOURCE: each access layer, what it changed, and its lines.

    Subjects, resources and exit codes are the same as for `orgkernel can`.
    """
    _explain(_render_why, trace=True, **question)


def _explain(
    render: Callable[[str, AccessExplanation], str],
    *,
    trace: bool,
    context_json: str,
    input_json: str,
    org: str,
    paths: tuple[str, ...],
    store: str | None,
    no_cache: bool,
    form: str,
    **options: Any,
) -> None:
    _require_kind("subject", options["subject"], "role:")
    _require_kind("resource", options["resource"], "tool:")
    kernel = open_with_state(paths, org, store, no_cache=no_cache)
    for key in ("subject", "resource", "on_behalf_of"):
        if options[key] is not None:
            options[key] = choose_reference(kernel, org, options[key])
    options["via"] = tuple(choose_reference(kernel, org, each) for each in options["via"])
    request = AccessRequest(**options, context=parse_context(context_json, input_json))
    explanation = kernel.why(org, request, counted=_SHOWN_REMEDIES)
    question = f"{request.subject} {request.action} {request.resource}"
    outcome = explanation.decision.outcome

    def text() -> str:
        return paint(outcome, outcome) + render(question, explanation).removeprefix(outcome)

    echo_answer(form, _build_data(explanation, trace=trace), text)
    raise click.exceptions.Exit(_EXIT[explanation.decision.outcome])


@click.command("who-can")
@click.argument("action", shell_complete=completing.actions)
@click.argument("resource", shell_complete=completing.resources)
@org_option
@add_path_options
@_add_kinds_option(SUBJECT_KINDS)
@with_options(input_option, *_circumstances)
@format_option("text", "json")
def who_can(
    action: str,
    resource: str,
    org: str,
    kinds: tuple[str, ...],
    context_json: str,
    input_json: str,
    form: str,
    **where: Any,
) -> None:
    """List the subjects that may do ACTION on RESOURCE, that need an approval, or that could in other circumstances.

    Exits 0 if the list has entries, 1 if it is empty, 2 if it cannot run.
    """
    _require_kind("resource", resource, "tool:")
    kernel = open_with_state(org=org, **where)
    resource = choose_reference(kernel, org, resource)
    note_out_of_service(kernel.organization(org).snapshot)
    rows = kernel.who_can(org, action, resource, context=parse_context(context_json, input_json), kinds=kinds)
    echo_answer(form, rows, lambda: _render_rows(rows, by_subject=True))
    if not rows:
        _exit_empty(
            "no subject is allowed to do this", kernel, org, AccessRequest("system:cron", action, resource)
        )


@click.command("what-can")
@click.argument("subject", shell_complete=completing.subjects)
@org_option
@add_path_options
@_add_kinds_option(_RESOURCE_KINDS)
@_behalf_option
@_via_option
@with_options(*_circumstances)
@click.option(
    "--envelope", is_flag=True, help="Also show the session of its messages, and the matching policies."
)
@format_option("text", "json")
def what_can(
    subject: str,
    org: str,
    kinds: tuple[str, ...],
    on_behalf_of: str | None,
    via: tuple[str, ...],
    context_json: str,
    envelope: bool,
    form: str,
    **where: Any,
) -> None:
    """List what SUBJECT may do, what needs an approval, and what it could do in other circumstances.

    Exits 0 if the list has entries, 1 if it is empty, 2 if it cannot run.
    """
    _require_kind("subject", subject, "role:")
    kernel = open_with_state(org=org, **where)
    subject, *via_ids = (choose_reference(kernel, org, each) for each in (subject, *via))
    behalf = None if on_behalf_of is None else choose_reference(kernel, org, on_behalf_of)
    request = AccessRequest(subject, "", "", parse_context(context_json), behalf, tuple(via_ids))
    if envelope and (on_behalf_of or via):
        raise UsageError(
            "`--envelope` cannot be combined with `--on-behalf-of` or `--via`",
            "remove `--on-behalf-of` and `--via`",
        )
    if envelope:
        access_envelope = kernel.envelope(org, subject, request.context)
        echo_answer(form, access_envelope, lambda: _render_envelope(access_envelope))
        return
    rows = kernel.what_can(org, subject, request=request, kinds=kinds)
    echo_answer(form, rows, lambda: _render_rows(rows, by_subject=False))
    if not rows:
        read_request = msgspec.structs.replace(request, action="read", resource="data:none")
        _exit_empty("this subject is not allowed to do anything", kernel, org, read_request)


def _exit_empty(nothing: str, kernel: Kernel, org: str, request: AccessRequest) -> None:
    click.echo(_explain_empty(nothing, kernel, org, request), err=True)
    raise click.exceptions.Exit(1)


def _require_kind(what: str, text: str, example: str) -> None:
    """Raise `UsageError` for a subject or resource without a kind."""
    if ":" not in text:
        raise UsageError(
            f"the {what} {quote(text)} has no kind", f"write it as `KIND:ID`, such as {quote(example + text)}"
        )


def _build_data(explanation: AccessExplanation, *, trace: bool) -> dict[str, Any]:
    """An explanation as JSON data."""
    decision = explanation.decision
    return {
        **msgspec.structs.asdict(decision),
        "reasons": explanation.reasons,
        "remedies": explanation.remedies,
        "who_can": explanation.who_can,
        **({"trace": explanation.trace} if trace else {}),
    }


def render_decision(question: str, explanation: AccessExplanation) -> str:
    """The outcome, its reasons with their lines, and the remedies."""
    decision = explanation.decision
    lines = [f"{decision.outcome}: {question}"]
    lines += render_reasons(explanation.reasons)
    if decision.obligations:
        lines.append(f"  obligations: {', '.join(decision.obligations)}")
    lines += _render_remedies(explanation)
    return join_lines(lines)


def _render_why(question: str, explanation: AccessExplanation) -> str:
    """The whole explanation: every access layer, what it changed, and its lines."""
    decision = explanation.decision
    lines = [
        f"{decision.outcome}: {question}",
        f"  code {decision.code}, level {decision.level_effective or 'none'}"
        + (f", required level {decision.level_required}" if decision.level_required else ""),
        "",
    ]
    trace = [line for line in explanation.trace if line.value or line.statement != NEUTRAL]
    width = max((len(line.access_layer) for line in trace), default=0)
    last = ("", "")
    for line in trace:
        label = line.access_layer if line.access_layer != last[0] else ""
        # Two values that a layer changed together may have the same statement.
        is_said = last == (line.access_layer, line.statement)
        statement = "" if is_said else f": {line.statement}"
        lines.append(f"  {label:<{width}}  {_render_move(line)}{statement}".replace("  –: ", "  "))
        if not is_said:
            lines += list_places(line.why, " " * (width + 8))
        last = (line.access_layer, line.statement)
    silent = [line.access_layer for line in explanation.trace if line not in trace]
    if silent:
        lines.append(f"  no effect: {', '.join(silent)}")
    if decision.obligations:
        lines += ["", f"  obligations: {', '.join(decision.obligations)}"]
    remedies = list(_render_remedies(explanation))
    lines += ["", *remedies] if remedies else []
    lines += ["", f"snapshot {decision.snapshot}, state version {decision.state_version}"]
    return join_lines(lines)


def _render_rows(rows: Sequence[AccessRow], *, by_subject: bool) -> str:
    """One line per row: the subject or resource, the outcome, the level, the actions and the conditions."""
    cells = [
        (
            row.subject if by_subject else row.resource,
            row.outcome,
            row.level,
            ", ".join(row.actions),
            row.code + (f", depends on {', '.join(row.conditions)}" if row.conditions else ""),
        )
        for row in rows
    ]
    widths = [max(len(printable(line[place])) for line in cells) for place in range(4)] if cells else []
    return join_lines(
        "  ".join(
            [*(printable(cell).ljust(width) for cell, width in zip(line, widths, strict=False)), line[4]]
        )
        for line in cells
    )


def _render_envelope(envelope: AccessEnvelope) -> str:
    """The permissions of a sender, and the session of its messages."""
    routing = envelope.routing
    delayed = ", answers are delayed" if routing.delay_response else ""
    lines = [
        ("subject", envelope.subject),
        ("session", routing.session_key),
        ("persona", routing.persona),
        ("queue", f"{routing.queue_mode or 'none'}{delayed}"),
        ("tools", ", ".join(_with_ask(row) for row in envelope.tools)),
        ("credentials", ", ".join(envelope.credentials)),
        ("data", envelope.data),
        ("policies", ", ".join(envelope.policies_matched)),
        ("denying", ", ".join(envelope.policies_denied)),
    ]
    return join_lines(f"{name:<12}  {text or 'none'}" for name, text in lines)


def _with_ask(row: AccessRow) -> str:
    return row.resource.partition(":")[2] + (" (ask)" if row.outcome == "ask" else "")


def _explain_empty(nothing: str, kernel: Kernel, org: str, request: AccessRequest) -> str:
    """The message for an empty list. It names subjects and resources that are not declared."""
    _, reasons = kernel.can_with_reasons(org, request)
    unknown = [
        reason.text
        for reason in reasons
        if reason.code.endswith("_UNKNOWN") or reason.code == "UNKNOWN_PRINCIPAL"
    ]
    return printable(": ".join((nothing, "; ".join(unknown))) if unknown else nothing)


def _render_move(line: TraceLine) -> str:
    if not line.value:
        return "–"
    if line.value == "stopped":
        return line.after or "not stopped"
    return f"{line.value} {line.before} → {line.after}"


def _render_edit(edit: RemedyEdit) -> str:
    return f"write {quote(edit.write)}" + (f" under {quote(edit.under)}" if edit.under else "")


def _render_remedies(explanation: AccessExplanation) -> Iterator[str]:
    if explanation.decision.outcome == "allow":
        return
    for remedy in explanation.remedies[:_SHOWN_REMEDIES]:
        yield f"  would be allowed by: {remedy.text}"
        yield from (f"      {command}" for command in remedy.commands)
        yield from (f"      {edit.file}:{edit.line}: {_render_edit(edit)}" for edit in remedy.edits)
        if remedy.opens:
            yield f"      {remedy.opens}"
    more = len(explanation.remedies) - _SHOWN_REMEDIES
    if more > 0:
        yield f"  and {more} other way{'s' * (more > 1)} (list all with --format json)"
    can = explanation.who_can
    if can.subjects:
        others = can.count - len(can.subjects)
        yield f"  who can: {', '.join(can.subjects)}" + (f" and {others} more" if others else "")
