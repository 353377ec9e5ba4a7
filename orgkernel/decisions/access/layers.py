"""What each layer of a decision says of each value it changed: also of what did not decide in the end.

A denial by a ceiling still has to say who gave what the ceiling took away, and where (design §1, promise 1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from orgkernel.decisions.access import codes
from orgkernel.decisions.access.case import Case, Said, why_edges
from orgkernel.decisions.access.evidence import give_reason
from orgkernel.decisions.access.holders import rank_now
from orgkernel.decisions.access.reasons_of_identity import binding_edges
from orgkernel.decisions.access.reasons_of_policies import policies_that
from orgkernel.decisions.access.stored import lowest_restriction
from orgkernel.decisions.reasons import Reason, Why, why_place
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.definition import Definition
from orgkernel.records.levels import LEVELS

# The layer that each failing bit and each source belongs to.
_LAYERS = {
    "identity": codes.UNKNOWN_PRINCIPAL | codes.AGENT_INACTIVE,
    "structure": codes.TOOL_UNKNOWN | codes.CREDENTIAL_UNKNOWN | codes.DATA_UNKNOWN | codes.ROLE_UNKNOWN
    | codes.RESOURCE_UNKNOWN | codes.ACTION_UNKNOWN | codes.TOOL_DISABLED,
    "visibility": codes.NOT_VISIBLE | codes.NOT_IN_RESTRICTED_TO,
    "role binding": codes.NOT_BOUND_TO_ROLE | codes.CANNOT_DELEGATE | codes.TARGET_NOT_ALLOWED
    | codes.DISPATCH_EDGE_FORBIDDEN | codes.WORKER_CANNOT_DISPATCH,
    "rank": codes.RANK_TOO_LOW,
    "qualification": codes.QUALIFICATION_MISSING,
    "policies": codes.POLICY_DENY | codes.POLICY_CEILING | codes.NO_POLICY_MATCH | codes.ASK_APPROVAL,
    "grants and restrictions": codes.RESTRICTED,
    "position": codes.POSITION_CAP,
    "delegation": codes.PARENT_CAP | codes.DEPTH_EXCEEDED | codes.CHILD_LIMIT,
    "pace": codes.PACE_CAP,
    "file and sacred scope": 0,
    "pre-flight": 0,
    "exclusive lock": codes.LOCKED,
    "input": codes.INPUT_INVALID,
}  # fmt: skip
_SOURCE_LAYERS = {
    "ESSENTIAL_TOOL": "role binding", "BOUND_TO_ROLE": "role binding", "COMMANDS": "role binding",
    "MAY_DISPATCH": "role binding", "REPORTS_TO": "role binding", "POLICY_ALLOW": "policies",
    "GRANTED": "grants and restrictions",
}  # fmt: skip
LAYER_OF = {
    **{name: layer for layer, bits in _LAYERS.items() for name in codes.names_of(bits)},
    **_SOURCE_LAYERS,
    codes.GRANT_EXPIRED: "grants and restrictions",
}
_STOPS = frozenset(
    {"POLICY_DENY", "ASK_APPROVAL", "AGENT_INACTIVE", "UNKNOWN_PRINCIPAL", *codes.names_of(_LAYERS["structure"])}
)  # fmt: skip
_LACKS = frozenset({"NO_POLICY_MATCH", codes.GRANT_EXPIRED, *codes.names_of(_LAYERS["role binding"])})


def say_value(case: Case, layer: str, value: str, about: Sequence[Reason]) -> Said | None:
    """Why a layer changed one value, and the lines; None where the layer has nothing more to say than all its reasons."""
    fitting = [reason for reason in about if _speaks_of(reason.code) == value]
    if not fitting and value == "granted" and case.verdict is not None:
        names = codes.sources_of(case.verdict[3])
        fitting = [give_reason(case, name) for name in names if LAYER_OF[name] == layer]
    if fitting:
        why = tuple(dict.fromkeys(each for reason in fitting for each in reason.why))
        return "; ".join(reason.text for reason in fitting), why
    say = _UNSAID.get((layer, value))
    return None if say is None or case.holder is None else say(case)


def _speaks_of(code: str) -> str:
    if code in _SOURCE_LAYERS:
        return "granted"
    if code in _LACKS:
        return ""  # what is missing has not changed anything
    return "stopped" if code in _STOPS else "ceiling"


def _binding(case: Case) -> Said | None:
    """What a role gives although it is not enough."""
    edges = binding_edges(case)
    if not edges:
        reason = give_reason(case, "BOUND_TO_ROLE")
        return reason.text, reason.why
    return "; ".join(dict.fromkeys(map(str, edges))), why_edges(edges)


def _allowing(case: Case) -> Said | None:
    text, why = policies_that(
        case, lambda policy: policy.effect == "allow" and bool(policy.granted(*_cell(case)))
    )
    return (f"{text} allow{'s' * text.startswith('policy')} {case.what}", why) if why else None


def _bounding(case: Case) -> Said | None:
    text, why = policies_that(case, lambda policy: policy.ceiling and policy.covers(*_cell(case)) is not None)
    return (f"{text} bound{'s' * text.startswith('policy')} {case.what}", why) if why else None


def _cell(case: Case) -> tuple[str, str, int]:
    return case.cell.kind, case.cell.id, case.cell.tier


def _of_code(code: str) -> Callable[[Case], Said | None]:
    """A layer that says what another one is blamed for, or what a grant has answered since."""

    def say(case: Case) -> Said | None:
        reason = give_reason(case, code)
        return reason.text, reason.why

    return say


def _rank(case: Case) -> Said | None:
    assert case.holder is not None
    view = case.tables.view
    row = view.records.rank_row_of(case.cell.id)
    rank = rank_now(view, case.state, case.holder)
    if row is None or not 0 <= rank < len(view.records.ranks):
        return None
    name = view.records.ranks[rank].id
    text = f"{case.who} is of rank {quote(name)}, which has level {quote(row.levels[name])} of {case.what}"
    return text, (why_place(row.statement, row.place),)


def _giving(case: Case) -> Said | None:
    if case.verdict is None or not case.verdict[4].grants:
        return None
    grants = listing(grant.grant_id for grant in case.verdict[4].grants)
    return f"grant {grants} gives less of {case.what} than is required", ()


def _restricting(case: Case) -> Said | None:
    assert case.holder is not None
    top, found = lowest_restriction(
        case.state.restrictions, case.holder.keys, case.cell, case.path, case.tables.org_id,
        case.request.context.now,
    )  # fmt: skip
    listed = listing(each.restriction_id for each in found)
    return (f"restriction {listed} leaves level {quote(LEVELS[top])} of {case.what}", ()) if found else None


def _passed_on(case: Case) -> Said | None:
    return f"no more is passed on to {case.who} than this", ()


_UNSAID: dict[tuple[str, str], Callable[[Case], Said | None]] = {
    ("role binding", "granted"): _binding,
    ("rank", "ceiling"): _rank,
    ("policies", "granted"): _allowing,
    ("policies", "ceiling"): _bounding,
    ("grants and restrictions", "granted"): _giving,
    ("grants and restrictions", "ceiling"): _restricting,
    ("policies", "stopped"): _of_code("ASK_APPROVAL"),
    ("delegation", "ceiling"): _passed_on,
    ("delegation", "stopped"): _of_code("UNKNOWN_PRINCIPAL"),
}


def why_declared(case: Case, layer: str) -> tuple[Why, ...]:
    """Where the subject or the resource is declared."""
    records = case.tables.view.records
    kind, _, name = case.request.subject.partition(":")
    if layer == "structure":
        kind, name = case.cell.kind, case.cell.id
    if kind == "role" and name in records.posts:
        return (why_place(f"role {name} is declared", records.posts[name].place("role_id")),)
    known: dict[str, Mapping[str, Definition[Any]]] = {
        "tool": records.tools, "agent": records.agents, "person": records.people,
    }  # fmt: skip
    found = known.get(kind, {}).get(name)
    return () if found is None else (why_place(f"{kind} {name} is declared", found.place()),)
