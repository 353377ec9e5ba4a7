"""The rules for records of lead, manager and checker (LMC)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from orgkernel.decisions.work.contracts.findings import ContractFinding, find_mismatch, is_blank, is_same_name
from orgkernel.diagnostics import contract_rows as row
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import Brief, LmcRecord

MAX_FAILURES_IN_ROW: Final = 3
"""The number of failures in a row after which the sender decides."""


def find_incomplete_attempts(record: LmcRecord) -> Iterator[ContractFinding]:
    """LMC_INCOMPLETE: an attempt lacks a part that its mode requires."""
    if record.mode == "direct":
        if record.attempts:
            yield ContractFinding(
                row.LMC_INCOMPLETE, ("attempts",), "mode `direct` has no manager and no checker"
            )
        return
    if not record.attempts:
        yield ContractFinding(
            row.LMC_INCOMPLETE, ("attempts",), f"mode {quote(record.mode)} has at least one attempt"
        )
    for number, attempt in enumerate(record.attempts):
        route = ("attempts", number)
        if attempt.manager is None:
            yield ContractFinding(row.LMC_INCOMPLETE, route, f"attempt {number + 1} has no manager")
        if record.mode == "full" and attempt.checker is None:
            message = f"attempt {number + 1} has no checker, which mode `full` requires"
            yield ContractFinding(row.LMC_INCOMPLETE, route, message)
        if record.mode == "lite" and attempt.checker is not None:
            message = f"attempt {number + 1} has a checker, but in mode `lite` the lead judges"
            yield ContractFinding(row.LMC_INCOMPLETE, (*route, "checker"), message)
        checker = attempt.checker
        if (
            checker is not None
            and checker.decision == "FAIL"
            and not checker.issues
            and is_blank(checker.feedback)
        ):
            message = f"the checker fails attempt {number + 1} without an issue or feedback"
            yield ContractFinding(row.LMC_INCOMPLETE, (*route, "checker"), message)


def find_own_checker(record: LmcRecord) -> Iterator[ContractFinding]:
    """SELF_APPROVAL: a checker checks its own work."""
    for number, attempt in enumerate(record.attempts):
        if attempt.checker is None:
            continue
        writers = [record.lead, *([attempt.manager.agent] if attempt.manager is not None else [])]
        if any(is_same_name(attempt.checker.agent, writer) for writer in writers):
            message = f"{quote(attempt.checker.agent)} checks its own work in attempt {number + 1}"
            yield ContractFinding(row.SELF_APPROVAL, ("attempts", number, "checker", "agent"), message)


def find_missing_escalation(record: LmcRecord) -> Iterator[ContractFinding]:
    """LMC_ESCALATE: several attempts in a row failed without escalation."""
    in_a_row = 0
    for number, attempt in enumerate(record.attempts):
        failed = attempt.checker is not None and attempt.checker.decision == "FAIL"
        in_a_row = in_a_row + 1 if failed else 0
        if in_a_row < MAX_FAILURES_IN_ROW:
            continue
        if number + 1 < len(record.attempts):
            message = f"attempt {number + 2} follows {MAX_FAILURES_IN_ROW} failures in a row"
            yield ContractFinding(
                row.LMC_ESCALATE, ("attempts", number + 1), message, "escalate to the sender instead"
            )
        elif is_blank(record.escalated_to):
            message = f"{MAX_FAILURES_IN_ROW} attempts in a row failed, and the record does not escalate to the sender"
            yield ContractFinding(
                row.LMC_ESCALATE, ("attempts", number), message, "write the sender in `escalated_to`"
            )
        return


def find_other_brief(record: LmcRecord, brief: Brief) -> Iterator[ContractFinding]:
    """RESULT_BRIEF_MISMATCH, with the brief: the record belongs to another brief."""
    yield from find_mismatch("record", record.brief, brief.id)
