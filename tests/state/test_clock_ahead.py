"""A clock that was ahead for a while opens and destroys nothing: every later decision is as without the jump, or stricter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from orgkernel.decisions.evidence.skill_levels import SkillTerms, compute_level
from orgkernel.decisions.evidence.state_records import AuditEntry, AuditFilter
from orgkernel.errors import Refused
from orgkernel.operations.permits import note_found_expired
from orgkernel.operations.upkeep import (
    ClockTrust,
    note_expired,
    prune,
    read_audit,
    require_believable_clock,
)
from orgkernel.runtime.utc import as_utc
from orgkernel.state.store import Store
from tests.state.opening import Clock, is_unexpired_pass, opened, sqlite_at

DAY = 86_400.0
NOW = 1_763_899_200.0
HELM = SkillTerms("helm", 14, is_valid=is_unexpired_pass)


@pytest.fixture
def clock() -> Clock:
    return Clock(NOW)


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Any:
    with opened(sqlite_at(tmp_path), clock) as made:
        yield made


def test_a_restriction_holds_by_its_own_dates(store: Store, clock: Clock, tmp_path: Path) -> None:
    """Although its end was noted while the clock was ahead. A grant whose end was noted stays ended."""
    store.restrictions.issue("agent:worf", ["tool:x"], issued_by="a", expires_at=NOW + 7 * DAY)
    store.grants.issue("agent:worf", ["tool:y"], issued_by="a", expires_at=NOW + 7 * DAY)
    clock.now += 8 * DAY
    store.expire()
    clock.now -= 8 * DAY - 68
    with opened(sqlite_at(tmp_path), clock) as fresh:
        for each in (store, fresh):
            view = each.read_view("shop")
            assert [held.resources for held in view.restrictions["agent:worf"]] == [("tool:x",)]
            assert view.grants == {}


@pytest.mark.parametrize("days", [8, 400])
def test_a_refused_call_ends_no_grant_for_good(store: Store, clock: Clock, days: int) -> None:
    """A gateway whose clock is far ahead refuses by the dates of the grants, and notes nothing."""
    store.grants.issue("agent:worf", ["tool:y"], issued_by="a", expires_at=NOW + 7 * DAY)
    clock.now += 1_200
    clock.now += days * DAY
    store.read_view("shop")
    note_found_expired(store)
    clock.now -= days * DAY
    assert [each.resources for each in store.read_view("shop").grants["agent:worf"]] == [("tool:y",)]
    clock.now += 7 * DAY  # what has run out stays so, if the clock is not far beyond the audit
    store.audit.write(AuditEntry("decision", clock.now - 1_200, "allow"))
    note_found_expired(store)
    clock.now -= DAY
    assert store.read_view("shop").grants == {}


def _report(role: str, tier: str, at: float, number: int = 1) -> dict[str, Any]:
    return {
        "unit": {"role_id": role, "organization": "shop", "agent_number": number},
        "status": {"pace_level": tier},
        "time": {"timestamp": as_utc(at)},
    }


@pytest.mark.parametrize("number", [1, 2], ids=["same agent", "another agent"])
def test_a_report_from_ahead_does_not_hide_an_emergency(
    store: Store, clock: Clock, tmp_path: Path, number: int
) -> None:
    """The next report counts, of the same agent and of another one in the role."""
    clock.now += 10 * DAY
    store.reports.record(_report("helm", "primary", clock.now), actor="a")
    clock.now -= 10 * DAY - 60
    store.reports.record(_report("helm", "emergency", clock.now - 1, number), actor="a")
    with opened(sqlite_at(tmp_path), clock) as fresh:
        for each in (store, fresh):
            view = each.read_view("shop")
            assert view.reports["role:helm"][0].tier == "emergency"
            assert "role:helm" in view.raised


def test_reports_in_order_stay_in_order(store: Store, clock: Clock) -> None:
    """A report that arrives late is not the newest."""
    for tier, at, number in (("emergency", 50.0, 1), ("primary", 20.0, 2)):
        clock.now += 100
        store.reports.record(_report("helm", tier, NOW + at, number), actor="a")
    assert [each.tier for each in store.read_view("shop").reports["role:helm"]] == ["emergency", "primary"]


def believe(store: Store, clock: Clock) -> int:
    """Let a server run until it believes the clock and keeps house; the number of rows whose terms begin now."""
    trust = ClockTrust(store, clock.now, 0.0)
    assert note_expired(store, trust, clock.now, 0.0) == 0
    clock.now += 601
    return note_expired(store, trust, clock.now, 601.0)


def test_a_term_of_a_clock_that_was_ahead_begins_when_it_is_seen(store: Store, clock: Clock) -> None:
    """A lock of a minute, a claim, a grant, a request, a result, a key and a skill: each lasts as long as it says, once."""
    clock.now += 30 * DAY
    store.locks.acquire("shop", "x", "agent:worf", timeout=60)
    store.claims.claim("shop", "agent:worf", ["src/**"], seconds=3_600)
    store.grants.issue("agent:worf", ["tool:y"], issued_by="a", expires_at=clock.now + 3_600)
    store.grants.issue("agent:worf", ["tool:z"], issued_by="a")
    store.requests.create("agent:worf", ["tool:y"], kind="action")
    store.results.record(
        "worf", "q", org_id="shop", score=1, passed=True, actor="a", expires_at=clock.now + 3_600
    )
    store.keys.create("ci", ["read"], created_by="a", expires_at=clock.now + 3_600)
    store.skills.acquire("worf", HELM, org_id="shop", actor="a", level=5)
    clock.now -= 30 * DAY - 60
    assert believe(store, clock) == 8
    assert believe(store, clock) == 0
    assert store.locks.list() == ()
    assert store.locks.acquire("shop", "x", "agent:data").token == 2
    clock.now += 3_600
    assert store.claims.list() == ()
    assert [each.resources for each in store.grants.list(active_only=True)] == [("tool:z",)]
    assert store.requests.list("pending") == ()
    assert [each.expires_at <= clock.now for each in store.keys.list()] == [True]
    view = store.read_view("shop")
    assert view.results["worf"][0].expires_at <= clock.now
    assert compute_level(view.skills["worf"][0], 14, 0, clock.now + 14 * DAY) == 4
    kinds = {
        row.entry.kind for row in read_audit(store, AuditFilter()) if row.entry.activity == "term_from_now"
    }
    assert kinds == {"lock", "claim", "grant", "request", "result", "key", "skill"}


def test_a_restriction_of_a_clock_that_was_ahead_only_lasts_longer(store: Store, clock: Clock) -> None:
    """Nothing shortens what takes away."""
    clock.now += 30 * DAY
    store.restrictions.issue("agent:worf", ["tool:x"], issued_by="a", expires_at=clock.now + DAY)
    clock.now -= 30 * DAY
    assert believe(store, clock) == 0
    clock.now += 30 * DAY
    assert len(store.restrictions.list(active_only=True)) == 1


@pytest.mark.parametrize("days", [1, 6, 8, 400])
def test_a_clock_that_is_ahead_ends_no_claim_and_no_request(store: Store, clock: Clock, days: int) -> None:
    """Another worker's claim and another request under that clock note no end."""
    store.claims.claim("shop", "agent:worf", ["src/**"], seconds=3_600)
    store.requests.create("agent:worf", ["tool:x"], kind="action")
    clock.now += 1_200
    clock.now += days * DAY
    note_expired(store, ClockTrust(store, clock.now, 0.0), clock.now, 0.0)
    store.claims.claim("shop", "agent:data", ["docs/**"], seconds=60)
    store.requests.create("agent:data", ["tool:x"], kind="action")
    clock.now -= days * DAY
    assert "agent:worf" in {each.holder for each in store.claims.list()}
    assert "agent:worf" in {each.requester for each in store.requests.list("pending")}


