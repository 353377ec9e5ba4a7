"""Structure: an undeclared resource or action is denied, and so is a disabled tool."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from orgkernel.decisions.access.decision import RemedyChange
from orgkernel.decisions.access.evaluation import Evaluation
from orgkernel.decisions.access.layer import AccessLayer, LayerStep, ReasonCode, Sentence, Target
from orgkernel.decisions.access.layers.identity import locate_declaration
from orgkernel.decisions.access.lines import locate_tool_field
from orgkernel.decisions.reasons import explain_out_of_service
from orgkernel.diagnostics.wording import did_you_mean, did_you_mean_tool, listing, quote
from orgkernel.graph.spoken_names import suggest_near_role

_KINDS = ("tool", "credential", "data", "role")


def _compile(target: Target) -> LayerStep | None:
    resource, failing = target.resource, 0
    if resource.unknown:
        failing = next(code.bit for code in _UNKNOWN if code.name == resource.unknown)
    elif target.action not in resource.required:
        failing = ACTION_UNKNOWN.bit
    is_disabled = not resource.enabled and target.group != "undeclared"

    def deny(evaluation: Evaluation) -> None:
        evaluation.failing |= failing
        if is_disabled and not (evaluation.assumed is not None and evaluation.assumed.is_enabled):
            evaluation.failing |= TOOL_DISABLED.bit

    return deny if failing or is_disabled else None


def _explain_resource_unknown(evaluation: Evaluation) -> Sentence:
    view, kind, name = evaluation.view, evaluation.resource.kind, evaluation.resource.id
    if (out := explain_out_of_service(view.records, f"{kind}:{name}")) is not None:
        return out
    if kind not in _KINDS:
        text = f"{quote(evaluation.request.resource)} is not a resource"
        return f"{text}; {did_you_mean(kind, _KINDS) or f'the kinds are {listing(_KINDS)}'}", ()
    if kind == "tool":
        names = {tool_id: tool.record.names.values() for tool_id, tool in view.records.tools.items()}
        hint = did_you_mean_tool(name, names)
    else:
        hint = suggest_near_role(view, name) if kind == "role" else ""
    text = f"{kind} {quote(name)} is not declared"
    return f"{text}; {hint}" if hint else text, ()


def _explain_action_unknown(evaluation: Evaluation) -> Sentence:
    resource = evaluation.resource
    text = f"{evaluation.what} has no action {quote(evaluation.action)}; it has {listing(resource.actions)}"
    return text, locate_tool_field(evaluation, "actions") if resource.kind == "tool" else ()


def _explain_tool_disabled(evaluation: Evaluation) -> Sentence:
    return f"{evaluation.what} is disabled", locate_tool_field(evaluation, "enabled")


def _explain_declared(evaluation: Evaluation) -> Sentence:
    resource = evaluation.resource
    return f"{evaluation.what} is declared", locate_declaration(evaluation, resource.kind, resource.id)


def _propose_enabling(evaluation: Evaluation) -> Iterable[RemedyChange]:
    return (RemedyChange("enable", evaluation.resource.id),)


_UNKNOWN = tuple(
    ReasonCode(name, _explain_resource_unknown, "stopped")
    for name in ("TOOL_UNKNOWN", "CREDENTIAL_UNKNOWN", "DATA_UNKNOWN", "ROLE_UNKNOWN", "RESOURCE_UNKNOWN")
)
UNKNOWN: Final = frozenset(code.name for code in _UNKNOWN)
"""The codes of resources that no document declares."""
ACTION_UNKNOWN = ReasonCode("ACTION_UNKNOWN", _explain_action_unknown, "stopped")
TOOL_DISABLED = ReasonCode("TOOL_DISABLED", _explain_tool_disabled, "stopped", remedies=("enable",))
STRUCTURE = AccessLayer(
    "structure",
    (*_UNKNOWN, ACTION_UNKNOWN, TOOL_DISABLED),
    _compile,
    applies_to_undeclared=True,
    unchanged=_explain_declared,
    changes={"enable": _propose_enabling},
)
