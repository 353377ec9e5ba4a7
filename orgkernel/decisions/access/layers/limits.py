"""Limits: a call beyond a declared number of calls is denied.

The usage comes from the caller, because a decision reads no store. Without it, a call that a limit counts is
`conditional`: allowed only if the limit has something left. A counter without a known usage is used up. A budget whose cost is
an argument needs the input of the call in the same way, and a call whose input states no cost is denied.
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
    LayerStep,
    ReasonCode,
    Sentence,
    Target,
    UnstatedCircumstances,
)
from orgkernel.decisions.access.limits import EVERYONE, CompiledLimit, counts_costs, list_call_charges
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.access.resource import LOCK
from orgkernel.decisions.evidence.limit_usage import INPUT, LIMIT, Charge, LimitUsage
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


def _compile(target: Target) -> LayerStep | None:
    return _check if target.resource.limits and target.action != LOCK else None


def _check(evaluation: Evaluation) -> None:
    # Without known usage this layer stays silent, and the layer of circumstances makes the answer conditional.
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
        # A question without input is decided as if it cost nothing, and the layer of circumstances asks for the input.
        amount = 0 if _is_cost_open(evaluation, charge, limit) else charge.amount
        if current is None or current.used + amount > charge.limit:
            yield charge, limit, current


def _is_cost_open(evaluation: Evaluation, charge: Charge, limit: CompiledLimit) -> bool:
    """Whether the cost of a call is in an input that the request does not state."""
    return (
        limit.cost_argument is not None
        and counts_costs(charge.limit_id)
        and evaluation.request.context.input is None
    )


def _explain_reached(evaluation: Evaluation) -> Sentence:
    texts, why = [], dict[Why, None]()
    for charge, limit, usage in _find_reached(evaluation):
        whose = "" if charge.counter == EVERYONE else f" for {quote(charge.counter)}"
        refill = ""
        if usage is not None and usage.refills_at is not None:
            refill = f"; the next {'refill is at' if counts_costs(charge.limit_id) else 'call is possible after'} {as_utc(usage.refills_at)}"
        left = _describe_shortage(evaluation, charge, limit, usage)
        texts.append(f"limit {quote(limit.id)} allows {limit.describe(charge)}{whose}, and {left}{refill}")
        why[cite_place(f"limit {limit.id}", limit.definition.place())] = None
    return "; ".join(texts), tuple(why)


def _describe_shortage(
    evaluation: Evaluation, charge: Charge, limit: CompiledLimit, usage: LimitUsage | None
) -> str:
    """Why what is left is not enough."""
    if _is_cost_open(evaluation, charge, limit) and evaluation.state.usage is not _USED_UP:
        return "the call may cost more"
    left = 0 if usage is None else max(0, charge.limit - usage.used)
    if not left or not counts_costs(charge.limit_id):
        return "none is left"
    if limit.compute_cost(evaluation.request.context.input) is not None:
        return f"{limit.describe_amount(left)} of it is left, but the call costs {limit.describe_amount(charge.amount)}"
    if limit.cost_argument is None:
        return "the cost of a call is not declared"
    return f"the call may cost more than the {limit.describe_amount(left)} that is left: {quote(limit.cost_argument)} is not a number of 0 or more"


def _explain_left(evaluation: Evaluation) -> Sentence:
    usage = evaluation.state.usage
    charges = _list_charges(evaluation)
    if usage is None or not charges:
        return NEUTRAL if not charges else USAGE_UNKNOWN, ()
    texts = []
    for charge, limit in charges:
        current = usage.get((charge.limit_id, charge.counter))
        if current is not None:
            left = max(0, charge.limit - current.used)
            amounts = (left, charge.limit)
            shown = (
                map(limit.describe_amount, amounts) if counts_costs(charge.limit_id) else map(str, amounts)
            )
            texts.append(f"limit {quote(limit.id)} has {' of '.join(shown)} left before this call")
    return "; ".join(texts), ()


def _list_words(evaluation: Evaluation, outcome: Outcome) -> Iterable[str]:
    return dict.fromkeys(
        f"{name}:{value}" for needed in _list_needed(evaluation) for name, value in needed.items()
    )


def _list_needed(evaluation: Evaluation) -> Iterable[Mapping[str, str]]:
    """What the caller does not state and a limit reads: the usage of a limit, or the argument with the cost."""
    if not evaluation.resource.limits or evaluation.action == LOCK:
        return
    charges = _list_charges(evaluation)
    if evaluation.state.usage is None:
        yield from ({LIMIT: limit_id} for limit_id in dict.fromkeys(limit.id for _, limit in charges))
    for charge, limit in charges:
        if _is_cost_open(evaluation, charge, limit):
            yield {INPUT: f"{quote(limit.cost_argument)} is too high"}


def _find_unstated(evaluation: Evaluation) -> Iterable[UnstatedCircumstances]:
    for needed in _list_needed(evaluation):
        usage = _USED_UP
        if INPUT in needed:
            known = evaluation.state.usage or _build_unused(evaluation)
            usage = {key: each for key, each in known.items() if not counts_costs(key[0])}
        yield UnstatedCircumstances(
            needed, evaluation.copy_with(state=replace(evaluation.state, usage=usage))
        )


def _build_unused(evaluation: Evaluation) -> Mapping[tuple[str, str], LimitUsage]:
    """The usage of limits of which nothing is used."""
    return {
        (each.limit_id, each.counter): LimitUsage(each.limit_id, each.counter, each.limit, 0)
        for each, _ in _list_charges(evaluation)
    }


def _suppose(evaluation: Evaluation, is_favorable: bool) -> None:
    """Favorable: nothing is used, and the call costs nothing. Unfavorable: everything is used up."""
    if next(iter(_list_needed(evaluation)), None) is None:
        return
    known = evaluation.state.usage or _build_unused(evaluation)
    usage = known if is_favorable else _USED_UP
    evaluation.state = replace(evaluation.state, usage=usage)


LIMIT_REACHED = ReasonCode("LIMIT_REACHED", _explain_reached, "stopped")
LIMITS = AccessLayer(
    "limits",
    (LIMIT_REACHED,),
    _compile,
    is_about_run=True,
    unchanged=_explain_left,
    circumstances=_list_words,
    unstated=_find_unstated,
    suppose=_suppose,
)
