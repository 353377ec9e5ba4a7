"""Role binding: the permissions that members of the crew get from their roles, including hand work to and escalation."""

from __future__ import annotations

from orgkernel.decisions.access.evaluation import Evaluation
from orgkernel.decisions.access.layer import AccessLayer, LayerStep, ReasonCode, Sentence, Target
from orgkernel.decisions.access.layers.chain_of_command import (
    CANNOT_DELEGATE,
    CHAIN_OF_COMMAND,
    DISPATCH_EDGE_FORBIDDEN,
    MAY_HAND_OFF,
    REPORTS_TO,
    TARGET_NOT_ALLOWED,
    compute_chain_of_command_bits,
)
from orgkernel.decisions.access.lines import locate_edges, locate_tool_field
from orgkernel.decisions.access.resource import FULL, LEVEL
from orgkernel.decisions.reasons import Why, cite_place
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.schema import Edge


def _compile(target: Target) -> LayerStep | None:
    resource, required = target.resource, target.required
    if resource.kind == "role" and not resource.unknown:
        return _apply_chain_of_command
    if not target.is_crew:
        return None
    name, lacks = resource.resource, 0 if resource.unknown else NOT_BOUND_TO_ROLE.bit
    bound = BOUND_TO_ROLE.bit

    def bind(evaluation: Evaluation) -> None:
        if evaluation.essential:
            evaluation.granted = FULL
            evaluation.sources = ESSENTIAL_TOOL.bit
            return
        level = evaluation.granted = evaluation.subject.bound.get(name, 0)
        if level >= required:
            evaluation.sources = bound
        else:
            evaluation.missing = lacks

    return bind


def _apply_chain_of_command(evaluation: Evaluation) -> None:
    """Apply the right to hand work to a role or escalate. The result for a subject, action and role is cached with the subject."""
    subject, resource, action = evaluation.subject, evaluation.resource, evaluation.action
    command = subject.chains_of_command.get((action, resource.resource))
    if command is None:
        command = compute_chain_of_command_bits(evaluation.view, subject.identity, resource.id, action)
        if action in resource.required:
            subject.chains_of_command[action, resource.resource] = command
    evaluation.sources, evaluation.missing = command
    if evaluation.sources:
        evaluation.granted = FULL


def find_binding_edges(evaluation: Evaluation) -> list[Edge]:
    """The edges by which the subject's roles are equipped with a tool."""
    if evaluation.resource.kind != "tool":
        return []
    view, tool = evaluation.view, evaluation.resource.id
    return [edge for role in evaluation.roles for edge in view.find_equipping_edges(role, tool)]


def _get_level(edge: Edge) -> int:
    """The level of an `equipped_with` edge."""
    return LEVEL[edge.attribute.rpartition(":")[2]]


def _explain_essential(evaluation: Evaluation) -> Sentence:
    text = f"{evaluation.what} is essential for {evaluation.who}"
    return text, locate_tool_field(evaluation, "essential")


def _explain_bound(evaluation: Evaluation) -> Sentence:
    edges = [edge for edge in find_binding_edges(evaluation) if _get_level(edge) >= evaluation.required]
    if edges:
        why = locate_edges(edges)
        return "; ".join(dict.fromkeys(each.text for each in why)), why
    kind = evaluation.resource.kind
    field = {"credential": "credentials"}.get(kind, kind)
    posts = evaluation.view.records.posts
    giving = [role for role in evaluation.roles if posts[role].has(field)]
    places = (cite_place(f"{field} of role {role}", posts[role].place(field, key=True)) for role in giving)
    verb = "includes" if field == "data" else "include"
    return f"{quote(field)} of {evaluation.who} {verb} {evaluation.what}", tuple(places)


def _explain_not_bound(evaluation: Evaluation) -> Sentence:
    who, what, subject, resource = evaluation.who, evaluation.what, evaluation.subject, evaluation.resource
    level = subject.bound.get(resource.resource, 0)
    needed = resource.levels[evaluation.required]
    if level:
        text = f"{who} has level {quote(resource.levels[level])} of {what}, and {quote(needed)} is required"
    elif subject.is_agent and not evaluation.roles:
        text = (
            f"{who} fills no role in this organization, and no grant gives it {what} at level {quote(needed)}"
        )
    else:
        lacks = f"no role of {who} has {what}" if subject.is_agent else f"{who} does not have {what}"
        text = f"{lacks}, and no grant gives it at level {quote(needed)}"
    return text, locate_edges(find_binding_edges(evaluation)) or _locate_bindings(evaluation)


def _locate_bindings(evaluation: Evaluation) -> tuple[Why, ...]:
    """The lines where the roles list such resources, for a resource that they do not list."""
    fields: dict[str, tuple[str, ...]] = {
        "tool": ("tools", "tools_primary", "tools_secondary"), "credential": ("credentials",), "data": ("data",),
    }  # fmt: skip
    kind, places = evaluation.resource.kind, []
    for role in evaluation.roles:
        post = evaluation.view.records.posts[role]
        routes = [("capabilities", each) if kind == "tool" else (each,) for each in fields.get(kind, ())]
        route = next(
            (each for each in routes if post.has(*each)), ("capabilities",) if kind == "tool" else ()
        )
        written = route if route and post.has(*route) else ("role_id",)
        places.append(cite_place(f"{written[-1]} of role {role}", post.place(*written, key=True)))
    return tuple(places)


def _explain_too_little(evaluation: Evaluation) -> Sentence:
    """The level that the roles give, if it is not enough."""
    edges = find_binding_edges(evaluation)
    if not edges:
        return _explain_bound(evaluation)
    return "; ".join(dict.fromkeys(map(str, edges))), locate_edges(edges)


NOT_BOUND_TO_ROLE = ReasonCode(
    "NOT_BOUND_TO_ROLE", _explain_not_bound, "", remedies=("grant", "role"), is_static=True
)
ESSENTIAL_TOOL = ReasonCode("ESSENTIAL_TOOL", _explain_essential, "granted", is_static=True)
BOUND_TO_ROLE = ReasonCode("BOUND_TO_ROLE", _explain_bound, "granted", is_static=True)
ROLE_BINDING = AccessLayer(
    "role binding",
    (
        NOT_BOUND_TO_ROLE, CANNOT_DELEGATE, TARGET_NOT_ALLOWED, DISPATCH_EDGE_FORBIDDEN,
        ESSENTIAL_TOOL, BOUND_TO_ROLE, CHAIN_OF_COMMAND, MAY_HAND_OFF, REPORTS_TO,
    ),
    _compile,
    explains={"granted": _explain_too_little},
)  # fmt: skip
