"""Settings all tests share."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from orgkernel.state.location import Location, parse_location
from tests.state.postgres import MISSING, find_binaries, running

settings.register_profile(
    "orgkernel",
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("orgkernel")

_numbers = itertools.count()


@pytest.fixture(autouse=True, scope="session")
def _a_cache_of_its_own(tmp_path_factory):
    """Commands fill a cache of this run, not the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """In CI everything is installed, so a skipped test is a test that did not run: a failure."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("ORGKERNEL_REFUSE_SKIPS"):
        report.outcome = "failed"
        report.longrepr = f"skipped, which CI refuses: {report.longrepr}"
    return report


@pytest.fixture
def quick_folder(tmp_path: Path) -> Iterator[Path]:
    """In memory where the system has such a place: what a commit costs there is no matter for rules."""
    if not os.access("/dev/shm", os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="orgkernel-") as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """A server of PostgreSQL, one for each process that tests: a URL with `%s` for the database."""
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
