"""What every store does with limits of calls; part of the contract of stores."""

from __future__ import annotations

import itertools
import multiprocessing
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import select

from orgkernel.decisions.evidence.limit_usage import MAX_AMOUNT, Charge, LimitUse
from orgkernel.decisions.evidence.state_records import AuditFilter
from orgkernel.errors import Conflict, Refused, UnknownRecord
from orgkernel.state.audit import read_rows
from orgkernel.state.limits import MAX_CHARGES
from orgkernel.state.location import StoreLocation
from orgkernel.state.rows import decode_record
from orgkernel.state.store import Store
from orgkernel.state.tables import limit_uses
from tests.state.opening import Clock, opened

HOUR, DAY = 3_600.0, 86_400.0
CALLS = Charge("mails", "agent:worf", limit=3, seconds=HOUR)
SLOTS = Charge("browsers", "*", limit=2)


def budget(amount: int) -> Charge:
    return Charge("spend", "role:buyer", limit=100, amount=amount, seconds=DAY)


def reserve(store: Store, call_id: str, *charges: Charge, **terms: Any) -> tuple[LimitUse, ...]:
    return store.limits.reserve(
        "shop", call_id, charges, **{"subject": "agent:worf", "tool_id": "mail", **terms}
    )


def find_conflict(store: Store, call_id: str, *charges: Charge, **terms: Any) -> Conflict:
    with pytest.raises(Conflict) as refused:
        reserve(store, call_id, *charges, **terms)
    return refused.value


def count_left(store: Store, *charges: Charge) -> tuple[int, ...]:
    return tuple(usage.left for usage in store.limits.read_usage("shop", charges))


def list_uses(store: Store) -> list[LimitUse]:
    with store.context.reading() as connection:
        return [decode_record(LimitUse, row) for row in connection.execute(select(limit_uses))]


