"""Connections to PostgreSQL that do not wait forever: a stopped server keeps its sockets open and does not answer.

The server's own timeouts do not help if the server hangs. So the client measures how long the server has been silent.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, TypeVar

import psycopg
from sqlalchemy import Engine, event

from orgkernel.state.connected import name_this_program

T = TypeVar("T")
ANSWER_SECONDS = 30.0
"""Maximum seconds without an answer. Large tables are read in portions, each with its own answer."""
_POLL_SECONDS = 0.1
"""Seconds after which the driver interrupts its wait to check the limit."""


def set_limits(engine: Engine, lock_seconds: float, answer_seconds: float | None = None) -> None:
    """Limit how long connections of an engine wait: `lock_seconds` for a lock, `answer_seconds` for a silent server."""
    seconds = ANSWER_SECONDS if answer_seconds is None else answer_seconds

    class Bounded(psycopg.Connection[Any]):
        def wait(
            self, gen: Generator[Any, Any, T], interval: float = _POLL_SECONDS, *rest: Any, **more: Any
        ) -> T:
            return super().wait(
                _listen(gen, round(seconds / interval), self._give_up), interval, *rest, **more
            )

        def _give_up(self) -> None:
            # INVARIANT: a late answer of the server is never read as the answer to another query.
            self.pgconn.finish()
            raise psycopg.OperationalError(f"the server has not answered for {seconds:g} seconds")

    def connect(_dialect: Any, _record: Any, arguments: Any, settings: dict[str, Any]) -> Any:
        defaults = {
            "connect_timeout": max(2, round(lock_seconds)),
            "fallback_application_name": name_this_program(),
        }
        return Bounded.connect(*arguments, **{**defaults, **settings})

    def prepare(connection: Any, _: object) -> None:
        try:
            # Commits are on the disk, whatever the server's default is, and waiting for a lock is limited.
            connection.execute("SET synchronous_commit TO on")
            connection.execute(f"SET lock_timeout TO {round(lock_seconds * 1000)}")
            connection.commit()
        except BaseException:
            connection.close()  # the pool forgets a connection that could not be prepared
            raise

    event.listen(engine, "do_connect", connect)
    event.listen(engine, "connect", prepare)


def _listen(
    gen: Generator[Any, Any, T], max_polls: int, give_up: Callable[[], None]
) -> Generator[Any, Any, T]:
    """Pass on the driver's steps. Call `give_up` after `max_polls` polls in a row without data from the server."""
    silent_polls = 0
    try:
        wait_for = next(gen)
        while True:
            ready = yield wait_for
            silent_polls = 0 if ready else silent_polls + 1
            if silent_polls >= max_polls:
                give_up()
            wait_for = gen.send(ready)
    except StopIteration as done:
        answer: T = done.value
        return answer
