"""Input: the arguments of a tool must match the schema that the tool declares.

If the schema limits values, a request that states no input is `conditional`: it is allowed only if the input keeps to the limits.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from orgkernel.decisions.access.decision import Outcome
from orgkernel.decisions.access.evaluation import Assumptions, Evaluation
from orgkernel.decisions.access.layer import (
    AccessLayer,
    LayerStep,
    ReasonCode,
    Sentence,
    Target,
    UnstatedCircumstances,
)
from orgkernel.decisions.access.lines import locate_tool_field
from orgkernel.decisions.access.resource import LOCK
from orgkernel.decisions.evidence.limit_usage import INPUT as INPUT_FIELD
from orgkernel.diagnostics.wording import LISTED, listing, quote


def _compile(target: Target) -> LayerStep | None:
    tool = target.resource.tool
    has_schema = tool is not None and tool.input_schema is not None
    return _check if has_schema and target.action != LOCK else None


def _check(evaluation: Evaluation) -> None:
    stated = evaluation.request.context.input
    if stated is None:
        # The layer of circumstances asks for the input.
        is_valid = evaluation.assumed is None or evaluation.assumed.fits_schema is not False
    else:
        is_valid = evaluation.resource.validator.is_valid(stated)
    if not is_valid:
        evaluation.failing |= INPUT_INVALID.bit


def _explain_invalid_input(evaluation: Evaluation) -> Sentence:
    if evaluation.request.context.input is None:
        return f"the input of {evaluation.what} does not match its schema", locate_tool_field(
            evaluation, "input_schema"
        )
    error = next(evaluation.resource.validator.iter_errors(evaluation.request.context.input))
    where = "/".join(str(step) for step in error.absolute_path)
    at = f" at {quote(where)}" if where else ""
    text = f"the input of {evaluation.what} does not match its schema{at}: {_limit(error)}"
    return text, locate_tool_field(evaluation, "input_schema")


def _limit(error: Any) -> str:
    """The violated limit of the schema. The value itself is not quoted, because it could be a secret."""
    limit = error.validator_value
    if error.validator == "required" and isinstance(error.instance, dict):
        limit = [name for name in limit if name not in error.instance]
    if isinstance(limit, list):
        return f"{quote(error.validator)} is {listing(limit)}"
    return (
        f"{quote(error.validator)} is {quote(limit)}"
        if not isinstance(limit, dict)
        else quote(error.validator)
    )


# -- circumstances -----------------------------------------------------------------------------------------------------


def _describe_open_limits(evaluation: Evaluation) -> str:
    """How an input that the request does not state could break the limits of the schema; empty if it could not."""
    if evaluation.request.context.input is not None or evaluation.action == LOCK:
        return ""
    if evaluation.assumed is not None and evaluation.assumed.fits_schema is not None:
        return ""
    limits = evaluation.resource.input_limits
    more = [f"another of {len(limits)} limits is broken"] if len(limits) > LISTED else []
    return " or ".join((*limits[:LISTED], *more))


def _list_words(evaluation: Evaluation, outcome: Outcome) -> Iterable[str]:
    limits = _describe_open_limits(evaluation)
    return [f"{INPUT_FIELD}:{limits}"] if limits else ()


def _find_unstated(evaluation: Evaluation) -> Iterable[UnstatedCircumstances]:
    limits = _describe_open_limits(evaluation)
    if limits:
        assumed = (evaluation.assumed or Assumptions())._replace(fits_schema=False)
        yield UnstatedCircumstances({INPUT_FIELD: limits}, evaluation.copy_with(assumed=assumed))


def _suppose(evaluation: Evaluation, is_favorable: bool) -> None:
    if _describe_open_limits(evaluation):
        evaluation.assumed = (evaluation.assumed or Assumptions())._replace(fits_schema=is_favorable)


INPUT_INVALID = ReasonCode("INPUT_INVALID", _explain_invalid_input, "stopped")
INPUT = AccessLayer(
    "input",
    (INPUT_INVALID,),
    _compile,
    is_about_run=True,
    circumstances=_list_words,
    unstated=_find_unstated,
    suppose=_suppose,
)
