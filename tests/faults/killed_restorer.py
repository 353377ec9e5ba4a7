"""Restores a backup in children that are killed before each step that touches a file; run by `test_restored_store.py`.

`python -m tests.faults.killed_restorer FOLDER` prints how many steps there were. FOLDER has `made`, with a store whose log
lies beside it, and its backup.
"""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from itertools import count
from typing import Any

from orgkernel.operations.upkeep import restore_store
from orgkernel.state.location import parse_location
from orgkernel.state.store import Store

_STEPS = ("link", "unlink", "rename", "replace", "fsync")


def kill_at(number: int) -> None:
    """Have the process kill itself before a step."""
    steps = iter(range(number, -1, -1))

    def killing(do: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any, **settings: Any) -> Any:
            if next(steps, 1) == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return do(*arguments, **settings)

        return step

    for name in _STEPS:
        setattr(os, name, killing(getattr(os, name)))


def restore_and_die(folder: str, number: int) -> bool:
    """Restore in a child that is killed before a step. Whether it ended before."""
    child = os.fork()
    if child == 0:
        try:
            kill_at(number)
            restore_store(parse_location("state.db", folder), os.path.join(folder, "backup.db"), "a")
            os._exit(0)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return False
    assert os.waitstatus_to_exitcode(status) == 0
    return True


def read_agents(folder: str) -> list[str]:
    """The agents in a store, which is complete."""
    with closing(sqlite3.connect(os.path.join(folder, "state.db"))) as rows, rows:
        assert rows.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        found = [name for (name,) in rows.execute("SELECT agent_id FROM agents ORDER BY agent_id")]
    rows.close()
    return found


def main() -> None:
    made, folder = (os.path.join(sys.argv[1], name) for name in ("made", "tried"))
    Store(
        parse_location("warm.db", sys.argv[1]), clock=float, tokens=os.urandom
    ).close()  # imports what children need
    for number in count():
        shutil.copytree(made, folder)
        is_done = restore_and_die(folder, number)
        found = read_agents(folder)
        assert found in (["early"], ["stale early", "stale late"]), (number, found)
        if number % 4 == 0 and not is_done:  # trying again takes as long as the rest
            restore_store(parse_location("state.db", folder), os.path.join(folder, "backup.db"), "a")
            assert read_agents(folder) == ["early"], number
        shutil.rmtree(folder)
        if is_done:
            print(number)
            return


if __name__ == "__main__":
    main()
