"""Delegation: whoever triggered a run bounds it, at any depth, and each hop may only narrow it.

The envelope of a run holds tools, credentials and data. It starts as the permissions of whoever triggered the run; what
those who handed the work down passed on narrows it, and under `delegation: strict` what each of them may do itself narrows it too. Whom
a role hands work to follows the edges of the organization, and a role always reaches its superiors. Essential tools are
outside of the envelope. An unknown name or a suspended agent anywhere in the run stops everything in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from orgkernel.decisions.access.decision import RemedyChange
from orgkernel.decisions.access.evaluation import Evaluation, evaluate_subject, give_reason
from orgkernel.decisions.access.layer import AccessLayer, Move, ReasonCode, Sentence, Target
from orgkernel.decisions.access.layers.identity import AGENT_INACTIVE, IDENTITY, UNKNOWN_PRINCIPAL
from orgkernel.decisions.access.layers.structure import ACTION_UNKNOWN
from orgkernel.decisions.access.resource import ESCALATE, GROUPS
from orgkernel.decisions.access.stored import get_level_in
from orgkernel.decisions.access.subject import Subject
from orgkernel.decisions.evidence.state_view import Grant
from orgkernel.decisions.reasons import Why, why_place
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.documents.records import DATA_TIERS, LEVELS

Identified = Mapping[str, Move | None]
"""Group of subjects to what the layer `identity` finds about one of them."""


def _compile(target: Target) -> Move | None:
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
    """Somebody whom the subject acts for; None where nobody declares the name or the agent is not at work."""
    parent = evaluation.tables.subject(name)
    if parent is None:
        # INVARIANT: a name that is given and not declared denies, also where it would not narrow anything.
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
    """The same question about somebody whom the subject acts for."""
    return Evaluation(
        evaluation.tables, evaluation.state, replace(evaluation.request, subject=name), evaluation.action, parent,
        evaluation.resource, evaluation.path,
    )  # fmt: skip


def _narrow(evaluation: Evaluation, name: str, parent: Subject, enveloped: bool) -> None:
    """By what somebody may do whom the subject acts for; outside of the envelope only by what stops them."""
    if name != evaluation.request.on_behalf_of and not _is_strict(evaluation):
        return
    order, resource = evaluation.tables.order, evaluation.resource
    parent_evaluation = _ask(evaluation, name, parent)
    evaluate_subject(parent_evaluation)
    # A resource or an action that nobody declares is no fault of theirs.
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
    """What the envelope of the request passes on of the resource: its words mean what those of a grant mean."""
    passed = 0
    for word, level in (evaluation.request.envelope or {}).items():
        grant_level = get_level_in(Grant("", "", (word,), level), evaluation.resource, evaluation.path)
        passed = max(passed, grant_level or 0)
    return passed


def _apply_limit(evaluation: Evaluation, hands_off: bool) -> None:
    """By how deep hand-offs may lie, and how many may run."""
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


# -- what it says ------------------------------------------------------------------------------------------------------


def find_capping_principals(evaluation: Evaluation) -> tuple[Evaluation, ...]:
    """Those whom the subject acts for and who may not do it themselves, each with what keeps them from it."""
    asking = evaluation.tables.order.asking
    return tuple(parent for parent in evaluation.parents if parent.failing & ~asking)


def _explain_principal_cap(evaluation: Evaluation) -> Sentence:
    order, resource = evaluation.tables.order, evaluation.resource
    texts: list[str] = []
    why: list[Why] = []
    for parent in find_capping_principals(evaluation):
        reason = give_reason(parent, order.names_of(parent.failing)[0])
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
    """What somebody has to do with the run, and the line that makes it count."""
    if parent.request.subject == evaluation.request.on_behalf_of:
        return "on whose behalf this runs", ()
    return "who is on the path of delegation, which is `strict`", _locate_limit(evaluation, "delegation")


def _describe_request(evaluation: Evaluation) -> str:
    """What is asked for, in words."""
    verbs = ("use", "read") if evaluation.resource.kind != "role" else (evaluation.action,)
    act = evaluation.action if evaluation.action in verbs else f"perform {quote(evaluation.action)} on"
    return f"{act} {evaluation.what}"


def _locate_limit(evaluation: Evaluation, field: str) -> tuple[Why, ...]:
    """The line of a limit, or that of the limits that do not name it; nothing where no limit is written."""
    records = evaluation.view.records
    document = records.declaring("limits", field)
    if not document.has("limits"):
        return ()
    text = f"{field} {getattr(records.organization.limits, field)}{_mention_default(evaluation, field)}"
    route = ("limits", field) if document.has("limits", field) else ("limits",)
    return (why_place(text, document.place(*route, key=True)),)


def _describe_limit(evaluation: Evaluation, field: str) -> str:
    limit = getattr(evaluation.view.records.organization.limits, field)
    return f"the limit {quote(field)} is {limit}{_mention_default(evaluation, field)}"


def _mention_default(evaluation: Evaluation, field: str) -> str:
    document = evaluation.view.records.declaring("limits", field)
    return "" if document.has("limits", field) else " by default"


def _explain_depth_exceeded(evaluation: Evaluation) -> Sentence:
    depth, field = _compute_depth(evaluation), "max_spawn_depth"
    end = (
        ""
        if depth > evaluation.view.records.organization.limits.max_spawn_depth
        else ", where no role hands work down"
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
    """Who leaves the subject the least, although it is enough; or who stops the run."""
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
        return _stopped(evaluation)
    least = min(level for level, _, _ in caps)
    sentences = [(text, why) for level, text, why in caps if level == least]
    return "; ".join(text for text, _ in sentences), tuple(
        dict.fromkeys(each for _, why in sentences for each in why)
    )


def _stopped(evaluation: Evaluation) -> Sentence:
    """Who stops the run: told where names and suspensions are told. Or who has to ask first."""
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


# -- what would change it ----------------------------------------------------------------------------------------------


def _propose_passing_on(evaluation: Evaluation) -> Iterator[RemedyChange]:
    """Who handed the work to the subject passes on what is asked for, where the envelope passes on too little."""
    request, resource, required = evaluation.request, evaluation.resource, evaluation.required
    if request.envelope is None or resource.kind == "role" or _compute_passed_level(evaluation) >= required:
        return
    # The lowest tier shows nothing: who is to be let into it is passed the next.
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
    of_run=True,
    needs_run=True,
    explains={"ceiling": _explain_passed_on, "stopped": _stopped},
    changes={"envelope": _propose_passing_on},
)
