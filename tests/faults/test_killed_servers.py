"""A server that is killed, and a database server that another one replaces: what was acknowledged is there."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from sqlalchemy import text

from orgkernel.operations.upkeep import verify
from orgkernel.state.location import StoreLocation, parse_location
from tests.api.keys import bearer, first_key, location_of, opened
from tests.api.running import Server, running, until
from tests.state.postgres import MISSING, Replicated, find_binaries, running_replicated
from tests.support.depth import DEPTH
from tests.support.patience import PATIENCE
from tests.support.trees import TEMPLATES

KILLS = 3 if DEPTH == 1 else 40 * DEPTH
"""1,000 at the depth of the nightly run."""
_WRITERS = 4
_LONGEST = 0.3
"""Seconds from the first answer to the kill."""
GIFT = {"subject": "person:partner", "resources": ["tool:jira"]}


def issue_grants(url: str, key: str, acknowledged: list[str], is_over: Callable[[], bool]) -> None:
    """Issue grants until the server is gone, and keep the ids of those that it acknowledged."""
    with httpx2.Client(base_url=url, headers=bearer(key), timeout=PATIENCE) as client:
        while not is_over():
            try:
                answer = client.post("/v1/orgs/active/grants", json=GIFT)
            except httpx2.HTTPError:
                return
            if answer.status_code == 201:
                acknowledged.append(answer.json()["grant_id"])


@contextmanager
def writing(server: Server, key: str, acknowledged: list[str]) -> Iterator[None]:
    """Clients that write for as long as the server answers, and not after the block."""
    over = threading.Event()
    writers = [
        threading.Thread(target=issue_grants, args=(server.url, key, acknowledged, over.is_set))
        for _ in range(_WRITERS)
    ]
    for each in writers:
        each.start()
    try:
        yield
    finally:
        over.set()
        for each in writers:
            each.join(PATIENCE)


def require_all(place: StoreLocation, acknowledged: list[str], *checkpoints: str) -> None:
    """Every acknowledged grant is stored, and the audit log is whole, by these checkpoints too."""
    with opened(place) as store:
        stored = {grant.grant_id for grant in store.grants.list()}
        findings = verify(store, checkpoints).findings
    assert len(acknowledged) == len(set(acknowledged))
    assert set(acknowledged) - stored == set()
    assert findings == ()


@pytest.mark.deep
def test_a_killed_server_has_stored_what_it_acknowledged(tmp_path: Path) -> None:
    """However soon after an answer it is killed, and however often."""
    place, chance = location_of(tmp_path / "state.db"), random.Random(KILLS)
    key, acknowledged = first_key(place), list[str]()
    for _ in range(KILLS):
        with (
            running(tmp_path, TEMPLATES / "household", store=tmp_path / "state.db") as server,
            writing(server, key, acknowledged),
        ):
            before = len(acknowledged)
            until(lambda: len(acknowledged), lambda number: number > before)  # noqa: B023 - asked in this round
            time.sleep(chance.random() * _LONGEST)
            server.process.kill()
    require_all(place, acknowledged)
    assert len(acknowledged) >= KILLS
    print(f"{KILLS} kills of serve: {len(acknowledged)} acknowledged grants, none missing")


@pytest.fixture
def replicated() -> Iterator[Replicated]:
    binaries = find_binaries()
    assert binaries is not None, MISSING
    with running_replicated(binaries) as servers:
        yield servers


def test_a_synchronous_replica_has_what_was_acknowledged(tmp_path: Path, replicated: Replicated) -> None:
    """The first database server ends as by a crash while `serve` writes. After the second takes its place, nothing that was
    acknowledged is missing, and `serve` writes to it.
    """
    first, second = (
        parse_location(each % "postgres", str(tmp_path)) for each in (replicated.first, replicated.second)
    )
    key, acknowledged = first_key(first), list[str]()
    with (
        running(tmp_path, TEMPLATES / "household", store=replicated.first % "postgres") as server,
        writing(server, key, acknowledged),
    ):
        until(lambda: len(acknowledged), lambda number: number > _WRITERS)
        replicated.fail_over()
    before = len(acknowledged)
    with (
        running(tmp_path, TEMPLATES / "household", store=replicated.second % "postgres") as server,
        writing(server, key, acknowledged),
    ):
        until(lambda: len(acknowledged), lambda number: number > before)
    require_all(second, acknowledged, first.checkpoints)


@pytest.mark.parametrize(
    ("place", "settings"),
    [
        ("sqlite", {"PRAGMA synchronous": 2, "PRAGMA journal_mode": "wal"}),
        ("postgres_place", {"SHOW synchronous_commit": "on"}),
    ],
)
def test_a_commit_is_on_the_disk(
    place: str, settings: dict[str, Any], request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Connections that write wait for the disk, whatever the default of the database is."""
    location = location_of(tmp_path / "state.db") if place == "sqlite" else request.getfixturevalue(place)
    first_key(location)
    with opened(location) as store:
        found = store.context.change(
            lambda change: {each: change.connection.scalar(text(each)) for each in settings}
        )
    assert found == settings
