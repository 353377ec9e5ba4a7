"""A store on a full disk, a locked one, and a file that is not a store: an error answer with a remedy, never a
crash or a loss.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import event

from orgkernel.decisions.evidence.state_records import AuditEntry, AuditFilter
from orgkernel.errors import BadStore, StoreBusy, StoreError, StoreFull
from orgkernel.state.audit import read_rows
from orgkernel.state.migrating import upgrade_store
from orgkernel.state.schema_version import NEWEST, VERSIONS
from orgkernel.state.store import Store
from orgkernel.state.verify import verify_audit
from tests.state.opening import Clock, opened, sqlite_at
from tests.support.patience import PATIENCE
from tests.support.trees import REPOSITORY


def decision(reason: str = "") -> AuditEntry:
    return AuditEntry("decision", 1.0, "allow", reason=reason)


def whole(store: Store) -> bool:
    return verify_audit(store.context, store.folder).findings == ()


def python(program: str, *arguments: str, **settings: object) -> subprocess.CompletedProcess[str]:
    """A program in a process of its own, with what it needs to open a store."""
    begin = """
        import os, sys, time
        from orgkernel.errors import OrgkernelError
        from orgkernel.state.location import parse_location
        from orgkernel.decisions.evidence.state_records import AuditEntry
        from orgkernel.state.store import Store

        def open_store():
            return Store(parse_location("state.db", sys.argv[1]), clock=time.time, tokens=os.urandom)
    """
    source = textwrap.dedent(begin) + textwrap.dedent(program)
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-c", source, *arguments],
        capture_output=True, text=True, timeout=PATIENCE, check=False, env=environment, **settings,
    )  # fmt: skip


def test_a_full_database_answers_with_an_error(quick_folder: Path) -> None:
    """Every ticket of the transaction that did not fit gets it; what fits again is written, and nothing was lost."""
    with opened(sqlite_at(quick_folder)) as store:
        names = [store.audit.write(decision())]

        def limit(connection: sqlite3.Connection, *_: object) -> None:
            connection.execute("PRAGMA max_page_count = 120")

        event.listen(store.engine, "connect", limit)
        store.engine.dispose()
        tickets = [store.audit.defer(decision("x" * 3_000)) for _ in range(500)]
        errors = 0
        for ticket in tickets:
            try:
                names.append(ticket.result(PATIENCE))
            except StoreFull:
                errors += 1
        with pytest.raises(StoreFull, match="is full") as full:
            issue_many(store)
        assert (full.value.code, full.value.help) == (
            "STORE_FULL",
            "free some space on its disk; nothing was written",
        )
        granted = len(store.grants.list())
        event.remove(store.engine, "connect", limit)
        store.engine.dispose()
        names.append(store.audit.write(decision()))
        assert errors
        assert {row.audit_id for row in read_rows(store.context, AuditFilter(kind="decision"))} == set(names)
        assert len(store.read_view().grants.get("agent:worf", ())) == granted == len(store.grants.list())
        assert whole(store)


def issue_many(store: Store) -> None:
    for number in range(500):
        store.grants.issue("agent:worf", [f"tool:{number}"], issued_by="a", reason="x" * 3_000)


def test_a_full_disk_answers_with_an_error(tmp_path: Path) -> None:
    """A real limit of the system on the size of files; when it is lifted, the same process goes on."""
    done = python(
        """
        import resource
        store = open_store()
        names = [store.audit.write(AuditEntry("decision", 1.0, "allow"))]
        limit = 400_000
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        codes = set()
        for _ in range(600):
            try:
                names.append(store.audit.write(AuditEntry("decision", 1.0, "allow", reason="x" * 3_000)))
            except OrgkernelError as error:
                codes.add(error.code)
                if len(codes) and len(names) > 5:
                    break
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        names.append(store.audit.write(AuditEntry("decision", 1.0, "allow")))
        store.close()
        print(*codes)
        print(*names)
        """,
        str(tmp_path),
    )
    assert done.returncode == 0, done.stderr
    codes, names = done.stdout.splitlines()
    assert codes == "STORE_FULL"
    with opened(sqlite_at(tmp_path)) as store:
        assert {row.audit_id for row in read_rows(store.context, AuditFilter())} == set(names.split())
        assert whole(store)


def test_a_locked_store_is_busy_and_then_not(quick_folder: Path) -> None:
    """Writers wait so long and no longer; readers are not kept."""
    place = sqlite_at(quick_folder)
    with opened(place, busy_seconds=0.1) as store:
        store.agents.add("worf", org_id="shop", actor="a")
        other = sqlite3.connect(place.path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy, match="locked by another process"):
            store.agents.add("data", org_id="shop", actor="a")
        with pytest.raises(StoreBusy):
            store.audit.defer(decision()).result(PATIENCE)
        assert set(store.read_view("shop").agents) == {"worf"}
        other.execute("ROLLBACK")
        other.close()
        store.agents.add("data", org_id="shop", actor="a")
        assert whole(store)


def test_opening_a_locked_store_that_is_ready_does_not_wait(quick_folder: Path) -> None:
    """It only reads."""
    place = sqlite_at(quick_folder)
    opened(place).close()
    other = sqlite3.connect(place.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    opened(place, busy_seconds=0.1).close()
    other.close()


def other_tables(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        pytest.param(lambda path: path.mkdir(), "is a folder", id="a folder"),
        pytest.param(lambda path: path.write_text("_schema: x\n" * 500), "is not a database", id="a document"),
        pytest.param(lambda path: path.write_bytes(b"SQLite format 3\0" + b"\1" * 5_000), "is (not a database|damaged)", id="a broken database"),
        pytest.param(other_tables, "has tables of another program", id="the database of somebody else"),
        pytest.param(lambda path: path.symlink_to(path / "x"), "cannot be (opened|used)", id="a link in circles"),
    ],
)  # fmt: skip
def test_what_is_no_store_is_refused_and_left_alone(tmp_path: Path, make, says: str) -> None:
    """With a sentence that names it."""
    path = tmp_path / "state.db"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(BadStore, match=says):
        opened(sqlite_at(tmp_path))
    assert (path.read_bytes() if path.is_file() else None) == before


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    """Only `.orgkernel` is made; a misspelled folder is not."""
    with pytest.raises(BadStore, match="cannot be used: No such file"):
        opened(sqlite_at(tmp_path / "misspelled"))
    assert list(tmp_path.iterdir()) == []


def test_a_newer_store_is_refused_and_an_older_one_waits_for_its_upgrade(quick_folder: Path) -> None:
    """An older program would lose what it does not know."""
    place = sqlite_at(quick_folder)
    opened(place).close()
    set_version(place.path, "0999")
    for use in (opened, upgrade_store):
        with pytest.raises(BadStore, match="version `0999`, which this program does not know") as refusal:
            use(place)
        assert "newer orgkernel" in refusal.value.help
    set_version(place.path, NEWEST)
    opened(place).close()
    assert upgrade_store(place) == (NEWEST, NEWEST)
    set_version(place.path, VERSIONS[-2])
    before = Path(place.path).read_bytes()
    with pytest.raises(BadStore) as refusal:
        opened(place)
    assert "orgkernel store upgrade" in refusal.value.help
    assert Path(place.path).read_bytes() == before


def set_version(path: str, version: str) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", (version,))
    connection.close()


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A folder that another user can reach."""
    folder = Path(tempfile.mkdtemp(prefix="orgkernel-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def test_a_store_that_may_not_be_written_says_so(public_folder: Path) -> None:
    """A user without permission gets an error, whether the file or its folder is closed."""
    with opened(sqlite_at(public_folder)) as store:
        store.agents.add("worf", org_id="shop", actor="a")
    (public_folder / "state.db").chmod(0o444)
    public_folder.chmod(0o555)
    (public_folder.parent / f"{public_folder.name}-warm").mkdir()
    program = """
        import shutil
        with Store(parse_location("warm.db", sys.argv[1] + "-warm"), clock=time.time, tokens=os.urandom) as warm:
            warm.agents.add("worf", org_id="shop", actor="a")  # imports what root may read and others may not
        shutil.rmtree(sys.argv[1] + "-warm")
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        try:
            with open_store() as store:
                store.agents.add("data", org_id="shop", actor="a")
        except OrgkernelError as error:
            print(error.code, error.message)
    """
    done = python(program, str(public_folder))
    public_folder.chmod(0o755)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("BAD_STORE the store ")
    assert "cannot be" in done.stdout


def test_the_files_of_a_store_are_private(tmp_path: Path) -> None:
    """They say who may do what, and the key signs for it."""
    with opened(sqlite_at(tmp_path / ".orgkernel")) as store:
        store.agents.add("worf", org_id="shop", actor="a")
    folder = tmp_path / ".orgkernel"
    assert (folder / ".gitignore").read_text() == "*\n"
    for path in (folder / "state.db", *(folder / "state.db.audit").iterdir()):
        assert path.stat().st_mode & 0o077 == 0, path


def test_checkpoints_that_cannot_be_written_are_told(quick_folder: Path) -> None:
    """The rows are written, and the store says what is the matter; without a folder nothing is acknowledged at all."""
    with opened(sqlite_at(quick_folder)) as store:
        store.audit.write(decision())
        chains = store.context.writer._chains
        os.close(chains._file._file)
        assert store.audit.write(decision())
        assert store.problem is not None
        chains._file = None
        store.context.writer._links = {}
        shutil.rmtree(store.folder.path)
        Path(store.folder.path).write_text("in the way")
        with pytest.raises(StoreError):
            store.audit.write(decision())


def test_a_child_of_a_fork_is_told_that_its_store_is_closed(tmp_path: Path) -> None:
    """The thread that writes stays with the parent; waiting for it would be for ever."""
    done = python(
        """
        store = open_store()
        store.audit.write(AuditEntry("decision", 1.0, "allow"))
        child = os.fork()
        if child == 0:
            try:
                store.audit.defer(AuditEntry("decision", 1.0, "allow")).result(300)
                os._exit(1)
            except OrgkernelError as error:
                os._exit(0 if "closed" in error.message else 2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        store.audit.write(AuditEntry("decision", 1.0, "allow"))
        store.close()
        """,
        str(tmp_path),
    )
    assert done.returncode == 0, done.stderr


def test_what_was_deferred_is_written_when_the_program_ends(tmp_path: Path) -> None:
    """Also by those who forget to close."""
    done = python(
        """
        store = open_store()
        for number in range(1_000):
            store.audit.defer(AuditEntry("decision", float(number), "allow"))
        """,
        str(tmp_path),
    )
    assert done.returncode == 0, done.stderr
    with opened(sqlite_at(tmp_path)) as store:
        assert len(list(read_rows(store.context, AuditFilter()))) == 1_000
        assert whole(store)


def test_a_clock_that_is_set_back_revives_nothing(quick_folder: Path) -> None:
    """What was noted as expired stays gone; chains do not mind; locks wait a little longer."""
    clock = Clock()
    with opened(sqlite_at(quick_folder), clock) as store:
        store.grants.issue("agent:worf", ["tool:x"], issued_by="a", expires_at=clock.now + 60)
        lock = store.locks.acquire("shop", "press", "agent:worf", timeout=PATIENCE)
        clock.now += 61
        store.expire()
        assert store.read_view().grants == {}
        clock.now -= 3_600
        assert store.read_view().grants == {}
        assert store.locks.check("shop", "press", "agent:worf", lock.token) == lock
        store.audit.write(AuditEntry("decision", clock.now, "allow"))
        assert whole(store)


def test_a_callback_that_fails_does_not_stop_the_writer(quick_folder: Path) -> None:
    """It is called once, in the writer's thread or, when all is done, at once."""
    called = []

    def fail(ticket: object) -> None:
        called.append(ticket)
        raise RuntimeError("theirs")

    with opened(sqlite_at(quick_folder)) as store:
        first = store.audit.defer(decision())
        first.call_when_done(fail)
        store.audit.write(decision())
        assert called == [first]
        first.call_when_done(called.append)
        assert called == [first, first]


def test_who_will_not_wait_is_refused_when_too_much_waits(
    quick_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An event loop must not stand still because the store is behind; what was taken in before is written."""
    monkeypatch.setattr("orgkernel.state.writer._MAX_WAITING", 3)
    begun, goes_on = threading.Event(), threading.Event()

    def wait(_: object) -> bool:
        begun.set()
        return goes_on.wait(PATIENCE)

    with opened(sqlite_at(quick_folder)) as store:
        slow = store.context.writer.submit(wait)
        assert begun.wait(PATIENCE)
        tickets = [store.audit.submit(decision()) for _ in range(4)]
        with pytest.raises(StoreBusy, match="has too many waiting writes"):
            store.audit.submit(decision())
        goes_on.set()
        assert slow.result(PATIENCE)
        assert len({ticket.result(PATIENCE) for ticket in tickets}) == 4
        assert store.audit.submit(decision()).result(PATIENCE)
