"""Reading the documents again when they change on disk (design §4, "Reload is per organisation").

Every way an edit reaches a folder counts: written in place, written beside and renamed over, a folder moved in. What
the notifications of the operating system do not tell (a watched folder replaced by another one of its name, a file
that was named itself) is looked up twice a second. A fault here never stops the server, and is never hidden: while
reading fails, no answer is said to be fresh.
"""

from __future__ import annotations

import asyncio
import logging
import os

import anyio
from watchfiles import Change, awatch

from manifest_api.answering import Answers
from manifest_api.standing import build_standing
from orgkernel.diagnostics.wording import quote
from orgkernel.kernel.kernel import Reload, State
from orgkernel.loading.files import SUFFIXES

logger = logging.getLogger("orgkernel.server")

_SETTLE_MS = 100
_LOOK_MS = 500
_RETRY_SECONDS = 1.0
_NOISE = frozenset({".git", ".hg", ".svn", ".venv", "node_modules", "__pycache__"})
_Identity = tuple[int, ...] | None


class Reloader:
    """Keeps one kernel up to date with the disk."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._stop = anyio.Event()
        self._seen: dict[str, _Identity] = {}
        self._polling: bool | None = None

    async def watch(self) -> None:
        """Read again at every change, until `stop`."""
        while not self._stop.is_set():
            try:
                await self._watch_folders()
            except Exception:
                # The usual cause is a limit on notifications; looking at the files needs none.
                logger.exception("watching the documents failed, now comparing them regularly instead")
                self._polling = True
                self._answers.reading_failed = True
                self._seen = {}
                await asyncio.sleep(_RETRY_SECONDS)

    def stop(self) -> None:
        """End `watch` soon."""
        self._stop.set()

    async def reload(self) -> None:
        """Read everything again now, in a thread; answers go on meanwhile."""
        before = self._answers.kernel.state
        try:
            report = await asyncio.to_thread(self._answers.kernel.reload)
        except Exception:
            self._answers.reading_failed = True
            logger.exception("reading the documents again failed, the last good versions keep answering")
            return
        self._answers.reading_failed = False
        log_reload(before, self._answers.kernel.state, report)

    async def _watch_folders(self) -> None:
        """Watch until a watched folder is another one than at the beginning."""
        watched = self._answers.kernel.watched
        folders = [path for path in watched if os.path.isdir(path)]
        begun = identify(folders)
        async for changes in awatch(
            *folders,
            watch_filter=is_relevant,
            debounce=_SETTLE_MS * 10,
            step=_SETTLE_MS,
            rust_timeout=_LOOK_MS,
            yield_on_timeout=True,
            stop_event=self._stop,
            force_polling=self._polling,
            ignore_permission_denied=True,
        ):
            # Also right after watching began: an edit may have come between reading and watching.
            now = identify(watched)
            if changes or now != self._seen:
                self._seen = now
                await self.reload()
            if {path: now.get(path) for path in folders} != begun:
                return


def identify(paths: list[str] | tuple[str, ...]) -> dict[str, _Identity]:
    """What tells whether a path is still the same folder, or the same file with the same content."""
    return {path: _identify(path) for path in paths}


def _identify(path: str) -> _Identity:
    try:
        found = os.stat(path)
    except OSError:
        return None
    if os.path.isdir(path):
        return (found.st_dev, found.st_ino)
    return (found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size)


def is_relevant(change: Change, path: str) -> bool:
    """Whether a change can be one of documents: a document, a folder, or a link that folders are swapped by."""
    parts = path.split(os.sep)
    if any(part in _NOISE for part in parts):
        return False
    name = parts[-1]
    if name.startswith("."):
        return name.startswith("..")  # Kubernetes swaps a mounted folder by the link `..data`
    return name.endswith(SUFFIXES) or "." not in name or os.path.isdir(path) or change is Change.deleted


def log_reload(before: State, state: State, report: Reload) -> None:
    """One line for each organisation that changed; nothing when nothing did."""
    if not report.changed:
        return
    recovered = [
        org_id for org_id, each in state.served.items() if not each.stale and _was_stale(before, org_id)
    ]
    for org_id in dict.fromkeys([*report.updated, *recovered]):
        if org_id in state.served:
            logger.info(
                "updated: organization %s is now %s", quote(org_id), state.served[org_id].snapshot.digest
            )
    for org_id in report.kept:
        reason = build_standing(state, org_id).reason
        logger.warning("kept: organization %s answers from its last good version: %s", quote(org_id), reason)
    for org_id in report.refused:
        logger.error(
            "refused: organization %s is not served: %s", quote(org_id), build_standing(state, org_id).reason
        )
    for org_id in report.removed:
        logger.warning("removed: organization %s is gone", quote(org_id))
    if not (report.updated or recovered or report.kept or report.refused or report.removed):
        logger.info("read again: no organization changed, %d findings", len(state.latest.diagnostics))


def _was_stale(before: State, org_id: str) -> bool:
    return org_id in before.served and before.served[org_id].stale
