"""Rows that the audit key did not sign: no later honest write, deletion or backup makes them unchanged. Everything that is attacked
is the installed `orgkernel`, with a store of SQLite and of PostgreSQL.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.pool import NullPool

from orgkernel.decisions.evidence.state_records import AuditEntry
from orgkernel.state.audit import DAY
from orgkernel.state.chain import encode_entry, link
from orgkernel.state.location import StoreLocation, parse_location
from orgkernel.state.seals import seal_body
from tests.api.keys import bearer
from tests.state.opening import Clock, opened
from tests.support.depth import DEPTH
from tests.support.patience import PATIENCE, until
from tests.support.trees import copy_template

KILLS = 4 * DEPTH
COMMAND = str(Path(sys.executable).with_name("orgkernel"))


class Installation:
    """A household with a store, as its operator has it."""

    def __init__(self, folder: Path, place: StoreLocation) -> None:
        self.folder = folder
        self.place = place
        self._engine = create_engine(place.url or f"sqlite:///{place.path}", poolclass=NullPool)
        self.environment = {
            **os.environ,
            "ORGKERNEL_STORE": place.path or place.url.replace("+psycopg", ""),
            "ORGKERNEL_CHECKPOINTS": place.checkpoints,
        }

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command."""
        return subprocess.run(
            [COMMAND, *arguments], cwd=self.folder, env=self.environment, capture_output=True, text=True,
            timeout=PATIENCE, check=False,
        )  # fmt: skip

    def write(self, agent: str) -> None:
        """An honest write."""
        done = self.run("agent", "add", agent, "--org", "household")
        assert done.returncode == 0, done.stderr

    def verify(self, *arguments: str) -> tuple[int, Any]:
        """The exit code and the answer of `audit verify`."""
        done = self.run("audit", "verify", "--format", "json", *arguments)
        assert done.stdout, done.stderr
        return done.returncode, json.loads(done.stdout)

    def find(self, *arguments: str) -> list[tuple[str, str]]:
        """The problems that `audit verify` reports, with their rows."""
        code, answer = self.verify(*arguments)
        assert code == bool(answer["findings"])
        return [(each["problem"], each["row"]) for each in answer["findings"]]

    def query(self, statement: str, **values: Any) -> list[Any]:
        """The rows of a statement, run by an attacker."""
        with self._engine.begin() as connection:
            done = connection.execute(text(statement), values)
            return [*done.mappings()] if done.returns_rows else []

    def forge_row(self, kind: str, stream: str = "history") -> str:
        """Add a row to the end of a chain, with the digest that it should have. Returns its name."""
        (last,) = self.query(
            "SELECT * FROM audit WHERE stream = :stream ORDER BY sequence DESC LIMIT 1", stream=stream
        )
        entry, body = encode_entry(AuditEntry("agent", time.time(), "removed", subject="agent:worf"))
        place = (last["digest"], last["writer"], stream, last["sequence"] + 1)
        match kind:
            case "sealed with another key":
                body = seal_body(b"k" * 32, *place, last["sequence"], body)
            case "with the seal of another row":
                body = body[:-1] + last["body"][last["body"].index(',"seal"') :]
        row = dict(last) | {
            "sequence": place[3], "previous": place[0], "digest": link(*place, body), "at": entry.at, "kind": entry.kind,
            "activity": entry.activity, "subject": entry.subject, "channel": "", "relationship": "", "record_id": "", "body": body,
        }  # fmt: skip
        self.query(
            f"INSERT INTO audit ({', '.join(row)}) VALUES ({', '.join(f':{name}' for name in row)})", **row
        )
        return f"{place[1]}:{stream}:{place[3]}"

    @contextmanager
    def serve(self, *arguments: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
        """A running server: its process and its URL."""
        log = self.folder / f"serve-{time.monotonic_ns()}.log"
        with log.open("wb") as file:
            process = subprocess.Popen(
                [COMMAND, "serve", "--port", "0", *arguments],
                cwd=self.folder, env=self.environment, stdout=file, stderr=file,
            )  # fmt: skip
        try:
            said = until(lambda: log.read_text().partition(" on http://")[2], lambda it: "\n" in it)
            yield process, f"http://{said.splitlines()[0]}"
        finally:
            process.kill()
            process.wait(PATIENCE)

    def create_key(self) -> str:
        """The secret of a key that may change everything."""
        return self.run("key", "create", "root", "--scope", "admin").stdout.strip()


def post_grant(url: str, secret: str) -> str:
    """Issue a grant. Returns its id, or nothing if it was not stored."""
    question = {"subject": "person:partner", "resources": ["tool:github"]}
    answer = httpx2.post(f"{url}/v1/orgs/active/grants", json=question, headers=bearer(secret), timeout=60)
    assert answer.status_code in (201, 503), answer.text
    return str(answer.json()["grant_id"]) if answer.status_code == 201 else ""


@pytest.fixture(params=["sqlite", "postgresql"])
def installation(request: pytest.FixtureRequest, quick_folder: Path) -> Installation:
    copy_template(quick_folder, "household")
    if request.param == "sqlite":
        return Installation(quick_folder, parse_location(".orgkernel/state.db", str(quick_folder)))
    place = request.getfixturevalue("postgres_place")
    return Installation(quick_folder, place)


@pytest.mark.parametrize(
    "kind", ["without a seal", "sealed with another key", "with the seal of another row"]
)
def test_a_forged_row_is_not_covered_by_the_next_write(installation: Installation, kind: str) -> None:
    """It is found at once and after honest writes, which continue in a chain of their own."""
    installation.write("worf")
    forged = installation.forge_row(kind)
    assert installation.find() == [("unproven", forged)]
    for agent in ("data", "troi"):
        installation.write(agent)
        assert installation.find() == [("unproven", forged)]


def test_a_row_forged_beneath_a_running_server_is_not_covered(installation: Installation) -> None:
    """The server notices that its chain was continued by another program, and goes on in a new one. It loses nothing that it
    acknowledged.
    """
    secret = installation.create_key()
    with installation.serve() as (_, url):
        stored = [post_grant(url, secret)]
        forged = installation.forge_row("without a seal")
        stored += [post_grant(url, secret) for _ in range(4)]
        assert len([*filter(None, stored)]) >= 4  # the write that found the forged row can fail
        assert installation.find() == [("unproven", forged)]
    installation.write("worf")
    assert installation.find() == [("unproven", forged)]
    done = installation.run("audit", "query", "--kind", "grant", "--format", "json")
    assert {each["record_id"] for each in json.loads(done.stdout)} == {*filter(None, stored)}


@contextmanager
def locked(installation: Installation) -> Iterator[None]:
    """A process that stopped in the middle of a change holds the lock of the store."""
    with installation._engine.connect() as connection:
        if installation.place.path:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            connection.exec_driver_sql("SELECT * FROM state_version FOR UPDATE")
        yield
        connection.rollback()


def test_a_kill_between_commit_and_checkpoint_leaves_open_rows(installation: Installation) -> None:
    """They are named as open, the exit code is 0, no lock is waited for, and the next write covers them."""
    secret = installation.create_key()
    with installation.serve() as (process, url):
        assert post_grant(url, secret)
        (head,) = Path(installation.place.checkpoints).glob("*.head")
        before = head.read_bytes()
        assert post_grant(url, secret)
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE)
    head.write_bytes(before)  # as a kill before the checkpoint leaves it
    with locked(installation):
        code, answer = installation.verify()
        done = installation.run("audit", "verify")
    (rows,) = answer["open"]
    assert (code, answer["verdict"], answer["findings"], rows["rows"]) == (0, "whole", [], 1)
    assert rows["first"] == rows["last"]
    assert done.returncode == 0
    assert f"open: 1 signed after the last checkpoint, from {rows['first']} to {rows['last']}" in done.stderr
    assert done.stderr.endswith(", 1 row still open\n")
    installation.write("worf")
    code, answer = installation.verify()
    assert (code, answer["open"]) == (0, [])


