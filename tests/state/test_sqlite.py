"""The contract, with a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from orgkernel.state.location import Location
from tests.state.contract import StoreContract
from tests.state.opening import sqlite_at


@pytest.fixture
def place(quick_folder: Path) -> Location:
    return sqlite_at(quick_folder)


class TestSqlite(StoreContract):
    """Every rule of the contract."""
