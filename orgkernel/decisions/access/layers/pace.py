"""PACE: in tier contingent the crew cannot hand work down; in tier emergency it cannot begin new work.

The tier is the one that the caller states, else the one in the latest SALUTE report. A report is valid for one hour.
For an agent, its own latest report applies; if it never reported under its name, the latest report of its roles does.
"""

from __future__ import annotations

from collections.abc import Iterable

from orgkernel.decisions.access.evaluation import Evaluation
from orgkernel.decisions.access.layer import NEUTRAL, AccessLayer, LayerStep, ReasonCode, Sentence, Target
from orgkernel.decisions.access.resource import ESCALATE
from orgkernel.decisions.evidence.state_view import REPORT_COUNTS_FOR, StateView, StoredReport
from orgkernel.diagnostics.wording import quote
from orgkernel.runtime.tiers import NO_NEW_HANDOFF, NO_NEW_WORK, TIERS
from orgkernel.runtime.utc import as_utc


def find_report(state: StateView, keys: Iterable[str], now: float) -> StoredReport | None:
    """The latest valid report of a subject; `keys` are `agent:ID` before the roles it fills."""
    newest: StoredReport | None = None
    for key in keys:
        reports = state.reports.get(key, ())
        if reports and (newest is None or reports[0].at > newest.at):
            newest = reports[0]
        if reports and key.startswith("agent:"):
            break
    return None if newest is None or now - newest.at >= REPORT_COUNTS_FOR else newest


def _compile(target: Target) -> LayerStep | None:
    exempt = not target.is_crew or target.action == ESCALATE
    forbidding = NO_NEW_HANDOFF if target.hands_off else NO_NEW_WORK if target.resource.kind == "tool" else ()

    def apply_cap(evaluation: Evaluation) -> None:
        tier, raised = evaluation.request.context.pace, evaluation.state.raised
        if tier is None:
            if not raised or exempt or raised.isdisjoint(evaluation.subject.keys):
                return
            report = _get_report(evaluation)
            tier = None if report is None else report.tier
        elif tier not in TIERS:
            raise ValueError(f"no PACE tier {tier}")
        if tier in forbidding and not exempt and not (evaluation.essential and not target.hands_off):
            evaluation.ceiling = 0
            evaluation.failing |= PACE_CAP.bit

    return apply_cap


def _get_report(evaluation: Evaluation) -> StoredReport | None:
    return find_report(evaluation.state, evaluation.subject.keys, evaluation.request.context.now)


def _explain_forbidden(evaluation: Evaluation) -> Sentence:
    tier, by = evaluation.request.context.pace, ""
    if tier is None:
        report = _get_report(evaluation)
        if report is not None:
            tier, by = report.tier, f", according to its SALUTE report of {as_utc(report.at)}"
    work = "work" if tier == "emergency" else "hand-off"
    return f"{evaluation.who} is in PACE tier {quote(tier)}{by}, and this tier allows no new {work}", ()


def _explain_not_raised(evaluation: Evaluation) -> Sentence:
    """The tier of the latest report, for the trace if no tier was stated and none limits anything."""
    if evaluation.request.context.pace is not None:
        return NEUTRAL, ()
    report = _get_report(evaluation)
    if report is None:
        return "no PACE tier is stated, and no SALUTE report of the last hour states one", ()
    return (
        f"{evaluation.who} is in PACE tier {quote(report.tier)}, according to its SALUTE report of {as_utc(report.at)}",
        (),
    )


PACE_CAP = ReasonCode("PACE_CAP", _explain_forbidden, remedies=("role",))
PACE = AccessLayer(
    "pace", (PACE_CAP,), _compile, is_about_run=True, needs_run=True, unchanged=_explain_not_raised
)
