"""Processes whose clock is ahead, and those that come after them with the right one."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from orgkernel.decisions.evidence.state_records import AuditFilter
from orgkernel.kernel.stored import open_store
from orgkernel.operations import upkeep
from tests.api.keys import location_of
from tests.cli.running import ORGKERNEL
from tests.support.patience import PATIENCE, until
from tests.support.trees import REPOSITORY, copy_template

HOUR, DAY = 3_600.0, 86_400.0
MOVED = """
import sys, time
real, moved = time.time, float(sys.argv[1])
time.time = lambda: real() + moved
from orgkernel.cli import main
sys.argv = ["orgkernel", *sys.argv[2:]]
main()
"""
BELIEVING = """
import sys
from manifest_api import store_access
store_access.audit_expired_records.__defaults__ = (0.1, 1.0)
from orgkernel.cli import main
sys.argv = ["orgkernel", "serve", "--port", "0", "--store", sys.argv[1]]
main()
"""
"""A server that believes its clock after a second instead of ten minutes."""


def run_at(folder: Path, moved: float, *words: str) -> None:
    """Run a command whose clock is moved by so many seconds."""
    command = [sys.executable, "-c", MOVED, str(moved), *words, "--store", "state.db"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr


def write_ahead(folder: Path) -> Path:
    """A store with a claim and a grant of a clock that was ahead."""
    copy_template(folder / "household", "household")
    run_at(
        folder,
        30 * DAY,
        "claim",
        "add",
        "household",
        "agent:clerk",
        "src/**",
        "--seconds",
        "3000",
        "--path",
        "household",
    )
    run_at(
        folder, 30 * DAY, "grant", "issue", "person:partner", "tool:github", "--expires", "1h", "--org", "household",
        "--path", "household",
    )  # fmt: skip
    return folder / "state.db"


def list_ends(path: Path) -> list[float]:
    """The ends of the claims and grants, in seconds from now."""
    with open_store(location_of(path), create=False) as store:
        ends = [each.expires_at for each in (*store.claims.list(), *store.grants.list())]
    return [each - time.time() for each in ends if each is not None]


def test_a_server_with_the_right_clock_begins_the_terms(tmp_path: Path) -> None:
    """The terms are those that were asked for, from the moment at which the server believes its clock."""
    path = write_ahead(tmp_path)
    assert min(list_ends(path)) > 29 * DAY
    server = subprocess.Popen(
        [sys.executable, "-c", BELIEVING, str(path)], cwd=tmp_path / "household", stderr=subprocess.PIPE, text=True
    )  # fmt: skip
    try:
        ends = until(lambda: list_ends(path), lambda ends: max(ends) < DAY)
        assert max(ends) <= 3_600
    finally:
        server.kill()
        server.communicate()


def test_an_operator_begins_the_terms(tmp_path: Path) -> None:
    """`store fix-dates` does the same at once, and a second time there is nothing to do."""
    path = write_ahead(tmp_path)
    for said in ("2 terms begin now\n", "0 terms begin now\n"):
        done = subprocess.run(
            [ORGKERNEL, "store", "fix-dates", "--store", str(path)], cwd=REPOSITORY, capture_output=True,
            text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, said)
    assert max(list_ends(path)) <= 3_600


def test_a_machine_that_starts_in_1970_lifts_no_restriction(tmp_path: Path) -> None:
    """A restriction of a week and a claim that are written in these minutes hold with the right clock, after an operator or a
    server had believed it.
    """
    path = tmp_path / "state.db"
    copy_template(tmp_path / "household", "household")
    run_at(
        tmp_path,
        0.0,
        "grant",
        "issue",
        "person:partner",
        "tool:github",
        "--org",
        "household",
        "--path",
        "household",
    )
    run_at(tmp_path, 0.0, "store", "fix-dates")
    behind = DAY - time.time()
    run_at(
        tmp_path, behind, "restriction", "issue", "person:partner", "tool:github", "--expires", "7d", "--org", "household",
        "--path", "household",
    )  # fmt: skip
    run_at(
        tmp_path, behind, "claim", "add", "household", "agent:clerk", "src/**", "--seconds", "3000", "--path", "household"
    )  # fmt: skip
    with open_store(location_of(path), create=False) as store:
        (held,) = store.restrictions.list(active_only=True)
        assert held.expires_at is not None
        assert 6.9 * DAY < held.expires_at - time.time() < 7.1 * DAY
        assert [each.paths for each in store.claims.list()] == [("src/**",)]
        newest = next(iter(upkeep.read_audit(store, AuditFilter(), 1)))
        assert newest.entry.at > time.time() - HOUR
