"""The contract, with a file."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from orgkernel.state.database import _write_ahead
from orgkernel.state.location import StoreLocation
from tests.state.contract import StoreContract
from tests.state.opening import sqlite_at


@pytest.fixture
def place(quick_folder: Path) -> StoreLocation:
    return sqlite_at(quick_folder)


class TestSqlite(StoreContract):
    """Every rule of the contract."""


def test_turning_the_journal_on_is_tried_again(tmp_path: Path) -> None:
    """SQLite says `locked` at once where two processes do it; the lock itself is waited for, and other errors are told."""
    refusals = [sqlite3.SQLITE_BUSY, sqlite3.SQLITE_BUSY_SNAPSHOT]
    real = sqlite3.connect(tmp_path / "state.db", isolation_level=None)

    class Refusing:
        def execute(self, sql: str) -> None:
            if sql.startswith("PRAGMA") and refusals:
                error = sqlite3.OperationalError("database is locked")
                error.sqlite_errorcode = refusals.pop()
                raise error
            real.execute(sql)

    _write_ahead(Refusing())
    assert real.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    refusals = [sqlite3.SQLITE_READONLY]
    with pytest.raises(sqlite3.OperationalError):
        _write_ahead(Refusing())
    real.close()
