"""After an attack on the audit and its proofs, `audit verify` and its route report it, and call nothing intact that they
cannot prove.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fastapi.testclient import TestClient

from manifest_api.app import create_app
from orgkernel.decisions.evidence.state_records import AuditEntry
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.stored import open_store
from orgkernel.state.audit import DAY, drop_old
from orgkernel.state.backup import back_up
from orgkernel.state.chain import decode_entry, encode_entry, link
from orgkernel.state.checkpoints import Checkpoints, Link
from orgkernel.state.verify import verify_audit
from tests.state.opening import Clock, Tokens, opened, sqlite_at
from tests.support.in_process import run_here
from tests.support.trees import copy_template

FIRST, SECOND = "a" * 12, "b" * 12
"""The writers, in the order in which they began."""


class Attacked:
    """A store that two processes have written to, closed; and an older backup of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.place = sqlite_at(folder)
        self.audit = folder / "state.db.audit"
        self.backup = folder / "backup" / "old.db"
        self.old_heads = folder / "old_heads"

    def head(self, writer: str) -> Path:
        return self.audit / f"writer-{writer}.head"

    def execute(self, *statements: str) -> None:
        connection = sqlite3.connect(self.place.path)
        with connection:
            for statement in statements:
                connection.execute(statement)
        connection.close()


class Named(Tokens):
    """Bytes drawn by lot, except the names of writers."""

    def __init__(self, writer: str) -> None:
        super().__init__()
        self._writer = bytes.fromhex(writer)

    def __call__(self, number: int) -> bytes:
        return self._writer if number == 6 else super().__call__(number)


def decision(number: int) -> AuditEntry:
    return AuditEntry("decision", float(number), "deny", subject="agent:worf")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Attacked:
    """Made once; each attack has a copy of its own."""
    from orgkernel.state.store import Store

    made = Attacked(tmp_path_factory.mktemp("attacked"))
    made.backup.parent.mkdir()
    clock = Clock()
    with (
        Store(made.place, clock=clock, tokens=Named(FIRST)) as first,
        Store(made.place, clock=clock, tokens=Named(SECOND)) as second,
    ):
        first.agents.add("worf", org_id="household", actor="a")
        for number in range(4):
            first.audit.write(decision(number))
        second.audit.write(decision(4))
        back_up(made.place, str(made.backup), Tokens(), clock)
        shutil.copytree(made.audit, made.old_heads)
        for number in range(5, 9):
            second.audit.write(decision(number))
            first.audit.write(decision(number))
    return made


@pytest.fixture(scope="module")
def household(tmp_path_factory: pytest.TempPathFactory) -> Kernel:
    folder = tmp_path_factory.mktemp("household")
    copy_template(folder, "household")
    return Kernel.open(folder)


@pytest.fixture
def attacked(made: Attacked, quick_folder: Path) -> Attacked:
    shutil.copytree(made.folder, quick_folder / "place")
    return Attacked(quick_folder / "place")


Found = tuple[str, list[tuple[str, str]]]


def verify(attacked: Attacked, household: Kernel) -> Found:
    """The verdict, and each finding with its place: the same by the command and by the route."""
    done = run_here(
        "audit", "verify", "--format", "json", "--store", attacked.place.path, cwd=attacked.folder
    )
    said = json.loads(done.stdout)
    with TestClient(
        create_app(household, store=attacked.place), base_url="http://127.0.0.1:8000", client=("127.0.0.1", 1)
    ) as client:
        answer = client.get("/v1/audit/verification")
    told = answer.json()
    assert str(attacked.folder) not in answer.text
    assert told["verdict"] == said["verdict"]
    assert told["is_whole"] is (said["verdict"] == "whole") is (done.returncode == 0)
    assert done.returncode in (0, 1)
    assert [each["row"] for each in told["findings"]] == [each["row"] for each in said["findings"]]
    return said["verdict"], [(each["problem"], each["row"]) for each in said["findings"]]


def swap_heads(attacked: Attacked) -> None:
    one, other = attacked.head(FIRST).read_bytes(), attacked.head(SECOND).read_bytes()
    attacked.head(FIRST).write_bytes(other)
    attacked.head(SECOND).write_bytes(one)


