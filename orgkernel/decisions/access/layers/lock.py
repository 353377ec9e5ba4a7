"""Exclusive lock: only the holder of its lock may use a tool with `concurrency: exclusive`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from orgkernel.decisions.access.decision import Outcome, RemedyChange
from orgkernel.decisions.access.evaluation import Evaluation
from orgkernel.decisions.access.layer import AccessLayer, Move, ReasonCode, Sentence, Target
from orgkernel.decisions.access.lines import why_tool
from orgkernel.decisions.access.resource import LOCK
from orgkernel.decisions.state_view import ToolLock
from orgkernel.diagnostics.wording import quote


def find_lock(evaluation: Evaluation) -> ToolLock | None:
    """Who holds an exclusive tool now."""
    lock = evaluation.state.locks.get(evaluation.resource.id)
    if lock is None or lock.org_id != evaluation.tables.org_id:
        return None
    ended = lock.expires_at is not None and lock.expires_at <= evaluation.request.context.now
    return None if ended else lock


def _compile(target: Target) -> Move | None:
    return _require_lock if target.resource.exclusive else None


def _require_lock(evaluation: Evaluation) -> None:
    lock = find_lock(evaluation)
    if not (evaluation.action == LOCK if lock is None else lock.holder == evaluation.subject.subject):
        evaluation.ceiling = 0
        evaluation.failing |= LOCKED.bit


def _locked(evaluation: Evaluation) -> Sentence:
    lock, why = find_lock(evaluation), why_tool(evaluation, "concurrency")
    if lock is None:
        return f"{evaluation.what} is exclusive, and {evaluation.who} does not hold its lock", why
    return f"{evaluation.what} is locked by {quote(lock.holder)}", why


def _words(evaluation: Evaluation, outcome: Outcome) -> Iterable[str]:
    waits = evaluation.resource.exclusive and evaluation.action != LOCK
    return (f"lock:{evaluation.resource.id}",) if waits else ()


def _suppose(evaluation: Evaluation, kindly: bool) -> None:
    """Kindly the subject holds the lock; unkindly nobody does, so that it has to be taken first."""
    tool_id, action = evaluation.resource.id, evaluation.action
    if evaluation.resource.exclusive and action != LOCK:
        holder = evaluation.subject.subject
        lock = ToolLock(evaluation.tables.org_id, tool_id, holder, token=0, acquired_at=0.0)
        evaluation.state = replace(evaluation.state, locks={tool_id: lock} if kindly else {})


def _taking(evaluation: Evaluation) -> Iterator[RemedyChange]:
    """The subject takes the lock, out of other hands if need be. Roles hold no locks, agents that fill them do."""
    if evaluation.action == LOCK or evaluation.subject.group != "role":
        yield RemedyChange("lock", evaluation.resource.id, subject=evaluation.subject.subject)


LOCKED = ReasonCode("LOCKED", _locked, remedies=("lock",))
EXCLUSIVE_LOCK = AccessLayer(
    "exclusive lock",
    (LOCKED,),
    _compile,
    of_run=True,
    circumstances=_words,
    suppose=_suppose,
    changes={"lock": _taking},
)
