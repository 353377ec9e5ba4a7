"""Reload the documents when they change on disk (docs/architecture.md).

A failure never stops the server and is never hidden: until a reload succeeds, answers are marked as stale, and the
reload is tried again. The same holds for a reload that takes longer than its limit, for example because a file system
does not answer. It continues in its own thread, and the end of the server does not wait for it.

All kinds of edits are noticed: files written in place, files renamed over others, folders moved in. The operating
system does not report some changes, so these are compared twice a second: a watched folder that is replaced, a file
that was named itself or is not there yet, and the targets of links outside the watched folders.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

import anyio
from watchfiles import Change, awatch

from manifest_api.answering import Answers
from manifest_api.status import build_standing
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.out_of_service import list_out_of_service
from orgkernel.kernel.registry_state import RegistryState, Reload
from orgkernel.loading.files import MARKDOWN, is_candidate
from orgkernel.runtime.regular_files import find_identity

logger = logging.getLogger("orgkernel.server")

_SETTLE_MS = 100
"""Milliseconds without a further change before a reload begins, so an editor that writes several files causes one."""
_COMPARE_MS = 500
"""Milliseconds between two comparisons of the paths whose changes the operating system does not report."""
_RETRY_SECONDS = 5.0
"""Seconds between a failed reload and the next attempt."""
RELOAD_SECONDS = 60.0
"""Seconds after which a reload is treated as failed."""
PathIdentity = tuple[int, ...] | None
"""Numbers that change with a path: device, inode, and for a file its size and times. None if nothing is there."""
_NOISE = frozenset({"node_modules", "__pycache__"})


class Reloader:
    """Keeps a kernel up to date with the disk."""

    def __init__(
        self,
        answers: Answers,
        on_reload: Callable[[RegistryState, Reload], Awaitable[None]] | None = None,
        seconds: float = RELOAD_SECONDS,
        observers: Sequence[Callable[[str, float], None]] = (),
    ) -> None:
        """`on_reload` is awaited after every reload, before the next one begins. A reload is limited to `seconds`.

        Each observer is called with the result of every reload, `ok`, `failed` or `overrun`, and its duration.
        """
        self._seconds = seconds
        self._observers = tuple(observers)
        self._started_at = time.monotonic()
        self._reload_lock = asyncio.Lock()
        self._running: asyncio.Future[Reload] | None = None
        self._state_before = answers.kernel.state
        self._late_tasks: set[asyncio.Task[None]] = set()
        self._answers = answers
        self._on_reload = on_reload
        self._stop = anyio.Event()
        self._stopping: asyncio.Future[None] | None = None
        self._polling: bool | None = None
        self._seen: dict[str, PathIdentity] = {}
        self._linked: tuple[str, ...] = ()
        self._retry_at = 0.0

    async def watch(self) -> None:
        """Reload at every change, until `stop`."""
        while not self._stop.is_set():
            try:
                await self._watch_folders()
            except Exception:
                # The usual cause is a limit on notifications; comparing files needs none.
                logger.exception("the documents cannot be watched; they are compared regularly instead")
                self._polling = True
                self._answers.reading_problem = "failed"
                with anyio.move_on_after(_RETRY_SECONDS):
                    await self._stop.wait()

    def stop(self) -> None:
        """End `watch` soon. A reload that is waited for is not waited for any longer."""
        self._stop.set()
        if self._stopping is not None and not self._stopping.done():
            self._stopping.set_result(None)

    async def reload(self) -> None:
        """Reload changed files in a thread. Requests are answered in the meantime.

        A reload that overran is not begun a second time: its end is waited for.
        """
        async with self._reload_lock:
            overran = self._running is not None
            if self._running is None:
                self._state_before = self._answers.kernel.state
                self._started_at = time.monotonic()
                self._running = _run_in_own_thread(self._read)
            running = self._running
            # A future of this call, because an event that was waited for belongs to one loop and fails in any other.
            stopping = self._stopping = asyncio.get_running_loop().create_future()
            if self._stop.is_set():
                self.stop()
            either: set[asyncio.Future[Any]] = {running, stopping}
            await asyncio.wait(either, timeout=self._seconds, return_when=asyncio.FIRST_COMPLETED)
            self._stopping = None
            if running.done():
                await self._finish(running)
            elif not self._stop.is_set():
                self._note_overrun(running, first=not overran)

    async def _finish(self, running: asyncio.Future[Reload]) -> None:
        self._running = None
        error = running.exception()
        self._notify_observers("failed" if error else "ok", time.monotonic() - self._started_at)
        if error:
            self._answers.reading_problem = "failed"
            self._retry_at = time.monotonic() + _RETRY_SECONDS
            logger.error("the reload failed; the last good versions keep answering", exc_info=error)
            return
        self._answers.reading_problem = None
        state, report = self._answers.kernel.state, running.result()
        log_reload(self._state_before, state, report)
        if self._on_reload is not None:
            await self._on_reload(state, report)

    def _note_overrun(self, running: asyncio.Future[Reload], *, first: bool) -> None:
        self._answers.reading_problem = "overrun"
        self._retry_at = time.monotonic() + _RETRY_SECONDS
        if not first:
            return
        self._notify_observers("overrun", self._seconds)
        logger.error(
            "the reload takes longer than %g seconds; the last good versions keep answering", self._seconds
        )
        running.add_done_callback(self._finish_late_reload)

    def _notify_observers(self, result: str, seconds: float) -> None:
        for observe in self._observers:
            observe(result, seconds)

    def _finish_late_reload(self, running: asyncio.Future[Reload]) -> None:
        """Finish a reload that overran and has ended at last, unless another call has done it."""

        async def finish() -> None:
            async with self._reload_lock:
                if self._running is running:
                    await self._finish(running)

        task = asyncio.get_running_loop().create_task(finish())
        self._late_tasks.add(task)
        task.add_done_callback(self._late_tasks.discard)

    def _read(self) -> Reload:
        kernel = self._answers.kernel
        report = kernel.reload()
        self._linked = list_linked_paths(kernel.state.latest.tree.paths.values(), kernel.watched)
        return report

    async def _watch_folders(self) -> None:
        """Watch until a watched folder is replaced, one of them appears, or others are to be watched."""
        watched = self._answers.kernel.watched
        folders = [path for path in watched if os.path.isdir(path)]
        begun = identify(folders)
        # An edit may have come between the last reading and the beginning of this watch, which does not report it.
        self._seen = {}
        async for changes in awatch(
            *folders,
            watch_filter=build_change_filter(folders, self._answers.kernel.foreign_folders),
            debounce=_SETTLE_MS
            * 10,  # files that change without a pause are read after a second all the same
            step=_SETTLE_MS,
            rust_timeout=_COMPARE_MS,
            yield_on_timeout=True,
            stop_event=self._stop,
            force_polling=self._polling,
            ignore_permission_denied=True,
        ):
            now = identify(watched, self._linked)
            retry = self._answers.reading_failed and time.monotonic() >= self._retry_at
            if changes or now != self._seen or retry:
                await self.reload()
                # The state from before the reload: files that changed in the meantime, and newly watched ones, are read again.
                self._seen = now
            there = identify(path for path in watched if os.path.isdir(path))
            if there != begun or self._answers.kernel.watched != watched:
                return


def _run_in_own_thread(read: Callable[[], Reload]) -> asyncio.Future[Reload]:
    """Run a function in a separate thread. The end of the program does not wait for it."""
    loop = asyncio.get_running_loop()
    result: asyncio.Future[Reload] = loop.create_future()

    def resolve(report: Reload | None, error: BaseException | None) -> None:
        if result.cancelled():
            return
        if error is not None:
            result.set_exception(error)
        elif report is not None:
            result.set_result(report)

    def run() -> None:
        report, failure = None, None
        try:
            report = read()
        except BaseException as error:
            failure = error
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(resolve, report, failure)

    threading.Thread(target=run, name="reload", daemon=True).start()
    return result


def log_reload(before: RegistryState, state: RegistryState, report: Reload) -> None:
    """Log one line for each organization that changed."""
    if not report.changed:
        return
    recovered = [
        org_id for org_id, each in state.served.items() if not each.stale and _is_stale(before, org_id)
    ]
    for org_id in dict.fromkeys([*report.updated, *recovered]):
        if org_id in state.served:
            logger.info(
                "updated: organization %s is now %s", quote(org_id), state.served[org_id].snapshot.digest
            )
            for out in list_out_of_service(state.served[org_id].snapshot.records):
                logger.warning("in organization %s, %s", quote(org_id), out.located_reason)
    for org_id in report.kept:
        reason = build_standing(state, org_id).reason
        logger.warning("kept: organization %s answers from its last good version: %s", quote(org_id), reason)
    for org_id in report.unserved:
        logger.error(
            "refused: organization %s is not served: %s", quote(org_id), build_standing(state, org_id).reason
        )
    for org_id in report.removed:
        logger.warning("removed: organization %s is gone", quote(org_id))
    if not (report.updated or recovered or report.kept or report.unserved or report.removed):
        logger.info("read again: no organization changed, %d findings", len(state.latest.diagnostics))


def _is_stale(before: RegistryState, org_id: str) -> bool:
    return org_id in before.served and before.served[org_id].stale


def build_change_filter(folders: Sequence[str], foreign: Sequence[str] = ()) -> Callable[[Change, str], bool]:
    """A filter for changes below folders: documents, folders, and links that swap folders; below those in a foreign format every Markdown file."""
    beginnings = tuple(os.path.join(folder, "") for folder in folders)
    inside = frozenset(os.path.join(folder, "") for folder in foreign)

    def is_relevant(change: Change, path: str) -> bool:
        beginning = next((each for each in beginnings if path.startswith(each)), "")
        *above, name = path[len(beginning) :].split(os.sep)
        if any(_is_skipped(part) for part in above) or _is_skipped(name):
            return False
        return (
            is_candidate(path)
            or (path.endswith(MARKDOWN) and beginning in inside)
            # A name without a suffix is usually a folder or a link. What was deleted can no longer be asked what it was.
            or "." not in name.lstrip(".")
            or change is Change.deleted
            or os.path.isdir(path)
        )

    return is_relevant


def _is_skipped(name: str) -> bool:
    """Whether loading skips the name. Kubernetes swaps mounted files by the link `..data`, so two dots are not skipped."""
    return name in _NOISE or (name.startswith(".") and not name.startswith(".."))


def identify(paths: Iterable[str], linked: Iterable[str] = ()) -> dict[str, PathIdentity]:
    """Values that change if a path becomes another folder, or a file with other content.

    The values of `linked` folders also change with their entries, because nothing else reports files that come or go
    there.
    """
    return {path: _identify(path, entries=False) for path in paths} | {
        path: _identify(path, entries=True) for path in linked
    }


def _identify(path: str, entries: bool) -> PathIdentity:
    identity = find_identity(path)
    return identity[:2] if identity is not None and os.path.isdir(path) and not entries else identity


def list_linked_paths(files: Iterable[str], watched: Iterable[str]) -> tuple[str, ...]:
    """Files that links lead to outside the watched folders, and the folders of these files."""
    inside = tuple(os.path.join(os.path.realpath(path), "") for path in watched if os.path.isdir(path))
    folders: dict[str, str] = {}
    linked: set[str] = set()
    for file in files:
        folder, name = os.path.split(file)
        if folder not in folders:
            folders[folder] = os.path.realpath(folder)
        real = os.path.realpath(file) if os.path.islink(file) else os.path.join(folders[folder], name)
        if not real.startswith(inside):
            linked |= {real, os.path.dirname(real)}
    return tuple(sorted(linked))
