"""What every store does with skills and with the evidence of test results; part of the contract."""

from __future__ import annotations

from itertools import count

import pytest

from orgkernel.decisions.evidence.skill_levels import DAY, SkillTerms, compute_level, count_lapsed
from orgkernel.decisions.evidence.state_records import AuditEntry, AuditFilter
from orgkernel.errors import Conflict, Refused, UnknownRecord
from orgkernel.state.agents import count_outcome
from orgkernel.state.audit import read_rows
from orgkernel.state.location import StoreLocation
from orgkernel.state.store import Store
from tests.state.opening import Clock, is_unexpired_pass, opened

MAPS = SkillTerms("maps", 14, is_valid=is_unexpired_pass)
HELM = SkillTerms("helm", 14, ((MAPS, 3),), is_unexpired_pass)
SHA = "3f" * 32


def acquire(store: Store, terms: SkillTerms, level: int = 1) -> None:
    store.skills.acquire("worf", terms, org_id="shop", actor="a", level=level)


def activities(store: Store) -> list[tuple[str, int]]:
    return [(each.activity, each.proficiency) for each in store.skills.history("shop", "worf")]


def pass_days(store: Store, clock: Clock, days: float) -> None:
    """Days of a store that is in use, so that its clock is believed."""
    clock.now += days * DAY - 1_000
    store.audit.write(AuditEntry("decision", clock.now, "allow"))
    clock.now += 1_000


class Skills:
    def test_a_skill_needs_its_prerequisites_at_their_level_now(self, store: Store, clock: Clock) -> None:
        """Missing, too low, decayed and suspended ones are named; a skill is acquired once."""
        with pytest.raises(Conflict, match="does not have `maps`, and level 3 is required") as refusal:
            acquire(store, HELM)
        assert refusal.value.code == "PREREQUISITE_MISSING"
        acquire(store, MAPS, 3)
        with pytest.raises(Conflict, match="already has the skill `maps`, at level 3"):
            acquire(store, MAPS)
        clock.now += 14 * DAY
        with pytest.raises(Conflict, match="has `maps` at level 2"):
            acquire(store, HELM)
        store.skills.assess("worf", MAPS, 4, org_id="shop", actor="a", note="saw it")
        store.skills.suspend("worf", MAPS, org_id="shop", actor="a")
        with pytest.raises(Conflict, match="has `maps` suspended"):
            acquire(store, HELM)
        store.skills.resume("worf", "maps", org_id="shop", actor="a")
        acquire(store, HELM)
        assert [each.skill for each in store.read_view("shop").skills["worf"]] == ["helm", "maps"]
        assert store.read_view("yard").skills == {}
        assert store.read_view().skills == store.read_view("shop").skills

    def test_an_exercise_writes_what_is_left_and_begins_anew(self, store: Store, clock: Clock) -> None:
        """Asking about the level changes nothing; the history has each change, and so has the audit."""
        acquire(store, MAPS, 5)
        pass_days(store, clock, 29)
        (held,) = store.skills.list("shop", "worf")
        assert [compute_level(held, 14, 0, clock.now) for _ in range(6)] == [3] * 6
        store.skills.exercise("worf", MAPS, org_id="shop", actor="a")
        store.skills.exercise("worf", MAPS, org_id="shop", actor="a")
        (held,) = store.skills.list("shop", "worf")
        assert (held.proficiency, held.exercises, held.last_exercised_at) == (3, 2, clock.now)
        assert activities(store) == [("acquired", 5), ("exercised", 3), ("exercised", 3)]
        rows = [*read_rows(store.context, AuditFilter(kind="skill"))]
        assert [row.entry.detail["level"] for row in rows] == [3, 3, 5]

    def test_a_suspended_skill_neither_decays_nor_is_exercised(self, store: Store, clock: Clock) -> None:
        """It keeps the level that was left, and its time begins when it is resumed."""
        acquire(store, MAPS, 5)
        pass_days(store, clock, 14)
        store.skills.suspend("worf", MAPS, org_id="shop", actor="a")
        clock.now += 100 * DAY
        with pytest.raises(Conflict, match="is suspended") as refusal:
            store.skills.exercise("worf", MAPS, org_id="shop", actor="a")
        assert refusal.value.code == "SKILL_SUSPENDED"
        with pytest.raises(Conflict):
            store.skills.suspend("worf", MAPS, org_id="shop", actor="a")
        held = store.skills.resume("worf", "maps", org_id="shop", actor="a")
        assert compute_level(held, 14, 0, clock.now + 13 * DAY) == 4
        with pytest.raises(Conflict, match="is not suspended"):
            store.skills.resume("worf", "maps", org_id="shop", actor="a")

    def test_a_clock_that_is_set_back_takes_and_gives_no_level(self, store: Store, clock: Clock) -> None:
        """Neither when the level is asked for nor when an exercise writes it."""
        acquire(store, MAPS, 5)
        clock.now -= 100 * DAY
        assert store.skills.exercise("worf", MAPS, org_id="shop", actor="a").proficiency == 5

    def test_what_is_no_skill_or_level_is_refused(self, store: Store) -> None:
        """An agent cannot practice a skill that it does not have."""
        for level in (0, 8):
            with pytest.raises(Refused, match="out of range"):
                acquire(store, MAPS, level)
        with pytest.raises(Refused):
            acquire(store, SkillTerms("", 14))
        with pytest.raises(UnknownRecord, match="does not have the skill `maps`"):
            store.skills.exercise("worf", MAPS, org_id="shop", actor="a")


