"""How the matches of two policies relate (ORG411, ORG412, ORG416)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from orgkernel.documents.records import STAR, ArgumentTest, Condition, Match, Person, Principal
from orgkernel.graph.records import Definition, OrgRecords
from orgkernel.rules.references import Reference

# Fields with one value, which can be a star.
_NAMES = ("system", "webhook", "agent", "role")
_EXACT = ("channel", "peer_kind", "account", "guild", "hook_id", "event_type")
_WEEKENDS = "weekends"
_WITH_ARTICLE = {
    "person": "a person",
    "system": "a system origin",
    "webhook": "a webhook",
    "agent": "an agent",
}


def list_principal_kinds(principal: Principal) -> tuple[str, ...]:
    """The kinds of principals that a match requires. More than one is a contradiction."""
    person = principal.unknown or principal.relationship or principal.person_id or principal.tags
    kinds = ["person"] if person else []
    kinds += [name for name in ("system", "webhook") if getattr(principal, name) is not None]
    kinds += ["agent"] if principal.agent is not None or principal.role is not None else []
    return tuple(kinds)


def find_contradiction(match: Match, records: OrgRecords) -> str:
    """The reason why a match can never be satisfied. Empty if it can."""
    if match.principal is not None and (
        why := _find_principal_contradiction(match.principal, records.people)
    ):
        return why
    if match.conditions and all(is_empty(condition.time) for condition in match.conditions):
        return "its time window ends when it begins"
    return ""


def is_empty(time: str | None) -> bool:
    """Whether a time window ends when it begins."""
    return time is not None and time != _WEEKENDS and time[:5] == time[6:]


def _find_principal_contradiction(principal: Principal, people: Mapping[str, Definition[Person]]) -> str:
    kinds = list_principal_kinds(principal)
    if len(kinds) > 1:
        return f"no person is {_WITH_ARTICLE[kinds[0]]} and {_WITH_ARTICLE[kinds[1]]} at once"
    if principal.unknown and (principal.relationship or principal.person_id or principal.tags):
        return "an unknown person has no id, relationship or tags"
    owner = _is_owner(principal, people)
    if None not in (principal.is_user, owner) and principal.is_user is not owner:
        return (
            f"it {'only' if owner else 'never'} matches the owner but has `is_user: {str(not owner).lower()}`"
        )
    if principal.person_id is not None:
        person = people.get(principal.person_id)  # ORG415 reports a person who is not declared
        wrong = person is not None and not _is(person.record, principal)
        return "the directory has another relationship or other tags for this person" if wrong else ""
    asks_for_people = principal.relationship not in (None, "owner") or principal.tags
    if asks_for_people and people and not any(_is(each.record, principal) for each in people.values()):
        return "no person in the directory has this relationship and these tags"
    return ""


def _is(person: Person, principal: Principal) -> bool:
    return principal.relationship in (None, person.relationship) and set(principal.tags) <= set(person.tags)


def _is_owner(principal: Principal, people: Mapping[str, Definition[Person]]) -> bool | None:
    """Whether the principal is the owner, apart from `is_user`. None if that depends on the request."""
    if principal.person_id is not None and principal.person_id in people:
        return people[principal.person_id].record.relationship == "owner"
    if principal.relationship is not None:
        return principal.relationship == "owner"
    others = {"webhook", "agent", "system"} & {*list_principal_kinds(principal)}
    return False if principal.unknown or others else None


def covers(wide: Match, narrow: Match, people: Mapping[str, Definition[Person]]) -> bool:
    """Whether `wide` certainly matches whenever `narrow` does."""
    if wide.principal is not None and not _does_cover_principal(
        wide.principal, narrow.principal or Principal(), people
    ):
        return False
    if not (_within(wide.alert, narrow.alert) and _within(wide.watch, narrow.watch)):
        return False
    if not wide.conditions:
        return True
    return bool(narrow.conditions) and all(
        any(_does_cover_condition(each, condition) for each in wide.conditions)
        for condition in narrow.conditions
    )


def _within(wide: tuple[str, ...], narrow: tuple[str, ...]) -> bool:
    """Whether every alert or watch of the narrow match is one of the wide match. An empty list means all."""
    return not wide or (bool(narrow) and {*narrow} <= {*wide})


def _does_cover_principal(
    wide: Principal, narrow: Principal, people: Mapping[str, Definition[Person]]
) -> bool:
    facts = _collect_facts(narrow, people)
    if wide.is_user is not None and facts.get("is_user") is not wide.is_user:
        return False
    if wide.relationship is not None and facts.get("relationship") != wide.relationship:
        return False
    tags = facts.get("tags")
    if wide.tags and not (isinstance(tags, frozenset) and tags.issuperset(wide.tags)):
        return False
    if wide.person_id not in (None, narrow.person_id):
        return False
    if wide.unknown is not None and facts.get("unknown") is not wide.unknown:
        return False
    return all(
        getattr(wide, name) in (None, getattr(narrow, name))
        or (getattr(wide, name) == STAR and getattr(narrow, name) is not None)
        for name in _NAMES
    )


def _collect_facts(principal: Principal, people: Mapping[str, Definition[Person]]) -> dict[str, object]:
    """The certain facts about every principal that matches, according to the match and the directory."""
    owner = _is_owner(principal, people)
    relationship, tags = principal.relationship, frozenset(principal.tags)
    if principal.person_id is not None and principal.person_id in people:
        person = people[principal.person_id].record
        relationship, tags = person.relationship, tags.union(person.tags)
    return {
        "is_user": principal.is_user if owner is None else owner,
        "relationship": relationship,
        "tags": tags,
        "unknown": False if list_principal_kinds(principal) and not principal.unknown else principal.unknown,
    }


def _does_cover_condition(wide: Condition, narrow: Condition) -> bool:
    if wide.time is not None and wide.time != narrow.time:
        return False
    return all(getattr(wide, name) in (None, getattr(narrow, name)) for name in _EXACT)


def can_overlap(one: Match, other: Match, people: Mapping[str, Definition[Person]]) -> bool:
    """Whether both can match at once, as far as the documents show."""
    if any(
        each and with_each and {*each}.isdisjoint(with_each)
        for each, with_each in ((one.alert, other.alert), (one.watch, other.watch))
    ):
        return False
    first, second = one.principal or Principal(), other.principal or Principal()
    kinds = {*list_principal_kinds(first)}, {*list_principal_kinds(second)}
    if kinds[0] and kinds[1] and kinds[0].isdisjoint(kinds[1]):
        return False
    facts = _collect_facts(first, people), _collect_facts(second, people)
    for name in ("is_user", "relationship", "unknown"):
        values = {each.get(name) for each in facts} - {None}
        if len(values) > 1:
            return False
    if _differ(first.person_id, second.person_id) or any(
        _differ(getattr(first, name), getattr(second, name)) for name in _NAMES if name != "role"
    ):
        return False  # an agent may fill both of two roles
    return any(_do_agree(each, with_each) for each, with_each in _iterate_pairs(one, other))


def find_status_words(
    records: OrgRecords, field: Literal["alert", "watch"]
) -> Iterator[tuple[Reference, bool]]:
    """The alerts or watches that policies match, each with whether the organization declares it."""
    declared = records.organization.alerts if field == "alert" else records.organization.watches
    for policy in records.policies.values():
        for number, word in enumerate(getattr(policy.record.match, field)):
            place = policy.place("match", field, number)
            yield Reference(place, "policy", policy.id, "matches", word), word in declared


def _differ(one: str | None, other: str | None) -> bool:
    return None not in (one, other) and STAR not in (one, other) and one != other


def _iterate_pairs(one: Match, other: Match) -> Iterator[tuple[Condition, Condition]]:
    always = (Condition(),)
    return (
        (each, with_each) for each in one.conditions or always for with_each in other.conditions or always
    )


def _do_agree(one: Condition, other: Condition) -> bool:
    if any(
        None not in (getattr(one, name), getattr(other, name)) and getattr(one, name) != getattr(other, name)
        for name in _EXACT
    ):
        return False
    if one.time is None or other.time is None or _WEEKENDS in (one.time, other.time):
        return True
    return not {*_parse_minutes(one.time)}.isdisjoint(_parse_minutes(other.time))


def _parse_minutes(time: str) -> range | tuple[int, ...]:
    begin, end = (int(each[:2]) * 60 + int(each[3:]) for each in time.split("-"))
    return range(begin, end) if begin <= end else (*range(begin, 24 * 60), *range(end))


def covers_tests(wide: Mapping[str, ArgumentTest], narrow: Mapping[str, ArgumentTest]) -> bool:
    """Whether every input that passes or may pass the narrow tests of arguments passes or may pass the wide ones.

    Values are compared as they are written, so the answer is false if this cannot be told.
    """
    return all(name in narrow and _covers_test(test, narrow[name]) for name, test in wide.items())


def _covers_test(wide: ArgumentTest, narrow: ArgumentTest) -> bool:
    # A longer list of values is wider, a longer list of exceptions is narrower.
    listed = ((wide.one_of, narrow.one_of), (wide.matches, narrow.matches), (wide.host_in, narrow.host_in),
              (wide.under, narrow.under))  # fmt: skip
    unlisted = ((wide.none_of, narrow.none_of), (wide.not_matches, narrow.not_matches),
                (wide.host_not_in, narrow.host_not_in), (wide.not_under, narrow.not_under))  # fmt: skip
    return (
        all(not one or (other and {*other} <= {*one}) for one, other in listed)
        and all(not one or {*one} <= {*other} for one, other in unlisted)
        and _is_bound_wider(wide.more_than, narrow.more_than, 1)
        and _is_bound_wider(wide.less_than, narrow.less_than, -1)
        and _is_bound_wider(wide.longer_than, narrow.longer_than, 1)
    )


def _is_bound_wider(wide: float | None, narrow: float | None, sign: int) -> bool:
    """Whether a lower bound (or with the sign -1 an upper bound) leaves out no more than another one."""
    return wide is None or (narrow is not None and sign * wide <= sign * narrow)
