"""The server of PostgreSQL, one for each process that tests."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from orgkernel.state.location import Location, parse_location
from orgkernel.state.store import Store
from tests.state.opening import Clock, opened
from tests.state.postgres import MISSING, find_binaries, running

_numbers = itertools.count()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """A URL with `%s` for the database."""
    binaries = find_binaries()
    if binaries is None:
        pytest.skip(MISSING)
    with running(binaries) as url:
        yield url


@pytest.fixture
def postgres_place(postgres_server: str, tmp_path) -> Location:
    """An empty database."""
    import psycopg

    name = f"store_{next(_numbers)}"
    with psycopg.connect(postgres_server % "postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return parse_location(postgres_server % name, str(tmp_path))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(place: Location, clock: Clock) -> Iterator[Store]:
    """A new store at the place the module or class names."""
    with opened(place, clock) as store:
        yield store
