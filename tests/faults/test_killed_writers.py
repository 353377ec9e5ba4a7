"""Nothing acknowledged is lost: writers that are killed, writers that write at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import select

from orgkernel.decisions.evidence.state_records import AuditFilter
from orgkernel.state.audit import read_rows
from orgkernel.state.tables import file_claims, grants
from orgkernel.state.verify import verify_audit
from tests.state.opening import opened, sqlite_at
from tests.support.depth import DEPTH
from tests.support.patience import PATIENCE
from tests.support.trees import REPOSITORY

KILLS = 40 * DEPTH
"""For each of two disks: 200 in all."""


@pytest.mark.deep
@pytest.mark.parametrize("seed", [1, 2])
def test_what_was_acknowledged_survives_a_kill(tmp_path: Path, quick_folder: Path, seed: int) -> None:
    """On a disk and in memory, 100 kills each; the chains verify, a grant is used once or not at all,
    an agent has all skills or none, a session has one result, and a hand-off is there with its claim or not at all.
    """
    folder = tmp_path if seed == 1 else quick_folder
    command = [sys.executable, "-m", "tests.faults.killed_writer", str(folder), str(KILLS), str(seed)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE * DEPTH, cwd=REPOSITORY, check=False
    )
    assert done.returncode == 0, done.stderr
    told = done.stdout.splitlines()
    assert len(told) == len(set(told)) > KILLS / 2
    with opened(sqlite_at(folder)) as store:
        rows = {row.audit_id for row in read_rows(store.context, AuditFilter(kind="decision"))}
        issued = {grant.grant_id: grant for grant in store.grants.list()}
        uses = store.grants.count_uses()
        skills: dict[str, list[str]] = {}
        for each in store.skills.list("shop"):
            skills.setdefault(each.agent_id, []).append(each.skill)
        ends = [each.session for each in store.contracts.list("shop")]
        assert store.contracts.find_changes("shop") == ()
        sent = [each.brief for each in store.handoffs.list("yard")]
        briefs = [each.record_id for each in store.contracts.list("yard")]
        with store.context.reading() as connection:
            claimed = [*connection.scalars(select(file_claims.c.brief).order_by(file_claims.c.token))]
        assert store.handoffs.find_changes("yard") == ()
        found = verify_audit(store.context, store.folder)
    assert {name.removeprefix("finished ") for name in told if name.startswith("finished ")} <= {*ends}
    assert len(ends) == len({*ends}) > 0  # each session has one result
    assert {name.removeprefix("handed down ") for name in told if name.startswith("handed down ")} <= {*sent}
    assert sent == briefs == claimed  # a hand-off has its brief and its claim, or there is none of them
    assert {name for name in told if ":decision:" in name} <= rows
    assert {name for name in told if name.startswith("g-")} <= issued.keys()
    assert {name.removeprefix("used ") for name in told if name.startswith("used ")} <= uses.keys()
    assert {
        name: 1 - (grant.uses_left or 0) for name, grant in issued.items() if grant.uses_left == 0
    } == uses
    assert {
        name.removeprefix("commissioned ") for name in told if name.startswith("commissioned ")
    } <= skills.keys()
    assert all(held == ["s1", "s2", "s3", "s4"] for held in skills.values())  # all of them or none
    assert found.findings == ()


WRITER = """
import os, sys, time
from orgkernel.state.location import parse_location
from orgkernel.decisions.evidence.state_records import AuditEntry
from orgkernel.state.store import Store
with Store(parse_location("state.db", sys.argv[1]), clock=time.time, tokens=os.urandom, busy_seconds=60) as store:
    for number in range(int(sys.argv[2])):
        print(store.audit.write(AuditEntry("decision", time.time(), "allow")))
        print(store.grants.issue("agent:" + sys.argv[3], ["tool:x"], issued_by="a").grant_id)
        store.locks.acquire("shop", f"tool{number}", "agent:same")
"""


@pytest.mark.deep
def test_two_processes_that_write_at_once_lose_nothing(quick_folder: Path) -> None:
    """Not even while both make the store; every change has a version of its own, every lock a token of its own."""
    number = 60 * DEPTH
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(quick_folder), str(number), name],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=REPOSITORY,
        )
        for name in ("a", "b")
    ]  # fmt: skip
    told: list[str] = []
    for writer in writers:
        out, err = writer.communicate(timeout=PATIENCE * DEPTH)
        assert writer.returncode == 0, err
        told += out.splitlines()
    with opened(sqlite_at(quick_folder)) as store:
        rows = {row.audit_id for row in read_rows(store.context, AuditFilter(kind="decision"))}
        with store.context.reading() as connection:
            versions = connection.execute(select(grants.c.version)).scalars().all()
        assert rows | {grant.grant_id for grant in store.grants.list()} == set(told)
        assert len(told) == 4 * number
        assert len(set(versions)) == len(versions) == 2 * number
        assert store.read_view().version == 4 * number
        assert {lock.token for lock in store.locks.list()} == {2}
        assert verify_audit(store.context, store.folder).findings == ()
