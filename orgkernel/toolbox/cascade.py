"""The cascade for an unavailable tool: other tools, the caller's own reasoning, peers, the chain of command, the top.

Each tool on the way needs a decision of its own. After a failed call that may have changed something, no other tool is
tried unless the caller allows it, so nothing happens twice by accident. Then the peers who can use the tool now are asked, in
the order of dispatch. In the chain of command, each superior that the subject may escalate to is asked, nearest first. Then a
report goes to the top.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from orgkernel.decisions.access.layers.lock import LOCKED
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.access.tables import get_access_tables
from orgkernel.decisions.dispatch.by_agent import list_peers
from orgkernel.decisions.members.tool_use import NOT_REPLACEABLE, find_replacements, match_action
from orgkernel.decisions.reasons import cite_edge
from orgkernel.documents.records import USER
from orgkernel.errors import OrgkernelError, StoreError
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import Edge, EdgeKind
from orgkernel.operations.permits import record_gap
from orgkernel.toolbox import result as codes
from orgkernel.toolbox.attempt import Attempt, ToolRequest, attempt
from orgkernel.toolbox.parts import Parts
from orgkernel.toolbox.result import Step, StepOutcome, ToolOutcome, ToolResult

# The request is invalid or the caller is unknown: another tool would not change that.
FINAL = NOT_REPLACEABLE | {codes.INPUT_INVALID, codes.ACTION_NEEDED, codes.PERMIT_REFUSED}
GOES_ON = ("denied", "unavailable", "timeout")
_ENDS: dict[str, ToolOutcome] = {
    "timeout": "timeout",
    "denied": "denied",
    "ask": "ask",
    "unavailable": "unavailable",
}
SHOWN = 5
"""Maximum number of subjects named who can use a tool."""


class Gap(msgspec.Struct, frozen=True):
    """A task that no tool could do, with the data that the caller, a superior or the top needs."""

    org_id: str
    subject: str
    tool: str
    action: str
    input: Mapping[str, Any]
    code: str
    text: str
    steps: tuple[Step, ...]
    """The attempted steps."""
    who_can: tuple[str, ...]
    """The first few roles and agents that may use the tool."""

    @classmethod
    def of(cls, parts: Parts, tool_request: ToolRequest, steps: list[Step]) -> Gap:
        """The gap after some steps."""
        first = steps[0]
        action = first.action or tool_request.action or "use"
        able: tuple[str, ...] = ()
        with contextlib.suppress(StoreError):  # then the list stays empty
            rows = parts.kernel.who_can(
                tool_request.org, action, f"tool:{tool_request.tool_id}", kinds=("role", "agent")
            )
            able = tuple(row.subject for row in rows if row.outcome == "allow")[:SHOWN]
        org_id = parts.view(tool_request.org).org_id
        return cls(
            org_id, tool_request.request.subject, tool_request.tool_id, action, dict(tool_request.tool_input), first.code,
            first.text, tuple(steps), able,
        )  # fmt: skip


async def invoke(
    parts: Parts, tool_request: ToolRequest, *, instead: Mapping[str, Mapping[str, Any]], fallback: bool, may_repeat: bool
) -> ToolResult:  # fmt: skip
    """Use a tool, or follow the cascade if it is unavailable. Never raises because of a tool."""
    first = await attempt(parts, tool_request)
    steps = [first.step]
    if first.step.outcome == "done":
        return _build_done(tool_request, first, steps)
    if first.step.outcome not in GOES_ON or first.step.code in FINAL or not fallback:
        outcome = _ENDS.get(first.step.outcome, "failed")
        return _result(tool_request, outcome, steps)
    stopped = first.may_have_happened and not may_repeat
    view = parts.view(tool_request.org)
    for other, why in find_replacements(view, tool_request.tool_id):
        who = f"tool:{other}"
        if stopped:
            text = "the call might already have had an effect"
            steps.append(Step("alternative", who, "skipped", codes.MAY_HAVE_HAPPENED, text, why=(why,)))
            continue
        action = match_action(view, other, tool_request.action)
        if action is None:
            text = f"`{other}` has several actions, and none is called `{tool_request.action}`"
            steps.append(Step("alternative", who, "skipped", codes.NO_SUCH_ACTION, text, why=(why,)))
            continue
        given = instead.get(other, tool_request.tool_input)
        tried = await attempt(
            parts,
            ToolRequest(
                tool_request.org,
                tool_request.request,
                other,
                action,
                given,
                tool_request.timeout,
                "alternative",
                (why,),
            ),
        )
        steps.append(tried.step)
        if tried.step.outcome == "done":
            return _build_done(tool_request, tried, steps)
        stopped = tried.may_have_happened and not may_repeat
    return await _hand_back(parts, tool_request, steps)


async def escalate(parts: Parts, tool_request: ToolRequest, steps: list[Step]) -> ToolResult:
    """Continue after a hand-back: ask the chain of command, then report to the top."""
    gap = Gap.of(parts, tool_request, steps)
    answer, by, more = await go_up(parts, tool_request, gap)
    steps = [*steps, *more]
    if by:
        return _result(tool_request, "done", steps, output=answer, by=by)
    return _result(tool_request, "reported" if more[-1].outcome == "reported" else "unavailable", steps)


async def _hand_back(parts: Parts, tool_request: ToolRequest, steps: list[Step]) -> ToolResult:
    subject = tool_request.request.subject
    if parts.handover.reason is None:
        steps.append(Step("own_reasoning", subject, "offered"))
        return _result(tool_request, "handed_back", steps, next=list_helpers_to_ask(parts, tool_request))
    try:
        answer = await _answer_of(parts.handover.reason, Gap.of(parts, tool_request, steps))
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        steps.append(Step("own_reasoning", subject, "failed", codes.NO_ANSWER, text))
    else:
        if answer is not None:
            steps.append(Step("own_reasoning", subject, "done"))
            return _result(tool_request, "done", steps, output=answer, by=subject)
        steps.append(Step("own_reasoning", subject, "no_answer", codes.NO_ANSWER))
    return await escalate(parts, tool_request, steps)


def _build_done(tool_request: ToolRequest, last_attempt: Attempt, steps: list[Step]) -> ToolResult:
    return _result(tool_request, "done", steps, output=last_attempt.output, by=last_attempt.step.who)


def _result(
    tool_request: ToolRequest, outcome: ToolOutcome, steps: list[Step], *, output: Any = None, by: str = "", next: tuple[str, ...] = ()
) -> ToolResult:  # fmt: skip
    first, last = steps[0], steps[-1]
    ok = outcome == "done"
    return ToolResult(
        tool_request.tool_id, first.action or tool_request.action, outcome, output, "" if ok else first.text,
        "" if ok else first.code, by, sum(step.seconds for step in steps), last.metadata if ok else first.metadata,
        tuple(steps), next, dict(tool_request.tool_input) if next else {},
    )  # fmt: skip


def list_helpers_to_ask(parts: Parts, tool_request: ToolRequest) -> tuple[str, ...]:
    """The peers to ask in order, then the superiors, and last the top."""
    view = parts.view(tool_request.org)
    chain = _list_chain(view, tool_request.request.subject)
    named = [f"role:{edge.target}" for edge in chain if view.is_role(edge.target)]
    peers = (f"agent:{edge.source}" for edge in _find_peers(parts, tool_request))
    return (*peers, *named, *(top for top in [_get_top(view, chain)] if top not in named))


def _find_peers(parts: Parts, tool_request: ToolRequest) -> tuple[Edge, ...]:
    """The first few peers who can use the tool now, each as the edge that assigns its role; empty if the state cannot be read."""
    subject = get_access_tables(parts.view(tool_request.org)).find_subject(tool_request.request.subject)
    if subject is None:
        return ()
    try:
        org_access = parts.kernel.access(tool_request.org)
    except StoreError:
        return ()
    context = org_access.add_current_state(tool_request.request).context
    agent_id = subject.identity.id if subject.is_agent else None
    tools = (tool_request.tool_id,)
    peers = list_peers(org_access.view, org_access.state, agent_id, subject.identity.roles, tools, context)
    return tuple(edge for edge, _ in peers[:SHOWN])


async def go_up(parts: Parts, tool_request: ToolRequest, gap: Gap) -> tuple[Any, str, list[Step]]:
    """The first answer with its source and the steps taken. Without an answer, a report goes to the top."""
    view = parts.view(tool_request.org)
    chain = _list_chain(view, gap.subject)
    steps: list[Step] = []
    for edge in await asyncio.to_thread(_find_peers, parts, tool_request):
        answer, step = await _ask_peer(parts, tool_request, gap, edge)
        steps.append(step)
        if step.outcome == "done":
            return answer, step.who, steps
        gap = msgspec.structs.replace(gap, steps=(*gap.steps, step))
    for edge in chain:
        if not view.is_role(edge.target):
            continue
        superior = f"role:{edge.target}"
        answer, step = await _ask(parts, tool_request, gap, superior, edge)
        steps.append(step)
        if step.outcome == "done":
            return answer, superior, steps
        gap = msgspec.structs.replace(gap, steps=(*gap.steps, step))
    steps.append(await _report(parts, gap, _get_top(view, chain)))
    return None, "", steps


async def _ask(
    parts: Parts, tool_request: ToolRequest, gap: Gap, superior: str, edge: Edge
) -> tuple[Any, Step]:
    why = (cite_edge(edge),)
    request = msgspec.structs.replace(tool_request.request, action="escalate", resource=superior)
    try:
        ruling = await asyncio.to_thread(parts.permits.decide, tool_request.org, request, b"{}", permit=False)
        able = parts.kernel.can(tool_request.org, _ask_as_helper(tool_request.request, superior, gap))
    except StoreError as error:
        return None, Step("superior", superior, "unavailable", error.code, error.message, "escalate", why)
    if ruling.decision.outcome != "allow":
        text = f"`{gap.subject}` may not escalate to `{superior}`"
        return None, Step("superior", superior, "denied", ruling.decision.code, text, "escalate", why, audit_id=ruling.audit_id)  # fmt: skip
    view = parts.view(tool_request.org)
    agents = [each.source for each in view.list_agents_in(superior.partition(":")[2])]
    metadata = {"may_use_the_tool": able.outcome, "agents": agents}

    step = Step("superior", superior, "skipped", "", "", "escalate", why, 0.0, metadata, ruling.audit_id)
    return await _await_helper(parts, gap, step, "a superior")


async def _ask_peer(parts: Parts, tool_request: ToolRequest, gap: Gap, edge: Edge) -> tuple[Any, Step]:
    """Ask a peer, if it may do just this."""
    peer, why = f"agent:{edge.source}", (cite_edge(edge),)
    request = _ask_as_helper(tool_request.request, peer, gap)
    try:
        ruling = await asyncio.to_thread(parts.permits.decide, tool_request.org, request, b"{}", permit=False)
    except StoreError as error:
        return None, Step("peer", peer, "unavailable", error.code, error.message, gap.action, why)
    decision = ruling.decision
    metadata = {"may_use_the_tool": decision.outcome}
    step = Step("peer", peer, "denied", decision.code, "", gap.action, why, 0.0, metadata, ruling.audit_id)
    if decision.outcome == "deny" and decision.codes != (LOCKED.name,):
        return None, step
    return await _await_helper(parts, gap, step, "a peer")


async def _await_helper(parts: Parts, gap: Gap, step: Step, whom: str) -> tuple[Any, Step]:
    """The answer of a peer or superior, and the step with its outcome."""

    def end(outcome: StepOutcome, code: str = "", text: str = "") -> Step:
        return msgspec.structs.replace(step, outcome=outcome, code=code, text=text)

    if parts.handover.ask is None:
        return None, end("skipped", codes.NOT_ASKED, f"this toolbox has no way to ask {whom}")
    try:
        answer = await _answer_of(parts.handover.ask, step.who, gap)
    except Exception as error:
        return None, end("failed", codes.NO_ANSWER, f"{type(error).__name__}: {error}")
    if answer is None:
        return None, end("no_answer", codes.NO_ANSWER)
    return answer, end("done")


def _ask_as_helper(request: AccessRequest, helper: str, gap: Gap) -> AccessRequest:
    """The request of the subject, made by a peer or a superior in the same run.

    Limits passed on to the subject do not bind the helper.
    """
    context = msgspec.structs.replace(
        request.context, pace=None, input=None, depth=0, children=0, concurrent=0
    )
    return AccessRequest(helper, gap.action, f"tool:{gap.tool}", context, request.on_behalf_of)


async def _report(parts: Parts, gap: Gap, top: str) -> Step:
    """Report to the top, through the host and in the audit. One of them is enough."""
    text = f"no other tool and no superior could replace `{gap.tool}` for `{gap.subject}`: {gap.text}"
    took, audit_id, problems = False, "", []
    if parts.store is not None:
        try:
            audit_id = await asyncio.to_thread(
                record_gap,
                parts.store,
                gap.org_id,
                gap.subject,
                gap.tool,
                gap.action,
                top=top,
                code=gap.code,
                text=text,
            )
            took = True
        except OrgkernelError as error:
            problems.append(error.message)
    if parts.handover.report is not None:
        try:
            await _answer_of(parts.handover.report, top, gap)
            took = True
        except Exception as error:
            problems.append(f"{type(error).__name__}: {error}")
    elif parts.store is None:
        problems.append("this toolbox has no way to report to the top")
    full_text = "; ".join([text, *problems])
    code = "" if took else codes.NOT_ASKED
    return Step("top", top, "reported" if took else "failed", code, full_text, audit_id=audit_id)


def _list_chain(view: OrgView, subject: str) -> tuple[Edge, ...]:
    """The superiors of a subject in all its roles, each once."""
    kind, _, name = subject.partition(":")
    if kind == "agent":
        roles = [
            edge.target for edge in view.list_edges_from(EdgeKind.FILLS, name) if view.is_role(edge.target)
        ]
    else:
        roles = [name] if view.is_role(name) else []
    edges_by_superior: dict[str, Edge] = {}
    for role in roles:
        for edge in view.list_chain_above(role):
            if edge.target not in roles:
                edges_by_superior.setdefault(edge.target, edge)
    return tuple(edges_by_superior.values())


def _get_top(view: OrgView, chain: tuple[Edge, ...]) -> str:
    """The top of a chain: a role, or a superior outside the organization. Without a superior it is the user."""
    above = [edge.target for edge in chain if edge.target not in view.records.withheld]
    if not above:
        return f"person:{USER}"
    last = above[-1]
    return f"role:{last}" if view.is_role(last) else f"person:{last}"


async def _answer_of(callback: Callable[..., Any], *arguments: Any) -> Any:
    """Call a callback of the host, sync or async. A sync callback runs in a thread and may block."""
    if inspect.iscoroutinefunction(callback):
        return await callback(*arguments)
    answer = await asyncio.to_thread(callback, *arguments)
    return await answer if inspect.isawaitable(answer) else answer
