"""Writes to a store in children that are killed at moments drawn by lot; run by `test_killed_writers.py`.

`python -m tests.faults.killed_writer FOLDER KILLS SEED` prints, one a line, the name of every row and grant that a child
had been told is written before it was killed, every agent that was commissioned, and every session that has its result.
"""

from __future__ import annotations

import contextlib
import os
import random
import select
import signal
import sys
import threading
import time
from functools import partial

from sqlalchemy import event

from orgkernel.decisions.evidence.crew_records import AgentIdentity
from orgkernel.decisions.evidence.state_records import AuditEntry
from orgkernel.errors import Conflict
from orgkernel.state.claims import WantedClaim
from orgkernel.state.contracts import WantedContract
from orgkernel.state.crew import CommissionDraft
from orgkernel.state.handoffs import WantedHandoff
from orgkernel.state.location import parse_location
from orgkernel.state.store import Store

_CALLERS = 3
SKILLS = ("s1", "s2", "s3", "s4")
_LONGEST = 0.03
"""Seconds from the first acknowledgement to the kill: several commits on a disk, hundreds in memory."""


def write_until_killed(folder: str, pipe: int, moment: tuple[str, int]) -> None:
    """The child: callers that say what was acknowledged, and nothing before."""
    store = Store(parse_location("state.db", folder), clock=time.time, tokens=os.urandom)
    kill_at(store, *moment)

    def decide() -> None:
        while True:
            name = store.audit.write(AuditEntry("decision", time.time(), "allow", subject="agent:worf"))
            os.write(pipe, f"{name}\n".encode())

    def grant() -> None:
        while True:
            issued = store.grants.issue("agent:worf", ["tool:x"], issued_by="a", uses=1)
            os.write(pipe, f"{issued.grant_id}\n".encode())
            name = store.audit.write(AuditEntry("decision", time.time(), "allow"), uses=[issued.grant_id])
            os.write(pipe, f"{name}\nused {issued.grant_id}\n".encode())

    def commission() -> None:
        while True:
            agent = f"a{os.urandom(6).hex()}"
            identity = AgentIdentity(agent, "shop", f"did:key:z{agent}", time.time())
            draft = CommissionDraft(agent, "hand", "active", SKILLS, identity, "{}")
            store.crew.commission("shop", [draft], actor="a", snapshot="s")
            os.write(pipe, f"commissioned {agent}\n".encode())

    def finish() -> None:
        while True:
            session = f"s-{os.urandom(6).hex()}"
            for _ in range(2):  # once more, as one who did not hear the answer
                with contextlib.suppress(Conflict):
                    store.contracts.record("shop", "result", {"session": session}, actor="a")
            os.write(pipe, f"finished {session}\n".encode())

    def hand_down() -> None:
        while True:
            name = os.urandom(6).hex()
            claim = WantedClaim(
                holder="agent:worf", paths=(f"{name}.py",), seconds=60, session=name, brief=name
            )
            wanted = WantedHandoff(
                sender="role:planner", receiver="role:worker", holder="agent:worf", session=name, queue_mode="queue",
                session_key="key", code="CHAIN_OF_COMMAND", snapshot="s", seconds=60, claim=claim,
                brief=WantedContract("brief", {"id": name}, str),
            )  # fmt: skip
            store.handoffs.record("yard", partial(_ask_for, wanted), actor="a")
            os.write(pipe, f"handed down {name}\n".encode())

    work = (*[decide] * _CALLERS, grant, commission, finish, hand_down)
    threads = [threading.Thread(target=each) for each in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _ask_for(wanted: WantedHandoff, _: object) -> WantedHandoff:
    return wanted


def kill_at(store: Store, where: str, number: int) -> None:
    """Have the process kill itself at a step of the database's work, or just before its commit.

    It sleeps before, so that a caller who was told too early has the time to say so.
    """
    steps = iter(range(number, -1, -1))

    def step(*_: object) -> int:
        if next(steps, 1) == 0:
            time.sleep(0.003)
            os.kill(os.getpid(), signal.SIGKILL)
        return 0

    if where == "step":
        event.listen(store.engine, "connect", lambda connection, _: connection.set_progress_handler(step, 50))
        store.engine.dispose()
    elif where == "commit":
        event.listen(store.engine, "commit", step)


def draw_moment(chance: random.Random) -> tuple[str, int]:
    """A third each: at any time, at a step inside a transaction, just before a commit."""
    where = chance.choice(["time", "step", "commit"])
    return where, chance.randrange(12 if where == "commit" else 400)


def kill_one(folder: str, chance: random.Random) -> bytes:
    """Start a child, kill it, and return what it had been told."""
    moment = draw_moment(chance)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            write_until_killed(folder, writing, moment)
        finally:
            os._exit(1)
    os.close(writing)
    if moment[0] == "time":
        # A quarter of these are killed while they open the store; the others after their first row.
        if chance.random() < 0.75:
            select.select([reading], [], [], 30)
        time.sleep(chance.random() * _LONGEST)
        os.kill(child, signal.SIGKILL)
    told = b""
    while part := os.read(reading, 65_536):
        told += part
    os.close(reading)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "the child ended by itself"
    return told


def main() -> None:
    folder, kills, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(seed)
    Store(
        parse_location("warm.db", folder), clock=time.time, tokens=os.urandom
    ).close()  # imports what children need
    for _ in range(kills):
        told = kill_one(folder, chance)
        sys.stdout.write(told.decode()[: told.rfind(b"\n") + 1])


if __name__ == "__main__":
    main()
