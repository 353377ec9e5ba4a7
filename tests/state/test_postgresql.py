"""The contract, with a real server."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from sqlalchemy import text

from orgkernel.decisions.evidence.state_records import AuditEntry
from orgkernel.errors import BadStore, StoreError
from orgkernel.operations.context import Actor, Context
from orgkernel.operations.upkeep import accept, verify
from orgkernel.state.backup import back_up, read_info
from orgkernel.state.location import StoreLocation, parse_location
from orgkernel.state.restore import restore
from orgkernel.state.schema_version import NEWEST
from orgkernel.state.verify import verify_audit
from orgkernel.state.writer import Transaction
from tests.state.contract import StoreContract
from tests.state.opening import Clock, Tokens, opened
from tests.state.postgres import find_binaries


@pytest.fixture
def place(postgres_place: StoreLocation) -> StoreLocation:
    return postgres_place


class TestPostgresql(StoreContract):
    """Every rule of the contract."""


def test_a_connection_that_was_lost_is_made_again(place: StoreLocation, postgres_server: str) -> None:
    """A restarted server, say: what was in the air fails or not, and the next call works."""
    import psycopg

    with opened(place) as store:
        store.agents.add("worf", org_id="shop", actor="a")
        store.read_view()
        database = place.url.partition("@/")[2].partition("?")[0]
        kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
        with psycopg.connect(postgres_server % "postgres", autocommit=True) as connection:
            connection.execute(kill, (database,))
        store.agents.add("data", org_id="shop", actor="a")
        assert set(store.read_view("shop").agents) == {"worf", "data"}
        assert verify_audit(store.context, store.folder).findings == ()


def test_every_write_of_a_broken_transaction_gets_an_error(place: StoreLocation) -> None:
    """When the server goes away in the middle, each ticket gets an error, and the chain goes on afterwards."""

    def break_off(transaction: Transaction) -> None:
        transaction.audit(AuditEntry("agent", 1.0, "lost"))
        transaction.connection.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))

    with opened(place) as store:
        store.audit.write(AuditEntry("decision", 1.0, "allow"))
        with pytest.raises(StoreError, match=r"does not answer|cannot be used"):
            store.context.change(break_off)
        store.audit.write(AuditEntry("decision", 2.0, "allow"))
        found = verify_audit(store.context, store.folder)
    assert (found.findings, found.rows) == ((), 2)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("postgresql://kernel:hunter2@/none?host=%s", "database .none. does not exist|does not answer"),
        ("postgresql://kernel:hunter2@127.0.0.1:1/x", "does not answer"),
        ("postgresql://kernel:hunter2@[::1/x", "is not the URL"),
        ("mysql://kernel:hunter2@localhost/x", "has an unknown scheme"),
    ],
)
def test_a_database_that_cannot_be_used_is_said_without_its_password(
    tmp_path: Path, postgres_server: str, url: str, says: str
) -> None:
    """A sentence, and the place as it may be shown."""
    folder = postgres_server.partition("host=")[2]
    with pytest.raises(StoreError, match=says) as refusal:
        opened(parse_location(url.replace("%s", folder), str(tmp_path)))
    assert "hunter2" not in f"{refusal.value.message} {refusal.value.help}"


def test_a_backup_is_left_to_the_tools_of_the_server(place: StoreLocation, tmp_path: Path) -> None:
    """And says which."""
    with pytest.raises(BadStore, match="PostgreSQL") as refusal:
        back_up(place, str(tmp_path / "copy"), Tokens(), Clock())
    assert "pg_dump" in refusal.value.help
    with pytest.raises(BadStore, match="PostgreSQL") as refusal:
        restore(place, "copy", actor="a", reason="", clock=Clock(), tokens=Tokens())
    assert "pg_restore" in refusal.value.help


def test_a_database_is_restored_with_its_own_tools(place: StoreLocation, tmp_path: Path) -> None:
    """A backup and restore with the commands of the page about stores. The audit reports missing rows until an operator
    accepts the finding.
    """
    binaries = find_binaries()
    url = place.url.replace("+psycopg", "")
    dump = str(tmp_path / "backup.dump")
    with opened(place) as store:
        store.agents.add("worf", org_id="shop", actor="a")
        subprocess.run([f"{binaries}/pg_dump", "--format=custom", f"--file={dump}", url], check=True)
        store.agents.add("data", org_id="shop", actor="a")
    subprocess.run(
        [f"{binaries}/pg_restore", "--clean", "--if-exists", "--single-transaction", f"--dbname={url}", dump],
        check=True,
    )
    with opened(place) as store:
        assert set(store.read_view("shop").agents) == {"worf"}
        found = verify(store)
        assert [each.problem for each in found.findings] == ["cut_off"]
        accept(Context(None, store, Actor("system:cli")), reason="a test")
        assert verify(store).verdict == "whole"


def test_figures_of_a_store(place: StoreLocation) -> None:
    """The same as of a file, except its size."""
    with opened(place) as store:
        store.agents.add("worf", org_id="shop", actor="a")
        info = read_info(store)
    assert (info.engine, info.version, info.state_version, info.bytes) == ("postgresql", NEWEST, 1, None)
    assert (info.rows["agents"], info.rows["audit"]) == (1, 1)
