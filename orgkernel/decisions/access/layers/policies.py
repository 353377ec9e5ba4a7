"""Policies: they give to people, system origins and webhooks; about everybody they cap, deny and ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from msgspec.structs import replace

from orgkernel.decisions.access.circumstances import find_unstated, words_of
from orgkernel.decisions.access.decision import Outcome, RemedyChange
from orgkernel.decisions.access.evaluation import Assumed, Evaluation
from orgkernel.decisions.access.layer import AccessLayer, Move, ReasonCode, Sentence, Target, Unstated
from orgkernel.decisions.access.layers.file_scope import (
    WRITE_OUT_OF_FILE_SCOPE,
    bounding_roles,
    is_bounded,
    scope_globs,
)
from orgkernel.decisions.access.layers.identity import why_declared
from orgkernel.decisions.access.layers.policy_parts import (
    commands_named,
    is_open,
    parts_named,
    speaks_of,
    with_part,
    words_of_parts,
)
from orgkernel.decisions.access.policies import AccessPolicy
from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.access.resource import Resource
from orgkernel.decisions.access.subject import Subject
from orgkernel.decisions.reasons import Why, why_edge, why_place
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.runtime.paths import glob_is_inside


def _compile(target: Target) -> Move | None:
    resource, required, gives = target.resource, target.required, not target.is_crew
    name, is_divided = resource.resource, resource.is_divided

    def speak(evaluation: Evaluation) -> None:
        subject = evaluation.subject
        allowed = 0
        if subject.policies:
            deciding = subject.deciding
            if deciding is None:
                assumed = evaluation.assumed
                if assumed is None or assumed.policies is None:
                    deciding = subject.policy_set(evaluation.request.context)
                else:
                    deciding = assumed.policies
            allowed, top, denies, asks = deciding.effects.get(name) or deciding.effect_on(resource)
            if is_divided:
                denies_part, denies_open, asks_part = deciding.parts_of(resource, evaluation.stated)
                asks, denies = asks or asks_part, denies or denies_part
                if denies_open:
                    evaluation.failing |= PART_NOT_STATED.bit
            if not evaluation.essential:
                evaluation.ceiling = min(evaluation.ceiling, top)
                if top < required:
                    evaluation.failing |= POLICY_CEILING.bit
            if denies:
                evaluation.failing |= POLICY_DENY.bit
            if asks:
                evaluation.failing |= ASK_APPROVAL.bit
        if gives:
            evaluation.granted = max(evaluation.granted, allowed)
            if allowed >= required:
                evaluation.sources |= POLICY_ALLOW.bit
            elif not resource.unknown:
                evaluation.missing = NO_POLICY_MATCH.bit

    return speak


# -- what it says ------------------------------------------------------------------------------------------------------


def _policies_that(evaluation: Evaluation, speaks: Callable[[AccessPolicy], bool]) -> Sentence:
    """The policies about the subject that speak so, by name, and their lines."""
    view, resource = evaluation.view, evaluation.resource
    found = [policy for policy in _deciding(evaluation) if speaks(policy)]
    why: list[Why] = []
    for policy in found:
        edges = [edge for edge in view.tools_covered_by(policy.id) if edge.target == resource.id]
        if edges and resource.kind == "tool":
            why += map(why_edge, edges)
        else:
            why.append(why_place(f"policy {policy.id}", policy.definition.place()))
    names = listing(policy.id for policy in found)
    return f"polic{'y' if len(found) == 1 else 'ies'} {names}", tuple(dict.fromkeys(why))


def _covers(resource: Resource, policy: AccessPolicy) -> bool:
    return bool(policy.covers(resource.kind, resource.id, resource.tier))


def _grants(resource: Resource, policy: AccessPolicy) -> int:
    return policy.granted(resource.kind, resource.id, resource.tier)


def _bounds(resource: Resource, policy: AccessPolicy) -> bool:
    return policy.ceiling and policy.covers(resource.kind, resource.id, resource.tier) is not None


def _denies(resource: Resource, policy: AccessPolicy) -> bool:
    return policy.denies_it(resource.kind, resource.id, resource.tier)


def _policy_deny(evaluation: Evaluation) -> Sentence:
    return _denying(evaluation, lambda policy: not is_open(evaluation, policy))


def _part_not_stated(evaluation: Evaluation) -> Sentence:
    return _denying(evaluation, lambda policy: is_open(evaluation, policy))


def _denying(evaluation: Evaluation, is_meant: Callable[[AccessPolicy], bool]) -> Sentence:
    resource = evaluation.resource

    def denies(policy: AccessPolicy) -> bool:
        return _denies(resource, policy) and speaks_of(evaluation, policy) and is_meant(policy)

    text, why = _policies_that(evaluation, denies)
    what = with_part(evaluation, filter(denies, _deciding(evaluation)))
    return f"{text} den{'ies' if _is_one(text) else 'y'} {what}", why


def _deciding(evaluation: Evaluation) -> tuple[AccessPolicy, ...]:
    return evaluation.subject.policy_set(evaluation.request.context).policies


def _is_one(text: str) -> bool:
    return text.startswith("policy")


def _ask_approval(evaluation: Evaluation) -> Sentence:
    resource = evaluation.resource

    def asks(policy: AccessPolicy) -> bool:
        return policy.effect == "ask" and _covers(resource, policy) and speaks_of(evaluation, policy)

    text, why = _policies_that(evaluation, asks)
    if not why:
        asking = [parent for parent in evaluation.parents if parent.failing & ASK_APPROVAL.bit]
        named = listing(parent.request.subject for parent in asking)
        return f"{named}, for whom {evaluation.who} acts, may use {evaluation.what} only with an approval", ()
    what = with_part(evaluation, filter(asks, _deciding(evaluation)))
    return f"{text} require{'s' * _is_one(text)} an approval for {what}", why


def _policy_ceiling(evaluation: Evaluation) -> Sentence:
    resource, required = evaluation.resource, evaluation.required
    text, why = _policies_that(
        evaluation, lambda policy: _bounds(resource, policy) and _grants(resource, policy) < required
    )
    if resource.kind == "data":
        return f"{text} allow{'s' * _is_one(text)} no more data than {_lowest(evaluation)}", why
    lists = "it lists" if _is_one(text) else "they all list"
    return f"{text} allow{'s' * _is_one(text)} only what {lists}, and {evaluation.what} is not listed", why


def _lowest(evaluation: Evaluation) -> str:
    """The tier that the policies about the subject leave it, quoted."""
    resource = evaluation.resource
    return quote(
        resource.levels[
            min(_grants(resource, policy) for policy in _deciding(evaluation) if _bounds(resource, policy))
        ]
    )


def _policy_allow(evaluation: Evaluation) -> Sentence:
    text, why = _allowing(evaluation)
    return f"{text} allow{'s' * _is_one(text)} {evaluation.what}", why


def _allowing(evaluation: Evaluation) -> Sentence:
    """The policies that give any of the resource."""
    resource = evaluation.resource
    giving = evaluation.subject.policy_set(evaluation.request.context).giving
    return _policies_that(evaluation, lambda policy: policy in giving and bool(_grants(resource, policy)))


def _no_policy_match(evaluation: Evaluation) -> Sentence:
    text = f"no policy and no grant allows {evaluation.who} to use {evaluation.what}"
    kind, _, name = evaluation.subject.subject.partition(":")
    return text, why_declared(evaluation, kind, name)


def _too_little(evaluation: Evaluation) -> Sentence | None:
    text, why = _allowing(evaluation)
    return (f"{text} allow{'s' * _is_one(text)} {evaluation.what}", why) if why else None


def _bounding(evaluation: Evaluation) -> Sentence | None:
    resource = evaluation.resource
    text, why = _policies_that(evaluation, lambda policy: _bounds(resource, policy))
    return (f"{text} limit{'s' * _is_one(text)} {evaluation.what}", why) if why else None


# -- what depends on circumstances -------------------------------------------------------------------------------------


def _depending(evaluation: Evaluation) -> list[AccessPolicy]:
    """The policies with conditions that say anything here, or by matching silence a fallback that does."""
    policies, resource = evaluation.subject.policies, evaluation.resource
    if not evaluation.subject.depends:
        return []
    has_fallback = any(policy.fallback and policy.decisive for policy in policies)
    return [
        policy
        for policy in policies
        if policy.conditions
        and policy.decisive
        and (has_fallback or (policy.gives and _covers(resource, policy)) or _hurts(policy, resource))
    ]


def _hurts(policy: AccessPolicy, resource: Resource) -> bool:
    """Whether a policy denies, asks for or bounds the resource."""
    asks = policy.effect == "ask" and _covers(resource, policy)
    return asks or _denies(resource, policy) or _bounds(resource, policy)


def _helps(policy: AccessPolicy, resource: Resource) -> bool:
    """Whether a policy gives here, and takes nothing."""
    if not policy.gives or _denies(resource, policy):
        return False
    return _covers(resource, policy) or not policy.ceiling


def _words(evaluation: Evaluation, outcome: Outcome) -> Iterable[str]:
    """The paths, commands and conditions of the policies that could lead away from an outcome."""
    return (*words_of_parts(evaluation), *_condition_words(evaluation, outcome))


def _condition_words(evaluation: Evaluation, outcome: Outcome) -> Iterable[str]:
    depending = _depending(evaluation)
    if not depending:
        return ()
    context, resource = evaluation.request.context, evaluation.resource
    moving = [
        policy
        for policy in depending
        if outcome == "ask"
        or (_helps(policy, resource) == policy.holds_in(context)) == (outcome in ("allow", "conditional"))
    ]
    conditions = (condition for policy in moving or depending for condition in policy.conditions)
    return (word for condition in conditions for word in words_of(condition))


def _unstated(evaluation: Evaluation) -> Iterable[Unstated]:
    """Conditions that the caller said too little about, of policies about the subject and whom it acts for.

    Each is tried with just what it needs. More would add nothing: what is stated besides only lets more policies hold.
    """
    tables, request = evaluation.tables, evaluation.request
    context = request.context
    involved = [evaluation.subject, *(tables.subject(each) for each in evaluation.parent_names())]
    subjects = [each for each in involved if each is not None and each.depends]
    tried: list[dict[str, str]] = []
    for subject in subjects:
        for policy in subject.policies:
            for condition in policy.conditions if policy.decisive else ():
                needed = find_unstated(condition, context)
                if not needed or needed in tried:
                    continue
                tried.append(needed)
                there = replace(context, **needed)
                if any(_changes(each, evaluation, context, there) for each in subjects):
                    yield Unstated(needed, evaluation.again(request=replace(request, context=there)))


def _changes(subject: Subject, evaluation: Evaluation, here: AccessContext, there: AccessContext) -> bool:
    """Whether the policies about a subject say something else of what is asked for in other circumstances."""
    said, other = subject.policy_set(here), subject.policy_set(there)
    if said is other:
        return False
    resource, stated = evaluation.resource, evaluation.stated
    return said.effect_on(resource) != other.effect_on(resource) or (
        resource.is_divided and said.parts_of(resource, stated) != other.parts_of(resource, stated)
    )


def _suppose(evaluation: Evaluation, kindly: bool) -> None:
    """The policies that would decide, and those of them that would give, at the best or at the worst."""
    depending, resource = _depending(evaluation), evaluation.resource
    if resource.is_divided and evaluation.has_open_path:
        if kindly:
            evaluation.assumed = (evaluation.assumed or Assumed())._replace(off_paths=True)
        else:
            evaluation.path = None
    if resource.is_divided:
        # What runs is never part of the question. A tool that declares no arguments for it cannot state it.
        off = kindly and bool(resource.command_arguments)
        assumed = evaluation.assumed or Assumed()
        evaluation.assumed = assumed._replace(off_commands=off, no_commands=not off)
    if not depending:
        return
    always = [policy for policy in evaluation.subject.policies if policy.decisive and not policy.conditions]
    possible = [*always, *depending]
    # At the best whatever could keep fallbacks from taking away does, and nothing that could keep them from giving.
    spares = any(policy.gives and policy.silences for policy in (possible if kindly else always))
    silences = any(policy.silences for policy in (always if kindly else possible))
    deciding = (policy for policy in (always if kindly else possible) if not (policy.fallback and spares))
    giving = (
        policy
        for policy in (possible if kindly else always)
        if policy.gives
        and not (policy.fallback and silences)
        and (policy in always or _helps(policy, resource))
    )
    supposed = evaluation.tables.policies.set_of(_by_number(deciding), _by_number(giving))
    evaluation.assumed = (evaluation.assumed or Assumed())._replace(policies=supposed)


def _by_number(policies: Iterable[AccessPolicy]) -> tuple[AccessPolicy, ...]:
    return tuple(sorted(policies, key=lambda policy: policy.number))


# -- what would change it ----------------------------------------------------------------------------------------------


def _removals(evaluation: Evaluation) -> Iterable[RemedyChange]:
    """Policies that decide now, about the subject or whom it acts for."""
    tables, context = evaluation.tables, evaluation.request.context
    parents = [tables.subject(each) for each in evaluation.parent_names()]
    found = {
        policy.id
        for subject in (evaluation.subject, *parents)
        if subject is not None
        for policy in subject.matching(context)
        if policy.decisive
    }
    return (RemedyChange("policy_removed", each) for each in sorted(found))


def _stating(evaluation: Evaluation) -> Iterator[RemedyChange]:
    """A path outside of the parts, where the request states none. One that it states is not moved."""
    parts = parts_named(evaluation)
    if evaluation.path is None and parts and not (is_bounded(evaluation) and _holds_scope(evaluation, parts)):
        yield RemedyChange("other_path", listing(parts))


def _stating_commands(evaluation: Evaluation) -> Iterator[RemedyChange]:
    """A command that begins otherwise, where the request states none. One that it states is not changed."""
    beginnings = commands_named(evaluation)
    if beginnings and evaluation.resource.command_arguments and evaluation.stated.commands is None:
        yield RemedyChange("other_command", listing(beginnings))


def _holds_scope(evaluation: Evaluation, parts: Iterable[str]) -> bool:
    """Whether nothing may be left of where the subject may write."""
    parts, root = tuple(parts), evaluation.tables.root
    return all(
        any(glob_is_inside(glob, part, root) for part in parts)
        for glob in scope_globs(evaluation, bounding_roles(evaluation))
    )


POLICY_DENY = ReasonCode("POLICY_DENY", _policy_deny, "stopped", remedies=("role", "policy_removed"))
PART_NOT_STATED = ReasonCode(
    "PART_NOT_STATED",
    _part_not_stated,
    "stopped",
    remedies=("other_path", "other_command", "role", "policy_removed"),
)
LEFT_OPEN: Final = frozenset({WRITE_OUT_OF_FILE_SCOPE.name, PART_NOT_STATED.name})
"""Codes of denials that a call may not meet, because it states its path or its command."""
POLICY_CEILING = ReasonCode("POLICY_CEILING", _policy_ceiling, remedies=("role", "policy_removed"))
NO_POLICY_MATCH = ReasonCode("NO_POLICY_MATCH", _no_policy_match, "", remedies=("grant", "policy_removed"))
ASK_APPROVAL = ReasonCode(
    "ASK_APPROVAL",
    _ask_approval,
    "stopped",
    remedies=("other_path", "other_command", "grant", "role", "policy_removed"),
    asks=True,
)
POLICY_ALLOW = ReasonCode("POLICY_ALLOW", _policy_allow, "granted")
POLICIES = AccessLayer(
    "policies",
    (POLICY_DENY, PART_NOT_STATED, POLICY_CEILING, NO_POLICY_MATCH, ASK_APPROVAL, POLICY_ALLOW),
    _compile,
    explains={"granted": _too_little, "ceiling": _bounding, "stopped": _ask_approval},
    circumstances=_words,
    unstated=_unstated,
    suppose=_suppose,
    changes={"other_path": _stating, "other_command": _stating_commands, "policy_removed": _removals},
)