def reserve_until_killed(place: StoreLocation, number: int, charges: tuple[Charge, ...]) -> None:
    """In a process of its own: reserve and settle calls in several threads, until the process is killed."""
    with opened(place, busy_seconds=30) as store:

        def work(thread: int) -> None:
            for step in itertools.count():
                call_id = f"{number}-{thread}-{step}"
                try:
                    reserve(store, call_id, *charges, lease=HOUR)
                except Conflict:
                    continue
                if step % 2:
                    store.limits.settle("shop", call_id)

        threads = [threading.Thread(target=work, args=(thread,), daemon=True) for thread in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


class LimitsOfCalls:
    def test_calls_are_counted_in_a_sliding_window(self, store: Store, clock: Clock) -> None:
        """A call leaves the window exactly one window after it was reserved, and the refusal names that time."""
        for number in range(3):
            reserve(store, f"c{number}", CALLS)
            clock.now += 600
        conflict = find_conflict(store, "c3", CALLS)
        assert conflict.code == "LIMIT_REACHED"
        assert conflict.message == "the limit `mails` of `agent:worf` is reached"
        (usage,) = store.limits.read_usage("shop", [CALLS])
        assert (usage.used, usage.left, usage.refills_at) == (3, 0, 1_000_000.0 + HOUR)
        clock.now = 1_000_000.0 + HOUR - 0.5
        assert find_conflict(store, "c3", CALLS).code == "LIMIT_REACHED"
        clock.now = 1_000_000.0 + HOUR
        reserve(store, "c3", CALLS)
        assert count_left(store, CALLS) == (0,)

    def test_a_call_is_charged_to_all_limits_or_to_none(self, store: Store) -> None:
        """If one limit is reached, the others keep what they have left."""
        reserve(store, "c1", budget(60))
        assert find_conflict(store, "c2", CALLS, SLOTS, budget(41)).code == "LIMIT_REACHED"
        assert count_left(store, CALLS, SLOTS, budget(0)) == (3, 2, 40)
        reserve(store, "c2", CALLS, SLOTS, budget(40))
        assert count_left(store, CALLS, SLOTS, budget(0)) == (2, 1, 0)

    def test_a_retry_is_charged_once(self, store: Store) -> None:
        """The same call may be reserved again; another call with its id is refused."""
        assert reserve(store, "c1", CALLS, budget(10)) == reserve(store, "c1", CALLS, budget(10))
        assert count_left(store, CALLS, budget(0)) == (2, 90)
        assert find_conflict(store, "c1", CALLS).code == "OTHER_CALL"
        assert find_conflict(store, "c1", CALLS, budget(1)).code == "OTHER_CALL"
        assert find_conflict(store, "c1", CALLS, budget(10), subject="agent:data").code == "OTHER_CALL"
        assert find_conflict(store, "c1", CALLS, budget(10), tool_id="fax").code == "OTHER_CALL"

    def test_a_settled_call_costs_what_it_cost(self, store: Store) -> None:
        """A lower cost gives the rest back, and a higher one is charged in full; what is left is never negative."""
        reserve(store, "c1", budget(60))
        store.limits.settle("shop", "c1", {"spend": 20})
        assert count_left(store, budget(0)) == (80,)
        reserve(store, "c2", budget(80))
        store.limits.settle("shop", "c2", {"spend": 95})
        (usage,) = store.limits.read_usage("shop", [budget(0)])
        assert (usage.used, usage.left) == (115, 0)
        assert find_conflict(store, "c3", budget(1)).code == "LIMIT_REACHED"

    def test_a_call_ends_once(self, store: Store) -> None:
        """Settling again changes nothing, and a call that ended is neither released nor reserved again."""
        reserve(store, "c1", budget(60))
        first = store.limits.settle("shop", "c1", {"spend": 20})
        assert store.limits.settle("shop", "c1", {"spend": 0}) == first
        for again in (
            lambda: store.limits.release("shop", "c1"),
            lambda: reserve(store, "c1", budget(60)),
        ):
            with pytest.raises(Conflict) as refused:
                again()
            assert refused.value.code == "CALL_ENDED"
        with pytest.raises(UnknownRecord):
            store.limits.settle("shop", "c9")
        with pytest.raises(UnknownRecord):
            store.limits.settle("other", "c1")
        reserve(store, "c2", budget(1))
        with pytest.raises(Refused):
            store.limits.settle("shop", "c2", {"mails": 0})
        assert count_left(store, budget(0)) == (79,)

    def test_a_released_call_costs_nothing(self, store: Store) -> None:
        """A call that did not run gives back its window and its slot, and cannot be settled afterwards."""
        reserve(store, "c1", CALLS, SLOTS, budget(60))
        store.limits.release("shop", "c1")
        assert count_left(store, CALLS, SLOTS, budget(0)) == (3, 2, 100)
        with pytest.raises(Conflict):
            store.limits.settle("shop", "c1")

    def test_a_slot_ends_with_its_call_or_its_lease(self, store: Store, clock: Clock) -> None:
        """A caller that died gives back its slot when the lease ends, and stays charged in the window."""
        reserve(store, "c1", SLOTS, budget(30), lease=60)
        reserve(store, "c2", SLOTS, lease=60)
        assert find_conflict(store, "c3", SLOTS).code == "LIMIT_REACHED"
        store.limits.settle("shop", "c2")
        reserve(store, "c3", SLOTS, lease=600)
        clock.now += 60
        assert count_left(store, SLOTS, budget(0)) == (1, 70)

    def test_counters_and_organizations_are_apart(self, store: Store) -> None:
        """What one agent uses in one organization takes nothing from another agent or organization."""
        for number in range(3):
            reserve(store, f"c{number}", CALLS)
        other = Charge("mails", "agent:data", limit=3, seconds=HOUR)
        assert count_left(store, CALLS, other) == (0, 3)
        assert store.limits.read_usage("ship", [CALLS])[0].left == 3

    def test_a_clock_set_back_gives_nothing_back(self, store: Store, clock: Clock) -> None:
        """Calls that are dated after the clock stay in the window, until a believed clock dates them now."""
        for number in range(3):
            reserve(store, f"c{number}", CALLS, lease=60)
        clock.now -= 30 * DAY
        assert count_left(store, CALLS) == (0,)
        store.count_terms_from_now()
        assert count_left(store, CALLS) == (0,)
        clock.now += HOUR
        assert count_left(store, CALLS) == (3,)

    def test_a_clock_set_far_ahead_gives_nothing_back(self, store: Store, clock: Clock) -> None:
        """A clock that is weeks beyond the audit frees no amount before it has been that late for a while."""
        for number in range(3):
            reserve(store, f"c{number}", CALLS)
        clock.now += 30 * DAY
        assert find_conflict(store, "c3", CALLS).code == "LIMIT_REACHED"

    def test_charges_that_cannot_be_stored_are_refused(self, store: Store) -> None:
        """A negative, broken or huge amount, a repeated counter and a call without charges reserve nothing."""
        bad: list[tuple[Charge, ...]] = [
            (),
            (CALLS, CALLS),
            (budget(-1),),
            (budget(MAX_AMOUNT + 1),),
            (budget(0.5),),  # type: ignore[arg-type]
            (budget(True),),
            (Charge("browsers", "*", limit=2, amount=2),),
            (Charge("mails", "*", limit=2, seconds=0.0),),
            (Charge("mails", "*", limit=2, seconds=float("nan")),),
            (Charge("", "*", limit=2, seconds=1.0),),
            tuple(Charge(f"l{number}", "*", limit=2) for number in range(MAX_CHARGES + 1)),
        ]
        for charges in bad:
            with pytest.raises(Refused):
                reserve(store, "c1", *charges)
        for terms in (
            {"lease": 0},
            {"lease": 1e9},
            {"lease": float("nan")},
            {"subject": "worf"},
            {"tool_id": ""},
        ):
            with pytest.raises(Refused):
                reserve(store, "c1", CALLS, **terms)
        assert list_uses(store) == []

    def test_each_step_of_a_call_is_in_the_audit(self, store: Store) -> None:
        """A reservation, a settlement and a release write one row each, in the same change."""
        reserve(store, "c1", CALLS, budget(5))
        store.limits.settle("shop", "c1", {"spend": 4})
        reserve(store, "c2", CALLS)
        store.limits.release("shop", "c2")
        rows = [row.entry for row in read_rows(store.context, AuditFilter(kind="limit"))][::-1]
        assert [(each.activity, each.record_id, each.detail) for each in rows] == [
            ("reserved", "c1", {"charges": {"mails of agent:worf": 1, "spend of role:buyer": 5}}),
            ("settled", "c1", {"charges": {"mails of agent:worf": 1, "spend of role:buyer": 4}}),
            ("reserved", "c2", {"charges": {"mails of agent:worf": 1}}),
            ("released", "c2", {"charges": {"mails of agent:worf": 1}}),
        ]

    @pytest.mark.parametrize("callers", [60, pytest.param(1_000, marks=pytest.mark.nightly)])
    def test_concurrent_callers_never_exceed_a_limit(self, place: StoreLocation, callers: int) -> None:
        """Callers in two stores get exactly the limit of a window, and never more than the slots at a time."""
        window, slots = Charge("calls", "*", limit=40, seconds=HOUR), Charge("busy", "*", limit=7)
        running, highest, lock = 0, 0, threading.Lock()
        with opened(place, busy_seconds=60) as one, opened(place, busy_seconds=60) as other:

            def call(number: int) -> bool:
                nonlocal running, highest
                store = one if number % 2 else other
                try:
                    reserve(store, f"c{number}", window)
                    reserved = True
                except Conflict:
                    reserved = False
                try:
                    reserve(store, f"s{number}", slots)
                except Conflict:
                    return reserved
                with lock:
                    running += 1
                    highest = max(highest, running)
                with lock:
                    running -= 1
                store.limits.settle("shop", f"s{number}")
                return reserved

            with ThreadPoolExecutor(min(callers, 200)) as pool:
                granted = sum(pool.map(call, range(callers)))
            assert granted == 40
            assert 1 <= highest <= 7
            assert count_left(one, window, slots) == (0, 7)

    def test_killed_callers_leave_exact_counts(self, place: StoreLocation) -> None:
        """Whenever processes are killed, the sum of the rows is what is used, and no limit is exceeded."""
        charges = (Charge("calls", "*", limit=120, seconds=DAY), Charge("busy", "*", limit=30))
        with opened(place, busy_seconds=30) as store:
            reserve(store, "first", *charges)
            context = multiprocessing.get_context("spawn")
            processes = [
                context.Process(target=reserve_until_killed, args=(place, number, charges))
                for number in range(2)
            ]
            for process in processes:
                process.start()
            while len(list_uses(store)) < 20:
                time.sleep(0.01)
            for process in processes:
                process.kill()
            for process in processes:
                process.join()
            while True:
                number = len(list_uses(store))
                try:
                    reserve(store, f"rest-{number}", charges[0])
                except Conflict:
                    break
            uses = list_uses(store)
            assert sum(use.amount for use in uses if use.limit_id == "calls") == 120
            in_progress = [use for use in uses if use.limit_id == "busy" and use.ended_at is None]
            assert 1 <= len(in_progress) <= 30
            assert count_left(store, *charges) == (0, 30 - len(in_progress))
