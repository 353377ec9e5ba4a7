"""A store that says nothing: what needs it is refused after a moment, everything else goes on."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.evidence.state_records import AuditEntry, AuditFilter
from orgkernel.errors import StoreBusy, StoreError
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations import waiting
from orgkernel.operations.permits import Permits
from orgkernel.state.audit import read_rows
from orgkernel.state.location import StoreLocation
from orgkernel.state.store import Store
from orgkernel.state.verify import verify_audit
from orgkernel.toolbox import PythonFunction
from orgkernel.toolbox.parts import Exclusive
from tests.api.asking import problem, stored_client
from tests.api.keys import bearer, location_of, new_key, opened
from tests.api.running import Server, running, until
from tests.state.opening import Clock
from tests.state.opening import opened as opened_store
from tests.state.postgres import stopped
from tests.support.trees import TEMPLATES
from tests.toolbox.crew import organization, toolbox

USE = {
    "subject": {"type": "agent", "id": "clerk"},
    "action": {"name": "use"},
    "resource": {"type": "tool", "id": "weather"},
}
GRANT = {"subject": "person:partner", "resources": ["tool:github"]}
EVALUATION = "/access/v1/evaluation"
FREE = (
    "/livez",
    "/version",
    "/docs",
    "/",
    "/openapi.json",
    "/problems/STORE_BUSY",
    "/v1/orgs",
    "/v1/diagnostics",
)
PATIENCE = 60.0
"""Seconds after which a store that goes on has answered, on a machine that does much else."""
AT_ONCE = waiting.WORK_SECONDS - 1
"""Seconds within which an answer that waited for no store came, however much else the machine does."""
FEW_SECONDS = 3.0
"""Seconds after which a store gives up that a test wants to see giving up; a busy machine answers sooner."""
GIVEN_UP = 28.0
"""Seconds within which a call is refused that would wait for the database as long as its driver does: for 30 seconds."""


@pytest.fixture(scope="module")
def household() -> Kernel:
    return Kernel.open(TEMPLATES / "household")


def timed(ask: Any) -> tuple[Any, float]:
    """An answer, and the seconds it took."""
    begun = time.monotonic()
    return ask(), time.monotonic() - begun


def refused_while(server: Server, ask: Any, callers: int = 30) -> None:
    """Ask often at once: each is refused in time, and meanwhile what needs no store is answered at once."""
    with ThreadPoolExecutor(callers) as threads:
        asking = [threads.submit(timed, ask) for _ in range(callers)]
        answers = [timed(lambda: server.get("/livez")) for _ in range(20)]
        for future in asking:
            response, took = future.result()
            problem(response, 503, "STORE_BUSY")
            assert took < GIVEN_UP
    assert {answer.status_code for answer, _ in answers} == {200}
    assert max(took for _, took in answers) < AT_ONCE


@contextmanager
def locked(place: StoreLocation, *statements: str) -> Iterator[None]:
    """Another process that does this to the file, and keeps what it got."""
    program = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
    program += (
        "for each in sys.argv[2:]: c.execute(each).fetchall()\nprint('locked', flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", program, place.path, *statements],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert other.stdout is not None
    try:
        assert other.stdout.readline() == "locked\n"
        yield
    finally:
        other.communicate()


def test_a_stopped_postgresql_stalls_only_requests_that_need_it(
    postgres_place: StoreLocation, postgres_server: str, tmp_path: Path
) -> None:
    """Questions about access, keys and changes are 503; the rest is answered; afterwards all is as before."""
    secret = bearer(new_key(postgres_place, ["admin"]))
    url = postgres_place.url.replace("+psycopg", "")
    with running(tmp_path, TEMPLATES / "household", store=url) as server:

        def evaluate() -> Any:
            return server.client.post(EVALUATION, json=USE)

        def give() -> Any:
            return server.client.post("/v1/orgs/active/grants", json=GRANT, headers=secret)

        assert evaluate().status_code == 200
        assert give().status_code == 201
        with stopped(postgres_server):
            refused_while(server, evaluate)
            refused_while(server, give)
            for path in FREE:
                answer, took = timed(lambda path=path: server.get(path))
                assert (answer.status_code, took < AT_ONCE) == (200, True), path
            assert server.get("/v1/diagnostics").json()["store_problem"]
            # No question about access is answered now, so other servers should be asked.
            answer, took = timed(lambda: server.get("/readyz"))
            problem(answer, 503, "STORE_BUSY")
            assert took < AT_ONCE
            for path in (
                "/v1/orgs/active/grants",
                "/v1/audit",
                "/v1/orgs/household/roles/steward",
                "/v1/orgs/active/agents/clerk",
            ):
                problem(server.get(path), 503, "STORE_BUSY")
            problem(server.get("/v1/orgs", headers=secret), 503, "STORE_BUSY")
        until(lambda: evaluate().status_code, lambda status: status == 200)
        assert until(lambda: give().status_code, lambda status: status == 201)
    with opened(postgres_place) as store:
        assert verify_audit(store.context, store.folder).findings == ()


def test_a_postgresql_that_was_stopped_from_the_start(
    household: Kernel, postgres_place: StoreLocation, postgres_server: str
) -> None:
    """What needs no store is answered, and the store is found when it answers."""
    with stored_client(household, postgres_place) as client:
        with stopped(postgres_server):
            problem(client.post(EVALUATION, json=USE), 503, "STORE_BUSY")
            assert client.get("/livez").status_code == 200
            assert client.get("/v1/orgs").status_code == 200
        until(lambda: client.post(EVALUATION, json=USE).status_code, lambda status: status == 200)


def test_a_locked_file_does_not_stall_reads(tmp_path: Path) -> None:
    """Decisions are written before they are told, so they are 503; what is only read is answered with what is stored."""
    place = location_of(tmp_path / "state.db")
    secret = bearer(new_key(place, ["read"]))
    with running(tmp_path, TEMPLATES / "household", store=tmp_path / "state.db") as server:

        def evaluate() -> Any:
            return server.client.post(EVALUATION, json=USE)

        assert evaluate().status_code == 200
        with locked(place, "BEGIN IMMEDIATE"):
            refused_while(server, evaluate)
            for path in (*FREE, "/readyz", "/v1/orgs/active/grants", "/v1/orgs/active/agents/clerk"):
                answer, took = timed(lambda path=path: server.get(path, headers=secret))
                assert (answer.status_code, took < AT_ONCE) == (200, True), path
        assert evaluate().status_code == 200


def test_an_unreadable_file_does_not_stall_the_server(household: Kernel, tmp_path: Path) -> None:
    """Another process holds it whole, as a tool that repairs databases does."""
    place = location_of(tmp_path / "state.db")
    new_key(place, ["read"])
    holding = ("PRAGMA locking_mode = EXCLUSIVE", "BEGIN IMMEDIATE", "SELECT * FROM state_version")
    with ExitStack() as client_end:
        # The file can be held whole only while no server has it open, so the server starts afterward.
        with locked(place, *holding):
            client, took = timed(lambda: client_end.enter_context(stored_client(household, place)))
            assert took < GIVEN_UP
            answer, took = timed(lambda: client.post(EVALUATION, json=USE))
            problem(answer, 503, "STORE_BUSY")
            assert took < GIVEN_UP
            assert client.get("/livez").status_code == 200
            assert client.get("/v1/orgs").status_code == 200
        until(lambda: client.post(EVALUATION, json=USE).status_code, lambda status: status == 200)


@pytest.fixture
def impatient(postgres_place: StoreLocation, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store that waits for its server for a few seconds only."""
    monkeypatch.setattr("orgkernel.state.postgresql.ANSWER_SECONDS", FEW_SECONDS)
    with opened_store(postgres_place) as store:
        yield store


