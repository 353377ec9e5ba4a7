"""The rules for entries of the decision log."""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.decisions.work.contracts.findings import ContractFinding, is_blank, is_same_id, is_same_name
from orgkernel.diagnostics import contract_rows as row
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import Blocker, DecisionEntry

CORRECT_A_PREMISE = "write the wrong premise in `corrects_premise`, or leave the decision to the planner"
PARTS = ("timestamp", "title", "task", "classification", "decision", "rationale", "falsifier")


def find_incomplete_entry(entry: DecisionEntry) -> Iterator[ContractFinding]:
    """DECISION_INCOMPLETE: a part of the entry is missing."""
    for name in PARTS:
        if is_blank(getattr(entry, name)):
            yield ContractFinding(row.DECISION_INCOMPLETE, (name,), f"the entry has no {quote(name)}")
    if len((entry.rationale or "").strip().splitlines()) > 1:
        message = "the rationale has several lines"
        yield ContractFinding(row.DECISION_INCOMPLETE, ("rationale",), message, "write it in one line")
    if entry.written_by == "worker" and is_blank(entry.corrects_premise):
        message = "a worker wrote the entry, but it corrects no premise"
        yield ContractFinding(row.DECISION_INCOMPLETE, ("written_by",), message, CORRECT_A_PREMISE)


def find_uncited(entry: DecisionEntry, old: DecisionEntry) -> Iterator[ContractFinding]:
    """LOG_SUPERSEDE_UNCITED, with the old entry: the entry does not cite the one that it replaces."""
    if not is_same_id(entry.supersedes, old.id):
        clause = "cites no entry" if entry.supersedes is None else f"cites {quote(entry.supersedes)}"
        message = f"the entry {clause}, but replaces {quote(old.id or old.title)}"
        yield ContractFinding(
            row.LOG_SUPERSEDE_UNCITED, ("supersedes",), message, "", ("id",), "the replaced entry"
        )


def find_own_answer(entry: DecisionEntry, blocker: Blocker) -> Iterator[ContractFinding]:
    """SELF_APPROVAL, with the blocker: an agent answers its own blocker. For another blocker, a mismatch."""
    if blocker.id is not None and not is_same_id(entry.answers, blocker.id):
        clause = "answers no blocker" if entry.answers is None else f"answers {quote(entry.answers)}"
        message = f"the entry {clause}, not {quote(blocker.id)}"
        yield ContractFinding(row.RESULT_BRIEF_MISMATCH, ("answers",), message, "", ("id",), "the blocker")
    if entry.agent is not None and blocker.agent is not None and is_same_name(entry.agent, blocker.agent):
        message = f"{quote(entry.agent)} answers its own blocker"
        yield ContractFinding(row.SELF_APPROVAL, ("agent",), message, "", ("agent",), "the blocker")