def remove_writer(attacked: Attacked) -> None:
    attacked.execute(f"DELETE FROM audit WHERE writer = '{SECOND}'")
    attacked.head(SECOND).unlink()


def remove_writer_and_line(attacked: Attacked) -> None:
    remove_writer(attacked)
    roster = attacked.audit / "writers.jsonl"
    roster.write_bytes(roster.read_bytes().splitlines(keepends=True)[0])


def roll_back(attacked: Attacked) -> None:
    shutil.copy(attacked.backup, attacked.place.path)


def roll_back_checkpoints(attacked: Attacked) -> None:
    shutil.rmtree(attacked.audit)
    shutil.copytree(attacked.old_heads, attacked.audit)


def remove_all(attacked: Attacked) -> None:
    attacked.execute("DELETE FROM audit")
    shutil.rmtree(attacked.audit)


def halve(path: Callable[[Attacked], Path]) -> Callable[[Attacked], None]:
    def attack(attacked: Attacked) -> None:
        content = path(attacked).read_bytes()
        line = content.split(b"\n")[0].rstrip()
        path(attacked).write_bytes(line[: len(line) // 2])

    return attack


def append_row(attacked: Attacked) -> None:
    """With the digest it should have."""
    connection = sqlite3.connect(attacked.place.path)
    with connection:
        rows = connection.execute(
            f"SELECT * FROM audit WHERE writer = '{FIRST}' AND stream = 'decision' ORDER BY sequence DESC LIMIT 1"
        )
        names = [each[0] for each in rows.description]
        row = dict(zip(names, rows.fetchone(), strict=True))
        entry, body = encode_entry(AuditEntry("decision", 99.0, "allow", subject="agent:worf"))
        sequence = row["sequence"] + 1
        digest = link(row["digest"], FIRST, "decision", sequence, body)
        row |= {"sequence": sequence, "previous": row["digest"], "digest": digest, "body": body}
        row |= {"at": entry.at, "activity": entry.activity}
        connection.execute(f"INSERT INTO audit VALUES ({','.join('?' * len(row))})", list(row.values()))
    connection.close()


def sign_again(attacked: Attacked, links: dict[str, Link] | None = None) -> Path:
    """Sign all checkpoints with another key, and return its file. `links` are new ends of the chains of decisions."""
    mine, other = (
        Checkpoints(str(folder), Tokens(), Clock()) for folder in (attacked.audit, attacked.folder / "other")
    )
    (attacked.folder / "other").mkdir()
    other.signing.create()
    for writer, head in mine.read_trusted_heads().items():
        ends = {**head.heads, **({"decision": links[writer]} if links and writer in links else {})}
        other.write_head(msgspec.structs.replace(head, heads=ends))
        shutil.copy(attacked.folder / "other" / f"writer-{writer}.head", attacked.head(writer))
    for path in attacked.audit.glob("*.jsonl"):
        lines = [json.loads(line) for line in path.read_bytes().splitlines()]
        unsigned = ({name: value for name, value in line.items() if name != "mac"} for line in lines)
        path.write_bytes(b"".join(other.signing.sign(line) + b"\n" for line in unsigned))
    return attacked.folder / "other" / "key"


def sign_heads_again(attacked: Attacked) -> None:
    roster = attacked.audit / "writers.jsonl"
    content = roster.read_bytes()
    sign_again(attacked)
    roster.write_bytes(content)


def rewrite_rows(attacked: Attacked) -> Link:
    """A denial becomes a permission, and every later row of its chain follows from it. Returns the new end."""
    connection = sqlite3.connect(attacked.place.path)
    connection.row_factory = sqlite3.Row
    chain = f"writer = '{FIRST}' AND stream = 'decision'"
    with connection:
        rows = connection.execute(f"SELECT * FROM audit WHERE {chain} ORDER BY sequence").fetchall()
        previous = rows[0]["previous"]
        for row in rows:
            entry, body = encode_entry(msgspec.structs.replace(decode_entry(row["body"]), activity="allow"))
            digest = link(previous, FIRST, "decision", row["sequence"], body)
            connection.execute(
                f"UPDATE audit SET previous = ?, digest = ?, body = ?, activity = ? WHERE {chain} AND sequence = ?",
                (previous, digest, body, entry.activity, row["sequence"]),
            )
            previous = digest
    connection.close()
    return Link(rows[-1]["sequence"], previous)


def rewrite_and_sign_again(attacked: Attacked) -> None:
    sign_again(attacked, {FIRST: rewrite_rows(attacked)})


Attack = Callable[[Attacked], Any]
KEY, NO_CHECKPOINT = ("unproven", "key"), ("unproven", SECOND)
ATTACKS: dict[str, tuple[Attack, str, list[tuple[str, str]]]] = {
    "nothing": (lambda attacked: None, "whole", []),
    "the key is deleted": (lambda attacked: (attacked.audit / "key").unlink(), "unproven", [KEY]),
    "the key is emptied": (lambda attacked: (attacked.audit / "key").write_text(""), "unproven", [KEY]),
    "all checkpoints are deleted": (lambda attacked: shutil.rmtree(attacked.audit), "unproven", [KEY]),
    "a head is deleted": (lambda attacked: attacked.head(SECOND).unlink(), "unproven", [NO_CHECKPOINT]),
    "a head is cut to half a line": (halve(lambda attacked: attacked.head(SECOND)), "unproven", [NO_CHECKPOINT]),
    "the heads are swapped": (swap_heads, "unproven", [("unproven", FIRST), NO_CHECKPOINT]),
    "the roster is deleted": (lambda attacked: (attacked.audit / "writers.jsonl").unlink(), "unproven", [("unproven", "roster")]),
    "the roster is cut to half a line": (
        halve(lambda attacked: attacked.audit / "writers.jsonl"), "unproven", [("unproven", "roster:1"), ("unproven", "roster")],
    ),
    "the last rows are deleted": (
        lambda attacked: attacked.execute(f"DELETE FROM audit WHERE writer = '{FIRST}' AND sequence > 5"),
        "changed", [("cut_off", f"{FIRST}:decision:6")],
    ),
    "the rows of a writer are deleted": (
        lambda attacked: attacked.execute(f"DELETE FROM audit WHERE writer = '{SECOND}'"),
        "changed", [("cut_off", f"{SECOND}:decision:1")],
    ),
    "the rows of a writer and its head are deleted": (remove_writer, "changed", [("missing", SECOND)]),
    "and its line of the roster too": (remove_writer_and_line, "unproven", [("unproven", "roster")]),
    "all rows and checkpoints are deleted": (remove_all, "changed", [("missing", "audit")]),
    "the store is rolled back to an older backup": (
        roll_back, "changed", [("cut_off", f"{FIRST}:decision:5"), ("cut_off", f"{SECOND}:decision:2")],
    ),
    "older checkpoints are put back": (
        roll_back_checkpoints, "unproven", [("unproven", f"{FIRST}:decision:5"), ("unproven", f"{SECOND}:decision:2")],
    ),
    "the heads are signed with another key": (
        sign_heads_again, "unproven", [("unproven", FIRST), NO_CHECKPOINT],
    ),
    "all checkpoints are signed with another key": (
        sign_again, "unproven",
        [("unproven", "roster:1"), ("unproven", "roster:2"), ("unproven", FIRST), NO_CHECKPOINT],
    ),
    "rows are rewritten and signed with another key": (
        rewrite_and_sign_again, "unproven",
        [("unproven", "roster:1"), ("unproven", "roster:2"), ("unproven", FIRST), NO_CHECKPOINT],
    ),
    "rows are rewritten without a signature": (
        rewrite_rows, "changed", [("changed", f"{FIRST}:decision:8")],
    ),
    "a row with the right digest is added": (append_row, "unproven", [("unproven", f"{FIRST}:decision:9")]),
}  # fmt: skip
SIGNED_BY_THE_NEXT = {"older checkpoints are put back"}
"""The next writer covers sealed rows after the last checkpoint, because a power failure leaves some. It notes which."""


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_on_the_audit_is_told(attacked: Attacked, household: Kernel, name: str) -> None:
    """The attack is found at once, and after another writer has continued."""
    attack, verdict, findings = ATTACKS[name]
    attack(attacked)
    assert verify(attacked, household) == (verdict, findings)
    store = ("--store", attacked.place.path)
    done = run_here("agent", "add", "data", "--org", "household", *store, cwd=attacked.folder)
    assert (done.returncode == 2) is (
        name == "the key is emptied"
    )  # nothing is written that cannot be signed
    after = verify(attacked, household)
    if name not in SIGNED_BY_THE_NEXT:
        assert (after[0] == "whole") is (name == "nothing"), after
        return
    rows = run_here("audit", "query", "--kind", "audit", "--format", "json", *store, cwd=attacked.folder)
    (row,) = [row for row in json.loads(rows.stdout) if row["activity"] == "resumed"]
    (_, _, first) = findings[0][1].split(":")
    assert row["detail"]["open"]["decision"][0] == int(first)


def test_a_roll_back_of_all_is_told_by_a_copy_elsewhere(attacked: Attacked) -> None:
    """Nothing here can prove that; the checkpoints that were copied to another place can."""
    elsewhere = attacked.folder / "elsewhere"
    shutil.copytree(attacked.audit, elsewhere)
    roll_back(attacked)
    shutil.rmtree(attacked.audit)
    shutil.copytree(f"{attacked.backup}.audit", attacked.audit)
    verified = ("audit", "verify", "--store", attacked.place.path)
    assert run_here(*verified, cwd=attacked.folder).returncode == 0
    done = run_here(*verified, "--checkpoints", str(elsewhere), cwd=attacked.folder)
    assert done.returncode == 1
    assert done.stdout.startswith(f"cut_off: the chain ends before row {FIRST}:decision:5, but had reached")


def test_a_key_that_was_replaced_is_told_by_a_copy_elsewhere(attacked: Attacked) -> None:
    """An attacker with the store, the folder and the key can sign everything again, but an older copy of the checkpoints
    shows the changed rows.
    """
    elsewhere = attacked.folder / "elsewhere"
    shutil.copytree(attacked.audit, elsewhere)
    key = sign_again(attacked, {FIRST: rewrite_rows(attacked)})
    shutil.copy(key, attacked.audit / "key")
    verified = ("audit", "verify", "--store", attacked.place.path)
    done = run_here(*verified, "--checkpoints", str(elsewhere), cwd=attacked.folder)
    assert done.returncode == 1
    assert (
        f"changed: row {FIRST}:decision:8 is not the signed one: rows up to it were rewritten" in done.stdout
    )


def test_a_verification_meanwhile_finds_nothing(quick_folder: Path) -> None:
    """While writers come and go, and old rows are dropped."""
    place, clock, is_done = sqlite_at(quick_folder), Clock(), threading.Event()

    def write() -> None:
        while not is_done.is_set():
            with opened(place, clock) as store:
                for _ in range(3):
                    store.audit.write(decision(int(clock.now)))

    threads = [threading.Thread(target=write) for _ in range(3)]
    with opened(place, clock) as store:
        store.audit.write(decision(0))
        for thread in threads:
            thread.start()
        try:
            for _ in range(12):
                clock.now += 40 * DAY
                drop_old(store.context, store.folder)
                found = verify_audit(store.context, store.folder)
                assert (found.verdict, found.findings) == ("whole", ())
        finally:
            is_done.set()
            for thread in threads:
                thread.join()
    assert found.dropped


def test_a_store_that_is_gone_is_told(attacked: Attacked, household: Kernel) -> None:
    """By its checkpoints. A folder of checkpoints that is not there is refused, not passed over."""
    command = ("audit", "verify", "--store", attacked.place.path)
    assert run_here(*command, "--checkpoints", "none", cwd=attacked.folder).returncode == 2
    Path(attacked.place.path).unlink()
    assert run_here(*command, cwd=attacked.folder).returncode == 2
    with TestClient(
        create_app(household, store=attacked.place), base_url="http://127.0.0.1:8000", client=("127.0.0.1", 1)
    ) as client:
        told = client.get("/v1/audit/verification").json()
    assert (told["is_whole"], told["verdict"], told["findings"][0]["problem"]) == (
        False,
        "changed",
        "missing",
    )


def test_a_checkpoint_that_is_removed_while_serving_is_told(attacked: Attacked, household: Kernel) -> None:
    """The next row reports it, and `/readyz` shows it before a verification."""
    _, secret = first_key(attacked)
    with TestClient(
        create_app(household, store=attacked.place), base_url="http://127.0.0.1:8000", client=("127.0.0.1", 1)
    ) as client:
        asked = {"requester": "agent:butler", "resources": ["tool:github"]}
        headers = {"Authorization": f"Bearer {secret}"}
        assert client.post("/v1/orgs/active/requests", json=asked, headers=headers).status_code == 201
        assert client.get("/readyz").json()["store"] == "ok"
        for head in attacked.audit.glob("*.head"):
            head.unlink()
        asked["requester"] = "agent:clerk"
        assert client.post("/v1/orgs/active/requests", json=asked, headers=headers).status_code == 201
        ready = client.get("/readyz").json()
        assert (ready["status"], ready["store"]) == ("degraded", "unproven")


def first_key(attacked: Attacked) -> tuple[object, str]:
    with open_store(attacked.place) as store:
        return store.keys.create("test", ["admin"], created_by="a")


def test_findings_are_accepted_one_by_one(attacked: Attacked) -> None:
    """What was accepted is a note with who and why; what happens later is a finding again."""
    attacked.execute(f"DELETE FROM audit WHERE writer = '{FIRST}' AND sequence > 5")
    store = ("--store", attacked.place.path)
    done = run_here("audit", "accept", "--reason", "a test of the disk", *store, cwd=attacked.folder)
    assert (done.returncode, done.stderr) == (0, "1 finding accepted\n")
    done = run_here("audit", "verify", *store, cwd=attacked.folder)
    assert done.returncode == 0, done.stdout
    assert "system:cli accepted at " in done.stderr
    assert "(a test of the disk)" in done.stderr
    assert "the audit is unchanged, except for 1 accepted finding" in done.stderr
    attacked.execute(f"DELETE FROM audit WHERE writer = '{FIRST}' AND sequence > 4 AND stream = 'decision'")
    assert run_here("audit", "verify", *store, cwd=attacked.folder).returncode == 1
    (attacked.audit / "accepted.jsonl").unlink()
    assert run_here("audit", "verify", *store, cwd=attacked.folder).returncode == 1


def test_the_key_that_signs_is_replaced_while_a_server_writes(attacked: Attacked) -> None:
    """What was signed is signed again, the server goes on with the new key, and the old one ends."""
    clock = Clock()
    store = ("--store", attacked.place.path)
    old = (attacked.audit / "key").read_text()
    with opened(attacked.place, clock) as server:
        server.audit.write(decision(10))
        done = run_here("audit", "rotate-key", "--overlap", "0s", *store, cwd=attacked.folder)
        assert done.returncode == 0, done.stderr
        assert (attacked.audit / "key").read_text().splitlines()[0] != old.strip()
        server.audit.write(decision(11))
        done = run_here("audit", "verify", *store, cwd=attacked.folder)
        assert done.returncode == 0, done.stdout
    attacked.execute(f"DELETE FROM audit WHERE writer = '{SECOND}' AND sequence = 5")
    done = run_here("audit", "rotate-key", *store, cwd=attacked.folder)
    assert done.returncode == 2
    assert "the audit is not intact" in done.stderr


def test_checkpoints_go_where_the_setting_says(quick_folder: Path) -> None:
    """Several machines can share the folder; with another store, the folder beside that store counts."""
    machine = quick_folder / "machine"
    machine.mkdir()
    (machine / "orgkernel.toml").write_text('checkpoints = "../shared"\n')
    assert run_here("agent", "add", "worf", "--org", "shop", cwd=machine).returncode == 0
    assert {path.name for path in (machine / ".orgkernel").iterdir()} == {
        ".gitignore",
        "state.db",
        "state.db.lock",
    }
    assert len(list((quick_folder / "shared").glob("writer-*.head"))) == 1
    assert run_here("audit", "verify", cwd=machine).returncode == 0
    assert (
        run_here("agent", "add", "worf", "--org", "shop", "--store", "other.db", cwd=machine).returncode == 0
    )
    assert (machine / "other.db.audit").is_dir()
    variable = {"ORGKERNEL_CHECKPOINTS": str(quick_folder / "third")}
    done = run_here("audit", "verify", cwd=machine, env=variable)
    assert (done.returncode, done.stdout.partition(":")[0]) == (1, "unproven")
