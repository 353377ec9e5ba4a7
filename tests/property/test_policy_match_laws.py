"""Laws of what rules say about the matches of policies, against every request there can be in a small world."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from orgkernel.documents.records import BUILT_IN_ORIGINS, Condition, Match, Organization, Person, Principal
from orgkernel.graph.records import Definition, OrgRecords
from orgkernel.loading.sources import SourceDocument
from orgkernel.rules.policy_matches import can_overlap, covers, find_contradiction

PEOPLE = {
    "owner": Person(relationship="owner", tags=("kin",)),
    "gran": Person(relationship="family", tags=("kin", "old")),
    "pal": Person(relationship="friend"),
    "neighbor": Person(tags=("old",)),
}
DOCUMENT = SourceDocument("", "", "directory", Organization(org_id="demo", hierarchy={}), (0, {}), "")
DEFINED = {name: Definition(name, person, DOCUMENT, "people", True) for name, person in PEOPLE.items()}
RECORDS = OrgRecords(
    "demo", DOCUMENT, Organization(org_id="demo", hierarchy={}), {}, {}, {}, {}, {}, {}, {}, people=DEFINED
)
# Everybody there can be: a person, somebody unknown, origins, webhooks, agents with their roles.
SUBJECTS: list[dict[str, Any]] = [
    *({"kind": "person", "id": name, "person": person} for name, person in PEOPLE.items()),
    {"kind": "unknown"},
    *({"kind": "system", "id": name} for name in ("cron", "hooks")),
    *({"kind": "webhook", "id": name} for name in ("stripe", "other")),
    {"kind": "agent", "id": "a1", "roles": ("co", "xo")},
    {"kind": "agent", "id": "a2", "roles": ("xo",)},
    {"kind": "agent", "id": "a3", "roles": ()},
]
CIRCUMSTANCES = [
    {"channel": channel, "peer_kind": peer, "minute": minute, "weekend": weekend, "alert": alert}
    for channel, peer, minute, weekend, alert in product(
        ("slack", "signal"), ("dm", "group"), (0, 449, 450, 600, 1380), (True, False), ("GREEN", "RED")
    )
]


def is_owner(subject: dict[str, Any]) -> bool:
    if subject["kind"] == "system":
        return subject["id"] in BUILT_IN_ORIGINS
    return subject["kind"] == "person" and subject["person"].relationship == "owner"


def meets(principal: Principal | None, subject: dict[str, Any]) -> bool:
    """Whether a subject is what a principal block asks for, field by field."""
    if principal is None:
        return True
    person = subject.get("person") or Person()
    asked = [
        principal.is_user is None or principal.is_user == is_owner(subject),
        principal.relationship in (None, person.relationship),
        set(principal.tags) <= set(person.tags),
        principal.person_id is None
        or (subject["kind"], subject.get("id")) == ("person", principal.person_id),
        principal.unknown is None or principal.unknown == (subject["kind"] == "unknown"),
    ]
    for kind in ("system", "webhook", "agent"):
        word = getattr(principal, kind)
        asked.append(word is None or (subject["kind"] == kind and word in ("*", subject["id"])))
    roles = subject.get("roles", ())
    asked.append(principal.role is None or principal.role in roles or (principal.role == "*" and bool(roles)))
    return all(asked)


def holds(condition: Condition, now: dict[str, Any]) -> bool:
    """Whether circumstances are what a condition asks for."""
    if condition.time == "weekends":
        in_time = now["weekend"]
    elif condition.time is not None:
        begin, end = (int(each[:2]) * 60 + int(each[3:]) for each in condition.time.split("-"))
        minute = now["minute"]
        in_time = begin <= minute < end if begin <= end else minute >= begin or minute < end
    else:
        in_time = True
    return (
        in_time
        and condition.channel in (None, now["channel"])
        and condition.peer_kind in (None, now["peer_kind"])
    )


def matched(match: Match) -> Iterator[tuple[int, int]]:
    """Every request a match holds for."""
    for number, subject in enumerate(SUBJECTS):
        if meets(match.principal, subject):
            for other, now in enumerate(CIRCUMSTANCES):
                if match.alert and now["alert"] not in match.alert:
                    continue
                if not match.conditions or any(holds(each, now) for each in match.conditions):
                    yield number, other


def maybe(values: list[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.none(), st.sampled_from(values))


PRINCIPALS = st.builds(
    Principal,
    is_user=maybe([True, False]), relationship=maybe(["owner", "family", "friend", "work"]),
    tags=st.sampled_from([(), (), ("kin",), ("kin", "old"), ("new",)]), person_id=maybe([*PEOPLE]),
    unknown=maybe([True, False]), system=maybe(["*", "cron", "hooks"]), webhook=maybe(["*", "stripe"]),
    agent=maybe(["*", "a1", "a2"]), role=maybe(["*", "co", "xo"]),
)  # fmt: skip
# Mostly one thing is asked for at a time: otherwise nearly everything contradicts itself.
SINGLE = st.sampled_from(
    [
        Principal(**{field: value})
        for field, values in {
            "is_user": [True, False], "relationship": ["owner", "family", "friend"], "tags": [("kin",), ("old",)],
            "person_id": [*PEOPLE], "unknown": [True, False], "system": ["*", "cron", "hooks"],
            "webhook": ["*", "stripe"], "agent": ["*", "a1"], "role": ["*", "co"],
        }.items()
        for value in values
    ]
)  # fmt: skip
CONDITIONS = st.builds(
    Condition,
    channel=maybe(["slack", "signal"]), peer_kind=maybe(["dm", "group"]),
    time=maybe(["weekends", "07:30-10:00", "10:00-07:30", "23:00-08:00", "08:00-08:00"]),
)  # fmt: skip
MATCHES = st.builds(
    Match,
    principal=st.one_of(st.none(), SINGLE, PRINCIPALS),
    conditions=st.lists(CONDITIONS, max_size=2).map(tuple),
    alert=st.sampled_from([(), (), ("GREEN",), ("RED",), ("GREEN", "RED")]),
)


@given(MATCHES)
@settings(max_examples=210)
def test_what_is_said_never_to_match_never_matches(match: Match) -> None:
    """No request there can be is one that a policy called impossible holds for."""
    if find_contradiction(match, RECORDS):
        assert not [*matched(match)]


@given(MATCHES, MATCHES)
@settings(max_examples=420)
def test_a_match_that_covers_another_holds_whenever_it_does(wide: Match, narrow: Match) -> None:
    """A shadowed policy really is one."""
    if covers(wide, narrow, DEFINED):
        assert {*matched(narrow)} <= {*matched(wide)}


@given(MATCHES, MATCHES)
@settings(max_examples=420)
def test_matches_that_cannot_meet_never_do(one: Match, other: Match) -> None:
    """Two pinned sessions that nothing is said about never collide; and the order in which one asks is the same."""
    meeting = can_overlap(one, other, DEFINED)
    assert meeting == can_overlap(other, one, DEFINED)
    if not meeting:
        assert {*matched(one)}.isdisjoint(matched(other))


@given(MATCHES)
@settings(max_examples=70)
def test_a_match_covers_and_meets_itself(match: Match) -> None:
    """Unless it contradicts itself."""
    if not find_contradiction(match, RECORDS):
        assert covers(match, match, DEFINED)
        assert can_overlap(match, match, DEFINED)
