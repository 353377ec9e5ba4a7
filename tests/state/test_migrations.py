"""Migrations and tables say the same, on each engine."""

from __future__ import annotations

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from orgkernel.state import migrating
from orgkernel.state.tables import metadata
from tests.state.opening import opened, sqlite_at


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