class Evidence:
    def test_a_result_keeps_what_it_rests_on(self, store: Store) -> None:
        """Its sample size and digests, in the list, in the view and in the audit."""
        result = store.results.record(
            "worf", "helm", score=0.9, passed=True, org_id="shop", actor="a", sample_size=40,
            digests={"model": SHA, "prompt": "v3"},
        )  # fmt: skip
        assert store.read_view("shop").results["worf"] == (result,) == store.results.list("worf")
        (row,) = read_rows(store.context, AuditFilter(kind="result"))
        assert row.entry.detail["digests"] == {"model": SHA, "prompt": "v3"}
        with pytest.raises(Refused, match="sample size"):
            store.results.record(
                "worf", "helm", score=1, passed=True, org_id="shop", actor="a", sample_size=0
            )
        with pytest.raises(Refused, match="17 digests"):
            store.results.record(
                "worf", "helm", score=1, passed=True, org_id="shop", actor="a",
                digests={f"d{number}": SHA for number in range(17)},
            )  # fmt: skip

    def test_passing_raises_a_skill_by_one_step(self, store: Store, clock: Clock) -> None:
        """From the level that is left, up to its highest; a skill that is not held or suspended stays as it is."""
        acquire(store, MAPS, 3)
        pass_days(store, clock, 14)
        numbers = count(1)

        def passed(highest: int) -> int:
            store.results.record(
                "worf", "test", score=1, passed=True, org_id="shop", actor="a", run=f"run {next(numbers)}",
                raises=[(MAPS, highest), (HELM, 7)],
            )  # fmt: skip
            return store.skills.list("shop", "worf")[0].proficiency

        assert [passed(4), passed(4), passed(4)] == [3, 4, 4]
        store.skills.suspend("worf", MAPS, org_id="shop", actor="a")
        assert passed(7) == 4
        assert [each.skill for each in store.skills.list("shop", "worf")] == ["maps"]

    def test_evidence_is_used_once(self, store: Store) -> None:
        """The same result of a run is the same record; without a run, a result that equals an earlier one raises nothing."""
        acquire(store, MAPS, 1)

        def record(score: float, run: str = "") -> tuple[int, int]:
            result = store.results.record(
                "worf",
                "test",
                score=score,
                passed=True,
                org_id="shop",
                actor="a",
                run=run,
                raises=[(MAPS, 7)],
            )
            return result.result_id, store.skills.list("shop", "worf")[0].proficiency

        assert [record(0.9) for _ in range(3)] == [(1, 2), (2, 2), (3, 2)]
        assert [record(0.9, "one"), record(0.9, "one"), record(0.9, "two")] == [(4, 3), (4, 3), (5, 4)]
        with pytest.raises(Conflict, match="already has another result, 4") as refusal:
            record(1.0, "one")
        assert refusal.value.code == "RUN_RECORDED"
        assert [each.result_id for each in store.results.list("worf")] == [1, 2, 3, 4, 5]

    def test_an_invalid_result_takes_its_level_back(self, store: Store) -> None:
        """Once for each result that raised the skill, never below 1, and not from a level that was assessed since."""
        acquire(store, MAPS, 1)
        for run in "abcd":
            store.results.record(
                "worf", "test", score=1, passed=True, org_id="shop", actor="a", run=run, raises=[(MAPS, 7)]
            )

        def invalidate(result: int) -> int:
            store.results.invalidate(result, org_id="shop", actor="a", reason="leaked")
            return store.skills.list("shop", "worf")[0].proficiency

        assert [invalidate(1), invalidate(2)] == [4, 3]
        store.skills.assess("worf", MAPS, 6, org_id="shop", actor="a")
        assert [invalidate(3), invalidate(4)] == [6, 6]
        assert activities(store)[-4:] == [("raised", 5), ("lowered", 4), ("lowered", 3), ("assessed", 6)]

    def test_an_expired_result_lifts_no_skill(self, store: Store, clock: Clock) -> None:
        """Its level lapses at its end, stays while a later result of the test is valid, and is given again by the next one.

        Practice takes no level back for good: what made a result invalid can be undone. A new result does.
        """
        terms = SkillTerms("maps", 1_000, is_valid=is_unexpired_pass)
        start = clock.now
        acquire(store, terms, 2)

        def record(run: str, days: float) -> None:
            store.results.record(
                "worf", "test", score=1, passed=True, org_id="shop", actor="a", run=run,
                expires_at=start + days * DAY, raises=[(terms, 4)],
            )  # fmt: skip

        def list_levels(*days: float) -> list[int]:
            (held,) = store.skills.list("shop", "worf")
            assert store.read_view("shop").skills["worf"] == (held,)
            assert store.read_past("shop", clock.now).skills["worf"] == (held,)
            results = store.results.list("worf")
            times = [start + each * DAY for each in days]
            return [
                compute_level(held, 1_000, count_lapsed(held, results, is_unexpired_pass, at), at)
                for at in times
            ]

        record("one", 10)
        assert list_levels(0, 9, 10, 0) == [3, 3, 2, 3]
        record("two", 20)
        record("three", 30)
        assert list_levels(0, 10, 20, 30) == [4, 4, 3, 2]
        pass_days(store, clock, 25)
        assert store.skills.exercise("worf", terms, org_id="shop", actor="a").proficiency == 4
        assert list_levels(25) == [3]
        record("four", 90)
        assert list_levels(25, 30, 89, 90) == [4, 3, 3, 2]
        assert activities(store)[-3:] == [("exercised", 4), ("lowered", 3), ("raised", 4)]
        store.results.invalidate(1, org_id="shop", actor="a", reason="leaked")
        assert list_levels(25, 30, 90) == [4, 3, 2]
        store.skills.assess("worf", terms, 4, org_id="shop", actor="a")
        assert list_levels(25, 90) == [4, 4]

    def test_a_result_that_equals_an_earlier_one_prolongs_no_level(self, store: Store, clock: Clock) -> None:
        """Without a run, it cannot be told from the earlier one."""
        acquire(store, MAPS, 2)
        for days in (1, 9):
            store.results.record(
                "worf", "test", score=1, passed=True, org_id="shop", actor="a",
                expires_at=clock.now + days * DAY, raises=[(MAPS, 4)],
            )  # fmt: skip
        (held,) = store.read_view("shop").skills["worf"]
        assert (held.proficiency, held.raised_by) == (3, ("test",))
        results = store.results.list("worf")
        ends = [count_lapsed(held, results, is_unexpired_pass, clock.now + days * DAY) for days in (0, 1, 8)]
        assert ends == [0, 1, 1]

    def test_a_result_raises_no_skill_without_its_prerequisite(self, store: Store) -> None:
        """A prerequisite holds for every way to a level: learning, assessing and passing a test."""
        acquire(store, MAPS, 3)
        acquire(store, HELM, 1)
        store.skills.suspend("worf", MAPS, org_id="shop", actor="a")
        store.results.record(
            "worf", "test", score=1, passed=True, org_id="shop", actor="a", raises=[(HELM, 7)]
        )
        with pytest.raises(Conflict, match="cannot reach level 2 of `helm`: it has `maps` suspended"):
            store.skills.assess("worf", HELM, 2, org_id="shop", actor="a")
        assert store.skills.assess("worf", HELM, 1, org_id="shop", actor="a").proficiency == 1
        assert ("raised", 2) not in activities(store)

    def test_an_invalid_result_stays_and_says_why(
        self, store: Store, place: StoreLocation, clock: Clock
    ) -> None:
        """The result is invalidated in its organization, once and with a reason, also in views that were read before."""
        with opened(place, clock) as other:
            first, second = (
                store.results.record("worf", "helm", score=score, passed=True, org_id="shop", actor="a")
                for score in (0.8, 0.9)
            )
            assert other.read_view("shop").results["worf"] == (first, second)
            with pytest.raises(Refused, match="needs a reason"):
                store.results.invalidate(first.result_id, org_id="shop", actor="a", reason=" ")
            with pytest.raises(UnknownRecord):
                store.results.invalidate(first.result_id, org_id="yard", actor="a", reason="leaked")
            invalid = store.results.invalidate(first.result_id, org_id="shop", actor="a", reason="leaked")
            assert (invalid.invalid_reason, invalid.invalidated_at) == ("leaked", clock.now)
            assert other.read_view("shop").results["worf"] == (invalid, second)
            with pytest.raises(Conflict, match="is already invalid"):
                store.results.invalidate(first.result_id, org_id="shop", actor="a", reason="again")

    def test_outcomes_of_work_are_counted(self, store: Store) -> None:
        """For an agent that is there."""
        store.agents.add("worf", org_id="shop", actor="a", trust=0.5)
        for succeeded in (True, True, False):
            store.context.change(
                lambda transaction, succeeded=succeeded: count_outcome(
                    transaction, "shop", "worf", succeeded=succeeded
                )
            )
        agent = store.read_view("shop").agents["worf"]
        assert (agent.trust, agent.successes, agent.failures) == (0.5, 2, 1)
        with pytest.raises(UnknownRecord):
            store.context.change(lambda each: count_outcome(each, "shop", "data", succeeded=True))
