"""Up the chain of command: each superior who may be escalated to is asked, nearest first; then the top is told."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

import msgspec

from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.reasons import why_edge
from orgkernel.errors import OrgkernelError, StoreError
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import Edge, EdgeKind
from orgkernel.operations.permits import record_gap
from orgkernel.records.organization import USER
from orgkernel.toolbox import result as codes
from orgkernel.toolbox.attempt import Asked
from orgkernel.toolbox.calling import answer_of, in_thread
from orgkernel.toolbox.parts import Parts
from orgkernel.toolbox.result import Step

SHOWN = 5
"""Of those who can use a tool, this many are named."""


class Gap(msgspec.Struct, frozen=True):
    """What could not be done: what the caller, a superior or the top needs to know to do it in another way."""

    org_id: str
    subject: str
    tool: str
    action: str
    input: Mapping[str, Any]
    code: str
    text: str
    steps: tuple[Step, ...]
    """What was tried."""
    who_can: tuple[str, ...]
    """Roles and agents that may use the tool; the first few."""

    @classmethod
    def of(cls, parts: Parts, asked: Asked, steps: list[Step]) -> Gap:
        """The gap after some steps."""
        first = steps[0]
        action = first.action or asked.action or "use"
        able: tuple[str, ...] = ()
        with contextlib.suppress(StoreError):  # then nobody knows who can
            rows = parts.kernel.who_can(asked.org, action, f"tool:{asked.tool_id}", kinds=("role", "agent"))
            able = tuple(row.subject for row in rows if row.outcome == "allow")[:SHOWN]
        org_id = parts.view(asked.org).org_id
        return cls(
            org_id, asked.request.subject, asked.tool_id, action, dict(asked.tool_input), first.code,
            first.text, tuple(steps), able,
        )  # fmt: skip


def superiors_of(parts: Parts, asked: Asked) -> tuple[str, ...]:
    """Who is asked in turn, and last the top."""
    view = parts.view(asked.org)
    chain = _chain(view, asked.request.subject)
    named = [f"role:{edge.target}" for edge in chain if view.is_role(edge.target)]
    return (*named, *(top for top in [_top(view, chain)] if top not in named))


async def go_up(parts: Parts, asked: Asked, gap: Gap) -> tuple[Any, str, list[Step]]:
    """The first answer and whose it is, and what was done; no answer ends with a report to the top."""
    view = parts.view(asked.org)
    chain = _chain(view, gap.subject)
    steps: list[Step] = []
    for edge in chain:
        if not view.is_role(edge.target):
            continue
        superior = f"role:{edge.target}"
        answer, step = await _ask(parts, asked, gap, superior, edge)
        steps.append(step)
        if step.outcome == "done":
            return answer, superior, steps
        gap = msgspec.structs.replace(gap, steps=(*gap.steps, step))
    steps.append(await _report(parts, gap, _top(view, chain)))
    return None, "", steps


async def _ask(parts: Parts, asked: Asked, gap: Gap, superior: str, edge: Edge) -> tuple[Any, Step]:
    why = (why_edge(edge),)
    request = msgspec.structs.replace(asked.request, action="escalate", resource=superior)
    try:
        ruling = await in_thread(parts.permits.decide, asked.org, request, b"{}", permit=False)
        able = parts.kernel.decide(asked.org, AccessRequest(superior, gap.action, f"tool:{gap.tool}"))
    except StoreError as error:
        return None, Step("superior", superior, "unavailable", error.code, error.message, "escalate", why)
    if ruling.decision.outcome != "allow":
        text = f"`{gap.subject}` may not escalate to `{superior}`"
        return None, Step("superior", superior, "denied", ruling.decision.code, text, "escalate", why, audit_id=ruling.audit_id)  # fmt: skip
    view = parts.view(asked.org)
    agents = [each.source for each in view.agents_in(superior.partition(":")[2])]
    metadata = {"may_use_the_tool": able.outcome, "agents": agents}

    def step(outcome: Any, code: str = "", text: str = "") -> Step:
        return Step(
            "superior", superior, outcome, code, text, "escalate", why, 0.0, metadata, ruling.audit_id
        )

    if parts.handover.ask is None:
        return None, step("skipped", codes.NOT_ASKED, "nothing here can ask a superior")
    try:
        answer = await answer_of(parts.handover.ask, superior, gap)
    except Exception as error:
        return None, step("failed", codes.NO_ANSWER, f"{type(error).__name__}: {error}")
    if answer is None:
        return None, step("no_answer", codes.NO_ANSWER)
    return answer, step("done")


async def _report(parts: Parts, gap: Gap, top: str) -> Step:
    """Tell the top, through the host and in the audit; it is reported when either of them took it."""
    text = f"nobody could do for `{gap.subject}` what it needed `{gap.tool}` for: {gap.text}"
    took, audit_id, problems = False, "", []
    if parts.store is not None:
        try:
            audit_id = await in_thread(
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
            await answer_of(parts.handover.report, top, gap)
            took = True
        except Exception as error:
            problems.append(f"{type(error).__name__}: {error}")
    elif parts.store is None:
        problems.append("nothing here can report to the top")
    said = "; ".join([text, *problems])
    code = "" if took else codes.NOT_ASKED
    return Step("top", top, "reported" if took else "failed", code, said, audit_id=audit_id)


def _chain(view: OrgView, subject: str) -> tuple[Edge, ...]:
    """The chains of command above a subject, of each role it fills, every superior once."""
    kind, _, name = subject.partition(":")
    if kind == "agent":
        roles = [edge.target for edge in view.edges_from(EdgeKind.FILLS, name) if view.is_role(edge.target)]
    else:
        roles = [name] if view.is_role(name) else []
    found: dict[str, Edge] = {}
    for role in roles:
        for edge in view.chain_above(role):
            if edge.target not in roles:
                found.setdefault(edge.target, edge)
    return tuple(found.values())


def _top(view: OrgView, chain: tuple[Edge, ...]) -> str:
    """Who is at the top of a chain: a role, or somebody outside; the user where there is nobody above."""
    if not chain:
        return f"person:{USER}"
    last = chain[-1].target
    return f"role:{last}" if view.is_role(last) else f"person:{last}"
