"""Visibility: `restricted_to` applies to every subject, `departments` only to the crew. Excluded subjects cannot use
the tool.
"""

from __future__ import annotations

from orgkernel.decisions.access.evaluation import Evaluation
from orgkernel.decisions.access.layer import AccessLayer, LayerStep, ReasonCode, Sentence, Target
from orgkernel.decisions.access.lines import locate_edges, locate_tool_field
from orgkernel.decisions.access.waivers import describe_waived_level
from orgkernel.diagnostics.wording import listing
from orgkernel.graph.schema import EdgeKind


def _compile(target: Target) -> LayerStep | None:
    departments = target.resource.departments if target.is_crew else None
    restricted_to = target.resource.restricted_to
    if departments is None and restricted_to is None:
        return None

    def hide(evaluation: Evaluation) -> None:
        if evaluation.essential:
            return
        subject = evaluation.subject
        if departments is not None and departments.isdisjoint(subject.departments):
            evaluation.lower("visibility", NOT_VISIBLE.bit)
        if restricted_to is not None and restricted_to.isdisjoint(subject.names):
            evaluation.lower("restricted_to", NOT_IN_RESTRICTED_TO.bit)

    return hide


def _explain_lifted(evaluation: Evaluation) -> Sentence | None:
    """The failure of this layer that a grant waives."""
    hide = _compile(
        Target(evaluation.resource, evaluation.action, evaluation.required, evaluation.subject.group)
    )
    if hide is None:
        return None
    alone = evaluation.copy_with()
    alone.required = evaluation.required
    hide(alone)
    sentences = [code.say(evaluation) for code in evaluation.tables.order.list_codes(alone.failing)]
    return "; ".join(text for text, _ in sentences), tuple(each for _, why in sentences for each in why)


def _explain_not_visible(evaluation: Evaluation) -> Sentence:
    own = listing(sorted(evaluation.subject.departments))
    edges = [
        edge
        for role in evaluation.roles
        for edge in evaluation.view.list_edges_from(EdgeKind.BELONGS_TO, role)
    ]
    seen = listing(sorted(evaluation.resource.departments or ()))
    belongs = f"belongs to {own}" if own else "belongs to no department"
    lift = describe_waived_level(evaluation.given.waives, "visibility")
    text = f"only members of {seen} see {evaluation.what}, and {evaluation.who} {belongs}{lift}"
    return text, (*locate_tool_field(evaluation, "departments"), *locate_edges(edges))


def _explain_not_in_restricted_to(evaluation: Evaluation) -> Sentence:
    named = listing(sorted(evaluation.resource.restricted_to or ()))
    lift = describe_waived_level(evaluation.given.waives, "restricted_to")
    text = f"only {named} may use {evaluation.what}, and {evaluation.who} is not among them{lift}"
    return text, locate_tool_field(evaluation, "restricted_to")


NOT_VISIBLE = ReasonCode("NOT_VISIBLE", _explain_not_visible, remedies=("grant", "role"), waiver="visibility")
NOT_IN_RESTRICTED_TO = ReasonCode(
    "NOT_IN_RESTRICTED_TO", _explain_not_in_restricted_to, remedies=("grant", "role"), waiver="restricted_to"
)
VISIBILITY = AccessLayer(
    "visibility", (NOT_VISIBLE, NOT_IN_RESTRICTED_TO), _compile, explains={"ceiling": _explain_lifted}
)
