"""A promise of the writer: what was handed in is acknowledged when the ticket resolves, not before."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable
from threading import Lock
from typing import Any

from orgkernel.errors import OrgkernelError, StoreBusy


class Ticket:
    """One row or change on its way to the disk. It resolves exactly once, with a value or with an error."""

    __slots__ = ("_callbacks", "_error", "_gate", "_value", "work")

    def __init__(self, work: Any) -> None:
        self.work = work
        self._callbacks: list[Callable[[Ticket], None]] | None = None
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
            raise StoreBusy("the store did not answer in time", "whether it was written is not known")
        self._gate.release()
        if self._error is not None:
            # Every caller raises its own: a traceback grows with each raise. Only ours can be copied for sure.
            raise copy.copy(self._error) if isinstance(self._error, OrgkernelError) else self._error
        return self._value

    def on_done(self, callback: Callable[[Ticket], None]) -> None:
        """Call back once it has resolved, in the writer's thread or, when it already has, in this one."""
        if self._callbacks is None:
            self._callbacks = []
        self._callbacks.append(callback)
        if not self._gate.locked():
            self._call_back()

    def resolve(self, value: Any, error: Exception | None = None) -> None:
        """For the writer."""
        self._value = value
        self._error = error
        self.work = None
        self._gate.release()
        if self._callbacks:
            self._call_back()

    def _call_back(self) -> None:
        while self._callbacks:
            try:
                callback = self._callbacks.pop()  # whoever gets it calls it: twice is impossible
            except IndexError:
                return
            with contextlib.suppress(Exception):  # theirs; the writer has others to answer
                callback(self)
