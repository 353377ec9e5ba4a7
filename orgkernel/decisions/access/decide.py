"""Access: may this subject do this to that? The hot answer (design §6).

Error policy: fails closed. Unknown names deny, and an error of ours denies with `EVALUATION_ERROR`.
"""

from __future__ import annotations

from orgkernel.decisions.access import codes
from orgkernel.decisions.access.cells import Cell
from orgkernel.decisions.access.codes import ASK_APPROVAL, names_of, sources_of
from orgkernel.decisions.access.decision import AccessDecision
from orgkernel.decisions.access.evaluate import STOPPING, Recorder, Verdict, weigh
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
        return decide_with(view.access or tables_of(view), request, state)
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
        holder = tables.holders.get(request.subject) or tables.holder(request.subject)
    cell, path = tables.cells.get(request.resource), None
    if cell is None:
        cell, path = tables.find(request.resource)
    if holder is None:
        failing = codes.UNKNOWN_PRINCIPAL | cell.unknown
        if not cell.unknown and request.action not in cell.required:
            failing |= codes.ACTION_UNKNOWN
        names = names_of(failing)
        words = cell.words.get(request.action, "")
        return AccessDecision("deny", names[0], names, words, "none", (), tables.snapshot, state.version)
    context = request.context
    if (
        recorder is None
        and not cell.runs
        and request.on_behalf_of is None
        and not request.via
        and request.envelope is None
        and context.pace is None
        and not context.depth
        and context.input is None
        and (not state.raised or state.raised.isdisjoint(holder.keys))
    ):
        # Nothing of the run can cap it: the same answer with one call less.
        required = cell.required.get(request.action, 0)
        verdict = weigh(tables, state, holder, cell, request.action, required, path, context)
    else:
        verdict = weigh_run(tables, state, holder, cell, request.action, path, request, recorder)
    failing, granted, ceiling, sources, given = verdict
    words = cell.words.get(request.action, "")
    level = granted if granted < ceiling else ceiling
    if not failing:
        names = sources_of(sources)
        if cell.obliges or given.grants or ((request.on_behalf_of or request.via) and state.grants):
            return _obliging(tables, state, request, holder, cell, path, verdict)
        return AccessDecision(
            "allow", names[0], names, words, cell.levels[level], (), tables.snapshot, state.version
        )
    if failing & STOPPING:
        level = 0
    names = names_of(failing)
    if failing == ASK_APPROVAL:
        return AccessDecision(
            "ask", names[0], names, words, cell.levels[level], (f"approval:{cell.resource}",), tables.snapshot,
            state.version,
        )  # fmt: skip
    return AccessDecision(
        "deny", names[0], names, words, cell.levels[level], (), tables.snapshot, state.version
    )


def _obliging(
    tables: AccessTables,
    state: StateView,
    request: AccessRequest,
    holder: Holder,
    cell: Cell,
    path: str | None,
    verdict: Verdict,
) -> AccessDecision:
    """An allowance that rests on stored grants, or asks something of the caller."""
    sources = sources_of(verdict[3])
    needed = needed_grants(tables, state, request, holder, cell, path, verdict)
    return AccessDecision(
        "allow", sources[0], sources, cell.words[request.action], cell.levels[min(verdict[1], verdict[2])],
        obligations_of(tables, state, request, holder, cell, needed), tables.snapshot, state.version,
        tuple(grant.grant_id for grant in needed),
    )  # fmt: skip
