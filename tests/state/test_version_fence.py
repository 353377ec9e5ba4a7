"""A store that changes its version while it is open is neither read nor written, until the program fits it again."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from orgkernel.decisions.evidence.state_records import AuditEntry, AuditFilter
from orgkernel.errors import OtherStoreVersion, StoreBusy
from orgkernel.operations.upkeep import read_audit
from orgkernel.state.database import make_engine, open_for_writing
from orgkernel.state.location import StoreLocation
from orgkernel.state.migrating import upgrade_store
from orgkernel.state.schema_version import NEWEST
from orgkernel.state.store import Store
from tests.state.opening import opened, sqlite_at
from tests.state.test_migrations import make_old
from tests.support.salute import salute

USES = {
    "the state": lambda store: store.read_view("shop"),
    "a refresh": lambda store: store.refresh(),
    "the keys": lambda store: store.keys.list(),
    "a list": lambda store: store.grants.list(),
    "the past": lambda store: store.read_past("shop", 1.0),
    "the audit": lambda store: list(read_audit(store, AuditFilter())),
    "a fencing token": lambda store: store.locks.check("shop", "x", "agent:worf", 1),
    "a change": lambda store: store.agents.add("data", org_id="shop", actor="a"),
    "a row of the audit": lambda store: store.audit.write(AuditEntry("decision", 1.0, "allow")),
    "a report": lambda store: store.reports.record(salute(), actor="a"),
}


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest) -> StoreLocation:
    if request.param == "sqlite":
        return sqlite_at(request.getfixturevalue("quick_folder"))
    given: StoreLocation = request.getfixturevalue("postgres_place")
    return given


def set_version(place: StoreLocation, version: str) -> None:
    """What an upgrade by another program leaves, whose other changes this one would not see."""
    engine = make_engine(place)
    with open_for_writing(engine) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :new"), {"new": version})
    engine.dispose()


@pytest.mark.parametrize("version", ["0999", "0001"])
def test_nothing_is_read_or_written_at_another_version(place: StoreLocation, version: str) -> None:
    """Each use is refused with the way out, whatever was read before, and works again when the version fits."""
    with opened(place) as store:
        store.agents.add("worf", org_id="shop", actor="a")
        store.audit.write(AuditEntry("decision", 1.0, "allow"))
        store.refresh()
        before = _count(store)
        set_version(place, version)
        assert not store.is_current()
        for name, use in USES.items():
            with pytest.raises(OtherStoreVersion) as refusal:
                use(store)
            assert refusal.value.code == "STORE_VERSION", name
            assert ("newer orgkernel" if version == "0999" else "store upgrade") in refusal.value.help
        set_version(place, NEWEST)
        assert _count(store) == before
        assert list(store.read_view("shop").agents) == ["worf"]
        store.agents.add("data", org_id="shop", actor="a")
        store.refresh()
        assert list(store.get_last_view("shop").agents) == ["data", "worf"]


def _count(store: Store) -> int:
    return len(list(read_audit(store, AuditFilter())))


def test_an_upgrade_waits_for_transactions_that_have_compared(place: StoreLocation) -> None:
    """A change that has begun ends before the version moves, so no row of an older program follows an upgrade."""
    with opened(place) as store:
        seen = []

        def change(transaction):
            engine = make_engine(place, 0.2)
            try:
                with open_for_writing(engine) as connection:
                    connection.execute(text("UPDATE alembic_version SET version_num = '0999'"))
            except Exception as error:
                seen.append(type(error).__name__)
            finally:
                engine.dispose()

        store.context.change(change)
        assert seen == ["OperationalError"]
        store.agents.add("worf", org_id="shop", actor="a")


def test_an_open_store_is_upgraded_only_if_told(request: pytest.FixtureRequest, place: StoreLocation) -> None:
    """The refusal names the process; a store that needs nothing is no reason to refuse."""
    old = (
        request.getfixturevalue("empty_postgres_place")
        if place.url
        else sqlite_at(request.getfixturevalue("tmp_path"))
    )
    make_old(old, "0009")
    with opened(place):
        assert upgrade_store(place) == (NEWEST, NEWEST)
    set_version(old, NEWEST)
    with opened(old):
        set_version(old, "0009")
        with pytest.raises(StoreBusy, match=r"process \d+ \(.+\) on .+ since 2\d\d\d-") as refusal:
            upgrade_store(old)
        assert "--while-connected" in refusal.value.help
        assert upgrade_store(old, while_connected=True) == ("0009", NEWEST)
    assert upgrade_store(old) == (NEWEST, NEWEST)