@pytest.mark.parametrize("days", [8, 400])
def test_a_clock_that_is_ahead_lowers_no_skill_for_good(store: Store, clock: Clock, days: int) -> None:
    """Neither an exercise, a passed test nor a suspension under it. The decay goes on as before."""
    for agent in ("worf", "data", "troi"):
        store.skills.acquire(agent, HELM, org_id="shop", actor="a", level=5)
    clock.now += 1_200
    clock.now += days * DAY
    store.skills.exercise("worf", HELM, org_id="shop", actor="a")
    store.results.record("data", "q", org_id="shop", score=1, passed=True, actor="a", raises=[(HELM, 6)])
    store.skills.suspend("troi", HELM, org_id="shop", actor="a")
    clock.now -= days * DAY
    view = store.read_view("shop")
    levels = {agent: compute_level(view.skills[agent][0], 14, 0, clock.now) for agent in view.skills}
    assert levels == {"worf": 5, "data": 6, "troi": 5}
    assert compute_level(view.skills["worf"][0], 14, 0, clock.now + 14 * DAY) == 4


def test_a_report_of_a_clock_that_is_ahead_deletes_no_other(store: Store, clock: Clock) -> None:
    """Reports are old at the time that the audit proves."""
    store.audit.write(AuditEntry("decision", NOW, "allow"))
    store.reports.record(_report("helm", "primary", NOW), actor="a")
    clock.now += 1_200
    store.reports.record(_report("helm", "emergency", clock.now), actor="a")
    clock.now += 400 * DAY
    store.reports.record(_report("helm", "primary", clock.now), actor="a")
    assert len(store.reports.history()) == 3


