"""Reasons about the run a request is part of."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from orgkernel.decisions.access import codes
from orgkernel.decisions.access.case import Case, Said, why_profiles, why_tool
from orgkernel.decisions.access.evaluate import weigh
from orgkernel.decisions.access.reported import find_report
from orgkernel.decisions.access.run import find_lock, is_neutral, level_passed
from orgkernel.decisions.reasons import Reason, Why, why_place
from orgkernel.diagnostics.wording import quote
from orgkernel.runtime.utc import as_utc


def _position(case: Case) -> Said:
    return f"{case.who} is a worker: it executes and does not dispatch", why_profiles(case, "position")


def _parent_cap(case: Case) -> Said:
    tables, request = case.tables, case.request
    found: list[str] = []
    why: list[Why] = []
    for subject in (request.on_behalf_of, *request.via):
        parent = None if subject is None else tables.holder(subject)
        if parent is not None and not is_neutral(tables, parent):
            verdict = weigh(
                tables,
                case.state,
                parent,
                case.cell,
                request.action,
                case.required,
                case.path,
                request.context,
            )
            if verdict[0] & ~codes.ASK_APPROVAL:
                reason = _of_parent(
                    replace(case, request=replace(request, subject=subject), holder=parent, verdict=verdict)
                )
                found.append(f"{quote(subject)} may not use {case.what}: {reason.text}")
                why += reason.why
    if request.envelope is not None and level_passed(request.envelope, case.cell) < case.required:
        found.append(f"the envelope passes too little of {case.what} on")
    if not why:
        why.append(_why_limit(case, "delegation"))
    return "; ".join(found), tuple(dict.fromkeys(why))


def _of_parent(case: Case) -> Reason:
    """What keeps somebody else from it, who is asked without a run of their own."""
    from orgkernel.decisions.access.evidence import give_reason  # which is made of this module, too

    assert case.verdict is not None
    return give_reason(case, codes.names_of(case.verdict[0])[0])


def _limit(case: Case, field: str, text: str) -> Said:
    records = case.tables.view.records
    value = getattr(records.organization.limits, field)
    return f"{text} {value}{_by_default(case, field)}", (_why_limit(case, field),)


def _why_limit(case: Case, field: str) -> Why:
    """The line of a limit; where none is written, that of the organization it holds in."""
    records = case.tables.view.records
    said = f"{field} {getattr(records.organization.limits, field)}{_by_default(case, field)}"
    written = records.document.has("limits", field)
    place = (
        records.document.place("limits", field, key=True)
        if written
        else records.document.place("org_id", key=True)
    )
    return why_place(said, place)


def _by_default(case: Case, field: str) -> str:
    return "" if case.tables.view.records.document.has("limits", field) else " by default"


def _depth_exceeded(case: Case) -> Said:
    depth = max(case.request.context.depth, len(case.request.via))
    return _limit(case, "max_spawn_depth", f"{case.who} is at depth {depth}, the deepest that may exist is")


def _child_limit(case: Case) -> Said:
    context = case.request.context
    limits = case.tables.view.records.organization.limits
    if context.children >= limits.max_children:
        return _limit(case, "max_children", f"{case.who} has {context.children} children, the most are")
    return _limit(case, "max_concurrent", f"{context.concurrent} children of {case.who} run, the most are")


def _pace_cap(case: Case) -> Said:
    context, tier, by = case.request.context, case.request.context.pace, ""
    if tier is None and case.holder is not None:
        report = find_report(case.state, case.holder.keys, context.now)
        if report is not None:
            tier, by = report.tier, f" by its SALUTE report of {as_utc(report.at)}"
    work = "work" if tier == "emergency" else "dispatch"
    return f"{case.who} is in PACE tier {quote(tier)}{by}, which allows no new {work}", ()


def _locked(case: Case) -> Said:
    lock = find_lock(case.state, case.tables.org_id, case.cell, case.request.context)
    if lock is None:
        return f"{case.what} is exclusive and {case.who} does not hold its lock", why_tool(
            case, "concurrency"
        )
    return f"{case.what} is locked by {quote(lock.holder)}", why_tool(case, "concurrency")


def _input_invalid(case: Case) -> Said:
    error = next(case.cell.validator.iter_errors(case.request.context.input))
    where = "/".join(str(step) for step in error.absolute_path)
    said = f"the input of {case.what} does not fit its schema{f' at {quote(where)}' if where else ''}: {error.validator}"
    return said, why_tool(case, "input_schema")


SAYERS: dict[str, Callable[[Case], Said]] = {
    "POSITION_CAP": _position,
    "WORKER_CANNOT_DISPATCH": _position,
    "PARENT_CAP": _parent_cap,
    "DEPTH_EXCEEDED": _depth_exceeded,
    "CHILD_LIMIT": _child_limit,
    "PACE_CAP": _pace_cap,
    "LOCKED": _locked,
    "INPUT_INVALID": _input_invalid,
}
