"""A backup takes the place of a store: complete or not at all, never mixed with what lay beside the old one."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from orgkernel.errors import BadStore, StoreBusy, StoreError, StoreFull
from orgkernel.operations.upkeep import copy_store, restore_store
from orgkernel.state import restore as restoring
from orgkernel.state.location import StoreLocation
from orgkernel.state.schema_version import NEWEST
from orgkernel.state.verify import verify_audit
from tests.state.opening import opened, sqlite_at
from tests.state.test_migrations import make_old
from tests.support.in_process import run_here
from tests.support.patience import PATIENCE
from tests.support.trees import REPOSITORY


@pytest.fixture
def place(quick_folder: Path) -> StoreLocation:
    """A store with an agent that its backup, `backup.db`, has, and with one that came later."""
    place = sqlite_at(quick_folder)
    with opened(place) as store:
        store.agents.add("early", org_id="shop", actor="a")
    copy_store(place, str(quick_folder / "backup.db"))
    with opened(place) as store:
        store.agents.add("late", org_id="shop", actor="a")
    return place


def agents(place: StoreLocation) -> set[str]:
    with opened(place) as store:
        return {agent.agent_id for agent in store.agents.list()}


def beside(place: StoreLocation) -> list[str]:
    """The names in the folder of a store, without the time in them."""
    names = (path.name.partition(".replaced-")[0::2] for path in Path(place.path).parent.iterdir())
    return sorted(f"{name}.replaced{rest[16:]}" if rest else name for name, rest in names)


LEAVE_LOG = """
import os, sqlite3, sys
rows = sqlite3.connect(sys.argv[1])
rows.execute("PRAGMA journal_mode=WAL")
rows.execute("PRAGMA wal_autocheckpoint=0")
rows.execute("UPDATE agents SET agent_id = 'stale ' || agent_id")
rows.commit()
os._exit(0)
"""


STALE = {"stale early", "stale late"}


def leave_log(path: str) -> None:
    """End in the middle, so that the log of SQLite stays beside the store."""
    subprocess.run([sys.executable, "-c", LEAVE_LOG, path], check=True)
    assert Path(f"{path}-wal").stat().st_size


def lose_store(place: StoreLocation) -> None:
    """The file is gone, and its log is not."""
    leave_log(place.path)
    os.unlink(place.path)


def damage_store(place: StoreLocation) -> None:
    leave_log(place.path)
    Path(place.path).write_bytes(b"\1" * 4096)


BROKEN: dict[str, tuple[Callable[[StoreLocation], object], list[str]]] = {
    "nothing": (lambda place: None, ["state.db.replaced"]),
    "a log lies about": (lambda place: leave_log(place.path), ["state.db.replaced"]),
    "the store is gone": (lose_store, ["state.db.replaced-wal"]),
    "the store is damaged": (damage_store, ["state.db.replaced", "state.db.replaced-wal"]),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_backup_is_restored_whatever_lies_about(
    place: StoreLocation, quick_folder: Path, name: str
) -> None:
    """By one command. No stale log gets into it, what was replaced is kept, and the audit tells what is missing."""
    break_, kept = BROKEN[name]
    break_(place)
    done = run_here(
        "store", "restore", "backup.db", "--reason", "a test", "--store", "state.db", cwd=quick_folder
    )
    assert done.returncode == 0, done.stderr
    assert "not in the backup: 1 row of the audit" in done.stderr
    assert beside(place) == sorted(
        ["backup.db", "backup.db.audit", "state.db", "state.db.audit", "state.db.lock", *kept]
    )
    assert agents(place) == {"early"}
    with opened(place) as store:
        (finding,) = verify_audit(store.context, store.folder).findings
        assert finding.problem == "restored"
        assert "is missing since the store was restored from a backup at 20" in finding.message
    rows = run_here(
        "audit", "query", "--kind", "audit", "--format", "json", "--store", "state.db", cwd=quick_folder
    )
    (row,) = json.loads(rows.stdout)
    assert (row["activity"], row["actor"], row["reason"]) == ("restored", "system:cli", "a test")
    assert row["detail"]["backup"] == "backup.db"
    done = run_here("audit", "accept", "--reason", "a test", "--store", "state.db", cwd=quick_folder)
    assert done.returncode == 0, done.stderr
    assert run_here("audit", "verify", "--store", "state.db", cwd=quick_folder).returncode == 0


def test_what_was_replaced_is_a_complete_store(place: StoreLocation, quick_folder: Path) -> None:
    """With the rows that were in the log."""
    leave_log(place.path)
    done = restore_store(place, str(quick_folder / "backup.db"), "a")
    (kept,) = quick_folder.glob("state.db.replaced-*")
    assert done.replaced == str(kept)
    connection = sqlite3.connect(kept)
    assert {name for (name,) in connection.execute("SELECT agent_id FROM agents")} == STALE
    connection.close()


def test_a_store_that_a_process_has_open_is_not_replaced(place: StoreLocation, quick_folder: Path) -> None:
    """Neither by us nor by a program that does not know our lock."""
    backup = str(quick_folder / "backup.db")
    with opened(place), pytest.raises(StoreBusy, match="is open in another process") as refusal:
        restore_store(place, backup, "a")
    assert "stop `orgkernel serve`" in refusal.value.help
    other = sqlite3.connect(place.path)
    other.execute("SELECT * FROM agents").fetchall()
    with pytest.raises(StoreBusy, match="is open in another process"):
        restore_store(place, backup, "a")
    other.close()
    assert agents(place) == {"early", "late"}
    restore_store(place, backup, "a")
    assert agents(place) == {"early"}


def newer(path: Path) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE alembic_version SET version_num = '0999'")
    connection.close()


def damaged(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[5 * 4096 : 20 * 4096] = os.urandom(15 * 4096)
    path.write_bytes(content)


def other_tables(path: Path) -> None:
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        pytest.param(lambda path: path.unlink(), "there is no file", id="missing"),
        pytest.param(lambda path: path.write_bytes(b""), "is not a store or a backup", id="empty"),
        pytest.param(lambda path: path.write_text("_schema: x\n" * 500), "file is not a database", id="a document"),
        pytest.param(other_tables, "is not a store or a backup", id="the database of somebody else"),
        pytest.param(newer, "has version `0999`, which this program does not know", id="newer"),
        pytest.param(damaged, "damaged|malformed", id="damaged"),
        pytest.param(lambda path: leave_log(str(path)), "is next to the backup", id="with a log beside it"),
        pytest.param(lambda path: (path.unlink(), os.mkfifo(path)), "is not a regular file", id="a pipe"),
    ],
)  # fmt: skip
def test_what_is_no_backup_is_refused(
    place: StoreLocation, quick_folder: Path, make: Callable[[Path], object], says: str
) -> None:
    """And changes nothing."""
    make(quick_folder / "backup.db")
    before = beside(place)
    with pytest.raises((BadStore, StoreError), match=says):
        restore_store(place, str(quick_folder / "backup.db"), "a")
    assert beside(place) == before
    assert agents(place) == {"early", "late"}


@pytest.mark.parametrize("step", ["_fill", "_close_old", "_copy_checkpoints", "_keep_old", "sync"])
def test_a_restoration_that_fails_leaves_a_complete_store(
    place: StoreLocation, quick_folder: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """The one of before or the one of the backup, and it can be tried again."""

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    leave_log(place.path)
    with monkeypatch.context() as patch:
        patch.setattr(restoring, step, fail)
        with pytest.raises(StoreFull):
            restore_store(place, str(quick_folder / "backup.db"), "a")
    assert not list(quick_folder.glob("*.new*"))
    assert agents(place) in (STALE, {"early"})
    restore_store(place, str(quick_folder / "backup.db"), "a")
    assert agents(place) == {"early"}


def test_a_restoration_that_is_killed_leaves_a_complete_store(
    place: StoreLocation, quick_folder: Path
) -> None:
    """Before whatever step: the store of before or that of the backup, never a mixture, and it can be restored again."""
    leave_log(place.path)
    shutil.copytree(quick_folder, quick_folder / "made")
    command = [sys.executable, "-m", "tests.faults.killed_restorer", str(quick_folder)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE, cwd=REPOSITORY, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 8


def test_a_restoration_that_cannot_be_noted_is_told(place: StoreLocation, quick_folder: Path) -> None:
    """After the store was restored, an operator has to repair the folder of checkpoints."""
    (Path(place.checkpoints) / "key").write_text("")
    with pytest.raises(StoreError, match="the store was restored, but that could not be written") as told:
        restore_store(place, str(quick_folder / "backup.db"), "a")
    assert "restore it from a backup" in told.value.help
    assert agents(place) == {"early"}


def test_a_backup_is_restored_on_another_machine(place: StoreLocation, quick_folder: Path) -> None:
    """Where there is nothing, with its checkpoints; the audit is whole."""
    machine = quick_folder / "machine"
    machine.mkdir()
    done = run_here("store", "restore", "../backup.db", cwd=machine)
    assert done.returncode == 0, done.stderr
    assert "those of the backup were copied" in done.stderr
    assert run_here("audit", "verify", cwd=machine).stderr == "the audit is unchanged: 2 rows in 1 chain\n"
    assert (machine / ".orgkernel" / "state.db.audit").stat().st_mode & 0o077 == 0


def test_an_old_store_is_backed_up_as_it_is(quick_folder: Path) -> None:
    """As the advice before an upgrade says; restoring it upgrades the copy."""
    place = sqlite_at(quick_folder)
    make_old(place, "0002", "INSERT INTO agents VALUES ('worf', 'ensign', 0.5, 'active', 1)")
    before = Path(place.path).read_bytes()
    refused = run_here("agent", "list", "--store", "state.db", cwd=quick_folder)
    assert "back it up with `orgkernel store backup`" in refused.stderr
    done = run_here("store", "backup", "old.db", "--store", "state.db", cwd=quick_folder)
    assert (done.returncode, done.stderr.partition(" to ")[0]) == (0, "copied version 0002")
    assert Path(place.path).read_bytes() == before
    run_here("store", "upgrade", "--store", "state.db", cwd=quick_folder)
    done = run_here("store", "restore", "old.db", "--store", "state.db", cwd=quick_folder)
    assert (done.returncode, done.stderr.partition(" from ")[0]) == (0, "restored version 0002")
    assert agents(place) == {"worf"}
    versions = []
    for name in ("state.db", "old.db"):
        with closing(sqlite3.connect(quick_folder / name)) as rows:
            versions.append(rows.execute("SELECT version_num FROM alembic_version").fetchone()[0])
    assert versions == [NEWEST, "0002"]


def test_a_backup_of_a_store_that_is_written_to_is_whole(quick_folder: Path) -> None:
    """Its checkpoints say exactly how far its rows go."""
    place = sqlite_at(quick_folder)
    is_done = threading.Event()

    def write() -> None:
        number = 0
        while not is_done.is_set():
            number += 1
            store.agents.add(f"a{number}", org_id="shop", actor="a")

    with opened(place) as store:
        store.agents.add("a0", org_id="shop", actor="a")
        writer = threading.Thread(target=write)
        writer.start()
        copies = [str(quick_folder / f"copy{number}.db") for number in range(4)]
        for copy in copies:
            copy_store(place, copy)
        is_done.set()
        writer.join()
    for copy in copies:
        with opened(StoreLocation("", copy, f"{copy}.audit", copy)) as store:
            found = verify_audit(store.context, store.folder)
        assert (found.verdict, found.findings) == ("whole", ())
