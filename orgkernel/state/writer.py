"""The one place that writes: a thread that puts the work of many callers into one transaction (group commit).

A commit waits for the disk. While it does, the next rows gather, so all who wait share the cost of the disk. Changes
(grants, ranks, locks …) run in the same thread, each in a savepoint of its own: a refused change takes nothing with it,
and its audit rows are in the same transaction as the change. When a transaction fails, each of its pending writes gets the
error; no pending write is ever left without an answer.
"""

from __future__ import annotations

import contextlib
import copy
import os
import weakref
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, TypeVar

import msgspec
from sqlalchemy import Connection, Engine, select, update
from sqlalchemy.exc import DataError, SQLAlchemyError

from orgkernel.decisions.evidence.state_records import AuditEntry, Stream
from orgkernel.diagnostics.wording import quote
from orgkernel.engines import is_on
from orgkernel.errors import NOT_IN_TIME, PERHAPS_WRITTEN, OrgkernelError, StoreBusy, StoreError
from orgkernel.state.believed_clock import BelievedClock
from orgkernel.state.chain import Chains, encode_entry
from orgkernel.state.checkpoints import Checkpoints, Link
from orgkernel.state.database import open_for_writing, translate_error
from orgkernel.state.engine.row_inserts import RowInserts
from orgkernel.state.schema_version import hold_newest
from orgkernel.state.tables import AuditValues, state_version
from orgkernel.state.use_counts import CountedCall, count_uses

T = TypeVar("T")
_Prepared = tuple[AuditEntry, str] | Exception
"""An entry and its JSON, or the error if it cannot be encoded."""
_Answer = tuple[Any, Exception | None]
"""The result of a pending write."""
_MAX_BATCH = 2_000
_PAUSE = 0.0002
"""Seconds between two callers after which no more are waited for; a caller alone never waits."""
_LATER = 0.005
"""Seconds that a row which is not urgent waits for others, to write them together."""
_MAX_WAITING = 100_000
"""Beyond this a deferred caller waits for its row: memory is not a store."""


class PendingWrite:
    """One row or change on its way to the disk. It resolves exactly once, with a value or with an error."""

    __slots__ = ("_callbacks", "_error", "_gate", "_value", "is_urgent", "work")

    def __init__(self, work: Any, is_urgent: bool = True) -> None:
        self.work = work
        self.is_urgent = is_urgent
        self._callbacks: list[Callable[[PendingWrite], None]] | None = None
        self._error: Exception | None = None
        self._value: Any = None
        self._gate = gate = Lock()
        gate.acquire()

    @property
    def is_done(self) -> bool:
        """Whether it has resolved."""
        return not self._gate.locked()

    def result(self, timeout: float | None = None) -> Any:
        """Wait until it is on the disk; raises the error that kept it from there, `StoreBusy` after `timeout` seconds."""
        if not self._gate.acquire(timeout=-1 if timeout is None else timeout):
            raise StoreBusy(NOT_IN_TIME, PERHAPS_WRITTEN)
        self._gate.release()
        if self._error is not None:
            # Every caller raises a copy, because a traceback grows with each raise. Only orgkernel errors can be copied safely.
            raise copy.copy(self._error) if isinstance(self._error, OrgkernelError) else self._error
        return self._value

    def call_when_done(self, callback: Callable[[PendingWrite], None]) -> None:
        """Call back once it has resolved, in the writer's thread or, when it already has, in this one."""
        if self._callbacks is None:
            self._callbacks = []
        self._callbacks.append(callback)
        if not self._gate.locked():
            self._call_back()

    def resolve(self, value: Any, error: Exception | None = None) -> None:
        """Resolve the pending write. Only the writer calls it."""
        self._value = value
        self._error = error
        self.work = None
        self._gate.release()
        if self._callbacks:
            self._call_back()

    def _call_back(self) -> None:
        while self._callbacks:
            try:
                callback = self._callbacks.pop()  # `pop` returns it to one thread only, so it is called once
            except IndexError:
                return
            with contextlib.suppress(
                Exception
            ):  # an error of the callback must not keep others from their answers
                callback(self)


class Transaction:
    """The context of a change: the connection, the time, the version of its rows, and the audit."""

    def __init__(
        self,
        connection: Connection,
        now: float,
        lag: float,
        version: int,
        append: Callable[[AuditEntry], str],
    ) -> None:
        self.connection = connection
        self.now = now
        self.lag = lag
        """The seconds by which the clock of the machine is behind `now`. 0 unless it is known to be wrong."""
        self.version = version
        self.audit = append
        """Write a row down with the change; the row's name."""
        self.is_changed = False

    def touch(self) -> int:
        """Something decisions read changes: the version its rows get."""
        self.is_changed = True
        return self.version


