"""Delegation: the principal of a run limits it at any depth, and each hand-off can only narrow it.

The envelope of a run contains tools, credentials and data. It starts as the permissions of the principal. The envelopes
that senders pass on narrow it; under `delegation: strict`, the senders' own permissions narrow it as well. Handing work
to a role depends on the edges of the organization, and escalating to a superior is always possible. Essential tools are
not limited by the envelope. An unknown name or a suspended agent anywhere in the run stops it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from orgkernel.decisions.access.decision import RemedyChange
from orgkernel.decisions.access.evaluation import Evaluation, evaluate_subject, give_reason
from orgkernel.decisions.access.layer import AccessLayer, LayerStep, ReasonCode, Sentence, Target
from orgkernel.decisions.access.layers.identity import AGENT_INACTIVE, IDENTITY, UNKNOWN_PRINCIPAL
from orgkernel.decisions.access.layers.structure import ACTION_UNKNOWN
from orgkernel.decisions.access.resource import ESCALATE, GROUPS
from orgkernel.decisions.access.stored import get_level_in
from orgkernel.decisions.access.subject import Subject
from orgkernel.decisions.evidence.state_view import Grant
from orgkernel.decisions.reasons import Why, cite_place
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.documents.records import DATA_TIERS, LEVELS

Identified = Mapping[str, LayerStep | None]
"""A function that returns what the layer `identity` reports about a principal, by group of subjects."""


def _compile(target: Target) -> LayerStep | None:
    identified: Identified = {group: IDENTITY.compile(target._replace(group=group)) for group in GROUPS}
    of_role = target.resource.kind == "role"
    escalates = of_role and target.action == ESCALATE
    hands_off = target.hands_off

    def bound(evaluation: Evaluation) -> None:
        request = evaluation.request
        enveloped = not of_role and not evaluation.essential
        for name in evaluation.list_principals():
            parent = _find_parent(evaluation, name, identified)
            if parent is not None and not escalates and (enveloped or hands_off):
                _narrow(evaluation, name, parent, enveloped)
        if escalates:
            return
        if request.envelope is not None and enveloped:
            passed = _compute_passed_level(evaluation)
            evaluation.ceiling = min(evaluation.ceiling, passed)
            if passed < evaluation.required:
                evaluation.failing |= PARENT_CAP.bit
        if hands_off or request.context.depth or request.via:
            _apply_limit(evaluation, hands_off)

    return bound


def _find_parent(evaluation: Evaluation, name: str, identified: Identified) -> Subject | None:
    """A principal of the subject; None if it is not declared or is an agent that is not at work."""
    parent = evaluation.tables.find_subject(name)
    if parent is None:
        # INVARIANT: an undeclared name denies, even if it would not narrow anything.
        evaluation.ceiling = 0
        evaluation.failing |= UNKNOWN_PRINCIPAL.bit
        return None
    identify = identified[parent.group]
    if identify is not None:
        parent_evaluation = _ask(evaluation, name, parent)
        identify(parent_evaluation)
        if parent_evaluation.failing:
            evaluation.ceiling = 0
            evaluation.failing |= parent_evaluation.failing
            return None
    return parent


def _ask(evaluation: Evaluation, name: str, parent: Subject) -> Evaluation:
    """The same request, evaluated for a principal."""
    return Evaluation(
        evaluation.tables, evaluation.state, replace(evaluation.request, subject=name), evaluation.action, parent,
        evaluation.resource, evaluation.path,
    )  # fmt: skip


def _narrow(evaluation: Evaluation, name: str, parent: Subject, enveloped: bool) -> None:
    """Limit the subject by the permissions of a principal. For resources outside the envelope, only a stop applies."""
    if name != evaluation.request.on_behalf_of and not _is_strict(evaluation):
        return
    order, resource = evaluation.tables.order, evaluation.resource
    parent_evaluation = _ask(evaluation, name, parent)
    evaluate_subject(parent_evaluation)
    # An undeclared resource or action is not a failure of the principal.
    unknown = order.codes[resource.unknown].bit if resource.unknown else 0
    parent_evaluation.failing &= ~(ACTION_UNKNOWN.bit | unknown)
    if not enveloped:
        parent_evaluation.failing &= order.stopping | order.asking
        parent_evaluation.spared &= order.stopping | order.asking
    evaluation.parents += (parent_evaluation,)
    if enveloped or parent_evaluation.failing & order.stopping:
        evaluation.ceiling = min(evaluation.ceiling, parent_evaluation.left)
    if parent_evaluation.failing & ~order.asking:
        evaluation.failing |= PARENT_CAP.bit
    evaluation.failing |= parent_evaluation.failing & order.asking


def _is_strict(evaluation: Evaluation) -> bool:
    return evaluation.view.records.organization.limits.delegation == "strict"


def _compute_passed_level(evaluation: Evaluation) -> int:
    """The level of the resource in the envelope of the request. Envelope words are matched as those of a grant."""
    passed = 0
    for word, level in (evaluation.request.envelope or {}).items():
        grant_level = get_level_in(Grant("", "", (word,), level), evaluation.resource, evaluation.path)
        passed = max(passed, grant_level or 0)
    return passed


def _apply_limit(evaluation: Evaluation, hands_off: bool) -> None:
    """Apply the limits on depth and on the number of agents."""
    context, limits = evaluation.request.context, evaluation.view.records.organization.limits
    depth, deepest = _compute_depth(evaluation), limits.max_spawn_depth
    if (depth > deepest and not evaluation.essential) or (hands_off and depth >= deepest):
        evaluation.ceiling = 0
        evaluation.failing |= DEPTH_EXCEEDED.bit
    full = context.children >= limits.max_children or context.concurrent >= limits.max_concurrent
    if hands_off and full:
        evaluation.ceiling = 0
        evaluation.failing |= CHILD_LIMIT.bit


def _compute_depth(evaluation: Evaluation) -> int:
    return max(evaluation.request.context.depth, len(evaluation.request.via))


# -- explanations ------------------------------------------------------------------------------------------------------


def find_capping_principals(evaluation: Evaluation) -> tuple[Evaluation, ...]:
    """The principals that may not do it themselves, each with its failures."""
    asking = evaluation.tables.order.asking
    return tuple(parent for parent in evaluation.parents if parent.failing & ~asking)


def _explain_principal_cap(evaluation: Evaluation) -> Sentence:
    order, resource = evaluation.tables.order, evaluation.resource
    texts: list[str] = []
    why: list[Why] = []
    for parent in find_capping_principals(evaluation):
        reason = give_reason(parent, order.get_code_names(parent.failing)[0])
        role, more = _describe_part_in_run(evaluation, parent)
        texts.append(f"{parent.who}, {role}, may not {_describe_request(parent)}: {reason.text}")
        why += (*reason.why, *more)
    if evaluation.request.envelope is not None and resource.kind != "role":
        passed = _compute_passed_level(evaluation)
        if passed < evaluation.required:
            left = f"only level {quote(resource.levels[passed])}" if passed else "nothing"
            needed = quote(resource.levels[evaluation.required])
            parts = [word for word in evaluation.request.envelope if word.startswith(f"{resource.resource}:")]
            named = f" (it names {listing(parts)})" if parts else ""
            texts.append(
                f"the envelope passes on {left} of {evaluation.what}{named}, and {needed} is required"
            )
    return "; ".join(texts), tuple(dict.fromkeys(why))


def _describe_part_in_run(evaluation: Evaluation, parent: Evaluation) -> tuple[str, tuple[Why, ...]]:
    """The relation of a principal to the run, and the line that makes it relevant."""
    if parent.request.subject == evaluation.request.on_behalf_of:
        return "on whose behalf this runs", ()
    return "who is on the path of delegation, which is `strict`", _locate_limit(evaluation, "delegation")


def _describe_request(evaluation: Evaluation) -> str:
    """The requested action, in words."""
    verbs = ("use", "read") if evaluation.resource.kind != "role" else (evaluation.action,)
    act = evaluation.action if evaluation.action in verbs else f"perform {quote(evaluation.action)} on"
    return f"{act} {evaluation.what}"


def _locate_limit(evaluation: Evaluation, field: str) -> tuple[Why, ...]:
    """The line of a limit; if it is not set, the line of `limits`; nothing if no limits are written."""
    records = evaluation.view.records
    document = records.get_declaring_document("limits", field)
    if not document.has("limits"):
        return ()
    text = f"{field} {getattr(records.organization.limits, field)}{_mention_default(evaluation, field)}"
    route = ("limits", field) if document.has("limits", field) else ("limits",)
    return (cite_place(text, document.place(*route, key=True)),)


def _describe_limit(evaluation: Evaluation, field: str) -> str:
    limit = getattr(evaluation.view.records.organization.limits, field)
    return f"the limit {quote(field)} is {limit}{_mention_default(evaluation, field)}"


def _mention_default(evaluation: Evaluation, field: str) -> str:
    document = evaluation.view.records.get_declaring_document("limits", field)
    return "" if document.has("limits", field) else " by default"


def _explain_depth_exceeded(evaluation: Evaluation) -> Sentence:
    depth, field = _compute_depth(evaluation), "max_spawn_depth"
    end = (
        ""
        if depth > evaluation.view.records.organization.limits.max_spawn_depth
        else ", so no further hand-off is allowed"
    )
    text = f"{evaluation.who} is at depth {depth} of the run, and {_describe_limit(evaluation, field)}{end}"
    return text, _locate_limit(evaluation, field)


def _explain_child_limit(evaluation: Evaluation) -> Sentence:
    context, who = evaluation.request.context, evaluation.who
    if context.children >= evaluation.view.records.organization.limits.max_children:
        has, field = f"{who} has handed work to {_count_agents(context.children)}", "max_children"
    else:
        has, field = f"{who} has {_count_agents(context.concurrent)} running", "max_concurrent"
    return f"{has}, and {_describe_limit(evaluation, field)}", _locate_limit(evaluation, field)


def _count_agents(count: int) -> str:
    return f"{count} agent{'s' * (count != 1)}"


def _explain_passed_on(evaluation: Evaluation) -> Sentence:
    """Explain which principal leaves the lowest level, although it is enough, or which one stops the run."""
    caps: list[tuple[int, str, tuple[Why, ...]]] = []
    levels, what = evaluation.resource.levels, evaluation.what
    for parent in evaluation.parents:
        role, why = _describe_part_in_run(evaluation, parent)
        text = f"{parent.who}, {role}, has level {quote(levels[parent.left])} of {what}"
        caps.append((parent.left, text, why))
    if evaluation.request.envelope is not None:
        passed = _compute_passed_level(evaluation)
        caps.append((passed, f"the envelope passes on level {quote(levels[passed])} of {what}", ()))
    if not caps or evaluation.failing & (UNKNOWN_PRINCIPAL.bit | AGENT_INACTIVE.bit):
        return _explain_stop(evaluation)
    least = min(level for level, _, _ in caps)
    sentences = [(text, why) for level, text, why in caps if level == least]
    return "; ".join(text for text, _ in sentences), tuple(
        dict.fromkeys(each for _, why in sentences for each in why)
    )


def _explain_stop(evaluation: Evaluation) -> Sentence:
    """Explain which principal stops the run, or which one needs an approval first."""
    codes = (UNKNOWN_PRINCIPAL, AGENT_INACTIVE)
    sentences = [code.say(evaluation) for code in codes if evaluation.failing & code.bit]
    if not sentences:
        asking = [each for each in evaluation.parents if each.failing & evaluation.tables.order.asking]
        ways = ((each, _describe_part_in_run(evaluation, each)) for each in asking)
        sentences = [
            (f"{each.who}, {role}, may {_describe_request(each)} only with an approval", why)
            for each, (role, why) in ways
        ]
    return "; ".join(text for text, _ in sentences), tuple(
        dict.fromkeys(each for _, why in sentences for each in why)
    )


# -- remedies ----------------------------------------------------------------------------------------------------------


def _propose_passing_on(evaluation: Evaluation) -> Iterator[RemedyChange]:
    """Propose that the sender passes on the resource, if the envelope passes on too little."""
    request, resource, required = evaluation.request, evaluation.resource, evaluation.required
    if request.envelope is None or resource.kind == "role" or _compute_passed_level(evaluation) >= required:
        return
    # The lowest tier contains no data, so the next one is passed on.
    is_tier = resource.kind == "data" and resource.id in DATA_TIERS
    wanted = f"data:{resource.levels[required]}" if is_tier else request.resource
    yield RemedyChange("envelope", wanted, level=LEVELS[required])


PARENT_CAP = ReasonCode("PARENT_CAP", _explain_principal_cap, remedies=("envelope", "role", "policy_removed"))
DEPTH_EXCEEDED = ReasonCode("DEPTH_EXCEEDED", _explain_depth_exceeded)
CHILD_LIMIT = ReasonCode("CHILD_LIMIT", _explain_child_limit)
DELEGATION = AccessLayer(
    "delegation",
    (PARENT_CAP, DEPTH_EXCEEDED, CHILD_LIMIT),
    _compile,
    is_about_run=True,
    needs_run=True,
    explains={"ceiling": _explain_passed_on, "stopped": _explain_stop},
    changes={"envelope": _propose_passing_on},
)
