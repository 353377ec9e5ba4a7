"""What every store does with SALUTE reports; part of the contract."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from orgkernel.decisions.evidence.state_records import AuditFilter, ReportReceipt
from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.errors import Refused
from orgkernel.state.audit import read_rows
from orgkernel.state.location import StoreLocation
from orgkernel.state.reports import KEPT_SECONDS
from orgkernel.state.store import Store
from orgkernel.state.verify import verify_audit
from tests.state.opening import Clock, opened
from tests.support.salute import salute

ROLE = "role:bugfix_specialist"


def stored(store: Store, body: dict[str, Any], agent_id: str = "") -> ReportReceipt:
    return store.reports.record(body, actor="caller:k", agent_id=agent_id)


def findings_of(store: Store) -> Any:
    return verify_audit(store.context, store.folder).findings


def numbers(reports: Any) -> list[int]:
    return [report.number for report in reports]


class Reports:
    def test_a_report_is_kept_as_it_was_written(self, store: Store, clock: Clock) -> None:
        """With whom it is of, when it was made and when it came."""
        body = salute(at=clock.now - 3, agent=2)
        receipt = stored(store, body, "worf")
        (report,) = store.reports.latest()
        assert receipt == ReportReceipt("stored", report.number)
        assert (report.org_id, report.role_id, report.agent_id, report.agent_number) == (
            "software_dev", "bugfix_specialist", "worf", 2,
        )  # fmt: skip
        assert (report.at, report.received_at, report.tier) == (clock.now - 3, clock.now, "primary")
        assert report.body == body

    def test_a_report_delivered_twice_is_one_row(self, store: Store, clock: Clock) -> None:
        """However often and by whom; the state does not change by it."""
        first = stored(store, salute())
        view = store.read_view()
        clock.now += 100
        reordered = dict(reversed(salute().items()))
        assert stored(store, reordered) == ReportReceipt("known", first.number)
        assert store.read_view() is view
        assert len(store.reports.history()) == 1

    def test_two_agents_may_say_the_same(self, store: Store) -> None:
        """Where they are known to be two, both are kept."""
        stored(store, salute(), "worf")
        stored(store, salute(), "data")
        assert [report.agent_id for report in store.reports.latest()] == ["data", "worf"]

    def test_the_same_report_by_many_at_once_is_one_row(self, place: StoreLocation, clock: Clock) -> None:
        """Two processes, eight threads: one of them stores it and all are told its number."""
        receipts: list[ReportReceipt] = []
        with opened(place, clock, busy_seconds=30) as one, opened(place, clock, busy_seconds=30) as other:

            def deliver(number: int) -> None:
                store = (one, other)[number % 2]
                receipts.extend(stored(store, salute(task=str(task))) for task in range(5))

            threads = [threading.Thread(target=deliver, args=(number,)) for number in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert len(one.reports.history()) == 5
        assert sorted(each.outcome for each in receipts) == ["known"] * 35 + ["stored"] * 5
        assert len({each.number for each in receipts}) == 5

    def test_the_latest_is_that_of_each_agent_in_each_role(self, store: Store, clock: Clock) -> None:
        """By when it was made, whatever came later; of two of one second the one that came later."""
        stored(store, salute(at=clock.now - 10, task="older"))
        stored(store, salute(at=clock.now - 5, task="newer"))
        stored(store, salute(at=clock.now - 8, task="late"))
        stored(store, salute(at=clock.now - 20, agent=1, task="other agent"))
        stored(store, salute("codegen_specialist", at=clock.now - 20, task="other role"))
        stored(store, salute(at=clock.now - 20, org="yard", task="other organization"))
        tasks = [report.body["activity"]["current_task"] for report in store.reports.latest()]
        assert tasks == ["newer", "other agent", "other role", "other organization"]
        stored(store, salute(at=clock.now - 5, task="same second"))
        (report, _) = store.reports.latest("software_dev", "bugfix_specialist")
        assert report.body["activity"]["current_task"] == "same second"

    def test_a_clock_that_is_ahead_counts_as_now(self, store: Store, clock: Clock) -> None:
        """Otherwise one report from the future would be the latest for ever."""
        stored(store, salute(at=clock.now + 1e6, task="from the future"))
        clock.now += 1
        stored(store, salute(at=clock.now, task="clock was set"))
        (report,) = store.reports.latest()
        assert report.body["activity"]["current_task"] == "clock was set"

    def test_reports_are_followed_and_looked_back_on(self, store: Store, clock: Clock) -> None:
        """Forwards from a number and backwards from one, whole pages and of one role."""
        for number in range(6):
            stored(store, salute(("a", "b")[number % 2], at=clock.now - number))
        all_numbers = numbers(store.reports.after(0))
        assert all_numbers == sorted(all_numbers)
        assert len(all_numbers) == 6
        assert store.reports.last_number() == all_numbers[-1]
        assert numbers(store.reports.after(all_numbers[2], limit=2)) == all_numbers[3:5]
        assert numbers(store.reports.after(0, "software_dev", "b")) == all_numbers[1::2]
        assert store.reports.after(0, "yard") == ()
        assert numbers(store.reports.history(limit=2)) == all_numbers[:-3:-1]
        assert numbers(store.reports.history(None, "a", before=all_numbers[4])) == [
            all_numbers[2],
            all_numbers[0],
        ]

    def test_old_reports_go_and_the_latest_stays(self, store: Store, clock: Clock) -> None:
        """With the next report of their agent; what is gone does not come back by a second delivery."""
        start = clock.now
        stored(store, salute(at=start, task="first"))
        stored(store, salute("quiet", at=start))
        clock.now += KEPT_SECONDS - 10
        stored(store, salute(at=clock.now, task="second"))
        assert len(store.reports.history()) == 3
        clock.now += 20
        last = stored(store, salute(at=clock.now, task="third"))
        tasks = [
            report.body["activity"]["current_task"]
            for report in store.reports.history(None, "bugfix_specialist")
        ]
        assert tasks == ["third", "second"]
        assert stored(store, salute(at=start, task="first")) == ReportReceipt("expired", None)
        assert len(store.reports.latest(None, "quiet")) == 1
        clock.now += 10 * KEPT_SECONDS
        assert store.reports.drop_old() == 1
        assert [report.role_id for report in store.reports.latest()] == ["bugfix_specialist", "quiet"]
        assert stored(store, salute("new", at=clock.now)).number == (last.number or 0) + 1

    def test_numbers_are_never_given_twice(self, store: Store, clock: Clock) -> None:
        """Also where the newest row is deleted: who follows would miss what gets its number."""
        stored(store, salute(at=clock.now, task="latest"))
        gone = stored(store, salute(at=clock.now - 50, task="late and old"))
        assert store.reports.drop_old(40) == 1
        assert (stored(store, salute(at=clock.now, task="next")).number or 0) > (gone.number or 0)

    def test_decisions_see_the_latest(self, store: Store, clock: Clock) -> None:
        """By role and by agent, of one organization; raised is who is not in primary or alternate."""
        stored(store, salute(at=clock.now - 5, tier="emergency"), "worf")
        stored(store, salute(at=clock.now, agent=1))
        view = store.read_view("software_dev")
        assert [report.tier for report in view.reports[ROLE]] == ["primary", "emergency"]
        assert [report.tier for report in view.reports["agent:worf"]] == ["emergency"]
        assert view.raised == {"agent:worf"}
        assert store.read_view("yard").reports == {}
        assert store.read_view().raised == {"agent:worf"}
        stored(store, salute(at=clock.now), "worf")
        stored(store, salute(at=clock.now + 1, org="yard", tier="contingent"))
        assert store.read_view("software_dev").raised == frozenset()
        assert store.read_view("yard").raised == {ROLE}

    def test_a_patched_view_is_as_one_read_anew(
        self, place: StoreLocation, store: Store, clock: Clock
    ) -> None:
        """Whatever order the reports came in."""
        store.read_view()
        for number, tier in enumerate(("contingent", "primary", "emergency", "alternate")):
            stored(store, salute(at=clock.now - number % 3, tier=tier, agent=number % 2))
            with opened(place, clock) as other:
                assert other.read_view("software_dev") == store.read_view("software_dev")
                assert other.read_view() == store.read_view()

    def test_a_change_of_tier_is_written_down(self, store: Store, clock: Clock) -> None:
        """Since it changes what is decided; a report of the same tier is not, nor one that came too late to count."""
        for second, tier in enumerate(("primary", "alternate", "alternate", "contingent", "primary")):
            stored(store, salute(at=clock.now - 10 + second, tier=tier))
        stored(store, salute(at=clock.now - 20, tier="emergency"))
        rows = [row.entry for row in read_rows(store.context, AuditFilter(kind="report"))][::-1]
        assert [(row.activity, row.subject, row.actor) for row in rows] == [
            ("alternate", ROLE, "caller:k"), ("contingent", ROLE, "caller:k"), ("primary", ROLE, "caller:k"),
        ]  # fmt: skip
        assert rows[1].detail == {"agent_id": "", "agent_number": 0, "before": "alternate"}

    def test_secrets_in_reports_are_masked(self, store: Store) -> None:
        """A task may quote one."""
        _, secret = store.keys.create("ci", ["report"], created_by="a")
        stored(store, salute(task=f"use {secret} for it"))
        (report,) = store.reports.latest()
        assert secret not in str(report.body)

    @pytest.mark.parametrize(
        ("body", "says"),
        [
            (salute(org=""), "organization"),
            (salute(role=""), "role"),
            (salute(role="x" * 300), "role"),
            (salute(tier="panic"), "tier"),
            (salute(timestamp="soon"), "valid time"),
            (salute(agent=10**30), "number"),
            ({**salute(), "more": ["x" * 3_000] * 30}, "bytes"),
        ],
    )
    def test_what_cannot_be_stored_is_refused(self, store: Store, body: dict[str, Any], says: str) -> None:
        """With a sentence, and nothing of it is kept."""
        with pytest.raises(Refused, match=says):
            stored(store, body)
        assert store.read_view() == StateView()
        assert store.reports.last_number() == 0

    @pytest.mark.parametrize("text", ["\0", "\ud800", "🖖" * 3_000, "';--", "\u202e", "a\nb"])
    def test_no_text_in_a_report_breaks_a_store(self, store: Store, text: str) -> None:
        """It is stored cleaned, or refused."""
        assert stored(store, salute(task=text)).outcome == "stored"
        anywhere = [
            lambda: stored(store, salute(role=text)),
            lambda: stored(store, salute(org=text)),
            lambda: stored(store, salute(), text),
            lambda: store.reports.latest(text, text),
            lambda: store.reports.history(text, text),
            lambda: store.reports.after(0, text, text),
        ]
        for attempt in anywhere:
            try:
                attempt()
            except Refused:
                continue
        assert numbers(store.reports.after(0))
        assert findings_of(store) == ()