class Writer:
    """A thread, the queue before it, and the chains it continues. It starts with the first thing to write."""

    def __init__(self, engine: Engine, shown: str, clock: Callable[[], float], folder: Checkpoints) -> None:
        self._engine = engine
        self._shown = shown
        self._clock = clock
        self._believed = BelievedClock(folder.path)
        self._chains = Chains(engine, folder)
        self._queue: SimpleQueue[PendingWrite | None] = SimpleQueue()
        self._starting = Lock()
        self._thread: Thread | None = None
        self._is_closed = False
        self._has_ended = False
        self._links: dict[Stream, Link] = {}
        has_engine = engine.dialect.name == "sqlite" and is_on("row_inserts")
        self._row_inserts = RowInserts(engine, shown) if has_engine else None
        """Writes transactions that only add rows. None if they are written like others."""
        _living.add(self)

    def submit(
        self,
        work: AuditEntry | CountedCall | Callable[[Transaction], T],
        *,
        may_wait: bool = True,
        is_urgent: bool = True,
    ) -> PendingWrite:
        """Submit a row, a call of a tool or a change.

        If the queue is full, the caller waits, or `StoreBusy` is raised.
        """
        if self._thread is None:
            self._start()
        if not may_wait and self._queue.qsize() > _MAX_WAITING:
            raise StoreBusy(f"the store {quote(self._shown)} has too many waiting writes", "try again later")
        pending = PendingWrite(work, is_urgent)
        self._queue.put(pending)
        # The thread can have ended between the check and the queue. Then no one else would answer this pending write.
        if self._has_ended:
            self._refuse_rest()
        elif may_wait and self._queue.qsize() > _MAX_WAITING:
            with contextlib.suppress(Exception):  # the caller finds it in the pending write
                pending.result()
        return pending

    def close(self) -> None:
        """Write what is waiting, then end."""
        with self._starting:
            self._is_closed = True
            thread = self._thread
        if thread is not None and not self._has_ended:
            self._queue.put(None)
            thread.join()
        self._end()

    @property
    def waiting(self) -> int:
        """Rows and changes that were handed in and are not taken up yet."""
        return self._queue.qsize()

    @property
    def problem(self) -> Exception | None:
        """Why checkpoints cannot be written although rows are; None while all is well."""
        return self._chains.problem

    def forget(self) -> None:
        """Disable the writer in a forked child, which has no writer thread, so that callers do not wait for it."""
        self._is_closed = self._has_ended = True
        self._queue = SimpleQueue()
        self._chains.close()  # the child would hold the lock of the parent's chains beyond its end

    def _start(self) -> None:
        with self._starting:
            if self._is_closed:
                raise StoreError(f"the store `{self._shown}` is closed")
            if self._thread is None:
                thread = Thread(target=self._run, name="orgkernel-store", daemon=True)
                thread.start()
                self._thread = thread

    def _run(self) -> None:
        queue, is_open = self._queue, True
        expected = 1
        while is_open:
            batch: list[PendingWrite] = []
            item = queue.get()
            while item is not None:
                batch.append(item)
                if len(batch) >= _MAX_BATCH:
                    break
                # Callers of the last commit come back at once; without this half of them would always just miss it.
                is_rest = len(batch) < expected and queue.empty()
                wait = _LATER if len(batch) == 1 and not item.is_urgent else _PAUSE if is_rest else 0.0
                try:
                    item = queue.get(timeout=wait) if wait else queue.get_nowait()
                except Empty:
                    break
            # None is put by `close` behind all pending writes, so what was submitted before it is still written.
            is_open = item is not None
            if batch:
                self._write(batch)
            expected = len(batch) + queue.qsize()
        self._end()

    def _end(self) -> None:
        self._has_ended = True
        self._refuse_rest()
        if self._row_inserts is not None:
            self._row_inserts.close()
        self._chains.close()

    def _refuse_rest(self) -> None:
        with contextlib.suppress(Empty):
            while True:
                pending = self._queue.get_nowait()
                if pending is not None:
                    pending.resolve(None, StoreError(f"the store `{self._shown}` is closed"))

    def _write(self, batch: list[PendingWrite]) -> None:
        try:
            clock = self._clock()
            now = self._believed.correct(clock)
            # Retention would delete rows of a clock that is behind too early.
            earliest = now if now > clock else None
            prepared = [self._prepare(pending, earliest) for pending in batch]
            answers, links = self._commit(batch, prepared)
        except Exception as error:
            self._links = {}  # a commit whose answer was lost may have happened: look again
            failure = translate_error(error, self._shown)
            for pending in batch:
                pending.resolve(None, failure)
            return
        # After the commit, because a checkpoint must never sign a row that does not exist.
        self._chains.checkpoint(links)
        for pending, (value, refusal) in zip(batch, answers, strict=True):
            pending.resolve(value, refusal)

    def _prepare(self, pending: PendingWrite, earliest: float | None) -> _Prepared | None:
        """Prepare an entry before the transaction, to keep the transaction short. It is not dated before `earliest`."""
        entry = pending.work.entry if isinstance(pending.work, CountedCall) else pending.work
        if not isinstance(entry, AuditEntry):
            return None
        try:
            if earliest is not None:
                entry = msgspec.structs.replace(entry, at=max(entry.at, earliest))
            return encode_entry(entry)
        except Exception as error:  # affects this row only: its content is not valid JSON
            return StoreError(f"an audit entry cannot be written: {type(error).__name__}: {error}")

    def _commit(
        self, batch: list[PendingWrite], prepared: list[_Prepared | None]
    ) -> tuple[list[_Answer], dict[Stream, Link]]:
        if self._links:
            self._chains.read_key()
        only_rows = [each for each in prepared if each is not None]
        if self._row_inserts is not None and self._links and len(only_rows) == len(batch):
            return self._commit_rows(self._row_inserts, batch, only_rows)
        answers: list[_Answer] = []
        with open_for_writing(self._engine) as connection:
            hold_newest(connection, self._shown)
            links, rows = self._begin(connection)
            # Only changes raise the version, so a batch of rows alone does not wait for its lock.
            version = self._lock_version(connection) if None in prepared else 0
            is_changed = False
            uses: list[CountedCall] = []
            for pending, ready in zip(batch, prepared, strict=True):
                if ready is not None:
                    answers.append(self._append(pending, ready, links, rows, uses))
                else:
                    # Links and rows are in memory, where no savepoint restores them: a refused change must not leave a gap.
                    before, written = dict(links), len(rows)
                    savepoint = connection.begin_nested()
                    clock = self._clock()
                    now = self._believed.correct(clock)
                    transaction = Transaction(
                        connection,
                        now,
                        now - clock,
                        version + 1,
                        lambda entry: self._chains.append(*encode_entry(entry), links, rows),
                    )
                    try:
                        answers.append((pending.work(transaction), None))
                        savepoint.commit()
                        is_changed = is_changed or transaction.is_changed
                    except Exception as error:
                        if isinstance(error, (SQLAlchemyError, OSError)) and not isinstance(error, DataError):
                            raise  # the database: the whole transaction is in doubt
                        savepoint.rollback()
                        links.clear()
                        links.update(before)
                        del rows[written:]
                        answers.append((None, translate_error(error, self._shown)))
            if rows:
                self._chains.insert(connection, rows)
            if uses:
                count_uses(connection, uses)
            if is_changed:
                connection.execute(update(state_version).values(version=version + 1))
        self._links = links
        return answers, links

    def _commit_rows(
        self, row_inserts: RowInserts, batch: list[PendingWrite], prepared: list[_Prepared]
    ) -> tuple[list[_Answer], dict[Stream, Link]]:
        """Commit rows without changes. Only the version of the tables is read before."""
        # A copy: if the write fails, the chains continue from the last row that is surely written.
        links = dict(self._links)
        rows: list[AuditValues] = []
        uses: list[CountedCall] = []
        answers = [
            self._append(pending, ready, links, rows, uses)
            for pending, ready in zip(batch, prepared, strict=True)
        ]
        if rows:
            row_inserts.write(rows, uses)
        self._links = links
        return answers, links

    def _append(
        self,
        pending: PendingWrite,
        ready: _Prepared,
        links: dict[Stream, Link],
        rows: list[AuditValues],
        uses: list[CountedCall],
    ) -> _Answer:
        if isinstance(ready, Exception):
            return None, ready
        if isinstance(pending.work, CountedCall):
            uses.append(pending.work)
        return self._chains.append(*ready, links, rows), None

    def _begin(self, connection: Connection) -> tuple[dict[Stream, Link], list[AuditValues]]:
        """Find the ends of the chains.

        Rows after the last checkpoint, which the next one covers, are noted in the audit. They are sealed.
        """
        if self._links:
            return dict(self._links), []
        links = self._chains.resume(connection)
        rows: list[AuditValues] = []
        if self._chains.open_rows:
            detail = {"open": {name: [*ends] for name, ends in self._chains.open_rows.items()}}
            entry = AuditEntry("audit", self._believed.correct(self._clock()), "resumed", detail=detail)
            self._chains.append(*encode_entry(entry), links, rows)
        return links, rows

    def _lock_version(self, connection: Connection) -> int:
        """Serialize changes over all processes, so that what a change checks stays true until it is committed."""
        version: int = connection.execute(select(state_version.c.version).with_for_update()).scalar_one()
        return version


_living: weakref.WeakSet[Writer] = weakref.WeakSet()


def _reset_after_fork() -> None:
    for writer in list(_living):
        writer.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)
