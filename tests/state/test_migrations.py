"""Migrations and tables say the same, on each engine."""

from __future__ import annotations

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text, update

from orgkernel.decisions.state_view import AgentState
from orgkernel.errors import BadStore
from orgkernel.state import migrating
from orgkernel.state.engine import make_engine, writing
from orgkernel.state.migrating import upgrade_store
from orgkernel.state.tables import metadata, state_version
from tests.state.opening import opened, sqlite_at
from tests.support.salute import salute


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest):
    if request.param == "sqlite":
        return sqlite_at(request.getfixturevalue("quick_folder"))
    return request.getfixturevalue("postgres_place")


def test_migrations_make_the_tables_that_are_declared(place) -> None:
    """Alembic finds nothing left to do."""
    with opened(place) as store, store.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_the_versions_that_are_listed_are_those_there_are() -> None:
    """In this order: opening a store must not read the folder."""
    scripts = ScriptDirectory(migrating._FOLDER)
    assert [script.revision for script in scripts.walk_revisions()][::-1] == list(migrating.VERSIONS)


def test_a_store_of_the_first_version_is_upgraded_when_somebody_says_so(place) -> None:
    """Until then it is refused and left alone; what it held is there afterwards, and reports can be stored."""
    engine = make_engine(place)
    config = Config()
    config.set_main_option("script_location", migrating._FOLDER)
    with writing(engine) as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        connection.execute(text("INSERT INTO agents VALUES ('worf', 'ensign', 0.5, 'active', 1)"))
        connection.execute(update(state_version).values(version=1))
    engine.dispose()
    with pytest.raises(BadStore, match="has version 0001") as refusal:
        opened(place)
    assert "orgkernel store upgrade" in refusal.value.help
    assert upgrade_store(place) == ("0001", migrating.NEWEST)
    with opened(place) as store:
        assert store.read_view().agents == {"worf": AgentState("worf", "ensign", 0.5)}
        assert store.reports.record(salute(), actor="a").outcome == "stored"
        assert set(store.read_view().reports) == {"role:bugfix_specialist"}
