"""A clock that was ahead for a while opens and destroys nothing: every later decision is as without the jump, or stricter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from orgkernel.decisions.evidence.state_records import AuditEntry, AuditFilter
from orgkernel.errors import Refused
from orgkernel.operations.upkeep import ClockTrust, prune, read_audit, require_believable_clock
from orgkernel.runtime.utc import as_utc
from orgkernel.state.store import Store
from tests.state.opening import Clock, opened, sqlite_at

DAY = 86_400.0
NOW = 1_763_899_200.0


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
