"""Dispatch of a sentence that follows another: the role of the previous task also takes it, unless it names other work.

The rules are those of `orgkernel.runtime.task_life`, which hosts also use (docs/dispatch.md). A task moves to another role
only if the role itself, or a commander above it, may hand it on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from orgkernel.decisions.dispatch.answer import answer_with_role, build_lacking_reason
from orgkernel.decisions.dispatch.by_domain import DispatchDecision
from orgkernel.decisions.dispatch.by_text import decide_by_text, find_lacking
from orgkernel.decisions.dispatch.role_texts import get_text_index
from orgkernel.decisions.dispatch.task_state import PreviousTask
from orgkernel.decisions.reasons import Reason, cite_edge
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.runtime.request_text import MAX_CHARACTERS
from orgkernel.runtime.task_life import Task, Verdict, find_move_refusal, judge_message
from orgkernel.runtime.text_index import rank_roles
from orgkernel.runtime.utc import as_seconds, as_utc

MayHandOff = Callable[[str, str], bool]
"""Whether one role may hand work to another."""


def decide_follow_up(
    view: OrgView,
    text: str,
    previous: PreviousTask,
    now: float,
    may_hand_off: MayHandOff,
    *,
    needs: Sequence[str] = (),
    all_considered: bool = False,
) -> DispatchDecision:
    """The role that takes a sentence after another one, and the task for the next question. Never raises.

    A previous role that the organization does not have is ignored, with a reason.
    """
    # The decision for the sentence alone. It is needed even if the task stays, because the answer shows its candidates.
    own = decide_by_text(view, text, needs=needs, all_considered=all_considered)
    if previous.role_id not in view.records.posts:
        unknown = f"the previous task is ignored: role {quote(previous.role_id)} is not declared"
        return _add_task(own, Reason("PREVIOUS_ROLE_UNKNOWN", unknown), None)
    index = get_text_index(view)
    query = text[:MAX_CHARACTERS]
    verdict = judge_message(
        index,
        query,
        rank_roles(index, query),
        _read_task(previous),
        now,
        lambda old, new: _find_refusal(view, old, new, may_hand_off),
    )
    chain = view.list_chain_above(previous.role_id)
    reason = Reason(verdict.rule, verdict.reason, tuple(map(cite_edge, chain[:1])))
    task = _write_task(verdict, own)
    # Only the sentence decides about a task that begins or moves. Otherwise the previous role would have an advantage.
    if verdict.effect in ("begin", "move"):
        return _add_task(own, reason, task)
    if verdict.role_id is None:
        reasons = (reason, *(own.reasons if own.outcome != "role" else ()))
        return DispatchDecision(
            "not_applicable", query, None, None, None, (), (), (), (), reasons,
            own.considered, own.considered_count, view.digest, own.candidates, own.margin, task=task,
        )  # fmt: skip
    lacking = find_lacking(view, index, needs).get(verdict.role_id)
    if lacking:
        return DispatchDecision(
            "not_applicable", query, None, None, None, (), (), (), (),
            (reason, build_lacking_reason("keeps the task", {verdict.role_id: lacking})),
            own.considered, own.considered_count, view.digest, own.candidates, own.margin, task=task,
        )  # fmt: skip
    kept = answer_with_role(
        view, query, verdict.role_id, previous.domain, (), (), 0, own.candidates, own.margin
    )
    return _add_task(kept, reason, task)


def _add_task(decision: DispatchDecision, reason: Reason, task: PreviousTask | None) -> DispatchDecision:
    return msgspec.structs.replace(decision, reasons=(reason, *decision.reasons), task=task)


def _find_refusal(view: OrgView, old: str, new: str, may_hand_off: MayHandOff) -> str | None:
    """Why no commander may hand a task of one role to another. None if one may."""
    posts = view.records.posts

    def list_superiors(role_id: str) -> list[str]:
        return [edge.target for edge in view.list_chain_above(role_id) if edge.target in posts]

    commander = find_move_refusal(old, new, list_superiors, may_hand_off)
    return None if commander is None else f"role {quote(commander)} may not hand work to role {quote(new)}"


def _read_task(previous: PreviousTask) -> Task:
    started, last = (None if text is None else as_seconds(text) for text in (previous.started, previous.last))
    return Task(previous.role_id, previous.texts, started, last, previous.domain, previous.state)


def _write_task(verdict: Verdict, own: DispatchDecision) -> PreviousTask:
    task = verdict.task
    domain = own.domain if verdict.effect in ("begin", "move") else task.domain
    return PreviousTask(
        role_id=task.role_id,
        texts=task.texts,
        domain=domain,
        state=task.state,
        started=as_utc(task.started),
        last=as_utc(task.last),
    )
