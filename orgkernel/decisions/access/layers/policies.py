"""Policies: they grant to people, system origins and webhooks, and limit, deny or ask for every subject."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final

from msgspec.structs import replace

from orgkernel.decisions.access.circumstances import find_unstated, list_condition_words
from orgkernel.decisions.access.compiled import AccessTables
from orgkernel.decisions.access.decision import Outcome, RemedyChange
from orgkernel.decisions.access.evaluation import Assumptions, Evaluation
from orgkernel.decisions.access.layer import (
    AccessLayer,
    LayerStep,
    ReasonCode,
    Sentence,
    Target,
    UnstatedCircumstances,
)
from orgkernel.decisions.access.layers.file_scope import (
    WRITE_OUT_OF_FILE_SCOPE,
    find_bounding_roles,
    is_bounded,
    list_file_scope_globs,
    locate_file_scopes,
)
from orgkernel.decisions.access.layers.identity import locate_declaration
from orgkernel.decisions.access.layers.policy_parts import (
    does_match_part,
    is_open,
    is_unread,
    list_named_commands,
    list_named_paths,
    list_named_tests,
    list_part_words,
    name_resource_or_part,
)
from orgkernel.decisions.access.policies import AccessPolicy
from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.access.resource import Resource
from orgkernel.decisions.access.subject import Subject
from orgkernel.decisions.evidence.state_view import Grant
from orgkernel.decisions.reasons import Why, cite_edge, cite_place
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.documents.records import RequiredApprovals
from orgkernel.runtime.paths import is_glob_inside
from orgkernel.runtime.refusals import say_file_scope


def _compile(target: Target) -> LayerStep | None:
    resource, required, gives = target.resource, target.required, not target.is_crew
    name, is_divided = resource.resource, resource.is_divided

    def apply(evaluation: Evaluation) -> None:
        subject = evaluation.subject
        allowed = 0
        if subject.policies:
            deciding = subject.deciding_policies
            if deciding is None:
                assumed = evaluation.assumed
                if assumed is None or assumed.policies is None:
                    deciding = subject.get_policy_set(evaluation.request.context)
                else:
                    deciding = assumed.policies
            allowed, top, denies, asks = deciding.effects.get(name) or deciding.compute_effect(resource)
            if is_divided:
                part = deciding.evaluate_parts(resource, evaluation.stated)
                asks, denies = asks or part.asks, denies or part.denies
                if part.denies_open:
                    evaluation.failing |= PART_NOT_STATED.bit
                if part.denies_unread:
                    # A person can read the call and decide. Without a person, a call that cannot be parsed
                    # is denied.
                    evaluation.is_unread = evaluation.is_for_person
                    asks, denies = asks or evaluation.is_unread, denies or not evaluation.is_unread
            if not evaluation.essential:
                evaluation.ceiling = min(evaluation.ceiling, top)
                if top < required:
                    evaluation.failing |= POLICY_CEILING.bit
            if denies:
                evaluation.failing |= POLICY_DENY.bit
            if asks:
                evaluation.failing |= ASK_APPROVAL.bit
        if evaluation.request.context.links_unresolved and is_bounded(evaluation):
            # A link inside the file scope could lead out of it. Only a person can check this.
            evaluation.has_unknown_target = True
            evaluation.failing |= ASK_APPROVAL.bit
        if gives:
            evaluation.granted = max(evaluation.granted, allowed)
            if allowed >= required:
                evaluation.sources |= POLICY_ALLOW.bit
            elif not resource.unknown:
                evaluation.missing = NO_POLICY_MATCH.bit

    return apply


# -- explanations ------------------------------------------------------------------------------------------------------


def _describe_policies(evaluation: Evaluation, is_meant: Callable[[AccessPolicy], bool]) -> Sentence:
    """The matching policies that satisfy a predicate, by name, and their lines."""
    view, resource = evaluation.view, evaluation.resource
    policies = [policy for policy in _find_deciding_policies(evaluation) if is_meant(policy)]
    why: list[Why] = []
    for policy in policies:
        edges = [edge for edge in view.list_tools_covered_by(policy.id) if edge.target == resource.id]
        if edges and resource.kind == "tool":
            why += map(cite_edge, edges)
        else:
            why.append(cite_place(f"policy {policy.id}", policy.definition.place()))
    names = listing(policy.id for policy in policies)
    return f"polic{'y' if len(policies) == 1 else 'ies'} {names}", tuple(dict.fromkeys(why))


def _does_cover(resource: Resource, policy: AccessPolicy) -> bool:
    return bool(policy.covers(resource.kind, resource.id, resource.tier))


def _compute_granted_level(resource: Resource, policy: AccessPolicy) -> int:
    return policy.get_granted_level(resource.kind, resource.id, resource.tier)


def _does_bound(resource: Resource, policy: AccessPolicy) -> bool:
    return policy.ceiling and policy.covers(resource.kind, resource.id, resource.tier) is not None


def _does_deny(resource: Resource, policy: AccessPolicy) -> bool:
    return policy.does_deny(resource.kind, resource.id, resource.tier)


def _explain_deny(evaluation: Evaluation) -> Sentence:
    return _explain_denying_policies(
        evaluation,
        lambda policy: (
            not is_open(evaluation, policy) and not (evaluation.is_unread and is_unread(evaluation, policy))
        ),
    )


def _explain_part_not_stated(evaluation: Evaluation) -> Sentence:
    return _explain_denying_policies(evaluation, lambda policy: is_open(evaluation, policy))


def _explain_denying_policies(evaluation: Evaluation, is_meant: Callable[[AccessPolicy], bool]) -> Sentence:
    resource = evaluation.resource

    def denies(policy: AccessPolicy) -> bool:
        return _does_deny(resource, policy) and does_match_part(evaluation, policy) and is_meant(policy)

    text, why = _describe_policies(evaluation, denies)
    what = name_resource_or_part(evaluation, filter(denies, _find_deciding_policies(evaluation)))
    return f"{text} den{'ies' if _is_one(text) else 'y'} {what}", why


def _find_deciding_policies(evaluation: Evaluation) -> tuple[AccessPolicy, ...]:
    return evaluation.subject.get_policy_set(evaluation.request.context).policies


def _is_one(text: str) -> bool:
    return text.startswith("policy")


def _ask_approval(evaluation: Evaluation) -> Sentence:
    if evaluation.has_unknown_target:
        roles = find_bounding_roles(evaluation)
        scope = say_file_scope(evaluation.who, listing(list_file_scope_globs(evaluation, roles)))
        unknown = (
            "links in the paths of this call cannot be followed, because the files are on another machine"
        )
        return f"{scope}, and {unknown}, so a person has to approve this call", locate_file_scopes(
            evaluation, roles
        )
    text, why = _explain_asking_policies(evaluation)
    if not evaluation.is_unread:
        return text, why
    denied, lines = _explain_denying_policies(evaluation, lambda policy: is_unread(evaluation, policy))
    denied = f"{denied}, so a person has to approve this call"
    return (f"{text}; {denied}", (*why, *lines)) if why else (denied, lines)


def _does_ask(evaluation: Evaluation, policy: AccessPolicy) -> bool:
    return (
        policy.effect == "ask"
        and _does_cover(evaluation.resource, policy)
        and does_match_part(evaluation, policy)
    )


def _explain_asking_policies(evaluation: Evaluation) -> Sentence:
    asks = partial(_does_ask, evaluation)
    text, why = _describe_policies(evaluation, asks)
    if not why:
        asking = [parent for parent in evaluation.parents if parent.failing & ASK_APPROVAL.bit]
        named = listing(parent.request.subject for parent in asking)
        return f"{named}, for whom {evaluation.who} acts, may use {evaluation.what} only with an approval", ()
    what = name_resource_or_part(evaluation, filter(asks, _find_deciding_policies(evaluation)))
    required = describe_required_approvals(evaluation)
    by = f" by {required}" if required else ""
    short = bool(required) and evaluation.given.level >= evaluation.required
    beside = ", and no grant has all these approvals" if short else ""
    return f"{text} require{'s' * _is_one(text)} an approval{by} for {what}{beside}", why


# -- approvals ---------------------------------------------------------------------------------------------------------

ALL_APPROVERS: Final = "*"
"""In a grant that is assumed and never stored: it has every approval."""


def list_required_approvals(evaluation: Evaluation) -> tuple[RequiredApprovals, ...]:
    """The approvals that the asking policies require, in the circumstances that the evaluation states or assumes."""
    if not evaluation.tables.policies.require_approvals:
        return ()
    assumed, subject = evaluation.assumed, evaluation.subject
    deciding = None if assumed is None else assumed.policies
    policies = (deciding or subject.get_policy_set(evaluation.request.context)).policies
    return tuple(
        policy.approvals
        for policy in policies
        if policy.approvals is not None and _does_ask(evaluation, policy)
    )


def find_policies_with_approvals(evaluation: Evaluation) -> tuple[AccessPolicy, ...]:
    """The policies that require approvals of a request in any circumstances."""
    if not evaluation.tables.policies.require_approvals:
        return ()
    return tuple(
        policy
        for policy in evaluation.subject.policies
        if policy.approvals is not None and _does_ask(evaluation, policy)
    )


def count_approvers(tables: AccessTables, required: RequiredApprovals, approvers: Iterable[str]) -> int:
    """How many of these different approvers count for what a policy requires, by the documents as they are now."""
    if not required.by:
        return len({*approvers})
    by = {*required.by}
    subjects = (tables.find_subject(approver) for approver in {*approvers})
    return sum(subject is not None and not by.isdisjoint(subject.identity.keys) for subject in subjects)


def has_approvals(evaluation: Evaluation, grant: Grant) -> bool:
    """Whether a grant has every approval that the policies require."""
    approvers = grant.approved_by
    return ALL_APPROVERS in approvers or all(
        count_approvers(evaluation.tables, required, approvers) >= required.count
        for required in list_required_approvals(evaluation)
    )


def describe_approvals(required: RequiredApprovals, count: int | None = None) -> str:
    """The approvers that a policy requires in words, or `count` of them."""
    count = required.count if count is None else count
    by = f" of {listing(required.by)}" if required.by else ""
    return f"{count} different approvers{by}" if count > 1 else f"1 approver{by}"


def describe_required_approvals(evaluation: Evaluation) -> str:
    """The approvers that all policies require, in words. Empty if they require no certain ones."""
    return " and ".join(dict.fromkeys(map(describe_approvals, list_required_approvals(evaluation))))


def _explain_ceiling(evaluation: Evaluation) -> Sentence:
    resource, required = evaluation.resource, evaluation.required
    text, why = _describe_policies(
        evaluation,
        lambda policy: _does_bound(resource, policy) and _compute_granted_level(resource, policy) < required,
    )
    if resource.kind == "data":
        return f"{text} allow{'s' * _is_one(text)} no more data than {_quote_lowest_tier(evaluation)}", why
    lists = "it lists" if _is_one(text) else "they all list"
    return f"{text} allow{'s' * _is_one(text)} only what {lists}, and {evaluation.what} is not listed", why


def _quote_lowest_tier(evaluation: Evaluation) -> str:
    """The lowest data tier that the ceiling policies allow, quoted."""
    resource = evaluation.resource
    return quote(
        resource.levels[
            min(
                _compute_granted_level(resource, policy)
                for policy in _find_deciding_policies(evaluation)
                if _does_bound(resource, policy)
            )
        ]
    )


def _explain_allow(evaluation: Evaluation) -> Sentence:
    text, why = _explain_allowing_policies(evaluation)
    return f"{text} allow{'s' * _is_one(text)} {evaluation.what}", why


def _explain_allowing_policies(evaluation: Evaluation) -> Sentence:
    """The policies that grant any level of the resource."""
    resource = evaluation.resource
    giving = evaluation.subject.get_policy_set(evaluation.request.context).giving
    return _describe_policies(
        evaluation, lambda policy: policy in giving and bool(_compute_granted_level(resource, policy))
    )


def _explain_no_match(evaluation: Evaluation) -> Sentence:
    text = f"no policy and no grant allows {evaluation.who} to use {evaluation.what}"
    kind, _, name = evaluation.subject.subject.partition(":")
    return text, locate_declaration(evaluation, kind, name)


def _explain_too_little(evaluation: Evaluation) -> Sentence | None:
    text, why = _explain_allowing_policies(evaluation)
    return (f"{text} allow{'s' * _is_one(text)} {evaluation.what}", why) if why else None


def _explain_bounding_policies(evaluation: Evaluation) -> Sentence | None:
    resource = evaluation.resource
    text, why = _describe_policies(evaluation, lambda policy: _does_bound(resource, policy))
    return (f"{text} limit{'s' * _is_one(text)} {evaluation.what}", why) if why else None


# -- circumstances -----------------------------------------------------------------------------------------------------


def _find_conditional_policies(evaluation: Evaluation) -> list[AccessPolicy]:
    """Policies with conditions that apply to the resource or that silence a fallback that does."""
    policies, resource = evaluation.subject.policies, evaluation.resource
    if not evaluation.subject.depends_on_circumstances:
        return []
    has_fallback = any(policy.fallback and policy.decisive for policy in policies)
    return [
        policy
        for policy in policies
        if policy.conditions
        and policy.decisive
        and (
            has_fallback or (policy.gives and _does_cover(resource, policy)) or _does_narrow(policy, resource)
        )
    ]


def _does_narrow(policy: AccessPolicy, resource: Resource) -> bool:
    """Whether a policy denies, asks for or limits the resource."""
    asks = policy.effect == "ask" and _does_cover(resource, policy)
    return asks or _does_deny(resource, policy) or _does_bound(resource, policy)


def _does_only_give(policy: AccessPolicy, resource: Resource) -> bool:
    """Whether a policy only grants the resource."""
    if not policy.gives or _does_deny(resource, policy):
        return False
    return _does_cover(resource, policy) or not policy.ceiling


def _list_words(evaluation: Evaluation, outcome: Outcome) -> Iterable[str]:
    """The paths, commands and conditions in policies that could change the outcome."""
    return (*list_part_words(evaluation), *_list_condition_words(evaluation, outcome))


def _list_condition_words(evaluation: Evaluation, outcome: Outcome) -> Iterable[str]:
    depending = _find_conditional_policies(evaluation)
    if not depending:
        return ()
    context, resource = evaluation.request.context, evaluation.resource
    changing = [
        policy
        for policy in depending
        if outcome == "ask"
        or (_does_only_give(policy, resource) == policy.is_satisfied(context))
        == (outcome in ("allow", "conditional"))
    ]
    conditions = (condition for policy in changing or depending for condition in policy.conditions)
    return (word for condition in conditions for word in list_condition_words(condition))


def _find_unstated_conditions(evaluation: Evaluation) -> Iterable[UnstatedCircumstances]:
    """Conditions of policies about the subject and its principals for which the caller stated too little.

    Each is tried with only the circumstances that it needs. Stating more could only make more policies match.
    """
    tables, request = evaluation.tables, evaluation.request
    context = request.context
    involved = [evaluation.subject, *(tables.find_subject(each) for each in evaluation.list_principals())]
    subjects = [each for each in involved if each is not None and each.depends_on_circumstances]
    tried: list[dict[str, str]] = []
    for subject in subjects:
        for policy in subject.policies:
            for condition in policy.conditions if policy.decisive else ():
                needed = find_unstated(condition, context)
                if not needed or needed in tried:
                    continue
                tried.append(needed)
                extended = replace(context, **needed)
                if any(_does_outcome_change(each, evaluation, context, extended) for each in subjects):
                    yield UnstatedCircumstances(
                        needed, evaluation.copy_with(request=replace(request, context=extended))
                    )


def _does_outcome_change(
    subject: Subject, evaluation: Evaluation, before: AccessContext, after: AccessContext
) -> bool:
    """Whether the policies about a subject decide differently in other circumstances."""
    policy_set, other = subject.get_policy_set(before), subject.get_policy_set(after)
    if policy_set is other:
        return False
    resource, stated = evaluation.resource, evaluation.stated
    if policy_set.compute_effect(resource) != other.compute_effect(resource):
        return True
    if evaluation.tables.policies.require_approvals:
        required = [
            list_required_approvals(
                evaluation.copy_with(subject=subject, request=replace(evaluation.request, context=each))
            )
            for each in (before, after)
        ]
        if required[0] != required[1]:
            return True
    return resource.is_divided and (
        policy_set.evaluate_parts(resource, stated) != other.evaluate_parts(resource, stated)
    )


def _suppose(evaluation: Evaluation, is_favorable: bool) -> None:
    """Assume the policies that match and grant in the most favorable or the least favorable circumstances."""
    depending, resource = _find_conditional_policies(evaluation), evaluation.resource
    if resource.is_divided and evaluation.has_open_path:
        if is_favorable:
            evaluation.assumed = (evaluation.assumed or Assumptions())._replace(off_paths=True)
        else:
            evaluation.path = None
    if resource.is_divided:
        # Commands are never part of the resource name. A tool without `command_arguments` cannot state them.
        off = is_favorable and bool(resource.command_arguments)
        assumed = evaluation.assumed or Assumptions()
        evaluation.assumed = assumed._replace(
            off_commands=off, off_input=is_favorable, no_input=not is_favorable
        )
    if not depending:
        return
    always = [policy for policy in evaluation.subject.policies if policy.decisive and not policy.conditions]
    possible = [*always, *depending]
    # Favorable: every policy matches that keeps a fallback from denying, and none that keeps a fallback
    # from granting.
    spares = any(policy.gives and policy.silences for policy in (possible if is_favorable else always))
    silences = any(policy.silences for policy in (always if is_favorable else possible))
    deciding = (
        policy for policy in (always if is_favorable else possible) if not (policy.fallback and spares)
    )
    giving = (
        policy
        for policy in (possible if is_favorable else always)
        if policy.gives
        and not (policy.fallback and silences)
        and (policy in always or _does_only_give(policy, resource))
    )
    supposed = evaluation.tables.policies.get_policy_set(_sort_by_number(deciding), _sort_by_number(giving))
    evaluation.assumed = (evaluation.assumed or Assumptions())._replace(policies=supposed)


def _sort_by_number(policies: Iterable[AccessPolicy]) -> tuple[AccessPolicy, ...]:
    return tuple(sorted(policies, key=lambda policy: policy.number))


# -- remedies ----------------------------------------------------------------------------------------------------------


def _propose_removals(evaluation: Evaluation) -> Iterable[RemedyChange]:
    """Propose removing deciding policies about the subject or its principals."""
    tables, context = evaluation.tables, evaluation.request.context
    parents = [tables.find_subject(each) for each in evaluation.list_principals()]
    policy_ids = {
        policy.id
        for subject in (evaluation.subject, *parents)
        if subject is not None
        for policy in subject.find_matching(context)
        if policy.decisive
    }
    return (RemedyChange("policy_removed", each) for each in sorted(policy_ids))


def _propose_approvals(evaluation: Evaluation) -> Iterator[RemedyChange]:
    """Propose a request that every required approver approves, because no other grant is enough."""
    if list_required_approvals(evaluation):
        subject, resource = evaluation.subject.subject, evaluation.request.resource
        level = evaluation.resource.levels[evaluation.required]
        yield RemedyChange("approvals", resource, level=level, subject=subject)


def _propose_stating_path(evaluation: Evaluation) -> Iterator[RemedyChange]:
    """Propose a path outside of the parts if the request states none. A stated path is not changed."""
    parts = list_named_paths(evaluation)
    if (
        evaluation.path is None
        and parts
        and evaluation.can_state_path
        and not (is_bounded(evaluation) and _is_scope_emptied(evaluation, parts))
    ):
        yield RemedyChange("other_path", listing(parts))


def _propose_stating_command(evaluation: Evaluation) -> Iterator[RemedyChange]:
    """Propose a command that begins differently if the request states none. A stated command is not changed."""
    beginnings = list_named_commands(evaluation)
    if beginnings and evaluation.resource.command_arguments and evaluation.stated.commands is None:
        yield RemedyChange("other_command", listing(beginnings))


def _propose_stating_input(evaluation: Evaluation) -> Iterator[RemedyChange]:
    """Propose other arguments if the request states no input. Stated arguments are not changed."""
    tests = list_named_tests(evaluation)
    if tests and evaluation.stated.input is None:
        yield RemedyChange("other_input", " or ".join(tests))


def _is_scope_emptied(evaluation: Evaluation, parts: Iterable[str]) -> bool:
    """Whether the parts cover the whole file scope of the subject."""
    parts, root = tuple(parts), evaluation.tables.root
    return all(
        any(is_glob_inside(glob, part, root) for part in parts)
        for glob in list_file_scope_globs(evaluation, find_bounding_roles(evaluation))
    )


POLICY_DENY = ReasonCode("POLICY_DENY", _explain_deny, "stopped", remedies=("role", "policy_removed"))
PART_NOT_STATED = ReasonCode(
    "PART_NOT_STATED",
    _explain_part_not_stated,
    "stopped",
    remedies=("other_path", "other_command", "other_input", "role", "policy_removed"),
)
LEFT_OPEN: Final = frozenset({WRITE_OUT_OF_FILE_SCOPE.name, PART_NOT_STATED.name})
"""Codes of denials that a call could avoid, because it states a path, a command or arguments."""
POLICY_CEILING = ReasonCode("POLICY_CEILING", _explain_ceiling, remedies=("role", "policy_removed"))
NO_POLICY_MATCH = ReasonCode("NO_POLICY_MATCH", _explain_no_match, "", remedies=("grant", "policy_removed"))
ASK_APPROVAL = ReasonCode(
    "ASK_APPROVAL",
    _ask_approval,
    "stopped",
    remedies=("other_path", "other_command", "other_input", "grant", "approvals", "role", "policy_removed"),
    makes_ask=True,
)
POLICY_ALLOW = ReasonCode("POLICY_ALLOW", _explain_allow, "granted")
POLICIES = AccessLayer(
    "policies",
    (POLICY_DENY, PART_NOT_STATED, POLICY_CEILING, NO_POLICY_MATCH, ASK_APPROVAL, POLICY_ALLOW),
    _compile,
    explains={
        "granted": _explain_too_little,
        "ceiling": _explain_bounding_policies,
        "stopped": _ask_approval,
    },
    circumstances=_list_words,
    unstated=_find_unstated_conditions,
    suppose=_suppose,
    changes={
        "other_path": _propose_stating_path,
        "other_command": _propose_stating_command,
        "other_input": _propose_stating_input,
        "approvals": _propose_approvals,
        "policy_removed": _propose_removals,
    },
)
