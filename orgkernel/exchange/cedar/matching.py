"""When a policy applies, as Cedar conditions: the principal, the circumstances, and fallbacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgkernel.exchange.cedar.words import NAMESPACE, text, uid
from orgkernel.records.access_policies import STAR, Condition, Policy, Principal

ALWAYS, NEVER = "true", "false"
_TOLD = ("channel", "peer_kind", "account", "guild", "hook_id", "event_type")
# The condition for a `*` of each kind. A role stands for any agent that fills it.
_ANY = {
    "system": f"principal is {NAMESPACE}::System",
    "webhook": f"principal is {NAMESPACE}::Webhook",
    "agent": f"(principal is {NAMESPACE}::Role || principal is {NAMESPACE}::Agent)",
    "role": f"principal in {uid('Group', 'crew')}",
}


def all_of(parts: Iterable[str]) -> str:
    """All parts hold. True without parts."""
    return " && ".join(part for part in parts if part != ALWAYS) or ALWAYS


def any_of(parts: Iterable[str]) -> str:
    """Any part holds. False without parts."""
    alternatives = tuple(dict.fromkeys(parts))
    if ALWAYS in alternatives:
        return ALWAYS
    if len(alternatives) < 2:
        return alternatives[0] if alternatives else NEVER
    return "(" + " || ".join(alternatives) + ")"


def render_match(policy: Policy) -> str:
    """The principal and the circumstances of a policy."""
    principal = policy.match.principal
    who = () if principal is None else _principal(principal)
    conditions = policy.match.conditions
    when = any_of(all_of(_condition(each)) for each in conditions) if conditions else ALWAYS
    return all_of((*who, when))


def render_fallback(policy: Policy, others: Iterable[Policy]) -> str:
    """Always true, except for a fallback: it applies if no other policy matches."""
    if not policy.fallback:
        return ALWAYS
    matching = any_of(render_match(other) for other in others if not other.fallback)
    return ALWAYS if matching == NEVER else f"!({matching})"


def _principal(principal: Principal) -> Iterator[str]:
    if principal.is_user is not None:
        yield _unless(principal.is_user, f"principal in {uid('Group', 'owner')}")
    if principal.relationship is not None:
        yield f"principal in {uid('Relationship', principal.relationship)}"
    yield from (f"principal in {uid('Tag', tag)}" for tag in principal.tags)
    if principal.person_id is not None:
        yield f"principal == {uid('Person', principal.person_id)}"
    if principal.unknown is not None:
        yield _unless(principal.unknown, f"principal in {uid('Group', 'unknown')}")
    for kind, equals in (("System", "=="), ("Webhook", "=="), ("Agent", "=="), ("Role", "in")):
        named = getattr(principal, kind.lower())
        if named == STAR:
            yield _ANY[kind.lower()]
        elif named is not None:
            yield f"principal {equals} {uid(kind, named)}"


def _unless(wanted: bool, condition: str) -> str:
    return condition if wanted else f"!({condition})"


def _condition(condition: Condition) -> Iterator[str]:
    for name in _TOLD:
        value = getattr(condition, name)
        if value is not None:
            yield f"context has {name} && context.{name} == {text(value)}"
    if condition.time == "weekends":
        yield "context has weekend && context.weekend"
    elif condition.time is not None:
        start, end = map(_minutes, condition.time.split("-"))
        both = "&&" if start < end else "||"
        yield f"context has minute && (context.minute >= {start} {both} context.minute < {end})"


def _minutes(words: str) -> int:
    hours, minutes = words.split(":")
    return int(hours) * 60 + int(minutes)
