"""Delegation: whoever triggered the run bounds it, at any depth, and each hop may only narrow it.

The envelope starts as the permissions of whoever triggered the run. Under `delegation: strict` the tools of everybody on
the path narrow it too.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from orgkernel.decisions.access.compiled import AccessTables
from orgkernel.decisions.access.evaluation import Evaluation, evaluate_subject, give_reason
from orgkernel.decisions.access.layer import AccessLayer, Move, ReasonCode, Sentence, Target
from orgkernel.decisions.access.layers.identity import UNKNOWN_PRINCIPAL
from orgkernel.decisions.access.layers.structure import ACTION_UNKNOWN
from orgkernel.decisions.access.resource import LEVEL, Resource
from orgkernel.decisions.access.subject import Subject
from orgkernel.decisions.reasons import Why, why_place
from orgkernel.diagnostics.wording import quote
from orgkernel.records.access_policies import STAR
from orgkernel.records.levels import ToolLevel


def _compile(target: Target) -> Move | None:
    dispatches = target.dispatches

    def bound(evaluation: Evaluation) -> None:
        request = evaluation.request
        if request.on_behalf_of is not None or request.via or request.envelope is not None:
            _narrow(evaluation)
        if dispatches or request.context.depth or request.via:
            _limit(evaluation, dispatches)

    return bound


def _narrow(evaluation: Evaluation) -> None:
    """By what those may do whom the subject acts for, and by what they passed on."""
    request, tables, resource = evaluation.request, evaluation.tables, evaluation.resource
    asking = tables.order.asking
    unknown = tables.order.codes[resource.unknown].bit if resource.unknown else 0
    strict = tables.view.records.organization.limits.delegation == "strict"
    for name in evaluation.parent_names():
        parent = tables.subject(name)
        if parent is None:
            # INVARIANT: a name that is given and not declared denies, also where it would not narrow anything.
            evaluation.ceiling = 0
            evaluation.failing |= UNKNOWN_PRINCIPAL.bit
            continue
        if not (strict or name == request.on_behalf_of) or _is_neutral(tables, parent):
            continue
        if evaluation.essential:
            continue
        asked = Evaluation(
            tables, evaluation.state, replace(request, subject=name), evaluation.action, parent, resource,
            evaluation.path,
        )  # fmt: skip
        evaluate_subject(asked)
        # An action that nobody declares is no fault of theirs.
        asked.failing &= ~ACTION_UNKNOWN.bit
        evaluation.parents += (asked,)
        evaluation.ceiling = min(evaluation.ceiling, asked.left)
        if asked.failing & ~(asking | unknown):
            evaluation.failing |= PARENT_CAP.bit
        evaluation.failing |= asked.failing & asking
    if request.envelope is not None and not evaluation.essential:
        passed = _level_passed(request.envelope, resource)
        evaluation.ceiling = min(evaluation.ceiling, passed)
        if passed < evaluation.required:
            evaluation.failing |= PARENT_CAP.bit


def _is_neutral(tables: AccessTables, parent: Subject) -> bool:
    """Whether nothing is declared about what somebody outside the crew may do: no policies are no cap."""
    return not parent.is_crew and not tables.declares_policies


def _level_passed(envelope: Mapping[str, ToolLevel], resource: Resource) -> int:
    """What an envelope passes on of a resource; what it does not name it does not pass on."""
    name = resource.resource
    return max(
        (
            LEVEL[level]
            for word, level in envelope.items()
            if word == name or (word.endswith(STAR) and name.startswith(word[:-1]))
        ),
        default=0,
    )


def _limit(evaluation: Evaluation, dispatching: bool) -> None:
    """By how deep dispatches may lie, and how many may run."""
    context, limits = evaluation.request.context, evaluation.view.records.organization.limits
    depth = max(context.depth, len(evaluation.request.via))
    if depth > limits.max_spawn_depth or (dispatching and depth >= limits.max_spawn_depth):
        evaluation.ceiling = 0
        evaluation.failing |= DEPTH_EXCEEDED.bit
    full = context.children >= limits.max_children or context.concurrent >= limits.max_concurrent
    if dispatching and full:
        evaluation.ceiling = 0
        evaluation.failing |= CHILD_LIMIT.bit


def _parent_cap(evaluation: Evaluation) -> Sentence:
    order, envelope = evaluation.tables.order, evaluation.request.envelope
    found: list[str] = []
    why: list[Why] = []
    for parent in evaluation.parents:
        if parent.failing & ~order.asking:
            reason = give_reason(parent, order.names_of(parent.failing)[0])
            found.append(f"{quote(parent.request.subject)} may not use {parent.what}: {reason.text}")
            why += reason.why
    if envelope is not None and _level_passed(envelope, evaluation.resource) < evaluation.required:
        found.append(f"the envelope passes too little of {evaluation.what} on")
    if not why:
        why.append(_why_limit(evaluation, "delegation"))
    return "; ".join(found), tuple(dict.fromkeys(why))


def _exceeds(evaluation: Evaluation, field: str, text: str) -> Sentence:
    value = getattr(evaluation.view.records.organization.limits, field)
    return f"{text} {value}{_by_default(evaluation, field)}", (_why_limit(evaluation, field),)


def _why_limit(evaluation: Evaluation, field: str) -> Why:
    """The line of a limit; where none is written, that of the organization it holds in."""
    records = evaluation.view.records
    said = f"{field} {getattr(records.organization.limits, field)}{_by_default(evaluation, field)}"
    written = records.document.has("limits", field)
    route = ("limits", field) if written else ("org_id",)
    return why_place(said, records.document.place(*route, key=True))


def _by_default(evaluation: Evaluation, field: str) -> str:
    return "" if evaluation.view.records.document.has("limits", field) else " by default"


def _depth_exceeded(evaluation: Evaluation) -> Sentence:
    depth = max(evaluation.request.context.depth, len(evaluation.request.via))
    text = f"{evaluation.who} is at depth {depth}, the deepest that may exist is"
    return _exceeds(evaluation, "max_spawn_depth", text)


def _child_limit(evaluation: Evaluation) -> Sentence:
    context, who = evaluation.request.context, evaluation.who
    if context.children >= evaluation.view.records.organization.limits.max_children:
        return _exceeds(evaluation, "max_children", f"{who} has {context.children} children, the most are")
    text = f"{context.concurrent} children of {who} run, the most are"
    return _exceeds(evaluation, "max_concurrent", text)


def _passed_on(evaluation: Evaluation) -> Sentence:
    return f"no more is passed on to {evaluation.who} than this", ()


PARENT_CAP = ReasonCode("PARENT_CAP", _parent_cap, remedies=("role", "policy_removed"))
DEPTH_EXCEEDED = ReasonCode("DEPTH_EXCEEDED", _depth_exceeded)
CHILD_LIMIT = ReasonCode("CHILD_LIMIT", _child_limit)
DELEGATION = AccessLayer(
    "delegation",
    (PARENT_CAP, DEPTH_EXCEEDED, CHILD_LIMIT),
    _compile,
    of_run=True,
    needs_run=True,
    explains={"ceiling": _passed_on, "stopped": UNKNOWN_PRINCIPAL.say},
)
