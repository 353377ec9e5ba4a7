"""Exclusive lock: only the holder of its lock may use a tool with `concurrency: exclusive`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from orgkernel.decisions.access.decision import Outcome, RemedyChange
from orgkernel.decisions.access.evaluation import Evaluation
from orgkernel.decisions.access.layer import AccessLayer, LayerStep, ReasonCode, Sentence, Target
from orgkernel.decisions.access.lines import locate_tool_field
from orgkernel.decisions.access.resource import LOCK
from orgkernel.decisions.evidence.state_view import ToolLock
from orgkernel.diagnostics.wording import quote

_SOMEBODY_ELSE = "agent:"
"""A holder name that is not a subject."""


def find_lock(evaluation: Evaluation) -> ToolLock | None:
    """The current lock of an exclusive tool."""
    lock = evaluation.state.locks.get(evaluation.resource.id)
    if lock is None or lock.org_id != evaluation.tables.org_id:
        return None
    ended = lock.expires_at is not None and lock.expires_at <= evaluation.request.context.now
    return None if ended else lock


def _compile(target: Target) -> LayerStep | None:
    return _require_lock if target.resource.exclusive else None


def _require_lock(evaluation: Evaluation) -> None:
    lock = find_lock(evaluation)
    if not (evaluation.action == LOCK if lock is None else lock.holder == evaluation.subject.subject):
        evaluation.ceiling = 0
        evaluation.failing |= LOCKED.bit


def _explain_locked(evaluation: Evaluation) -> Sentence:
    lock, why = find_lock(evaluation), locate_tool_field(evaluation, "concurrency")
    if lock is None:
        return f"{evaluation.what} is exclusive, and {evaluation.who} does not hold its lock", why
    return f"{evaluation.what} is locked by {quote(lock.holder)}", why


def _list_words(evaluation: Evaluation, outcome: Outcome) -> Iterable[str]:
    return (f"lock:{evaluation.resource.id}",) if evaluation.resource.exclusive else ()


def _suppose(evaluation: Evaluation, is_favorable: bool) -> None:
    """Favorable: the subject holds the lock. Unfavorable: it does not, and for taking it, another subject does."""
    tool_id = evaluation.resource.id
    if evaluation.resource.exclusive:
        holder = evaluation.subject.subject if is_favorable else _SOMEBODY_ELSE
        lock = ToolLock(evaluation.tables.org_id, tool_id, holder, token=0, acquired_at=0.0)
        is_held = is_favorable or evaluation.action == LOCK
        evaluation.state = replace(evaluation.state, locks={tool_id: lock} if is_held else {})


def _propose_taking_lock(evaluation: Evaluation) -> Iterator[RemedyChange]:
    """Propose that the subject takes the lock, breaking another lock if necessary. Agents hold locks; roles do not."""
    if evaluation.action == LOCK or evaluation.subject.group != "role":
        yield RemedyChange("lock", evaluation.resource.id, subject=evaluation.subject.subject)


LOCKED = ReasonCode("LOCKED", _explain_locked, remedies=("lock",))
EXCLUSIVE_LOCK = AccessLayer(
    "exclusive lock",
    (LOCKED,),
    _compile,
    is_about_run=True,
    circumstances=_list_words,
    suppose=_suppose,
    changes={"lock": _propose_taking_lock},
)
