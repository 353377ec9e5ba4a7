"""Circumstances: an allowance is conditional if stating a missing circumstance would change it.

A missing circumstance first counts as not satisfied. If that allows the request, every open condition is tried. The
PACE tier, the depth and the counts of a run are not tried: they come from the latest report and from `via`, and a
runtime that reports nothing is assumed to be nominal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from orgkernel.decisions.access.decision import Outcome
from orgkernel.decisions.access.evaluation import Evaluation, evaluate, give_reason
from orgkernel.decisions.access.layer import AccessLayer, Move, ReasonCode, Sentence, Target, Unstated
from orgkernel.decisions.evidence.limit_usage import INPUT, LIMIT
from orgkernel.decisions.reasons import Why
from orgkernel.decisions.refusals import USAGE_UNKNOWN
from orgkernel.diagnostics.wording import listing, quote


def _compile(target: Target) -> Move | None:
    return _require_stated if target.resource.depends else None


def _require_stated(evaluation: Evaluation) -> None:
    if evaluation.failing or evaluation.is_complete:
        return
    assumed = evaluation.assumed
    if assumed is not None and assumed.policies is not None:
        return
    cases = []
    for layer in evaluation.tables.order.stating:
        for each in layer.unstated(evaluation):
            each.evaluation.is_complete = True
            if evaluate(each.evaluation).failing:
                cases.append(each)
            elif each.evaluation.rests_on_grants:
                evaluation.supposed += (each.evaluation,)
    if cases:
        evaluation.unstated = tuple(each for each in cases if not _is_told(each, cases))
        evaluation.failing |= CONTEXT_MISSING.bit


def _is_told(one: Unstated, cases: Iterable[Unstated]) -> bool:
    """Whether another case needs fewer circumstances, so this one need not be mentioned."""
    return any(other.needed.items() < one.needed.items() for other in cases)


def _explain_missing_context(evaluation: Evaluation) -> Sentence:
    """Explain which layer would fail in which circumstances."""
    names = listing(dict.fromkeys(name for each in evaluation.unstated for name in each.needed))
    places_by_text: dict[str, list[str]] = {}
    why: dict[Why, None] = {}
    for each in evaluation.unstated:
        stated = each.evaluation
        reason = give_reason(stated, stated.tables.order.get_code_names(stated.failing)[0])
        places_by_text.setdefault(reason.text, []).append(_locate(each.needed))
        why.update(dict.fromkeys(reason.why))
    cases = "; ".join(f"if {' or '.join(words)}, {text}" for text, words in places_by_text.items())
    only_limits = all(name == LIMIT for each in evaluation.unstated for name in each.needed)
    unknown = USAGE_UNKNOWN if only_limits else f"the request does not state {names}"
    return f"{unknown}: {cases}", tuple(why)


def _locate(needed_values: Mapping[str, str]) -> str:
    return " and ".join(_say(name, value) for name, value in needed_values.items())


def _say(name: str, value: str) -> str:
    if name == LIMIT:
        return f"limit {quote(value)} is used up"
    return f"{quote(value)} is too high" if name == INPUT else f"{quote(name)} is {quote(value)}"


def _list_context_words(evaluation: Evaluation, outcome: Outcome) -> Iterable[str]:
    return [f"{name}:{value}" for each in evaluation.unstated for name, value in each.needed.items()]


CONTEXT_MISSING = ReasonCode(
    "CONTEXT_MISSING",
    _explain_missing_context,
    "stopped",
    remedies=("grant", "role", "policy_removed"),
    unstated=True,
)
CIRCUMSTANCES = AccessLayer(
    "circumstances", (CONTEXT_MISSING,), _compile, of_run=True, circumstances=_list_context_words
)
