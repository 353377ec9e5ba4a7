"""The state of a mission from stored contracts: its open blockers, and whether a close agrees with the workers'
results.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from orgkernel.decisions.evidence.state_records import ContractRecord, HandoffRecord
from orgkernel.decisions.work.contracts.findings import ContractFinding, is_same_id, is_same_name
from orgkernel.decisions.work.contracts.results import find_brief_mismatch
from orgkernel.diagnostics import contract_rows as row
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import RECORDS, Brief, ClosedWorker, MissionClose, SessionReport
from orgkernel.prepared_types import prepared

_REPORTS: Final = ("result", "correction", "mission_close")


def is_about_blockers(record: ContractRecord) -> bool:
    """Whether a stored contract can open or answer a blocker."""
    cites = record.body.get("answers") is not None or record.body.get("supersedes") is not None
    return record.kind == "blocker" or (record.kind == "decision_entry" and cites)


def find_open_blockers(records: Iterable[ContractRecord]) -> tuple[ContractRecord, ...]:
    """The blockers without an answer in effect, oldest first. A superseded decision no longer answers."""
    records = tuple(records)
    entries = [each for each in records if each.kind == "decision_entry"]
    # A decision that another one replaces no longer answers, so its blocker is open again.
    superseded = {each.body.get("supersedes") for each in entries}
    answered = {each.body.get("answers") for each in entries if each.record_id not in superseded}
    return tuple(each for each in records if each.kind == "blocker" and each.record_id not in answered)


def find_incoherence(
    report: SessionReport,
    records: Sequence[ContractRecord],
    below: Sequence[HandoffRecord] = (),
    running: Collection[str] = (),
) -> Iterator[ContractFinding]:
    """CLOSE_COHERENCE_MISSING: a close, or the correction of one, contradicts the stored results.

    Each listed worker must have the listed status. A `done_clean` close must cover all briefs and leave no blocker open,
    and each hand-off `below` the mission must have one result that agrees with its brief. `running` are the ids of the
    hand-offs whose work has not ended.
    """
    mission = _Mission(report.brief, records, below, running)
    if report.brief is None:
        yield _build_finding(
            ("brief",), "the close of the mission names no brief, so its workers are not known"
        )
        return
    listed = set()
    for number, worker in enumerate(report.workers or () if isinstance(report, MissionClose) else ()):
        last = mission.get_last_report(worker)
        if last is None:
            message = (
                f"worker {quote(worker.agent)} is listed, but no result of it is stored for this mission"
            )
            yield _build_finding(("workers", number, "agent"), message)
            continue
        listed.add(last.session)
        if last.body["status"] != worker.status:
            message = f"worker {quote(worker.agent)} is listed as {quote(worker.status)}, but its last report is {quote(last.body['status'])}"
            yield _build_finding(("workers", number, "status"), message)
    if report.status == "done_clean":
        for message in mission.list_unfinished(listed if isinstance(report, MissionClose) else None):
            yield _build_finding(("status",), f"the mission is closed as `done_clean`, but {message}")


def _build_finding(route: tuple[str | int, ...], message: str) -> ContractFinding:
    return ContractFinding(row.CLOSE_COHERENCE_MISSING, route, message)


class _Mission:
    """The briefs below that of a mission, the last report of each session, and the open blockers."""

    def __init__(
        self,
        brief_id: str | None,
        records: Sequence[ContractRecord],
        handoffs: Sequence[HandoffRecord],
        running: Collection[str],
    ) -> None:
        below = [
            each for each in records if each.kind == "brief" and is_same_id(each.body.get("parent"), brief_id)
        ]
        # A replaced brief needs no result: its successor has the work.
        replaced = {_fold(each.body.get("replaces")) for each in below}
        self._briefs = {_fold(each.record_id): _fold(each.record_id) in replaced for each in below}
        self._ends: dict[str | None, ContractRecord] = {
            each.session: each
            for each in records
            if each.kind in _REPORTS and _fold(each.brief_id) in self._briefs
        }
        self._handoffs, self._running = handoffs, running
        self._records = {_fold(each.record_id): each for each in records if each.kind == "brief"}
        self._reports = {each.session: each for each in records if each.kind in _REPORTS}
        self._all_replaced = {_fold(each.body.get("replaces")) for each in self._records.values()}
        self._names: Mapping[str, str | None] = {
            each.record_id: each.session for each in records if each.session in self._ends
        }
        self._open = [
            each
            for each in find_open_blockers(records)
            if _fold(each.brief_id) in self._briefs or each.session in self._ends
        ]

    def get_last_report(self, worker: ClosedWorker) -> ContractRecord | None:
        """The last report of a listed worker: by its session, its result, or its only session."""
        if worker.session is not None or worker.result is not None:
            session = worker.session if worker.session is not None else self._names.get(worker.result or "")
            report = self._ends.get(session) if session is not None else None
            if worker.result is not None and self._names.get(worker.result) != session:
                return None
            return report if report is not None and _is_of(report.body, worker) else None
        # An agent with several sessions is not identified by its name alone, and guessing could pick its only clean
        # one.
        own = [each for each in self._ends.values() if _is_of(each.body, worker)]
        return own[0] if len(own) == 1 else None

    def list_unfinished(self, listed_workers: set[str | None] | None) -> Iterator[str]:
        """Reasons why the mission is not done."""
        for brief_id, is_replaced in self._briefs.items():
            if is_replaced:
                continue
            reports = [each for each in self._ends.values() if _fold(each.brief_id) == brief_id]
            last = max(reports, key=lambda each: each.sequence, default=None)
            if last is None:
                yield f"brief {quote(brief_id)} has no result"
            elif last.body["status"] != "done_clean":
                yield f"the last report about brief {quote(brief_id)} is {quote(last.body['status'])}"
            elif listed_workers is not None and last.session not in listed_workers:
                yield f"it leaves out session {quote(last.session or '')}"
        yield from self._list_unconfirmed()
        for blocker in self._open:
            yield f"blocker {quote(blocker.record_id)} of session {quote(blocker.session or '')} is open"

    def _list_unconfirmed(self) -> Iterator[str]:
        """Reasons why a hand-off below the mission has not ended with a result that agrees with its brief."""
        last_of_brief = {_fold(each.brief): each for each in self._handoffs}
        for handoff in self._handoffs:
            into = f"session {quote(handoff.session)} (hand-off {handoff.number} to {quote(handoff.holder)})"
            is_replaced = _fold(handoff.brief) in self._all_replaced
            # A brief that was handed down again is finished in the last session. Earlier ones only have to have
            # stopped.
            if is_replaced or last_of_brief[_fold(handoff.brief)] is not handoff:
                if handoff.handoff_id in self._running:
                    yield f"{into} still works, although its brief was replaced"
                continue
            report = self._reports.get(handoff.session)
            # A result under another session does not count. Otherwise a worker could report for work that another one
            # got.
            if report is None:
                if any(_fold(each.brief_id) == _fold(handoff.brief) for each in self._ends.values()):
                    yield f"the result about brief {quote(handoff.brief or '')} is of another session than {into}"
                elif _fold(handoff.brief) not in self._briefs:
                    yield f"{into} has no result"
                continue
            if report.body.get("status") != "done_clean" and _fold(handoff.brief) not in self._briefs:
                yield f"the last report of {into} is {quote(report.body.get('status'))}"
            brief = self._records.get(_fold(handoff.brief))
            if brief is not None:
                for each in _find_other_slice(report, brief):
                    yield f"the result of {into} does not match its brief: {each.message}"


def _find_other_slice(report: ContractRecord, brief: ContractRecord) -> Iterator[ContractFinding]:
    """The differences between a stored report and the brief that was handed down."""
    made = msgspec.convert(report.body, prepared(RECORDS[report.kind]))
    order = msgspec.convert(brief.body, prepared(Brief))
    assert isinstance(made, SessionReport)
    return find_brief_mismatch(made, order)


def _fold(name: str | None) -> str:
    return (name or "").lower()


def _is_of(body: Mapping[str, Any], worker: ClosedWorker) -> bool:
    return is_same_name(str(body.get("agent")), worker.agent)
