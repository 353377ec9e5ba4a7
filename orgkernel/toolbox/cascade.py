"""When a tool is unavailable: other tools, the caller's own reasoning, the chain of command, the top (facts: crew §9.5).

Every tool on the way is decided about anew. Nothing is done twice without being told so: after a call that may have
changed something and did not end well, no other tool is tried unless the caller says it may be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from orgkernel.decisions.reasons import Why, why_edge
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind
from orgkernel.toolbox import result as codes
from orgkernel.toolbox.attempt import WHOLE, Asked, Attempt, attempt
from orgkernel.toolbox.calling import answer_of
from orgkernel.toolbox.chain import Gap, go_up, superiors_of
from orgkernel.toolbox.parts import Parts
from orgkernel.toolbox.result import Outcome, Step, ToolResult

# The caller is wrong, or is nobody who works here: another tool would not change that.
FINAL = frozenset({
    "UNKNOWN_PRINCIPAL", "AGENT_INACTIVE", "TOOL_UNKNOWN", "RESOURCE_UNKNOWN", "ACTION_UNKNOWN", "INPUT_INVALID",
    "EVALUATION_ERROR", codes.ACTION_NEEDED, codes.PERMIT_REFUSED,
})  # fmt: skip
GOES_ON = ("denied", "unavailable", "timeout")
_ENDS: dict[str, Outcome] = {
    "timeout": "timeout",
    "denied": "denied",
    "ask": "ask",
    "unavailable": "unavailable",
}


async def invoke(
    parts: Parts, asked: Asked, *, instead: Mapping[str, Mapping[str, Any]], fallback: bool, may_repeat: bool
) -> ToolResult:  # fmt: skip
    """Ask for a tool, and where it is unavailable go down the cascade. Never raises for what a tool does."""
    first = await attempt(parts, asked)
    steps = [first.step]
    if first.step.outcome == "done":
        return _done(asked, first, steps)
    if first.step.outcome not in GOES_ON or first.step.code in FINAL or not fallback:
        outcome = _ENDS.get(first.step.outcome, "failed")
        return _result(asked, outcome, steps)
    stopped = first.may_have_happened and not may_repeat
    for other, why in _alternatives(parts.view(asked.org), asked.tool_id):
        who = f"tool:{other}"
        if stopped:
            text = "what was asked for may have happened already"
            steps.append(Step("alternative", who, "skipped", codes.MAY_HAVE_HAPPENED, text, why=(why,)))
            continue
        action = _action_of(parts, asked, other)
        if action is None:
            text = f"`{other}` has several actions, and none is called `{asked.action}`"
            steps.append(Step("alternative", who, "skipped", codes.NO_SUCH_ACTION, text, why=(why,)))
            continue
        given = instead.get(other, asked.tool_input)
        tried = await attempt(
            parts,
            Asked(asked.org, asked.request, other, action, given, asked.timeout, "alternative", (why,)),
        )
        steps.append(tried.step)
        if tried.step.outcome == "done":
            return _done(asked, tried, steps)
        stopped = tried.may_have_happened and not may_repeat
    return await _hand_back(parts, asked, steps)


async def escalate(parts: Parts, asked: Asked, steps: list[Step]) -> ToolResult:
    """Up the chain of command and, where nobody answers, to the top: what follows a hand-back."""
    gap = Gap.of(parts, asked, steps)
    answer, by, more = await go_up(parts, asked, gap)
    steps = [*steps, *more]
    if by:
        return _result(asked, "done", steps, output=answer, by=by)
    return _result(asked, "reported" if more[-1].outcome == "reported" else "unavailable", steps)


async def _hand_back(parts: Parts, asked: Asked, steps: list[Step]) -> ToolResult:
    subject = asked.request.subject
    if parts.handover.reason is None:
        steps.append(Step("own_reasoning", subject, "offered"))
        return _result(asked, "handed_back", steps, next=superiors_of(parts, asked))
    try:
        answer = await answer_of(parts.handover.reason, Gap.of(parts, asked, steps))
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        steps.append(Step("own_reasoning", subject, "failed", codes.NO_ANSWER, text))
    else:
        if answer is not None:
            steps.append(Step("own_reasoning", subject, "done"))
            return _result(asked, "done", steps, output=answer, by=subject)
        steps.append(Step("own_reasoning", subject, "no_answer", codes.NO_ANSWER))
    return await escalate(parts, asked, steps)


def _alternatives(view: OrgView, tool_id: str) -> Iterator[tuple[str, Why]]:
    """The tools that can stand in, best first; then those that can stand in for these."""
    seen, level = {tool_id}, [tool_id]
    while level:
        found = []
        for each in level:
            for edge in view.edges_from(EdgeKind.FALLS_BACK_TO, each):
                if edge.target not in seen:
                    seen.add(edge.target)
                    found.append(edge.target)
                    yield edge.target, why_edge(edge)
        level = found


def _action_of(parts: Parts, asked: Asked, other: str) -> str | None:
    """What another tool is to do: the action of the same name, or the only one it has."""
    tool = parts.tool(asked.org, other)
    actions = () if tool is None else tuple(tool.required_levels)
    if asked.action in actions:
        return asked.action
    return WHOLE[0] if len(actions) <= 1 else None


def _done(asked: Asked, found: Attempt, steps: list[Step]) -> ToolResult:
    return _result(asked, "done", steps, output=found.output, by=found.step.who)


def _result(
    asked: Asked, outcome: Outcome, steps: list[Step], *, output: Any = None, by: str = "", next: tuple[str, ...] = ()
) -> ToolResult:  # fmt: skip
    first, last = steps[0], steps[-1]
    ok = outcome == "done"
    return ToolResult(
        asked.tool_id, first.action or asked.action, outcome, output, "" if ok else first.text,
        "" if ok else first.code, by, sum(step.seconds for step in steps), last.metadata if ok else first.metadata,
        tuple(steps), next, dict(asked.tool_input) if next else {},
    )  # fmt: skip
