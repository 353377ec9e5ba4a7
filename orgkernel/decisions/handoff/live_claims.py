"""Check the files of a brief against claims of other workers, and against the batch rules for running work.

A claim that was made for the sender's brief does not conflict with briefs derived from it. Fails closed: if the request
states no time, every claim is treated as current.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial

from orgkernel.decisions.handoff.briefs import HandoffBriefs, get_brief
from orgkernel.decisions.handoff.failures import Failure
from orgkernel.decisions.handoff.permission import HandoffFinding
from orgkernel.decisions.ownership.claims import ClaimConflict, ClaimIndex, FileClaim
from orgkernel.decisions.reasons import cite_place
from orgkernel.decisions.refusals import say_claim_end
from orgkernel.decisions.work.batches.rules import DEFAULT_SIZE, BatchProblem, check_batch, propose
from orgkernel.decisions.work.contracts.reading import ReadContract
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import Brief
from orgkernel.graph.governance import read_governance
from orgkernel.graph.records import OrgRecords
from orgkernel.runtime.utc import as_utc


def find_claimed_files(
    briefs: HandoffBriefs, claims: ClaimIndex, now: float, sender: Collection[str]
) -> Iterator[Failure]:
    """Files of the brief that overlap with claims of other workers. `sender` are the names of the sender."""
    read, brief = briefs.brief, get_brief(briefs.brief)
    if brief is None or read is None:
        return
    for conflict in claims.find_conflicts(brief.files_owned, now):
        if not is_of_mission(conflict.claim, brief, sender):
            yield Failure("live claims", "CLAIM_CONFLICT", partial(_tell_conflict, read, brief, conflict))


def _tell_conflict(read: ReadContract, brief: Brief, conflict: ClaimConflict) -> HandoffFinding:
    claim = conflict.claim
    parties = [f"session {quote(claim.session)}"] if claim.session else []
    parties += [f"planner {quote(claim.planner)}"] if claim.planner else []
    whom = f" ({', '.join(parties)})" if parties else ""
    text = (
        f"the brief owns {quote(conflict.path)}, which overlaps with {quote(conflict.claimed)}, "
        f"claimed by {quote(claim.holder)}{whom}"
    )
    number = brief.files_owned.index(conflict.path)
    why = (cite_place("files_owned", read.place(("spec", "scope", "files_owned", number))),)
    remedy = say_claim_end(claim.token, as_utc(claim.expires_at))
    return HandoffFinding("live claims", "CLAIM_CONFLICT", text, why, (remedy,))


def is_of_mission(claim: FileClaim, brief: Brief, sender: Collection[str]) -> bool:
    """Whether a claim was made by the sender for the brief that this one is derived from."""
    return brief.parent is not None and claim.brief == brief.parent and claim.holder in sender


def find_broken_batch(
    records: OrgRecords, briefs: HandoffBriefs, claims: ClaimIndex, now: float
) -> Iterator[Failure]:
    """Batch rules that the brief would break together with running work of its mission. Read-only work breaks none."""
    read, brief = briefs.brief, get_brief(briefs.brief)
    if brief is None or read is None or brief.parent is None or not brief.files_owned:
        return
    running = [
        each
        for each in claims.find_by_mission(brief.parent)
        if each.expires_at > now and each.brief != brief.id
    ]
    if not running:
        return
    mine = brief.id or "the brief"
    batch = [propose(mine, brief.files_owned), *(propose(_name_claim(each), each.paths) for each in running)]
    governance = read_governance(records.governance)
    size = DEFAULT_SIZE if governance is None or governance.batch_size is None else governance.batch_size
    for problem in check_batch(batch, (), size):
        if mine in problem.subtasks:
            yield Failure("batch rules", problem.code, partial(_tell_batch, records, read, problem))


def _tell_batch(records: OrgRecords, read: ReadContract, problem: BatchProblem) -> HandoffFinding:
    why = [cite_place("files_owned", read.place(("spec", "scope", "files_owned")))]
    document = records.governance
    if problem.code == "BATCH_TOO_LARGE" and document is not None and document.has("batch_size"):
        why.append(cite_place("batch_size", document.place("batch_size", key=True)))
    remedy = "hand it down after the results of the other workers are stored"
    return HandoffFinding("batch rules", problem.code, problem.text, tuple(why), (remedy,))


def _name_claim(claim: FileClaim) -> str:
    return claim.brief or claim.session or f"claim {claim.token}"
