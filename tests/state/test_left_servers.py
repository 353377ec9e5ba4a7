"""A run of the tests that was killed leaves no server, and no folder in memory, to the next one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.state.postgres import MISSING, find_binaries
from tests.support.memory_folder import POSTGRESQL, find_memory_folder, remove_left_servers
from tests.support.patience import until

PROGRAM = """
import sys, time
from tests.state.postgres import find_binaries, running
with running(find_binaries()) as url:
    print(url.rpartition("host=")[2], flush=True)
    time.sleep(600)
"""


def test_a_server_of_a_killed_run_is_ended(postgres_server: str) -> None:
    """One of a run that goes on is left alone."""
    if find_binaries() is None:
        pytest.skip(MISSING)
    run = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
    )
    assert run.stdout is not None
    folder = Path(run.stdout.readline().strip())
    own = Path(postgres_server.rpartition("host=")[2])
    assert folder.name.startswith(POSTGRESQL)
    postmaster = int((folder / "data" / "postmaster.pid").read_text().split()[0])
    place = Path(find_memory_folder() or "/tmp")
    remove_left_servers(place)
    assert folder.exists()
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    run.stdout.close()
    remove_left_servers(place)
    assert not folder.exists()
    until(lambda: Path(f"/proc/{postmaster}").exists(), lambda exists: not exists)
    assert own.exists()