@pytest.fixture
def patient(postgres_place: StoreLocation, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store that waits for its server longer than any test hangs it."""
    monkeypatch.setattr("orgkernel.state.postgresql.ANSWER_SECONDS", PATIENCE)
    with opened_store(postgres_place) as store:
        yield store


def test_a_stopped_postgresql_is_an_error_and_then_goes_on(impatient: Store, postgres_server: str) -> None:
    """Reading and writing give up; no answer of before is taken for one of after; what was acknowledged is there."""
    names = [impatient.audit.write(AuditEntry("decision", 1.0, "allow"))]
    impatient.read_view()
    with stopped(postgres_server):
        tickets = [impatient.audit.defer(AuditEntry("decision", float(n), "allow")) for n in range(100)]
        with pytest.raises(StoreError, match="does not answer"):
            impatient.read_view()
        with pytest.raises(StoreError, match="does not answer"):
            tickets[0].result(30)
    for ticket in tickets:
        with suppress(StoreError):
            names.append(ticket.result(30))
    names.append(impatient.audit.write(AuditEntry("decision", 2.0, "allow")))
    impatient.agents.add("worf", org_id="shop", actor="a")
    assert set(impatient.read_view("shop").agents) == {"worf"}
    found = verify_audit(impatient.context, impatient.folder)
    assert found.findings == ()
    assert set(names) <= {row.audit_id for row in read_rows(impatient.context, AuditFilter())}


def let_threads_end() -> None:
    """Wait for those that still ask the store, before it is closed."""
    waiting._get_threads().shutdown()
    waiting._get_threads.cache_clear()


def test_a_call_does_not_wait_for_a_stopped_postgresql(
    household: Kernel, patient: Store, postgres_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither its decision nor its lock: it is refused in time however many have asked before, and the same process goes on
    afterwards.
    """
    assert waiting.WORK_SECONDS == 10
    monkeypatch.setattr(waiting, "WORK_SECONDS", PATIENCE)
    permits, exclusive = Permits(household, patient), Exclusive(patient)
    request = AccessRequest("agent:clerk", "use", "tool:weather")

    async def ask() -> str:
        return (await permits.decide_soon("household", request, b"{}")).decision.outcome

    async def refused() -> list[Any]:
        asked = [ask() for _ in range(40)]
        lock = waiting.await_in_time(exclusive.enter_soon("household", "printer", "agent:clerk", None))
        return await asyncio.gather(*asked, lock, return_exceptions=True)

    assert asyncio.run(ask()) == "deny"
    loop = asyncio.new_event_loop()
    with stopped(postgres_server):
        monkeypatch.setattr(waiting, "WORK_SECONDS", 0.5)
        found, took = timed(lambda: loop.run_until_complete(refused()))
    assert [type(each) for each in found] == [StoreBusy] * 41
    assert took < GIVEN_UP
    monkeypatch.setattr(waiting, "WORK_SECONDS", PATIENCE)
    assert loop.run_until_complete(ask()) == "deny"
    loop.close()
    let_threads_end()
    until(patient.locks.list, lambda locks: locks == ())


@pytest.mark.parametrize("gives_up", [False, True], ids=["in the end it answers", "the store gives up"])
def test_a_call_ends_although_its_lock_cannot_be_given_back(
    tmp_path: Path, postgres_place: StoreLocation, postgres_server: str, monkeypatch: pytest.MonkeyPatch,
    gives_up: bool,
) -> None:  # fmt: skip
    """The database hangs during the call: its caller is answered meanwhile, and the tool is free afterwards."""
    monkeypatch.setattr("orgkernel.state.postgresql.ANSWER_SECONDS", FEW_SECONDS if gives_up else PATIENCE)
    monkeypatch.setattr(waiting, "WORK_SECONDS", PATIENCE)
    stops = [stopped(postgres_server)]

    def press() -> str:
        if stops:
            hanging.enter_context(stops.pop())
            monkeypatch.setattr(waiting, "WORK_SECONDS", 0.5)
        return "pressed"

    with opened_store(postgres_place, Clock(time.time())) as store:
        box = toolbox(organization(tmp_path), store, press=PythonFunction(press))
        with ExitStack() as hanging:
            result = box.context("post", "agent:ann").invoke_blocking("press")
            assert (result.output, result.metadata["lock"]) == ("pressed", "LOCK_LOST")
            if gives_up:
                let_threads_end()
        let_threads_end()
        monkeypatch.setattr(waiting, "WORK_SECONDS", PATIENCE)
        other = box.context("post", "agent:bob")
        assert other.invoke_blocking("press").output == "pressed"
        let_threads_end()
        assert store.locks.list() == ()


def test_the_server_does_not_wait_for_a_lock_of_another_process(
    postgres_place: StoreLocation,
) -> None:
    """Another process was stopped during a change, so each caller that changes something gets an error."""
    import psycopg

    with opened_store(postgres_place, busy_seconds=0.5) as store:
        store.agents.add("worf", org_id="shop", actor="a")
        with psycopg.connect(postgres_place.url.replace("+psycopg", "")) as other:
            other.execute("SELECT * FROM state_version FOR UPDATE")
            # The error is not that the server says nothing, which takes 30 seconds.
            with pytest.raises(StoreError, match="is busy"):
                store.agents.add("data", org_id="shop", actor="a")
        store.agents.add("data", org_id="shop", actor="a")
