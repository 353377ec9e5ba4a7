"""`audit verify` on stores that another program has written to."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orgkernel.decisions.evidence.state_records import AuditEntry, AuditFilter
from orgkernel.errors import StoreError
from orgkernel.state.audit import DAY, drop_old, read_rows
from orgkernel.state.backup import back_up
from orgkernel.state.chain import UNREADABLE, link
from orgkernel.state.checkpoints import Checkpoints
from orgkernel.state.location import StoreLocation, parse_location
from orgkernel.state.verify import verify_audit
from tests.state.contract_of_handoffs import hand_down
from tests.state.opening import Clock, Tokens, opened, sqlite_at

Finding = tuple[str, str]


@pytest.fixture
def place(quick_folder: Path) -> StoreLocation:
    """A store of ten decisions, closed."""
    place = sqlite_at(quick_folder)
    with opened(place) as store:
        for number in range(1, 11):
            store.audit.write(
                AuditEntry("decision", float(number), "deny" if number % 2 else "allow", subject="agent:worf")
            )
    return place


def problems(place: StoreLocation) -> list[Finding]:
    """What verify finds: the problem, and where in the chain."""
    with opened(place) as store:
        found = verify_audit(store.context, store.folder)
    return [(each.problem, each.row.partition(":")[2] or "writer") for each in found.findings]


def tamper(place: StoreLocation, *statements: str) -> None:
    connection = sqlite3.connect(place.path)
    with connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def head_of(place: StoreLocation) -> Path:
    (head,) = Path(place.checkpoints).glob("*.head")
    return head


def test_what_was_not_touched_is_whole(place: StoreLocation) -> None:
    """And stays so when others write on."""
    assert problems(place) == []
    with opened(place) as store:
        store.agents.add("worf", org_id="shop", actor="a")
    assert problems(place) == []


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        pytest.param(["UPDATE audit SET body = replace(body, 'deny', 'allow') WHERE sequence = 5"], [("changed", "decision:5")], id="what a row says"),
        pytest.param(["UPDATE audit SET subject = 'agent:data' WHERE sequence = 5"], [("changed", "decision:5")], id="a column beside it"),
        pytest.param(["UPDATE audit SET at = at - 1 WHERE sequence = 10"], [("changed", "decision:10")], id="the time of the last row"),
        pytest.param(["UPDATE audit SET digest = previous WHERE sequence = 5"], [("changed", "decision:5")], id="its digest"),
        pytest.param(["UPDATE audit SET body = 'x' WHERE sequence = 5"], [("changed", "decision:5")], id="no entry at all"),
        pytest.param(["DELETE FROM audit WHERE sequence = 5"], [("missing", "decision:5")], id="a row gone"),
        pytest.param(["DELETE FROM audit WHERE sequence IN (3, 7, 8)"], [("missing", "decision:3"), ("missing", "decision:7")], id="rows gone"),
        pytest.param(["DELETE FROM audit WHERE sequence < 4"], [("missing", "decision:1")], id="the beginning gone"),
        pytest.param(["DELETE FROM audit WHERE sequence = 10"], [("cut_off", "decision:10")], id="the last row gone"),
        pytest.param(["DELETE FROM audit"], [("cut_off", "decision:1")], id="everything gone"),
        pytest.param(
            ["UPDATE audit SET sequence = 99 WHERE sequence = 4", "UPDATE audit SET sequence = 4 WHERE sequence = 7", "UPDATE audit SET sequence = 7 WHERE sequence = 99"],
            [("reordered", "decision:4"), ("reordered", "decision:7")], id="two rows exchanged",
        ),
        pytest.param(
            ["CREATE TEMP TABLE t AS SELECT * FROM audit", "UPDATE audit SET body = (SELECT body FROM t WHERE t.sequence = 8) WHERE sequence = 7", "UPDATE audit SET body = (SELECT body FROM t WHERE t.sequence = 7) WHERE sequence = 8"],
            [("reordered", "decision:7"), ("reordered", "decision:8")], id="what two rows say exchanged",
        ),
        pytest.param(
            ["DELETE FROM audit WHERE sequence = 5", "UPDATE audit SET sequence = sequence - 1 WHERE sequence > 5"],
            [*(("reordered", f"decision:{number}") for number in range(5, 10)), ("cut_off", "decision:10")], id="a row gone and the rest moved up",
        ),
    ],
)  # fmt: skip
def test_every_change_is_found_and_named(
    place: StoreLocation, statements: list[str], expected: list[Finding]
) -> None:
    """The change is found at once, and after another writer has continued: the next writer does not hide it."""
    tamper(place, *statements)
    assert problems(place) == expected
    with opened(place) as store:
        store.audit.write(AuditEntry("decision", 99.0, "allow"))
    assert problems(place) == expected


KEPT_FOR_A_DAY: dict[Any, float] = {"decision": DAY, "history": DAY}
STRANGE = [
    "UPDATE audit SET sequence = 'x' WHERE sequence = 5",
    "UPDATE audit SET sequence = x'01' WHERE sequence = 5",
    "UPDATE audit SET writer = x'00' WHERE sequence = 5",
    "UPDATE audit SET stream = 7 || '' WHERE sequence = 5",
    "UPDATE audit SET body = x'ff' WHERE sequence = 5",
    "UPDATE audit SET body = CAST(x'ff' AS TEXT) WHERE sequence = 5",
    "UPDATE audit SET subject = CAST(x'ff' AS TEXT) WHERE sequence = 5",
    "UPDATE audit SET digest = 1.5, previous = x'00' WHERE sequence = 5",
    "UPDATE audit SET at = 'soon' WHERE sequence = 5",
    "UPDATE audit SET body = '" + "[" * 5_000 + "' WHERE sequence = 5",
    "UPDATE dispatches SET number = 'x'",
    "UPDATE dispatches SET org_id = x'00'",
    "UPDATE dispatches SET obligations = '{', at = 'soon'",
    "UPDATE contract_records SET sequence = 'x'",
    "UPDATE contract_records SET body = x'ff'",
]


@pytest.mark.parametrize("statement", STRANGE)
def test_a_value_that_cannot_be_read_is_told(place: StoreLocation, tmp_path: Path, statement: str) -> None:
    """SQLite keeps any value in any column. The others are verified, read, pruned and copied nevertheless."""
    with opened(place) as store:
        hand_down(store, 1)
    tamper(place, statement)
    found = [problem for problem, _ in problems(place)]
    assert "changed" in found or "missing" in found
    with opened(place, Clock(1000 * DAY)) as store:
        if (
            "CAST" in statement
        ):  # SQLite cannot hand out such a text, so nothing is read or deleted, and the error is ours
            with pytest.raises(StoreError, match="decode"):
                drop_old(store.context, store.folder, KEPT_FOR_A_DAY)
        else:
            activities = [row.entry.activity for row in read_rows(store.context, AuditFilter())]
            assert len(activities) >= 11
            assert activities.count(UNREADABLE) == ("audit SET body" in statement)
            drop_old(store.context, store.folder, KEPT_FOR_A_DAY)
        store.audit.write(AuditEntry("decision", 99.0, "allow"))
    later = [problem for problem, _ in problems(place)]
    assert later == found[: len(later)] != []  # retention deletes the row that recorded a contract
    back_up(place, str(tmp_path / "copy.db"), Tokens(), Clock())


def test_a_chain_written_anew_does_not_match_its_signed_head(place: StoreLocation) -> None:
    """An attacker who computes all digests again still lacks the key."""
    connection = sqlite3.connect(place.path)
    rows = connection.execute("SELECT writer, stream, sequence, body FROM audit ORDER BY sequence").fetchall()
    previous = "0" * 64
    with connection:
        for writer, stream, sequence, body in rows:
            changed = body.replace("deny", "allow")
            digest = link(previous, writer, stream, sequence, changed)
            update = (
                "UPDATE audit SET previous = ?, digest = ?, body = ?, activity = 'allow' WHERE sequence = ?"
            )
            connection.execute(update, (previous, digest, changed, sequence))
            previous = digest
    connection.close()
    assert problems(place) == [("changed", "decision:10")]


def test_a_replaced_row_is_named_by_the_one_after_it(place: StoreLocation) -> None:
    """A row with a right digest of its own that the next one was not written after."""
    connection = sqlite3.connect(place.path)
    query = "SELECT previous, writer, stream, body FROM audit WHERE sequence = 5"
    previous, writer, stream, body = connection.execute(query).fetchone()
    changed = body.replace("deny", "allow")
    with connection:
        connection.execute(
            "UPDATE audit SET body = ?, activity = 'allow', digest = ? WHERE sequence = 5",
            (changed, link(previous, writer, stream, 5, changed)),
        )
    connection.close()
    assert problems(place) == [("changed", "decision:5")]


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda head: head.write_bytes(head.read_bytes().replace(b"10,", b"11,")), id="changed"),
        pytest.param(lambda head: head.write_bytes(b""), id="emptied"),
        pytest.param(lambda head: head.write_bytes(b"\xff" * 1024), id="overwritten"),
        pytest.param(lambda head: head.unlink(), id="removed"),
        pytest.param(lambda head: head.rename(head.with_name("writer-000000000000.head")), id="renamed"),
    ],
)
def test_a_checkpoint_that_proves_nothing_is_said(
    place: StoreLocation, damage: Callable[[Path], object]
) -> None:
    """The rows still follow each other, so only the checkpoint is found."""
    damage(head_of(place))
    assert {problem for problem, _ in problems(place)} == {"unproven"}


def test_another_key_proves_nothing(place: StoreLocation) -> None:
    """Neither does none."""
    key = Path(place.checkpoints) / "key"
    key.write_text("00" * 32 + "\n")
    assert {problem for problem, _ in problems(place)} == {"unproven"}
    key.unlink()
    with opened(place) as store:
        found = verify_audit(store.context, store.folder)
    assert [(each.problem, each.row) for each in found.findings] == [("unproven", "key")]
    assert found.verdict == "unproven"


def test_checkpoints_kept_elsewhere_find_what_those_here_do_not(place: StoreLocation, tmp_path: Path) -> None:
    """An attacker removes the end and restores an old checkpoint: a copy of the newer one shows it."""
    old = head_of(place).read_bytes()
    with opened(place) as store:
        store.audit.write(AuditEntry("decision", 11.0, "deny"))
    shutil.copytree(place.checkpoints, tmp_path / "elsewhere")
    tamper(place, "DELETE FROM audit WHERE sequence = 11")
    head_of(place).write_bytes(old)
    assert problems(place) == []
    with opened(place) as store:
        found = verify_audit(store.context, Checkpoints(str(tmp_path / "elsewhere"), Tokens(), Clock()))
    assert [(each.problem, each.row[-11:]) for each in found.findings] == [("cut_off", "decision:11")]


def test_dropped_rows_are_missing_without_their_segment(place: StoreLocation) -> None:
    """What retention took is proven by a signed line, and by nothing else."""
    with opened(place, Clock(5 + 90 * DAY)) as store:
        assert len(drop_old(store.context, store.folder)) == 1
    assert problems(place) == []
    segments = Path(place.checkpoints) / "segments.jsonl"
    line = segments.read_bytes()
    segments.write_bytes(line.replace(b'"last":4', b'"last":6'))
    tamper(place, "DELETE FROM audit WHERE stream = 'decision' AND sequence <= 6")
    assert problems(place) == [("unproven", "1"), ("missing", "decision:1")]
    segments.write_bytes(line)
    assert problems(place) == [("missing", "decision:5")]


def test_a_segment_noted_but_not_yet_dropped_is_no_finding(place: StoreLocation) -> None:
    """We may be killed in between; the next time takes the rows."""
    shutil.copy(place.path, f"{place.path}.copy")
    with opened(place, Clock(5 + 90 * DAY)) as store:
        drop_old(store.context, store.folder)
        head = head_of(place).read_bytes()
    Path(f"{place.path}.copy").replace(place.path)
    for suffix in ("-wal", "-shm"):
        Path(place.path + suffix).unlink(missing_ok=True)
    head_of(place).write_bytes(head)
    with opened(place) as store:
        found = verify_audit(store.context, store.folder)
    assert [(each.problem, each.row.partition(":")[2]) for each in found.findings] == [
        ("cut_off", "history:1")
    ]


def test_a_backup_verifies_like_its_store(place: StoreLocation, tmp_path: Path) -> None:
    """While others write; and an existing file is left alone."""
    target = tmp_path / "copy.db"
    with opened(place) as store:
        back_up(place, str(target), Tokens(), Clock())
        store.audit.write(AuditEntry("decision", 99.0, "allow"))
        with pytest.raises(Exception, match="exists"):
            back_up(place, str(target), Tokens(), Clock())
        (tmp_path / "other.db.audit").mkdir()
        with pytest.raises(Exception, match="exists"):
            back_up(place, str(tmp_path / "other.db"), Tokens(), Clock())
        with pytest.raises(Exception, match="is not a folder"):
            back_up(place, str(tmp_path / "none" / "copy.db"), Tokens(), Clock())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.db", "copy.db.audit", "other.db.audit"]
    copy = parse_location("copy.db", str(tmp_path))
    assert problems(copy) == []
    with opened(copy) as store:
        assert verify_audit(store.context, store.folder).rows == 10
    assert not Path(f"{target}-journal").exists()


def test_checkpoints_of_several_machines_prove_the_audit_together(
    place: StoreLocation, tmp_path: Path
) -> None:
    """With a shared database each machine may have a folder of its own; one folder does not prove the rows of all."""
    other = replace(place, checkpoints=str(tmp_path / "other"))
    with opened(other) as store:
        store.audit.write(AuditEntry("decision", 11.0, "deny"))
        folders = [Checkpoints(each.checkpoints, Tokens(), Clock()) for each in (place, other)]
        for one in folders:
            found = verify_audit(store.context, one)
            assert (found.verdict, [each.problem for each in found.findings]) == ("unproven", ["unproven"])
        found = verify_audit(store.context, *folders)
    assert (found.verdict, found.findings, found.rows) == ("whole", (), 11)
