"""Why an access decision came out as it did: the same function, run with a recorder (design §6).

One line for each layer, in the order of the policies and governance facts, §3.3; the reasons with the lines of YAML
they rest on; for a denial the changes that would allow it, and who already can.
"""

from __future__ import annotations

from orgkernel.decisions.access import codes
from orgkernel.decisions.access.case import Case
from orgkernel.decisions.access.decide import decide_access, decide_with
from orgkernel.decisions.access.decision import AccessExplanation, Remedy, TraceLine, Who
from orgkernel.decisions.access.evaluate import STOPPING
from orgkernel.decisions.access.evidence import give_reason
from orgkernel.decisions.access.expired import tell_expired
from orgkernel.decisions.access.layers import LAYER_OF, say_value, why_declared
from orgkernel.decisions.access.listing import crew_allowed
from orgkernel.decisions.access.remedies import find_remedies
from orgkernel.decisions.access.reported import find_report
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.access.run import weigh_run
from orgkernel.decisions.access.tables import AccessTables, tables_of
from orgkernel.decisions.reasons import Reason
from orgkernel.decisions.state_view import EMPTY_STATE, StateView
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.runtime.utc import as_utc

SHOWN_SUBJECTS = 5
NOBODY = Who((), 0)
NEUTRAL = "nothing here says otherwise"
"""What a layer says for which nothing is declared about the question."""


def explain_access(
    view: OrgView, request: AccessRequest, state: StateView = EMPTY_STATE, *, remedies: bool = True
) -> AccessExplanation:
    """The decision with everything it rests on. Never raises: an error of ours is told as one, and denies."""
    try:
        return _explain(tables_of(view), request, state, remedies=remedies)
    except Exception:
        decision = decide_access(view, request, state)
        text = "an error of orgkernel itself; it is denied, because access fails closed"
        return AccessExplanation(decision, (Reason(codes.EVALUATION_ERROR, text),), (), (), NOBODY)


def _explain(
    tables: AccessTables, request: AccessRequest, state: StateView, *, remedies: bool
) -> AccessExplanation:
    trace = _Trace()
    decision = decide_with(tables, request, state, trace)
    holder = tables.holder(request.subject)
    cell, path = tables.find(request.resource)
    verdict = (
        None if holder is None else weigh_run(tables, state, holder, cell, request.action, path, request)
    )
    case = Case(tables, state, request, holder, cell, path, verdict)
    reasons = tuple(give_reason(case, code) for code in decision.codes)
    reasons += tell_expired(tables, state, holder, cell, path, request, decision)
    found: tuple[Remedy, ...] = ()
    can = NOBODY
    if remedies and decision.outcome != "allow" and holder is not None:
        found = find_remedies(case)
        can = _who(case)
    return AccessExplanation(decision, reasons, trace.lines(case, reasons), found, can)


def _who(case: Case) -> Who:
    if case.cell.unknown or case.request.action not in case.cell.required:
        return NOBODY
    able = crew_allowed(case.tables, case.request, case.state)
    return Who(able[:SHOWN_SUBJECTS], len(able))


def _reported(case: Case) -> str:
    """Where nobody states a tier and none caps anything: what the latest report says."""
    keys = case.holder.keys if case.holder is not None else ()
    report = find_report(case.state, keys, case.request.context.now)
    if report is None:
        return "not configured: the runtime reports no tier"
    return f"{case.who} is in PACE tier {quote(report.tier)} by its SALUTE report of {as_utc(report.at)}"


_NOT_CONFIGURED = ("file and sacred scope", "pre-flight")


class _Trace:
    """What each layer left of the three values."""

    def __init__(self) -> None:
        self._notes: list[tuple[str, int, int, int]] = []

    def note(self, layer: str, granted: int, ceiling: int, failing: int) -> None:
        """A layer has been passed, and these are the values now."""
        self._notes.append((layer, granted, ceiling, failing))

    def lines(self, case: Case, reasons: tuple[Reason, ...]) -> tuple[TraceLine, ...]:
        """One line for each layer and value it changed, or one that says it changed nothing."""
        if not self._notes:
            return tuple(
                TraceLine("identity", reason.text, "stopped", "", "deny", reason.why) for reason in reasons
            )
        said: dict[str, list[Reason]] = {}
        for reason in reasons:
            said.setdefault(LAYER_OF[reason.code], []).append(reason)
        names = case.cell.levels
        lines = []
        before = (0, len(names) - 1, 0)
        for layer, granted, ceiling, failing in self._notes:
            about = said.get(layer, [])
            text = "; ".join(reason.text for reason in about) or _neutral(case, layer)
            why = tuple(dict.fromkeys(each for reason in about for each in reason.why))
            if not about and layer in ("identity", "structure"):
                why = why_declared(case, layer)
            changed = False
            for value, old, new in (
                ("granted", names[before[0]], names[granted]),
                ("ceiling", names[before[1]], names[ceiling]),
                ("stopped", _stopped(before[2]), _stopped(failing)),
            ):
                if old != new:
                    changed = True
                    of_it = say_value(case, layer, value, about) or (text, why)
                    lines.append(TraceLine(layer, of_it[0], value, old, new, of_it[1]))  # type: ignore[arg-type]
            if not changed:
                lines.append(TraceLine(layer, text, "", "", "", why))
            before = granted, ceiling, failing
        return tuple(lines)


def _stopped(failing: int) -> str:
    if failing & STOPPING:
        return "deny"
    return "ask" if failing & codes.ASK_APPROVAL else ""


def _neutral(case: Case, layer: str) -> str:
    """What a layer has to say that fails nothing."""
    if layer in _NOT_CONFIGURED:
        return "not configured"
    if layer == "pace" and case.request.context.pace is None:
        return _reported(case)
    if layer == "identity":
        return f"{case.who} is declared"
    if layer == "structure":
        return f"{case.what} is declared"
    if layer == "grants and restrictions" and case.verdict is not None and case.verdict[4].grants:
        waives = sorted({waiver for grant in case.verdict[4].grants for waiver in grant.waives})
        grants = ", ".join(f"`{grant.grant_id}`" for grant in case.verdict[4].grants)
        return f"grant {grants}" + (f", which waives {', '.join(waives)}" if waives else "")
    return NEUTRAL
