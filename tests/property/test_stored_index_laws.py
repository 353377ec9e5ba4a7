"""Laws of the index of stored rows: what it hands to a question is what a look at every row comes to."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from orgkernel.decisions.access.decide import decide_access
from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.access.resource import FULL, Resource
from orgkernel.decisions.access.stated import StatedPaths
from orgkernel.decisions.access.stored import (
    compute_lowest_restriction,
    find_given,
    find_giving_grants,
    find_leaving_restrictions,
    gather_grants,
    get_level_in,
    is_active,
)
from orgkernel.decisions.access.stored_index import find_about, find_limited_grants, list_root_resources
from orgkernel.decisions.access.tool_input import find_digest
from orgkernel.decisions.evidence.state_view import Grant, Restriction, StateView
from tests.reference.access_worlds import WorldMaker, build_load_request, state_of, views_of

SEEDS = st.integers(0, 2**32)
KEYS = ("agent:a", "role:r", "tag:t")
WORDS = (
    "tool:t", "tool:t:src/**", "tool:t:src/a/*.py", "tool:t:SRC/b", "tool:t:/etc/**", "tool:t:$HOME/**", "tool:t:**", "tool:t*",
    "tool:t*:src/a", "tool:*", "tool:u", "tool:u:src", "credential:c", "credential:*", "data:internal", "data:restricted",
    "data:*", "data:own",
)  # fmt: skip
PATHS = (
    "src/a/b.py",
    "src",
    "src/b",
    "/etc/passwd",
    "/",
    "a/../src/a",
    "src/*",
    "$HOME/x",
    "C:/x",
    "SRC/A/B.PY",
)
INPUTS = ({"a": 1}, {"a": 2})


class Rows:
    """Stored rows, many of which say the same."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def stored(self, kind: type[Any]) -> dict[str, tuple[Any, ...]]:
        """The rows of some keys."""
        return {
            key: tuple(self._row(kind, key, number) for number in range(self._random.randint(0, 30)))
            for key in self._random.sample(KEYS, 2)
        }

    def _row(self, kind: type[Any], key: str, number: int) -> Any:
        some = self._random.choice
        row = kind(
            f"{key}{number:02}", key, tuple({some(WORDS) for _ in range(some((1, 1, 2)))}),
            some(("observe", "read", "full")), org_id=some(("o", "*", "other")),
            expires_at=some((None, None, 5.0, 10.0, 15.0)), revoked_at=some((None, None, None, 8.0)),
        )  # fmt: skip
        if kind is Grant:
            row = replace(
                row, waives=some(((), (), ("rank",), ("rank", "visibility"))), channel=some((None, None, "slack")),
                session=some((None, None, "s", "")), uses_left=some((None, None, 0, 1)), action=some((None, None, "look")),
                input_digest=some((None, None, *(find_digest(each) for each in INPUTS))),
                asleep_since=some((None, None, None, 1.0)), snapshot=some((None, None, "now", "then")),
            )  # fmt: skip
        return row

    def question(self) -> tuple[Resource, StatedPaths | None, str, AccessContext]:
        """A resource, paths, an action and circumstances."""
        some = self._random.choice
        kind, name = some(
            (
                ("tool", "t"),
                ("tool", "t"),
                ("tool", "u"),
                ("credential", "c"),
                ("data", "internal"),
                ("data", "own"),
            )
        )
        paths: tuple[str | None, ...] = tuple(some((*PATHS, None)) for _ in range(some((1, 1, 2))))
        path = (
            StatedPaths(paths, some((None, "/work")), some((True, False)))
            if kind == "tool" and some((True, False))
            else None
        )
        context = AccessContext(
            now=some((1.0, 5.0, 7.0, 9.0, 12.0, 20.0)), channel=some((None, "slack")), session=some((None, "s", "")),
            input=some((None, *INPUTS)),
        )  # fmt: skip
        return Resource(kind, name, {"look": 2}), path, some(("look", "change")), context