def _write_rows(store: Store, *ages: float) -> None:
    for age in ages:
        store.audit.write(AuditEntry("decision", NOW - age, "allow"))


def _count(store: Store) -> int:
    return len(list(read_audit(store, AuditFilter(kind="decision"))))


def test_a_clock_that_is_ahead_deletes_nothing(store: Store, clock: Clock) -> None:
    """400 days for twelve seconds. The same rows are deleted when the clock is believed."""
    _write_rows(store, 200 * DAY, 100 * DAY, 3_600, 120)
    clock.now += 400 * DAY
    with pytest.raises(Refused, match="400 days beyond the newest row"):
        require_believable_clock(store)
    trust = ClockTrust(store, clock.now, 0.0)
    for steady in (5.0, 12.0, 3_600.0, 0.9 * DAY):
        assert trust.find_doubt(store, clock.now + steady, steady)
    clock.now -= 400 * DAY
    require_believable_clock(store)
    assert prune(store, 90, 365) == (2, 1)
    assert _count(store) == 2


def test_a_clock_is_believed_after_a_while(store: Store, clock: Clock) -> None:
    """After ten minutes, and after a day if it is far beyond the newest row; it begins anew when it was set."""
    _write_rows(store, 120)
    trust = ClockTrust(store, NOW, 0.0)
    assert trust.find_doubt(store, NOW + 599, 599.0) == "the process has just started"
    assert trust.find_doubt(store, NOW + 601, 601.0) == ""
    assert trust.find_doubt(store, NOW + 8 * DAY, 700.0) == "the clock was set"
    assert "8 days beyond" in trust.find_doubt(store, NOW + 8 * DAY + 700, 1_400.0)
    assert trust.find_doubt(store, NOW + 9 * DAY + 1, 700.0 + DAY + 1) == ""


def test_a_new_store_has_no_doubt(store: Store, clock: Clock) -> None:
    """Without rows there is nothing to delete."""
    require_believable_clock(store)
    clock.now += 1_000
    assert ClockTrust(store, clock.now, 0.0).find_doubt(store, clock.now + 601, 601.0) == ""
