"""Circumstances: a request that is allowed becomes conditional if stating a missing circumstance could deny it.

A condition about a circumstance that the request does not state first counts as not satisfied. If the request is allowed then,
it is evaluated again for each of these conditions, as if it were satisfied. The PACE tier, the depth of a run and the
numbers of its agents are not tried in this way: they come from the latest report and from the chain of delegation (`via`), and a
run that reports nothing is assumed to be in its primary tier.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from orgkernel.decisions.access.decision import Outcome
from orgkernel.decisions.access.evaluation import Evaluation, evaluate, give_reason
from orgkernel.decisions.access.layer import (
    AccessLayer,
    LayerStep,
    ReasonCode,
    Sentence,
    Target,
    UnstatedCircumstances,
)
from orgkernel.decisions.evidence.limit_usage import INPUT, LIMIT
from orgkernel.decisions.reasons import Why
from orgkernel.decisions.refusals import USAGE_UNKNOWN
from orgkernel.diagnostics.wording import listing, quote


def _compile(target: Target) -> LayerStep | None:
    return _require_stated if target.resource.depends_on_circumstances else None


def _require_stated(evaluation: Evaluation) -> None:
    if evaluation.failing or evaluation.treats_unstated_as_unmet:
        return
    assumed = evaluation.assumed
    # Which policies match is already assumed, whatever the circumstances.
    if assumed is not None and assumed.policies is not None:
        return
    cases = []
    for layer in evaluation.tables.order.stating:
        for each in layer.unstated(evaluation):
            # In the supposed circumstances, nothing else is supposed.
            each.evaluation.treats_unstated_as_unmet = True
            if evaluate(each.evaluation).failing:
                cases.append(each)
            elif each.evaluation.rests_on_grants:
                # Without these grants it would fail, so the decision depends on them and the audit names them.
                evaluation.supposed += (each.evaluation,)
    if cases:
        evaluation.unstated = tuple(each for each in cases if not _is_covered(each, cases))
        evaluation.failing |= CONTEXT_MISSING.bit


def _is_covered(one: UnstatedCircumstances, cases: Iterable[UnstatedCircumstances]) -> bool:
    """Whether another case needs only some of the same circumstances, so this one need not be mentioned."""
    return any(other.needed.items() < one.needed.items() for other in cases)


def _explain_missing_context(evaluation: Evaluation) -> Sentence:
    """Explain which layer would fail in which circumstances."""
    names = listing(dict.fromkeys(name for each in evaluation.unstated for name in each.needed))
    cases_by_text: dict[str, list[str]] = {}
    why: dict[Why, None] = {}
    for each in evaluation.unstated:
        stated = each.evaluation
        reason = give_reason(stated, stated.tables.order.get_code_names(stated.failing)[0])
        cases_by_text.setdefault(reason.text, []).append(describe_circumstances(each.needed))
        why.update(dict.fromkeys(reason.why))
    cases = "; ".join(f"if {' or '.join(words)}, {text}" for text, words in cases_by_text.items())
    only_limits = all(name == LIMIT for each in evaluation.unstated for name in each.needed)
    unknown = USAGE_UNKNOWN if only_limits else f"the request does not state {names}"
    return f"{unknown}: {cases}", tuple(why)


def describe_circumstances(needed_values: Mapping[str, str]) -> str:
    """Circumstances in words, by the context fields that state them."""
    return " and ".join(_describe_circumstance(name, value) for name, value in needed_values.items())


def _describe_circumstance(name: str, value: str) -> str:
    """A circumstance in words. For the input, `value` already says what is wrong with an argument."""
    if name == LIMIT:
        return f"limit {quote(value)} is used up"
    return value if name == INPUT else f"{quote(name)} is {quote(value)}"


def _list_context_words(evaluation: Evaluation, outcome: Outcome) -> Iterable[str]:
    return [f"{name}:{value}" for each in evaluation.unstated for name, value in each.needed.items()]


CONTEXT_MISSING = ReasonCode(
    "CONTEXT_MISSING",
    _explain_missing_context,
    "stopped",
    remedies=("grant", "role", "policy_removed"),
    makes_conditional=True,
)
CIRCUMSTANCES = AccessLayer(
    "circumstances", (CONTEXT_MISSING,), _compile, is_about_run=True, circumstances=_list_context_words
)