@given(SEEDS)
@settings(max_examples=150)
def test_indexed_equals_scanned(seed: int) -> None:
    """The level, the waivers and every grant that counts are those of a look at every row, at any time and in any order."""
    maker = Rows(seed)
    grants, restrictions = maker.stored(Grant), maker.stored(Restriction)
    for _ in range(12):
        resource, path, action, context = maker.question()
        rows = [row for key in KEYS for row in grants.get(key, ())]
        scanned = gather_grants(rows, resource, path, action, "o", "now", context)
        found = find_given(grants, KEYS, resource, path, action, "o", "now", context)
        assert (found.level, found.waives) == (scanned.level, scanned.waives)
        assert set(found.grants) <= set(scanned.grants)
        told = [
            (level, row)
            for level, each in find_giving_grants(grants, KEYS, resource, path, action, "o", "now", context)
            for row in each.active
        ]
        assert sorted(told, key=_by_id) == sorted(
            zip(scanned.levels, scanned.grants, strict=True), key=_by_id
        )
        left = list(_scan(restrictions, resource, path, context.now))
        assert compute_lowest_restriction(restrictions, KEYS, resource, path, "o", context.now) == min(
            [FULL, *(level for level, _ in left)]
        )
        told_left = [
            (level, row)
            for level, each in find_leaving_restrictions(restrictions, KEYS, resource, path, "o", context.now)
            for row in each
        ]
        assert sorted(told_left, key=_by_id) == sorted(left, key=_by_id)


def _by_id(each: tuple[int, Any]) -> str:
    return str(each[1])


def _scan(
    stored: dict[str, tuple[Restriction, ...]], resource: Resource, path: StatedPaths | None, now: float
) -> Iterator[tuple[int, Restriction]]:
    for row in (row for key in KEYS for row in stored.get(key, ())):
        level = get_level_in(row, resource, path)
        if level is not None and is_active(row, "o", now):
            yield level, row


@given(SEEDS)
def test_rows_that_stand_together_are_alike(seed: int) -> None:
    """Every row that can hold is in one group, and what a group says each of its rows says."""
    maker = Rows(seed)
    stored = maker.stored(Grant)
    resource, _, _, _ = maker.question()
    for about in find_about(stored, KEYS, resource):
        grouped = [row for group in about.groups for row in group.rows]
        asleep = [row for row in about.rows if row.asleep_since is not None or row.uses_left == 0]
        assert sorted(map(str, grouped + asleep)) == sorted(map(str, about.rows))
        for group in about.groups:
            assert (
                len({(row.level, row.org_id, row.action, frozenset(row.waives)) for row in group.rows}) == 1
            )
            assert {(row.channel, row.session, row.input_digest) for row in group.rows} == {group.terms.bond}
            assert {row.snapshot for row in group.rows} == {group.terms.snapshot}
        loose = [row for group in about.find_unconditional(parts=True, snapshot="now") for row in group.rows]
        good = [row for row in grouped if row.snapshot in (None, "now")]
        assert sorted(map(str, loose)) == sorted(map(str, good))
    assert {root for rows in stored.values() for root in list_root_resources(rows)} == {
        ":".join(word.split(":")[:2]) for rows in stored.values() for row in rows for word in row.resources
    }
    assert {row.grant_id for row in find_limited_grants(stored)} == {
        row.grant_id for rows in stored.values() for row in rows if row.uses_left is not None
    }


@given(SEEDS)
@settings(max_examples=60)
def test_the_grants_that_a_decision_names_are_needed_and_enough(seed: int) -> None:
    """They are what is left when grants are taken away one after the other, those with few uses first, while it stays allowed."""
    maker = WorldMaker(seed)
    world = maker.world()
    if not world["state"]["grants"]:
        return
    more = [{**each, "id": f"{each['id']}_{copy}"} for each in world["state"]["grants"] for copy in "ab"]
    world["state"]["grants"] += more
    view, state = views_of(world)[0], state_of(world)
    for _ in range(40):
        asked = build_load_request(maker.request(world))
        decision = decide_access(view, asked, state)
        if decision.outcome != "allow":
            assert not decision.grants
            continue
        rows = [row for each in state.grants.values() for row in each]
        for row in sorted(rows, key=lambda each: (each.uses_left is None, each.grant_id)):
            without = [each for each in rows if each is not row]
            if decide_access(view, asked, _with(state, without)).outcome == "allow":
                rows = without
        assert decision.grants == tuple(sorted(row.grant_id for row in rows)), asked


def _with(state: StateView, rows: Sequence[Grant]) -> StateView:
    kept: dict[str, tuple[Grant, ...]] = {}
    for row in rows:
        kept[row.subject] = (*kept.get(row.subject, ()), row)
    return replace(state, grants=kept)