def test_a_forged_row_after_open_rows_is_told_apart(installation: Installation) -> None:
    """The rows of the killed process are open; the forged one is a finding, and stays one."""
    installation.write("worf")
    (head,) = Path(installation.place.checkpoints).glob("*.head")
    before = head.read_bytes()
    installation.write("data")
    head.write_bytes(before)
    forged = installation.forge_row("without a seal")
    for _ in range(2):
        code, answer = installation.verify()
        assert code == 1
        assert [each["row"] for each in answer["findings"]] == [forged]
        assert [each["rows"] for each in answer["open"]] == [1]
        installation.write(f"a{len(answer['findings'])}{answer['rows']}")


def wait_for_more(stored: list[str]) -> None:
    number = len(stored)
    until(lambda: len(stored), lambda now: now > number)


@pytest.mark.deep
def test_a_killed_server_leaves_an_audit_that_is_proven(installation: Installation) -> None:
    """However it is killed in the middle of writing, `audit verify` exits 0, also while its successor runs."""
    secret = installation.create_key()
    stored: list[str] = []

    def write(url: str) -> None:
        with suppress(httpx2.HTTPError):
            while True:
                stored.append(post_grant(url, secret))

    for turn in range(KILLS):
        with installation.serve() as (process, url):
            threads = [threading.Thread(target=write, args=(url,)) for _ in range(4)]
            for thread in threads:
                thread.start()
            wait_for_more(stored)
            time.sleep(0.05 * turn % 0.3)
            process.send_signal(signal.SIGKILL)
            for thread in threads:
                thread.join()
        code, answer = installation.verify()
        assert (code, answer["findings"]) == (0, [])
    rows = {each["record_id"] for each in installation.query("SELECT record_id FROM audit")}
    assert {*stored} <= rows


