"""Read the lists of one server without waiting for a server that is silent.

A list waits for a server once, up to a deadline. After that the server is asked in the background only, with growing
pauses, and lists are answered without it at once, until it has answered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, NamedTuple, Protocol

import msgspec

from orgkernel.diagnostics.wording import clean
from orgkernel.errors import OrgkernelError
from orgkernel.toolbox.upstream_tools import UpstreamError

ListName = Literal["tools", "prompts", "resources", "resource_templates"]
Ask = Callable[[], Awaitable[Any]]


class ListLimits(msgspec.Struct, frozen=True):
    """How long the lists of a gateway wait for one server, in seconds."""

    deadline: float = 5.0
    """How long a list waits for a server. The server then has its own limits to answer in the background."""
    first_wait: float = 1.0
    """The pause before a server that did not answer is asked again. Each further one doubles it."""
    longest_wait: float = 60.0
    """The longest pause. A server that has not failed for twice as long starts with the first pause again."""


class MissingServer(NamedTuple):
    """A server whose current list is not in an answer."""

    server: str
    reason: str
    retry_seconds: float | None
    """Seconds until it is asked again. None while it is being asked."""


class ServerList(NamedTuple):
    """A list of a server: the last known one if the server is missing, and None if there is none."""

    items: Any
    missing: MissingServer | None = None


class Watcher(Protocol):
    """Learns when a server stops answering, and when it answers again."""

    def note_missing(self, missing: MissingServer) -> None:
        """A list is answered without the server from now on."""

    def note_return(self, server: str) -> None:
        """The server has answered again."""


class ServerLists:
    """The lists of one server. Used from one event loop."""

    def __init__(
        self,
        server: str,
        asks: Mapping[ListName, Ask],
        is_running: Callable[[], bool],
        watcher: Watcher,
        limits: ListLimits,
    ) -> None:
        """`asks` reads each list, and raises `UpstreamError` if the server has no answer.

        `is_running` tells whether the server has started. If it has not, all of its lists are missing.
        """
        self._is_running = is_running
        self._attempts = {name: _Attempts(server, ask, watcher, limits) for name, ask in asks.items()}

    async def read(self, name: ListName) -> ServerList:
        """A list, or what is known of it if the server does not answer. Raises `OrgkernelError`."""
        attempts = self._attempts[name]
        missing = attempts.describe_silence()
        if missing is None and not self._is_running():
            silences = (each.describe_silence() for each in self._attempts.values())
            missing = next((each for each in silences if each is not None), None)
        if missing is None:
            missing = await attempts.wait()
        return ServerList(attempts.last, missing)

    def close(self) -> None:
        """Ask no more."""
        for each in self._attempts.values():
            each.close()


class _Attempts:
    """The attempts to read one list."""

    def __init__(self, server: str, ask: Ask, watcher: Watcher, limits: ListLimits) -> None:
        self.last: Any = None
        """The last list."""
        self._server = server
        self._ask = ask
        self._watcher = watcher
        self._limits = limits
        self._task: asyncio.Task[Any] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._reason = ""
        """Why the server is missing. Empty while it answers."""
        self._failures = 0
        self._failed_at = 0.0
        self._is_closed = False

    def describe_silence(self) -> MissingServer | None:
        """Why lists do not wait for the server now. None if they do."""
        if not self._reason:
            return None
        wait = None
        if self._timer is not None:
            wait = round(max(0.0, self._timer.when() - asyncio.get_running_loop().time()), 1)
        return MissingServer(self._server, self._reason, wait)

    async def wait(self) -> MissingServer | None:
        """Read the list, until the deadline. Raises `OrgkernelError`."""
        task = self._task or self._begin()
        await asyncio.wait({task}, timeout=self._limits.deadline)
        if not task.done():
            self._note_silence(f"it did not answer within {self._limits.deadline:g} seconds")
        elif not task.cancelled() and isinstance(error := task.exception(), OrgkernelError):
            raise error
        return self.describe_silence()

    def close(self) -> None:
        """Ask no more."""
        self._is_closed = True
        for each in (self._task, self._timer):
            if each is not None:
                each.cancel()

    def _begin(self) -> asyncio.Task[Any]:
        self._timer = None
        self._task = asyncio.get_running_loop().create_task(self._ask_once())
        self._task.add_done_callback(lambda task: task.cancelled() or task.exception())
        return self._task

    async def _ask_once(self) -> None:
        try:
            self.last = await self._ask()
        except UpstreamError as error:
            self._note_failure(clean(error.error))
        except OrgkernelError as error:  # the file of accepted tools, which is not a failure of the server
            if not self._reason:
                raise
            self._note_failure(clean(error.message))
        else:
            self._note_answer()
        finally:
            self._task = None

    def _note_answer(self) -> None:
        if self._reason:
            self._reason = ""
            self._watcher.note_return(self._server)

    def _note_failure(self, reason: str) -> None:
        """Ask again after a pause. The pause begins when an attempt has ended, however long that took."""
        now = asyncio.get_running_loop().time()
        is_new = now - self._failed_at > 2 * self._limits.longest_wait
        self._failures = 1 if is_new else self._failures + 1
        self._failed_at = now
        doublings = min(self._failures - 1, 32)
        wait = min(self._limits.first_wait * 2**doublings, self._limits.longest_wait)
        if not self._is_closed:
            self._timer = asyncio.get_running_loop().call_later(wait, self._begin)
        self._note_silence(reason)

    def _note_silence(self, reason: str) -> None:
        was_silent, self._reason = bool(self._reason), reason
        missing = self.describe_silence()
        if not was_silent and missing is not None:
            self._watcher.note_missing(missing)
