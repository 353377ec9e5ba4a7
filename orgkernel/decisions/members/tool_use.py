"""Whether a subject can use a tool now, and which tool it uses otherwise: the one answer to "can it run?".

Procedures, bills, dispatch and the toolbox ask it. Each call is decided again, with its input.

Error policy: fails closed. A free exclusive lock does not matter, because the call acquires it. A lock that
another subject holds makes the tool unusable. A tool that cannot be used leads to the tools that it falls back
to, each with its own decision.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec.structs import replace

from orgkernel.decisions.access.decide import decide_with_reasons
from orgkernel.decisions.access.decision import Outcome
from orgkernel.decisions.access.layers.lock import LOCKED
from orgkernel.decisions.access.layers.policies import LEFT_OPEN
from orgkernel.decisions.access.listing import what_can
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.evidence.state_view import StateView, ToolLock
from orgkernel.decisions.reasons import Reason, Why, cite_edge
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind

WHOLE_TOOL: Final = ("", "use", "run")
"""The words for the only action of a tool."""
NOT_REPLACEABLE: Final = frozenset({
    "UNKNOWN_PRINCIPAL", "AGENT_INACTIVE", "TOOL_UNKNOWN", "RESOURCE_UNKNOWN", "ACTION_UNKNOWN", "EVALUATION_ERROR",
})  # fmt: skip
"""The request is invalid or the caller cannot act: another tool would not change that."""


class ToolUsability(msgspec.Struct, frozen=True):
    """Whether a subject can use a tool now, or one that the tool falls back to."""

    tool: str
    """The tool that is used: the one in question, or its replacement."""
    action: str
    outcome: Outcome
    code: str
    codes: tuple[str, ...]
    obligations: tuple[str, ...]
    """With `take_lock:TOOL` if the tool is exclusive and its lock is free."""
    reasons: tuple[Reason, ...]
    """For a replacement, the first reason says why the tool in question cannot be used."""
    replaces: str = ""
    """The tool in question, if another one replaces it."""

    @property
    def is_locked(self) -> bool:
        """Whether nothing but the lock of another subject is in the way."""
        return self.codes == (LOCKED.name,)


def decide_tool_use(
    view: OrgView, state: StateView, run_request: AccessRequest, tool: str, action: str
) -> ToolUsability:
    """Whether the subject of a run can use a tool, or else the first tool that replaces it.

    No path or command is known yet. If only some of them would be denied, the answer is conditional.
    """
    use = _decide(view, state, run_request, tool, action)
    if use.outcome != "deny" or use.code in NOT_REPLACEABLE:
        return use
    for other, why in find_replacements(view, tool):
        other_action = match_action(view, other, action)
        if other_action is None:
            continue
        replacement = _decide(view, state, run_request, other, other_action)
        if replacement.outcome != "deny":
            cause = use.reasons[0]
            text = f"tool {quote(other)} replaces tool {quote(tool)}: {cause.text}"
            reason = Reason("TOOL_REPLACED", text, (why, *cause.why))
            return replace(replacement, reasons=(reason, *replacement.reasons), replaces=tool)
    return use


def decide_any_tool_use(
    view: OrgView, state: StateView, run_request: AccessRequest, tool: str
) -> ToolUsability:
    """The best answer about the actions of a tool: an allowed action, then a conditional one, then one that needs an
    approval.
    """
    declared = view.records.tools.get(tool)
    actions = tuple(declared.record.required_levels) if declared is not None else ()
    uses = [decide_tool_use(view, state, run_request, tool, action) for action in actions or ("use",)]
    # A replacement comes after the tool itself.
    return min(uses, key=lambda each: (each.outcome == "deny", bool(each.replaces), _ORDER[each.outcome]))


_ORDER: Final[dict[Outcome, int]] = {"allow": 0, "conditional": 1, "ask": 2, "deny": 3}


def _decide(
    view: OrgView, state: StateView, run_request: AccessRequest, tool: str, action: str
) -> ToolUsability:
    context = replace(run_request.context, input=None)
    request = replace(run_request, action=action, resource=f"tool:{tool}", context=context)
    decision, reasons = decide_with_reasons(view, request, state)
    more: tuple[str, ...] = ()
    if LOCKED.name in decision.codes and _is_free(view, state, tool, context.now):
        lock = ToolLock(view.org_id, tool, request.subject, token=0, acquired_at=context.now)
        state = replace(state, locks={**state.locks, tool: lock})
        decision, reasons = decide_with_reasons(view, request, state)
        more = (f"take_lock:{tool}",)
    outcome: Outcome = decision.outcome
    # The lock is not taken yet, so its token is not known.
    obligations = tuple(
        each for each in decision.obligations if not more or not each.startswith("hold_lock:")
    )
    if outcome == "deny" and LEFT_OPEN.issuperset(decision.codes):
        rows = what_can(view, request.subject, request=request, state=state)
        kinds = {word.partition(":")[0] for row in rows for word in row.conditions}
        stated = tuple(f"state:{kind}" for kind in ("path", "command") if kind in kinds)
        outcome, obligations = "conditional", stated or ("state:path",)
    if outcome == "deny":
        more = ()
    return ToolUsability(tool, action, outcome, decision.code, decision.codes, (*more, *obligations), reasons)


def _is_free(view: OrgView, state: StateView, tool: str, now: float) -> bool:
    """Whether no subject holds the lock of a tool."""
    lock = state.locks.get(tool)
    if lock is None or lock.org_id != view.org_id:
        return True
    return lock.expires_at is not None and lock.expires_at <= now


def find_replacements(view: OrgView, tool_id: str) -> Iterator[tuple[str, Why]]:
    """The tools that can replace a tool, best first, then the tools that can replace those."""
    seen, level = {tool_id}, [tool_id]
    while level:
        next_level = []
        for each in level:
            for edge in view.list_edges_from(EdgeKind.FALLS_BACK_TO, each):
                if edge.target not in seen:
                    seen.add(edge.target)
                    next_level.append(edge.target)
                    yield edge.target, cite_edge(edge)
        level = next_level


def match_action(view: OrgView, other: str, action: str) -> str | None:
    """The action of a replacement: the one with the same name, or its only one. None if several could be meant."""
    tool = view.records.tools.get(other)
    actions = () if tool is None else tuple(tool.record.required_levels)
    if action in actions:
        return action
    if len(actions) == 1:
        return actions[0]
    return None if actions else WHOLE_TOOL[0]