def build_old_store(folder: Path) -> Installation:
    """A store whose rows are older than the retention, but for the last ones."""
    place = parse_location(".orgkernel/state.db", str(folder))
    for days in (200.0, 0.0):
        with opened(place, Clock(time.time() - days * DAY)) as store:
            for number in range(6):
                store.audit.write(
                    AuditEntry("decision", store.context.clock(), "deny", subject=f"agent:{number}")
                )
    return Installation(folder, place)


def change_old_row(installation: Installation) -> None:
    installation.query("UPDATE audit SET body = replace(body, 'deny', 'allow') WHERE sequence = 3")


def add_old_chain(installation: Installation) -> None:
    """Rows of a writer that never was, with the digests that they should have."""
    previous = "0" * 64
    (pattern,) = installation.query("SELECT * FROM audit WHERE sequence = 1")
    for sequence in range(1, 4):
        body = pattern["body"].replace("deny", "allow")
        digest = link(previous, "f" * 12, "decision", sequence, body)
        row = dict(pattern) | {
            "writer": "f" * 12, "sequence": sequence, "previous": previous, "digest": digest, "body": body, "activity": "allow",
        }  # fmt: skip
        installation.query(
            f"INSERT INTO audit ({', '.join(row)}) VALUES ({', '.join(f':{name}' for name in row)})", **row
        )
        previous = digest


def rewrite_old_rows(installation: Installation) -> None:
    """Compute the digests of all rows up to one in the middle again."""
    previous = "0" * 64
    for row in installation.query("SELECT * FROM audit WHERE sequence < 6 ORDER BY sequence"):
        body = row["body"].replace("deny", "allow")
        digest = link(previous, row["writer"], row["stream"], row["sequence"], body)
        installation.query(
            "UPDATE audit SET previous = :previous, digest = :digest, body = :body, activity = 'allow' WHERE sequence = :sequence",
            previous=previous, digest=digest, body=body, sequence=row["sequence"],
        )  # fmt: skip
        previous = digest


@pytest.mark.parametrize("attack", [change_old_row, add_old_chain, rewrite_old_rows])
def test_a_changed_row_is_not_deleted_by_retention(quick_folder: Path, attack: Any) -> None:
    """A signed segment would hide it. The other rows of its chain stay as evidence too."""
    copy_template(quick_folder, "household")
    installation = build_old_store(quick_folder)
    attack(installation)
    found = installation.find()
    assert found
    done = installation.run("audit", "prune", "--trust-clock")
    assert done.returncode == 0, done.stderr
    assert installation.find() == found


