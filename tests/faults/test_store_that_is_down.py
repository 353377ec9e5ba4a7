"""A store that hangs or is gone: the server says that it runs without asking it, and logs the failure once a second at most."""

from __future__ import annotations

import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest

from manifest_api.store_log import StoreFailureLog
from orgkernel.errors import BadStore
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.stored import open_store
from orgkernel.state.location import StoreLocation, parse_location
from tests.api.asking import problem, stored_client
from tests.api.keys import bearer, new_key
from tests.api.running import Server, running
from tests.faults.test_hanging_store import AT_ONCE, timed
from tests.state.postgres import stopped
from tests.support.trees import TEMPLATES

EVALUATION = {
    "subject": {"type": "agent", "id": "clerk"},
    "action": {"name": "use"},
    "resource": {"type": "tool", "id": "weather"},
}


def require_alive(server: Server, secret: str) -> None:
    """`/livez` answers at once, with and without a credential, whether it is valid or not."""
    for headers in ({}, bearer(secret), bearer("orgk_unknown"), {"Authorization": "Basic x"}):
        answer, took = timed(lambda headers=headers: server.get("/livez", headers=headers))
        assert (answer.status_code, answer.json()) == (200, {"status": "alive"})
        assert (
            took < AT_ONCE / 2
        )  # a request that needs the store waits for 30 seconds in tests, and for 2 as installed
    forwarded, took = timed(lambda: server.get("/livez", headers={"X-Forwarded-For": "192.0.2.7"}))
    problem(forwarded, 401, "UNAUTHENTICATED")
    assert took < AT_ONCE / 2


def test_a_hanging_store_does_not_hold_up_liveness(
    postgres_place: StoreLocation, postgres_server: str, tmp_path: Path
) -> None:
    """A supervisor that sends a credential would otherwise end a server that runs."""
    secret = new_key(postgres_place, ["admin"])
    with running(
        tmp_path, TEMPLATES / "household", store=postgres_place.url.replace("+psycopg", "")
    ) as server:
        require_alive(server, secret)
        with stopped(postgres_server):
            require_alive(server, secret)


def count_failures(server: Server) -> int:
    """The lines in the log about the store."""
    return len([line for line in server.log.splitlines() if line.startswith("ERROR")])


def test_a_store_that_is_gone_is_logged_once_a_second(tmp_path: Path) -> None:
    """However many requests fail, on whatever route; and the server says that it runs."""
    place = parse_location("state.db", str(tmp_path))
    secret = new_key(place, ["admin"])
    with running(tmp_path, TEMPLATES / "household", store=tmp_path / "state.db") as server:
        assert server.client.post("/access/v1/evaluation", json=EVALUATION).status_code == 200
        Path(place.path).write_bytes(b"not a database" * 1_000)
        start = time.monotonic()

        def ask(number: int) -> int:
            if number % 2:
                return httpx2.get(f"{server.url}/v1/audit", headers=bearer(secret), timeout=60).status_code
            return httpx2.post(f"{server.url}/access/v1/evaluation", json=EVALUATION, timeout=60).status_code

        with ThreadPoolExecutor(8) as threads:
            answers = list(threads.map(ask, range(90)))
        seconds = time.monotonic() - start
        require_alive(server, secret)
        assert {*answers} == {503}
        assert 1 <= count_failures(server) <= seconds + 2
        assert "more failures were not logged" in server.log


def test_a_store_whose_file_was_moved_away_acknowledges_nothing(tmp_path: Path) -> None:
    """A removed, moved or replaced file stays open, and what is written to it would be lost. No new file takes its place."""
    path, away = tmp_path / "state.db", tmp_path / "away.db"
    key = bearer(new_key(parse_location("state.db", str(tmp_path)), ["admin", "read"]))
    with running(tmp_path, TEMPLATES / "household", store=path) as server:

        def restrict() -> httpx2.Response:
            body = {"subject": "person:partner", "resources": ["tool:github"]}
            return server.client.post("/v1/orgs/household/restrictions", json=body, headers=key)

        def evaluate() -> httpx2.Response:
            return server.client.post("/access/v1/evaluation", json=EVALUATION, headers=key)

        assert [restrict().status_code, evaluate().status_code] == [201, 200]
        path.rename(away)
        for answer in (restrict(), evaluate(), server.get("/readyz")):
            problem(answer, 503, "STORE_FAILED")
        assert not path.exists()
        path.write_bytes(away.read_bytes())
        for answer in (restrict(), evaluate()):
            problem(answer, 503, "STORE_FAILED")
        assert "was removed, moved or replaced while it was open" in server.log
        away.rename(path)
        assert [restrict().status_code, evaluate().status_code] == [201, 200]
    with open_store(parse_location("state.db", str(tmp_path))) as store:
        assert len(store.restrictions.list()) == 2


def test_a_row_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """A permission with a broken date is neither ignored nor an internal error: a request that needs it is refused."""
    place = parse_location("state.db", str(tmp_path))
    with open_store(place) as store:
        store.grants.issue("person:partner", ["tool:github"], issued_by="a")
        connection = sqlite3.connect(place.path)
        with connection:
            connection.execute("UPDATE grants SET expires_at = 'soon'")
            connection.execute("UPDATE state_version SET version = version + 1")
        connection.close()
        for use in (store.grants.list, store.read_view):
            with pytest.raises(BadStore, match="a `Grant` in the store was changed and cannot be read"):
                use()


def test_a_failure_is_logged_again_after_a_second(caplog: pytest.LogCaptureFixture) -> None:
    """With the number of failures that were omitted."""
    now = [0.0]
    log = StoreFailureLog(lambda: now[0])
    for at in (0.0, 0.5, 0.9, 1.1, 5.0):
        now[0] = at
        log.write("the store failed: gone")
    assert [record.getMessage() for record in caplog.records] == [
        "the store failed: gone",
        "the store failed: gone (2 more failures were not logged)",
        "the store failed: gone",
    ]


def test_a_verification_names_the_folders_of_checkpoints(tmp_path: Path) -> None:
    """By their names and writers, not by their places."""
    place = parse_location("state.db", str(tmp_path))
    new_key(place, ["read"])
    kernel = Kernel.open(TEMPLATES / "household")
    with stored_client(kernel, place) as client:
        answer = client.get("/v1/audit/verification")
    assert str(tmp_path) not in answer.text
    (folder,) = answer.json()["folders"]
    (head,) = Path(place.checkpoints).glob("*.head")
    assert folder == {
        "folder": "state.db.audit", "has_key": True, "writers": [head.stem.removeprefix("writer-")],
    }  # fmt: skip
    assert answer.json()["open"] == []
