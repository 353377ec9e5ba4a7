"""The server of PostgreSQL, one for each process that tests."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

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
def quick_folder(tmp_path: Path) -> Iterator[Path]:
    """In memory where the system has such a place: what a commit costs there is no matter for rules."""
    if not os.access("/dev/shm", os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="orgkernel-") as folder:
        yield Path(folder)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(place: Location, clock: Clock) -> Iterator[Store]:
    """A new store at the place the module or class names."""
    with opened(place, clock) as store:
        yield store
