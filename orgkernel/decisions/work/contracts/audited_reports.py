"""Whether a clean report is covered by a recorded ownership audit.

Fails closed: an audit with a missing page, or of other commits than the report states, covers nothing. Only the last audit of a
brief counts, so a worker cannot choose an earlier one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orgkernel.decisions.ownership.recorded import RecordedPage
from orgkernel.decisions.work.contracts.findings import ContractFinding
from orgkernel.decisions.work.contracts.terms import OwnershipAudits
from orgkernel.diagnostics.handoff_rows import OWNERSHIP_NOT_AUDITED, OWNERSHIP_VIOLATED
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.documents.records import SessionReport


def find_unaudited(
    report: SessionReport, audits: Sequence[RecordedPage], mode: OwnershipAudits, *, owns_files: bool
) -> Iterator[ContractFinding]:
    """OWNERSHIP_NOT_AUDITED or OWNERSHIP_VIOLATED: no clean audit covers a `done_clean` report.

    `audits` are all recorded pages about the brief of the report, oldest first. `mode` is that of the governance document,
    and `owns_files` tells whether the brief owns files.
    """
    if report.status != "done_clean":
        return
    changes = report.changes
    last = [each for each in audits if each.audit == audits[-1].audit]
    bad = next((each for each in last if each.outcome != "clean"), None)
    if bad is not None:
        first = bad.findings[0] if bad.findings else None
        clause = "" if first is None else f": {first.code}: {first.text}"
        outcome = "found violations" if bad.outcome == "violations" else "cannot tell who changed the files"
        message = f"audit {quote(bad.audit)} of the work {outcome}{clause}"
        yield ContractFinding(OWNERSHIP_VIOLATED, ("changes",), message)
        return
    if changes is None:
        if mode == "always" and owns_files:
            message = "the brief owns files, and the report does not state the commits that changed them"
            yield ContractFinding(OWNERSHIP_NOT_AUDITED, ("changes",), message)
        return
    if changes.no_audit and mode == "optional":
        return
    problem = _find_uncovered(changes.base, changes.head, changes.files, last)
    if problem:
        yield ContractFinding(OWNERSHIP_NOT_AUDITED, ("changes",), problem)


def _find_uncovered(base: str, head: str, files: Sequence[str], last: Sequence[RecordedPage]) -> str:
    """The reason why the last audit does not cover stated changes; empty if it does."""
    if not last:
        return "no ownership audit of the work is recorded"
    newest = last[-1]
    if (newest.base, newest.head) != (base, head):
        return (
            f"audit {quote(newest.audit)} is about {quote(newest.base[:12])} to {quote(newest.head[:12])}, and the report "
            f"about {quote(base[:12])} to {quote(head[:12])}"
        )
    missing = sorted(set(range(1, newest.pages + 1)) - {each.page for each in last})
    if missing:
        return f"audit {quote(newest.audit)} has no page {missing[0]} of {newest.pages}"
    known = {path for each in last for path in each.files}
    if unknown := [path for path in files if path not in known]:
        return f"audit {quote(newest.audit)} found no change of {listing(unknown)}"
    return ""
