"""Compare the stored contracts and hand-offs with the digests that the audit recorded of them.

The rows of a log are chained, which shows a changed row in the middle, but neither a missing end nor a chain that
was rewritten completely. The audit has the number and the digest of every row, and is proven by its checkpoints.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec
from sqlalchemy import Connection, select

from orgkernel.decisions.evidence.state_records import AuditFinding, AuditProblem
from orgkernel.diagnostics.wording import quote
from orgkernel.state.chain import decode_entry
from orgkernel.state.contracts import list_broken_contracts
from orgkernel.state.handoffs import list_broken_handoffs
from orgkernel.state.tables import contract_records, handoffs

_ACTIVITIES: Final = {("contract", "recorded"): "sequence", ("handoff", "handed_down"): "number"}
"""Kind and activity of the audit rows about new rows of a log, with the detail that numbers them."""


class _LogKey(NamedTuple):
    kind: str
    org_id: str


class AuditedLogs:
    """The rows of logs that the audit recorded."""

    def __init__(self) -> None:
        self._digests: dict[_LogKey, dict[int, str]] = {}
        self.findings: list[AuditFinding] = []

    def note(self, row: Any) -> None:
        """Remember an audit row, if it is about a new row of a log. An unreadable row is a finding of its chain."""
        counter = _ACTIVITIES.get((row.kind, row.activity))
        if counter is None:
            return
        try:
            entry = decode_entry(row.body)
        except (msgspec.MsgspecError, ValueError):
            return
        number, digest = ((entry.detail or {}).get(name) for name in (counter, "digest"))
        if isinstance(number, int) and isinstance(digest, str):
            self._digests.setdefault(_LogKey(row.kind, entry.org_id), {})[number] = digest

    def compare(self, connection: Connection) -> None:
        """Compare the logs with what the audit recorded, at the moment at which the audit was read."""
        contracts = self._read_log("contract", connection, contract_records.c.sequence)
        dispatches = self._read_log("handoff", connection, handoffs.c.number)
        for kind, logs, counter, list_broken in (
            ("contract", contracts, "sequence", list_broken_contracts),
            ("handoff", dispatches, "number", list_broken_handoffs),
        ):
            orgs = {key.org_id for key in self._digests if key.kind == kind}
            for org_id in sorted({*logs, *orgs}):
                rows = logs.get(org_id, [])
                at = f"{kind}:{org_id}"
                self.findings += (
                    AuditFinding("changed", at, f"{quote(org_id)}: {text}") for text in list_broken(rows)
                )
                digests = {int(getattr(row, counter)): str(row.digest) for row in rows}
                self.findings += _find_differences(at, digests, self._digests.get(_LogKey(kind, org_id), {}))

    def _read_log(self, kind: str, connection: Connection, counter: Any) -> dict[str, list[Any]]:
        """The rows of a log by organization, in their order. A row whose number or organization is of another type is a finding."""
        logs: dict[str, list[Any]] = {}
        query = select(counter.table).order_by(counter.table.c.org_id, counter)
        for row in connection.execute(query):
            number = getattr(row, counter.key)
            if type(number) is int and type(row.org_id) is str:
                logs.setdefault(row.org_id, []).append(row)
            else:
                place = quote(f"{kind}:{row.org_id}:{number}")
                text = f"row {place} was changed: its number or organization has another type"
                self.findings.append(AuditFinding("changed", place, text))
        return logs


def _find_differences(
    at: str, stored: Mapping[int, str], audited: Mapping[int, str]
) -> Iterator[AuditFinding]:
    last = max(stored, default=0)
    for number in sorted(audited):
        if number not in stored:
            problem: AuditProblem = "cut_off" if number > last else "missing"
            yield AuditFinding(
                problem, f"{at}:{number}", f"row {at}:{number} is missing, which the audit recorded"
            )
        elif stored[number] != audited[number]:
            text = f"row {at}:{number} is not the one that the audit recorded"
            yield AuditFinding("changed", f"{at}:{number}", text)
    # Retention deletes the oldest rows of the audit, so a row after the last recorded one was never recorded.
    for number in sorted(stored) if audited else ():
        if number > max(audited):
            yield AuditFinding(
                "changed", f"{at}:{number}", f"row {at}:{number} was added, and the audit did not record it"
            )
