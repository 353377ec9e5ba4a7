"""Connections to PostgreSQL that do not wait for ever: a server that is stopped keeps its sockets open and says nothing.

The server's own limits do not help where the server hangs, so the time is looked at here, while waiting for its answer.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from time import monotonic
from typing import Any, TypeVar

import psycopg
from sqlalchemy import Engine, event

T = TypeVar("T")
ANSWER_SECONDS = 30.0
"""For one answer of the server; large tables are read in portions, each of which is one."""


def bound(engine: Engine, lock_seconds: float, answer_seconds: float | None = None) -> None:
    """Have an engine make connections that give up: locks after `lock_seconds`, a silent server after `answer_seconds`."""
    seconds = ANSWER_SECONDS if answer_seconds is None else answer_seconds

    class Bounded(psycopg.Connection[Any]):
        def wait(self, gen: Generator[Any, Any, T], *rest: Any, **settings: Any) -> T:
            return super().wait(_until(gen, monotonic() + seconds, self._give_up), *rest, **settings)

        def _give_up(self) -> None:
            # INVARIANT: whatever the server still says is never read as the answer to something else.
            self.pgconn.finish()
            raise psycopg.OperationalError(f"the server has said nothing for {seconds:g} seconds")

    def connect(_dialect: Any, _record: Any, arguments: Any, settings: dict[str, Any]) -> Any:
        return Bounded.connect(*arguments, **{"connect_timeout": max(2, round(lock_seconds)), **settings})

    def prepare(connection: Any, _: object) -> None:
        # A commit is on the disk, whatever the server's default; and who holds a lock for too long is not waited for.
        connection.execute("SET synchronous_commit TO on")
        connection.execute(f"SET lock_timeout TO {round(lock_seconds * 1000)}")
        connection.commit()

    event.listen(engine, "do_connect", connect)
    event.listen(engine, "connect", prepare)


def _until(gen: Generator[Any, Any, T], end: float, give_up: Callable[[], None]) -> Generator[Any, Any, T]:
    """The driver's steps of an answer; between two of them, and ten times a second, somebody looks at the clock."""
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if not ready and monotonic() > end:
                give_up()
            wanted = gen.send(ready)
    except StopIteration as done:
        answer: T = done.value
        return answer
