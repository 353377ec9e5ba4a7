"""Settings all tests share."""

from __future__ import annotations

import contextlib
import itertools
import os
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

from manifest_api.capacity import DEFAULT_BUDGET
from manifest_api.store_access import StoreAccess
from orgkernel.kernel.stored import open_store
from orgkernel.state import database
from orgkernel.state.location import StoreLocation, parse_location
from tests.state.postgres import MISSING, find_binaries, running
from tests.support.browser import NO_BROWSER, find_browser
from tests.support.compiled_once import create_engine
from tests.support.depth import DEPTH, IS_QUICK
from tests.support.memory_folder import find_memory_folder, remove_left_servers

settings.register_profile(
    "orgkernel",
    deadline=None,
    max_examples=50,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
# The same tests, with more and other examples every night; what fails is printed as a decorator that repeats it.
settings.register_profile("nightly", settings.get_profile("orgkernel"), max_examples=100, derandomize=False)
settings.load_profile("nightly" if DEPTH > 1 else "orgkernel")

# Answers must not depend on an extra that the environment for development has, and its users may not.
os.environ["ORGKERNEL_MEANING"] = "off"
_numbers = itertools.count()
ENGINES = ("sqlite", "postgresql")
FEWEST = 6  # examples of a search in `make test`, unless it asks for fewer
database.create_engine = create_engine
# Two seconds are for callers who wait. A test that is not about a store that hangs waits until a busy machine answers; those
# that are start a server of their own.
StoreAccess.__init__.__defaults__ = (30.0, DEFAULT_BUDGET)
HANDFUL = 4  # examples of a search in `make quick`
remove_left_servers()
MEMORY = find_memory_folder()
os.environ.setdefault("ORGKERNEL_LIST_SECONDS", "60")  # the same for a gateway whose servers start
if MEMORY is not None:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY)  # where `tmp_path` is


@pytest.fixture(autouse=True, scope="session")
def _a_cache_of_its_own(tmp_path_factory):
    """Commands fill a cache of this run, not the user's."""
    with pytest.MonkeyPatch.context() as patch:
        # The compiled rules of the detector of secrets take ten seconds to make, and come from no test.
        patch.setenv("KF_RULE_CACHE_DIR", str(Path.home() / ".cache" / "orgkernel-tests" / "kingfisher"))
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.delenv("CI", raising=False)  # there, a cache inside the checked tree is not used
        yield


def pytest_collection_modifyitems(config, items):
    """The tests that search, for a few examples in `make test`; in `make nightly` only they run, for many and other ones,
    and what is left to it.
    """
    _take_turns(items)
    searching = []
    has_browser = find_browser() is not None
    for item in items:
        if not has_browser and item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.skip(reason=NO_BROWSER))
        test = getattr(item, "obj", None)
        if is_hypothesis_test(test):
            _search_deeply(test)
        elif item.get_closest_marker("deep") is None and item.get_closest_marker("nightly") is None:
            continue
        searching.append(item)
    if DEPTH > 1:
        config.hook.pytest_deselected(items=[item for item in items if item not in searching])
        items[:] = searching


def _take_turns(items: list[pytest.Item]) -> None:
    """Tests of the API and of faults run over one of the two engines in `make test` and over the other in `make nightly`.

    Which of them is a matter of the name, so both engines get half of the tests. What stores promise is asked of both anyway
    (`tests/state`).
    """
    for item in items:
        engine = _find_engine(item)
        if engine is not None and engine != ENGINES[zlib.crc32(item.originalname.encode()) % 2]:
            item.add_marker(pytest.mark.nightly)


def _find_engine(item: pytest.Item) -> str | None:
    if not item.nodeid.startswith(("tests/api/", "tests/faults/")) or not hasattr(item, "callspec"):
        return None
    return next((each for each in item.callspec.params.values() if each in ENGINES), None)


def _search_deeply(test: Any) -> None:
    """Hypothesis has no other way to change what a test's own `@settings` say."""
    if getattr(test, "has_its_depth", False):
        return
    given = test._hypothesis_internal_use_settings
    number = given.max_examples
    few = HANDFUL if IS_QUICK else max(FEWEST, number // 6)
    test._hypothesis_internal_use_settings = settings(
        given,
        max_examples=min(number, few) if DEPTH == 1 else DEPTH * number,
        derandomize=given.derandomize and DEPTH == 1,
    )
    test.has_its_depth = True


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


@pytest.fixture(scope="session")
def prepared_database(postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a database with a store in which nothing happened: copying it is faster than making one."""
    place = parse_location(
        postgres_server % _new_database(postgres_server), str(tmp_path_factory.mktemp("prepared"))
    )
    open_store(place).close()
    return place.url.partition("@/")[2].partition("?")[0]


@pytest.fixture
def postgres_place(postgres_server: str, prepared_database: str, tmp_path: Path) -> Iterator[StoreLocation]:
    """A database with a store in which nothing happened."""
    with _database(postgres_server, prepared_database) as name:
        yield parse_location(postgres_server % name, str(tmp_path))


@pytest.fixture
def empty_postgres_place(postgres_server: str, tmp_path: Path) -> Iterator[StoreLocation]:
    """A database without anything."""
    with _database(postgres_server) as name:
        yield parse_location(postgres_server % name, str(tmp_path))


@contextlib.contextmanager
def _database(server: str, template: str = "template1") -> Iterator[str]:
    """A database for one test. It is dropped afterward: those of all tests together would fill the memory they are in."""
    import psycopg

    name = _new_database(server, template)
    yield name
    with (
        contextlib.suppress(psycopg.OperationalError),
        psycopg.connect(server % "postgres", autocommit=True) as connection,
    ):  # the server may be gone
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _new_database(server: str, template: str = "template1") -> str:
    import psycopg

    name = f"store_{next(_numbers)}"
    with psycopg.connect(server % "postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    return name
