"""Callers without a key cannot fill the disk, and `/readyz` reports a low budget before a request is refused."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from manifest_api.auditing import AUDITED_AT_ONCE, AUDITED_PER_SECOND
from manifest_api.capacity import MIB
from orgkernel.kernel.kernel import Kernel
from orgkernel.state.location import StoreLocation
from tests.api.asking import problem, stored_client
from tests.api.keys import bearer, first_key, location_of, new_key, opened
from tests.api.running import running, until
from tests.support.trees import TEMPLATES

EVALUATION = "/access/v1/evaluation"
USE: dict[str, Any] = {
    "subject": {"type": "agent", "id": "clerk"},
    "action": {"name": "use"},
    "resource": {"type": "tool", "id": "weather"},
}


@pytest.fixture(scope="module")
def household() -> Kernel:
    return Kernel.open(TEMPLATES / "household")


@pytest.fixture
def file(tmp_path: Path) -> StoreLocation:
    return location_of(tmp_path / "state.db")


def test_a_flood_of_large_questions_leaves_little(tmp_path: Path) -> None:
    """Batches with a long text each, as many as a client can send in three seconds."""
    first_key(location_of(tmp_path / "state.db"))
    batch = {**USE, "context": {"session": "x" * 50_000}, "evaluations": [{} for _ in range(100)]}
    with running(tmp_path, TEMPLATES / "household", store=tmp_path / "state.db") as server:
        begun = time.monotonic()

        def flood() -> None:
            while time.monotonic() - begun < 3:
                assert server.client.post("/access/v1/evaluations", json=batch).status_code in (200, 429)

        with ThreadPoolExecutor(4) as threads:
            for done in [threads.submit(flood) for _ in range(4)]:
                done.result()
        took = time.monotonic() - begun
        assert server.get("/livez").status_code == 200
    rows = AUDITED_AT_ONCE + AUDITED_PER_SECOND * (took + 1)
    assert sum(each.stat().st_size for each in tmp_path.glob("state.db*") if each.is_file()) < rows * 5_000


def test_a_key_is_not_held_up_by_those_without(
    household: Kernel, file: StoreLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only callers without a key share the limit."""
    monkeypatch.setattr("manifest_api.auditing.AUDITED_AT_ONCE", 10)
    monkeypatch.setattr("manifest_api.auditing.AUDITED_PER_SECOND", 0.01)
    secret = bearer(new_key(file, ["read"]))
    batch = {**USE, "evaluations": [{} for _ in range(100)]}
    with stored_client(household, file) as client:
        client.post("/access/v1/evaluations", json=batch)
        problem(client.post(EVALUATION, json=USE), 429, "RATE_LIMITED")
        assert client.post(EVALUATION, json=USE, headers=secret).status_code == 200


def test_a_store_at_its_budget_answers_keys_only(household: Kernel, file: StoreLocation) -> None:
    """`/readyz` reports this, and every caller gets answers that are not audited."""
    secret = bearer(new_key(file, ["read"]))
    with stored_client(household, file, budget=1) as client:
        ready = until(lambda: client.get("/readyz").json(), lambda said: said["store"] == "low")
        assert ready["status"] == "degraded"
        assert "budget" in ready["store_problem"]
        problem(client.post(EVALUATION, json=USE), 503, "STORE_BUDGET")
        assert client.post(EVALUATION, json=USE, headers=secret).status_code == 200
        assert client.get("/v1/orgs").status_code == 200


def test_the_budget_warns_before_it_refuses(
    household: Kernel, file: StoreLocation, caplog: pytest.LogCaptureFixture
) -> None:
    """At four fifths of it, once in the log."""
    first_key(file)
    with stored_client(household, file) as client:
        capacity = client.app.state.store_access.capacity  # type: ignore[attr-defined]
        assert client.get("/readyz").json()["store"] == "ok"
        until(lambda: capacity.used, bool)  # the first measurement
        for _ in range(2):
            capacity.note_size(int(4_096 * MIB * 0.85))
        assert client.get("/readyz").json()["store"] == "low"
        assert client.post(EVALUATION, json=USE).status_code == 200
    assert len([each for each in caplog.records if "nearly full" in each.getMessage()]) == 1


class Usage(NamedTuple):
    free: int


def test_a_disk_that_is_nearly_full_shows_before_it_refuses(
    household: Kernel, file: StoreLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server is degraded while it still answers."""
    first_key(file)
    with stored_client(household, file) as client:
        assert client.get("/readyz").json()["store"] == "ok"
        monkeypatch.setattr("manifest_api.capacity.shutil.disk_usage", lambda path: Usage(3 * MIB))
        ready = client.get("/readyz").json()
        assert (ready["status"], ready["store"]) == ("degraded", "low")
        assert "3 MiB left" in ready["store_problem"]
        assert client.post(EVALUATION, json=USE).status_code == 200


def test_readyz_knows_whether_there_is_a_store_and_whether_it_can_be_read(
    household: Kernel, file: StoreLocation
) -> None:
    """One that cannot be read answers no question about access, so the server is not ready."""
    with stored_client(household, file) as client:
        assert client.get("/readyz").json()["store"] == "none"
    Path(file.path).write_bytes(b"not a database" * 1000)
    with stored_client(household, file) as client:
        problem(client.get("/readyz"), 503, "BAD_STORE")
        assert client.get("/livez").status_code == 200


def test_retention_runs_by_itself(
    household: Kernel, file: StoreLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that are older than the retention are dropped, and the rest can be verified."""
    from manifest_api.store_access import Retention
    from orgkernel.decisions.evidence.state_records import AuditEntry, AuditFilter
    from orgkernel.operations.upkeep import ClockTrust
    from orgkernel.state.audit import read_rows

    first_key(file)
    with opened(file) as store:
        for at in (1.0, 2.0, time.time() - 120):
            store.audit.write(AuditEntry("decision", at, "allow"))

    def decisions() -> int:
        with opened(file) as store:
            return len(list(read_rows(store.context, AuditFilter(kind="decision"))))

    assert decisions() == 3
    # A server waits for ten minutes before it deletes anything.
    monkeypatch.setattr(ClockTrust.__init__, "__defaults__", (0.0,))
    with stored_client(household, file, retention=Retention(90, 365)) as client:
        assert client.get("/readyz").status_code == 200
        until(decisions, lambda count: count == 1)  # the last row of a chain stays
