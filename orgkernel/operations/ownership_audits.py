"""Record ownership audits, and store a clean report as failed if it needs an audit that is missing or not clean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from orgkernel.decisions.evidence.state_records import ContractRecord, HandoffRecord
from orgkernel.decisions.ownership.audit import audit_changes
from orgkernel.decisions.ownership.changes import ChangedFiles
from orgkernel.decisions.ownership.owners import AuditedWorker, require_different
from orgkernel.decisions.ownership.recorded import (
    AUDIT_KIND,
    ChangePage,
    RecordedPage,
    build_audit_page,
)
from orgkernel.decisions.ownership.sacred import SacredFiles
from orgkernel.decisions.work.contracts.audited_reports import find_unaudited
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import Brief, SessionReport
from orgkernel.errors import UnknownRecord
from orgkernel.operations.bindings import bind_audit, find_writer
from orgkernel.operations.context import Context
from orgkernel.operations.organizations import choose_organization, require_one
from orgkernel.prepared_types import prepared

if TYPE_CHECKING:
    from orgkernel.state.contracts import ContractRows


class BriefToAudit(msgspec.Struct, frozen=True, kw_only=True):
    """A stored brief whose work is audited, and how its commits are found."""

    brief: str
    """The id of the stored brief."""
    branch: str | None = None
    """The branch with the worker's commits. Without one, commits name the id of the brief, unless it is the only brief."""


class AuditRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The range and the briefs of an audit to record."""

    briefs: tuple[BriefToAudit, ...]
    base: str
    head: str
    audit: str | None = None
    """The id of the audit; every page of one audit has the same. A new one by default."""


class RecordedAudit(msgspec.Struct, frozen=True, kw_only=True):
    """A recorded page of an audit, with the verdict about all pages that are recorded so far."""

    audit: str
    """The id of the audit, for its next page."""
    outcome: Literal["clean", "violations", "cannot_tell", "incomplete"]
    """`incomplete` as long as pages are missing and no page has a finding."""
    page: int
    pages: int
    records: tuple[ContractRecord, ...]
    """What was stored: one record for each brief."""


def record_audit(
    context: Context,
    audit_request: AuditRequest,
    page: ChangePage,
    sacred: SacredFiles,
    *,
    org: str | None = None,
    root: str | None = None,
) -> RecordedAudit:
    """Audit a page of changes by the stored briefs, and store the verdict about each brief.

    The sender of the work or an operator can record an audit, and the holder of the work cannot. `root` is the folder of the
    project, for absolute paths in briefs. Raises `Refused` (`CONTRACT_UNBOUND`), `UnknownRecord` and `UsageError`.
    """
    org_id = choose_organization(context, org)
    require_one(org_id, "an audit")
    if context.kernel is not None:
        org_id = context.kernel.organization(org_id).snapshot.org_id
    writer = find_writer(context, org_id)
    contracts = context.store.contracts
    workers = [
        AuditedWorker(
            each.branch or each.brief,
            get_stored_brief(context, org_id, each.brief),
            bool(each.branch),
        )
        for each in audit_request.briefs
    ]
    require_different(workers)
    answer = audit_changes(
        ChangedFiles(files=page.files, commits=page.commits), workers, sacred=sacred, root=root
    )
    audit_id = audit_request.audit or contracts.new_id()
    records = tuple(
        _store_page(
            context,
            org_id,
            build_audit_page(
                answer, worker.name, audit=audit_id, brief=worker.brief.id or "", base=audit_request.base, head=audit_request.head,
                page=page.page, pages=page.pages,
            ),
            writer,
        )
        for worker in workers
    )  # fmt: skip
    stored = contracts.list(org_id, AUDIT_KIND)
    recorded = [body for body in map(_read_page, stored) if body.audit == audit_id]
    return RecordedAudit(
        audit=audit_id, outcome=_find_outcome(recorded), page=page.page, pages=page.pages, records=records
    )


def fail_unaudited(
    context: Context, org_id: str, report: SessionReport, rows: ContractRows, handoff: HandoffRecord | None
) -> dict[str, Any]:
    """The fields of a report to store with other values: a clean report is `failed` if it needs a clean audit and has none."""
    brief_id = report.brief if handoff is None or handoff.brief is None else handoff.brief
    stored = None if brief_id is None else rows.find(brief_id, "brief")
    brief = None if stored is None else decode_brief(stored)
    audits = () if stored is None else rows.list_about(AUDIT_KIND, stored.record_id)
    mode = "stated" if context.kernel is None else context.kernel.contract_terms(org_id).ownership_audits
    owns_files = brief is not None and bool(brief.files_owned)
    findings = [*find_unaudited(report, [*map(_read_page, audits)], mode, owns_files=owns_files)]
    if not findings:
        return {}
    reasons = (report.refusal_reason, *(f"{each.row.code} {each.message}" for each in findings))
    return {"status": "failed", "refusal_reason": "; ".join(filter(None, reasons))}


def _store_page(
    context: Context, org_id: str, page: RecordedPage, writer: frozenset[str] | None
) -> ContractRecord:
    from orgkernel.state.contracts import ContractBinding  # slow to import, and a question needs no store

    def bind(rows: ContractRows) -> ContractBinding:
        return ContractBinding(bind_audit(context, org_id, page.brief, rows, writer))

    return context.store.contracts.record(
        org_id, AUDIT_KIND, msgspec.to_builtins(page), bind, actor=context.actor.name
    )


def get_stored_brief(context: Context, org_id: str, brief_id: str) -> Brief:
    """A stored brief. Raises `UnknownRecord`."""
    record = context.store.contracts.get(org_id, brief_id)
    if record is None or record.kind != "brief":
        raise UnknownRecord(
            f"there is no brief {quote(brief_id)}", "`orgkernel task list --kind brief` lists all"
        )
    return decode_brief(record)


def decode_brief(record: ContractRecord) -> Brief:
    """The brief of a row of this kind."""
    return msgspec.convert(record.body, prepared(Brief))


def _read_page(record: ContractRecord) -> RecordedPage:
    return msgspec.convert(record.body, prepared(RecordedPage))


def _find_outcome(
    recorded: Sequence[RecordedPage],
) -> Literal["clean", "violations", "cannot_tell", "incomplete"]:
    outcomes = {each.outcome for each in recorded}
    if "violations" in outcomes:
        return "violations"
    if "cannot_tell" in outcomes:
        return "cannot_tell"
    return "clean" if _are_complete(recorded) else "incomplete"


def _are_complete(recorded: Iterable[RecordedPage]) -> bool:
    pages_by_brief: dict[str, set[int]] = {}
    for each in recorded:
        pages_by_brief.setdefault(each.brief, set()).add(each.page)
    return all(pages_by_brief[each.brief] >= set(range(1, each.pages + 1)) for each in recorded)
