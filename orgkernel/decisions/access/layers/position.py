"""Position: a worker executes work and does not hand it to others."""

from __future__ import annotations

from orgkernel.decisions.access.evaluation import Evaluation
from orgkernel.decisions.access.layer import AccessLayer, LayerStep, ReasonCode, Sentence, Target
from orgkernel.decisions.access.lines import locate_in_profiles
from orgkernel.decisions.refusals import say_worker


def _compile(target: Target) -> LayerStep | None:
    return _cap if target.resource.delegating and target.is_crew else None


def _cap(evaluation: Evaluation) -> None:
    if evaluation.subject.is_worker:
        evaluation.ceiling = 0
        evaluation.failing |= POSITION_CAP.bit


def _is_worker(evaluation: Evaluation) -> Sentence:
    text = say_worker(evaluation.who)
    return text, locate_in_profiles(evaluation, "position")


POSITION_CAP = ReasonCode("POSITION_CAP", _is_worker, remedies=("role",))
WORKER_CANNOT_DISPATCH = ReasonCode(
    "WORKER_CANNOT_DISPATCH", _is_worker, "", remedies=("grant", "role"), trace_layer="role binding"
)
"""The code for a worker that tries to hand work to another role. The layer `role binding` reports it."""
POSITION = AccessLayer("position", (POSITION_CAP, WORKER_CANNOT_DISPATCH), _compile)
