"""Input: the arguments of a tool must match the schema that the tool declares."""

from __future__ import annotations

from typing import Any

from orgkernel.decisions.access.evaluation import Evaluation
from orgkernel.decisions.access.layer import AccessLayer, Move, ReasonCode, Sentence, Target
from orgkernel.decisions.access.lines import locate_tool_field
from orgkernel.decisions.access.resource import LOCK
from orgkernel.diagnostics.wording import listing, quote


def _compile(target: Target) -> Move | None:
    tool = target.resource.tool
    has_schema = tool is not None and tool.input_schema is not None
    return _check if has_schema and target.action != LOCK else None


def _check(evaluation: Evaluation) -> None:
    stated = evaluation.request.context.input
    if stated is not None and not evaluation.resource.validator.is_valid(stated):
        evaluation.failing |= INPUT_INVALID.bit


def _explain_invalid_input(evaluation: Evaluation) -> Sentence:
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


INPUT_INVALID = ReasonCode("INPUT_INVALID", _explain_invalid_input, "stopped")
INPUT = AccessLayer("input", (INPUT_INVALID,), _compile, is_about_run=True, needs_run=True)
