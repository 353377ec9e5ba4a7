"""Access decisions for a terminal: the short answer, and the full explanation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from orgkernel.cli.output import as_text, places
from orgkernel.decisions.access.decision import AccessExplanation, AccessRow, TraceLine
from orgkernel.decisions.access.envelope import AccessEnvelope
from orgkernel.decisions.access.evaluation import NEUTRAL
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.diagnostics.wording import printable
from orgkernel.kernel.kernel import Kernel

_SHOWN_REMEDIES = 5


def as_data(explanation: AccessExplanation, *, trace: bool) -> dict[str, Any]:
    """An explanation as JSON data."""
    decision = explanation.decision
    return {
        **msgspec.structs.asdict(decision),
        "reasons": explanation.reasons,
        "remedies": explanation.remedies,
        "who_can": explanation.who_can,
        **({"trace": explanation.trace} if trace else {}),
    }


def render_decision(asked: str, explanation: AccessExplanation) -> str:
    """The outcome, its reasons with their lines, and the remedies."""
    decision = explanation.decision
    lines = [f"{decision.outcome}: {asked}"]
    for reason in explanation.reasons:
        lines.append(f"  because {reason.text}")
        lines += places(reason.why)
    if decision.obligations:
        lines.append(f"  obligations: {', '.join(decision.obligations)}")
    lines += _remedies(explanation)
    return as_text(lines)


def render_why(asked: str, explanation: AccessExplanation) -> str:
    """The whole explanation: every layer, what it changed, and its lines."""
    decision = explanation.decision
    lines = [
        f"{decision.outcome}: {asked}",
        f"  code {decision.code}, level {decision.level_effective or 'none'}"
        + (f", required level {decision.level_required}" if decision.level_required else ""),
        "",
    ]
    trace = [line for line in explanation.trace if line.value or line.statement != NEUTRAL]
    width = max((len(line.layer) for line in trace), default=0)
    last = ("", "")
    for line in trace:
        label = line.layer if line.layer != last[0] else ""
        # Two values that a layer changed together may have the same statement.
        is_said = last == (line.layer, line.statement)
        said = "" if is_said else f": {line.statement}"
        lines.append(f"  {label:<{width}}  {_moved(line)}{said}".replace("  –: ", "  "))
        if not is_said:
            lines += places(line.why, " " * (width + 8))
        last = (line.layer, line.statement)
    silent = [line.layer for line in explanation.trace if line not in trace]
    if silent:
        lines.append(f"  no effect: {', '.join(silent)}")
    if decision.obligations:
        lines += ["", f"  obligations: {', '.join(decision.obligations)}"]
    remedies = list(_remedies(explanation))
    lines += ["", *remedies] if remedies else []
    lines += ["", f"snapshot {decision.snapshot}, state version {decision.state_version}"]
    return as_text(lines)


def render_rows(rows: Sequence[AccessRow], *, by_subject: bool) -> str:
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
    return as_text(
        "  ".join(
            [*(printable(cell).ljust(width) for cell, width in zip(line, widths, strict=False)), line[4]]
        )
        for line in cells
    )


def render_envelope(envelope: AccessEnvelope) -> str:
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
    return as_text(f"{name:<12}  {said or 'none'}" for name, said in lines)


def _with_ask(row: AccessRow) -> str:
    return row.resource.partition(":")[2] + (" (ask)" if row.outcome == "ask" else "")


def why_empty(nothing: str, kernel: Kernel, org: str, request: AccessRequest) -> str:
    """The message for an empty list. It names subjects and resources that are not declared."""
    _, reasons = kernel.decide_with_reasons(org, request)
    unknown = [
        reason.text
        for reason in reasons
        if reason.code.endswith("_UNKNOWN") or reason.code == "UNKNOWN_PRINCIPAL"
    ]
    return printable(": ".join((nothing, "; ".join(unknown))) if unknown else nothing)


def _moved(line: TraceLine) -> str:
    if not line.value:
        return "–"
    if line.value == "stopped":
        return line.after or "not stopped"
    return f"{line.value} {line.before} → {line.after}"


def _remedies(explanation: AccessExplanation) -> Iterator[str]:
    if explanation.decision.outcome == "allow":
        return
    for remedy in explanation.remedies[:_SHOWN_REMEDIES]:
        yield f"  would be allowed by: {remedy.text}"
    more = len(explanation.remedies) - _SHOWN_REMEDIES
    if more > 0:
        yield f"  and {more} other way{'s' * (more > 1)} (list all with --format json)"
    can = explanation.who_can
    if can.subjects:
        others = can.count - len(can.subjects)
        yield f"  who can: {', '.join(can.subjects)}" + (f" and {others} more" if others else "")