def test_what_retention_may_delete_is_deleted(quick_folder: Path) -> None:
    """Rows that are proven, and those whose finding was accepted."""
    copy_template(quick_folder, "household")
    installation = build_old_store(quick_folder)
    done = installation.run("audit", "prune", "--trust-clock")
    assert done.stderr == "6 rows dropped in 1 segment\n"
    other = quick_folder / "other"
    other.mkdir()
    copy_template(other, "household")
    installation = build_old_store(other)
    change_old_row(installation)
    assert installation.run("audit", "accept", "--reason", "a test").returncode == 0
    done = installation.run("audit", "prune", "--trust-clock")
    assert done.stderr == "6 rows dropped in 1 segment\n"
    assert installation.find() == []


def test_an_accepted_row_cannot_be_exchanged(quick_folder: Path) -> None:
    """What was accepted is this row, not whatever stands in its place later."""
    copy_template(quick_folder, "household")
    installation = build_old_store(quick_folder)
    forged = installation.forge_row("without a seal", "decision")
    assert installation.run("audit", "accept", "--reason", "a test").returncode == 0
    assert installation.find() == []
    number = int(forged.rpartition(":")[2])
    installation.query("DELETE FROM audit WHERE stream = 'decision' AND sequence = :number", number=number)
    assert installation.forge_row("sealed with another key", "decision") == forged
    assert installation.find() == [("unproven", forged)]


def test_a_backup_signs_no_forged_row(quick_folder: Path) -> None:
    """A forged last row is a finding in the store and in its backup."""
    copy_template(quick_folder, "household")
    installation = build_old_store(quick_folder)
    (last,) = installation.query("SELECT * FROM audit ORDER BY sequence DESC LIMIT 1")
    body = last["body"].replace("deny", "allow")
    digest = link(last["previous"], last["writer"], last["stream"], last["sequence"], body)
    installation.query(
        "UPDATE audit SET body = :body, digest = :digest, activity = 'allow' WHERE sequence = :sequence",
        body=body, digest=digest, sequence=last["sequence"],
    )  # fmt: skip
    assert [problem for problem, _ in installation.find()] == ["changed"]
    done = installation.run("store", "backup", "copy.db")
    assert done.returncode == 0, done.stderr
    assert [problem for problem, _ in installation.find("--store", "copy.db")] == ["changed"]


def test_rows_that_a_former_key_sealed_stay_proven(quick_folder: Path) -> None:
    """A new key covers what a killed process left, because the old one ends."""
    copy_template(quick_folder, "household")
    installation = build_old_store(quick_folder)
    (head,) = Path(installation.place.checkpoints).glob("*.head")
    before = head.read_bytes()
    with opened(installation.place, Clock(time.time())) as store:
        store.audit.write(AuditEntry("decision", store.context.clock(), "deny"))
    head.write_bytes(before)
    assert installation.verify()[1]["open"]
    done = installation.run("audit", "rotate-key", "--overlap", "0s", "--reason", "a test")
    assert done.returncode == 0, done.stderr
    code, answer = installation.verify()
    assert (code, answer["findings"], answer["open"]) == (0, [], [])


def test_a_forked_child_does_not_hold_the_chains(quick_folder: Path) -> None:
    """A process that is killed while its forked child lives can be continued."""
    program = """if True:
        import os, sys, time
        from orgkernel.decisions.evidence.state_records import AuditEntry
        from orgkernel.state.location import parse_location
        from orgkernel.state.store import Store
        store = Store(parse_location("state.db", sys.argv[1]), clock=time.time, tokens=os.urandom)
        store.audit.write(AuditEntry("decision", time.time(), "deny"))
        if not os.fork():
            sys.stdin.read()
            os._exit(0)
        os.kill(os.getpid(), 9)
    """
    place = parse_location("state.db", str(quick_folder))
    with subprocess.Popen([sys.executable, "-c", program, str(quick_folder)], stdin=subprocess.PIPE) as child:
        assert child.wait(PATIENCE) == -signal.SIGKILL
        with opened(place) as store:
            store.audit.write(AuditEntry("decision", 1.0, "deny"))
    with closing(sqlite3.connect(place.path)) as connection:
        assert connection.execute("SELECT count(DISTINCT writer) FROM audit").fetchone() == (1,)
