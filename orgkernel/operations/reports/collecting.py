"""Collect reports from a folder into the store, each exactly once. A host in another container writes them.

The content of a report is its identity in the store. So nothing changes if a file is read twice, if a copy is read, or if
two collectors read the same folder, and a collector that was killed can start again. A file that is not a report gets some time, because it could be half written. Then it is set aside and reported once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from orgkernel.decisions.evidence.state_records import ReportReceipt
from orgkernel.errors import Refused
from orgkernel.operations.reports.report_folder import (
    NotAReport,
    ReportFile,
    list_reports,
    read_file,
    set_aside,
)
from orgkernel.runtime.regular_files import FileIdentity
from orgkernel.state.writer import PendingWrite

if TYPE_CHECKING:
    from orgkernel.state.reports import Reports

ACTOR = "system:collector"
SETTLE_SECONDS = 2.0
"""After so many seconds without a change, a file that is not a report is no longer being written."""
_AT_ONCE = 500


class CollectedFile(msgspec.Struct, frozen=True):
    """The result for one file."""

    file: str
    outcome: str
    """`stored`, `known`, `expired`, or `rejected` for a file that is not a report."""
    number: int | None = None
    """Number of the report in the store."""
    code: str = ""
    text: str = ""
    """Why it is not a report."""
    moved_to: str = ""
    """Where the file was moved. Empty if it cannot be moved and stays."""


class Collector:
    """A folder and its finished files. A file is finished until it changes."""

    def __init__(
        self,
        folder: str,
        store: Reports,
        clock: Callable[[], float],
        *,
        agent_id: str = "",
        org_id: str = "",
        settle_seconds: float = SETTLE_SECONDS,
    ) -> None:
        """`clock` must be monotonic. Reports come from `agent_id`, and belong to `org_id` unless they name another."""
        self._folder = folder
        self._store = store
        self._clock = clock
        self._agent_id = agent_id
        self._org_id = org_id
        self._settle_seconds = settle_seconds
        self._done: dict[str, FileIdentity] = {}
        self._unfit_since: dict[str, tuple[FileIdentity, float]] = {}

    @property
    def is_waiting(self) -> bool:
        """Whether a file is not a report yet and could still become one."""
        return bool(self._unfit_since)

    def collect(self) -> Iterator[CollectedFile]:
        """Collect new files in the folder. Raises `NothingToRead`, and `StoreError`: the next call retries unstored files."""
        files = list_reports(self._folder)
        names = {file.name for file in files}
        self._done = {name: identity for name, identity in self._done.items() if name in names}
        self._unfit_since = {name: since for name, since in self._unfit_since.items() if name in names}
        new = [file for file in files if self._done.get(file.name) != file.identity]
        for start in range(0, len(new), _AT_ONCE):
            yield from self._take(new[start : start + _AT_ONCE])

    def _take(self, files: Iterable[ReportFile]) -> Iterator[CollectedFile]:
        handed_in: list[tuple[ReportFile, PendingWrite]] = []
        unfit: list[tuple[ReportFile, NotAReport]] = []
        for file in files:
            report = read_file(self._folder, file)
            if isinstance(report, NotAReport):
                unfit.append((file, report))
            elif report is not None:
                try:
                    handed_in.append((file, self._hand_in(report)))
                except Refused as error:
                    unfit.append((file, _build_refusal(error)))
        for file, pending in handed_in:
            try:
                receipt: ReportReceipt = pending.result()
            except Refused as error:
                unfit.append((file, _build_refusal(error)))
            else:
                self._done[file.name] = file.identity
                self._unfit_since.pop(file.name, None)
                yield CollectedFile(file.name, receipt.outcome, receipt.number)
        for file, why in unfit:
            yield from self._reject(file, why)

    def _hand_in(self, report: dict[str, Any]) -> PendingWrite:
        if not report["unit"]["organization"]:
            report = {**report, "unit": {**report["unit"], "organization": self._org_id}}
        return self._store.submit(report, actor=ACTOR, agent_id=self._agent_id)

    def _reject(self, file: ReportFile, why: NotAReport) -> Iterator[CollectedFile]:
        identity, since = self._unfit_since.get(file.name, (None, 0.0))
        now = self._clock()
        if identity != file.identity:
            self._unfit_since[file.name] = file.identity, now
            return
        if now - since < self._settle_seconds:
            return
        del self._unfit_since[file.name]
        self._done[file.name] = file.identity
        moved = None if why.code == "UNREADABLE" else set_aside(self._folder, file)
        if moved is not None and moved.identity != file.identity:
            # The host replaced the file between the check and the move, so it is another file that could be a report.
            yield from self._take([moved])
            return
        yield CollectedFile(
            file.name, "rejected", None, why.code, why.text, "" if moved is None else moved.name
        )


def _build_refusal(error: Refused) -> NotAReport:
    return NotAReport(error.code, error.message)
