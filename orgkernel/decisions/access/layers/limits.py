"""Limits: a call beyond a declared number of calls is denied.

The usage comes from the caller, because a decision reads no store. Without it, a call that a limit counts is
`conditional`: allowed only if the limit has something left. A counter without a known usage is used up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from msgspec.structs import replace

from orgkernel.decisions.access.compiled import AccessTables
from orgkernel.decisions.access.decision import Outcome
from orgkernel.decisions.access.evaluation import Evaluation
from orgkernel.decisions.access.layer import (
    NEUTRAL,
    AccessLayer,
    Move,
    ReasonCode,
    Sentence,
    Target,
    Unstated,
)
from orgkernel.decisions.access.limits import EVERYONE, CompiledLimit, list_call_charges
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.access.resource import LOCK
from orgkernel.decisions.evidence.limit_usage import LIMIT, Charge, LimitUsage
from orgkernel.decisions.reasons import Why, cite_place
from orgkernel.decisions.refusals import USAGE_UNKNOWN
from orgkernel.diagnostics.wording import quote
from orgkernel.runtime.utc import as_utc

_USED_UP: Mapping[tuple[str, str], LimitUsage] = MappingProxyType({})


def list_charges(tables: AccessTables, request: AccessRequest) -> tuple[Charge, ...]:
    """What a call takes from limits; nothing for an undeclared tool."""
    resource, _ = tables.find(request.resource)
    subject = tables.find_subject(request.subject) or tables.undeclared
    if not resource.limits or request.action == LOCK:
        return ()
    charges = list_call_charges(resource.limits, resource.resource, subject.keys, request)
    return tuple(charge for charge, _ in charges)


def _compile(target: Target) -> Move | None:
    return _check if target.resource.limits and target.action != LOCK else None


def _check(evaluation: Evaluation) -> None:
    if evaluation.state.usage is not None and any(True for _ in _find_reached(evaluation)):
        evaluation.ceiling = 0
        evaluation.failing |= LIMIT_REACHED.bit


def _list_charges(evaluation: Evaluation) -> tuple[tuple[Charge, CompiledLimit], ...]:
    resource = evaluation.resource
    return list_call_charges(resource.limits, resource.resource, evaluation.subject.keys, evaluation.request)


def _find_reached(evaluation: Evaluation) -> Iterator[tuple[Charge, CompiledLimit, LimitUsage | None]]:
    usage = evaluation.state.usage or _USED_UP
    for charge, limit in _list_charges(evaluation):
        current = usage.get((charge.limit_id, charge.counter))
        if current is None or current.used + charge.amount > charge.limit:
            yield charge, limit, current


def _explain_reached(evaluation: Evaluation) -> Sentence:
    texts, why = [], dict[Why, None]()
    for charge, limit, usage in _find_reached(evaluation):
        whose = "" if charge.counter == EVERYONE else f" for {quote(charge.counter)}"
        refill = ""
        if usage is not None and usage.refills_at is not None:
            refill = f"; the next call is possible after {as_utc(usage.refills_at)}"
        texts.append(
            f"limit {quote(limit.id)} allows {limit.describe(charge)}{whose}, and none is left{refill}"
        )
        why[cite_place(f"limit {limit.id}", limit.definition.place())] = None
    return "; ".join(texts), tuple(why)


def _explain_left(evaluation: Evaluation) -> Sentence:
    usage = evaluation.state.usage
    charges = _list_charges(evaluation)
    if usage is None or not charges:
        return NEUTRAL if not charges else USAGE_UNKNOWN, ()
    texts = []
    for charge, limit in charges:
        current = usage.get((charge.limit_id, charge.counter))
        if current is not None:
            texts.append(
                f"limit {quote(limit.id)} has {max(0, charge.limit - current.used)} of {charge.limit} left before this call"
            )
    return "; ".join(texts), ()


def _list_words(evaluation: Evaluation, outcome: Outcome) -> Iterable[str]:
    if not evaluation.resource.limits or evaluation.state.usage is not None:
        return ()
    return dict.fromkeys(f"{LIMIT}:{limit.id}" for _, limit in _list_charges(evaluation))


def _find_unstated(evaluation: Evaluation) -> Iterable[Unstated]:
    if not evaluation.resource.limits or evaluation.state.usage is not None or evaluation.action == LOCK:
        return
    full = replace(evaluation.state, usage=_USED_UP)
    for limit_id in dict.fromkeys(limit.id for _, limit in _list_charges(evaluation)):
        yield Unstated({LIMIT: limit_id}, evaluation.copy_with(state=full))


def _suppose(evaluation: Evaluation, kindly: bool) -> None:
    """Favorable: nothing is used. Unfavorable: everything is used up."""
    if not evaluation.resource.limits or evaluation.state.usage is not None:
        return
    usage = _USED_UP
    if kindly:
        usage = {
            (each.limit_id, each.counter): LimitUsage(each.limit_id, each.counter, each.limit, 0)
            for each, _ in _list_charges(evaluation)
        }
    evaluation.state = replace(evaluation.state, usage=usage)


LIMIT_REACHED = ReasonCode("LIMIT_REACHED", _explain_reached, "stopped")
LIMITS = AccessLayer(
    "limits",
    (LIMIT_REACHED,),
    _compile,
    of_run=True,
    unchanged=_explain_left,
    circumstances=_list_words,
    unstated=_find_unstated,
    suppose=_suppose,
)
