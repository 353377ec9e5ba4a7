"""Access: may this subject do this to that? The hot answer (design §6).

Error policy: fails closed. Unknown names deny, and an error of ours denies with `EVALUATION_ERROR`.
"""

from __future__ import annotations

from orgkernel.decisions.access import codes
from orgkernel.decisions.access.cells import Cell
from orgkernel.decisions.access.decision import AccessDecision
from orgkernel.decisions.access.evaluate import Recorder, Verdict, level_left
from orgkernel.decisions.access.holders import Holder
from orgkernel.decisions.access.obligations import needed_grants, obligations_of
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.access.run import weigh_run
from orgkernel.decisions.access.tables import AccessTables, tables_of
from orgkernel.decisions.state_view import EMPTY_STATE, StateView
from orgkernel.graph.questions import OrgView


def decide_access(view: OrgView, request: AccessRequest, state: StateView = EMPTY_STATE) -> AccessDecision:
    """Whether a request is allowed, with the codes of everything that decided. Never raises."""
    try:
        return decide_with(tables_of(view), request, state)
    except Exception:
        # INVARIANT: fails closed. Whatever goes wrong on the way, nothing is allowed by it.
        return AccessDecision(
            "deny", codes.EVALUATION_ERROR, (codes.EVALUATION_ERROR,), "", "", (), view.digest, state.version
        )


def decide_with(
    tables: AccessTables,
    request: AccessRequest,
    state: StateView,
    recorder: Recorder | None = None,
    holder: Holder | None = None,
) -> AccessDecision:
    """The decision from compiled tables, told to a recorder, or for a holder as a remedy assumes it."""
    if holder is None:
        holder = tables.holder(request.subject)
    cell, path = tables.find(request.resource)
    if holder is None:
        failing = codes.UNKNOWN_PRINCIPAL | cell.unknown
        if not cell.unknown and request.action not in cell.required:
            failing |= codes.ACTION_UNKNOWN
        return _denied(tables, state, request.action, cell, failing, 0)
    verdict = weigh_run(tables, state, holder, cell, request.action, path, request, recorder)
    failing = verdict[0]
    if not failing:
        return _allowed(tables, state, request, holder, cell, path, verdict)
    if failing == codes.ASK_APPROVAL:
        return AccessDecision(
            "ask", "ASK_APPROVAL", ("ASK_APPROVAL",), *_levels(cell, request.action, level_left(verdict)),
            (f"approval:{cell.resource}",), tables.snapshot, state.version,
        )  # fmt: skip
    return _denied(tables, state, request.action, cell, failing, level_left(verdict))


def _allowed(
    tables: AccessTables,
    state: StateView,
    request: AccessRequest,
    holder: Holder,
    cell: Cell,
    path: str | None,
    verdict: Verdict,
) -> AccessDecision:
    sources = codes.sources_of(verdict[3])
    required, effective = _levels(cell, request.action, min(verdict[1], verdict[2]))
    obligations: tuple[str, ...] = ()
    grants: tuple[str, ...] = ()
    if state.grants or cell.obliges:
        needed = needed_grants(tables, state, request, holder, cell, path, verdict)
        grants = tuple(grant.grant_id for grant in needed)
        obligations = obligations_of(tables, state, request, holder, cell, needed)
    return AccessDecision(
        "allow", sources[0], sources, required, effective, obligations, tables.snapshot, state.version, grants
    )


def _denied(
    tables: AccessTables, state: StateView, action: str, cell: Cell, failing: int, level: int
) -> AccessDecision:
    names = codes.names_of(failing)
    required, effective = _levels(cell, action, level)
    return AccessDecision("deny", names[0], names, required, effective, (), tables.snapshot, state.version)


def _levels(cell: Cell, action: str, level: int) -> tuple[str, str]:
    """The level an action requires, and the one that is left, in words."""
    required = cell.required.get(action, 0)
    names = cell.levels
    return names[required] if required else "", names[level]
