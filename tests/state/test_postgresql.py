"""The contract, with a real server."""

from __future__ import annotations

import pytest

from orgkernel.state.location import Location
from tests.state.contract import StoreContract


@pytest.fixture
def place(postgres_place: Location) -> Location:
    return postgres_place


class TestPostgresql(StoreContract):
    """Every rule of the contract."""
