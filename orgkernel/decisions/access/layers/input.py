"""Input: the arguments of a tool must fit the schema it declares."""

from __future__ import annotations

from orgkernel.decisions.access.evaluation import Evaluation
from orgkernel.decisions.access.layer import AccessLayer, Move, ReasonCode, Sentence, Target
from orgkernel.decisions.access.lines import why_tool
from orgkernel.decisions.access.resource import LOCK
from orgkernel.diagnostics.wording import quote


def _compile(target: Target) -> Move | None:
    tool = target.resource.tool
    has_schema = tool is not None and tool.input_schema is not None
    return _check if has_schema and target.action != LOCK else None


def _check(evaluation: Evaluation) -> None:
    stated = evaluation.request.context.input
    if stated is not None and not evaluation.resource.validator.is_valid(stated):
        evaluation.failing |= INPUT_INVALID.bit


def _invalid(evaluation: Evaluation) -> Sentence:
    error = next(evaluation.resource.validator.iter_errors(evaluation.request.context.input))
    where = "/".join(str(step) for step in error.absolute_path)
    at = f" at {quote(where)}" if where else ""
    text = f"the input of {evaluation.what} does not fit its schema{at}: {error.validator}"
    return text, why_tool(evaluation, "input_schema")


INPUT_INVALID = ReasonCode("INPUT_INVALID", _invalid, "stopped")
INPUT = AccessLayer("input", (INPUT_INVALID,), _compile, of_run=True, needs_run=True)
