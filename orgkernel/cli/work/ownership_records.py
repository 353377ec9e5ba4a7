"""Record an ownership audit of commits, in the store or as requests for HTTP."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import click
import msgspec

from orgkernel.cli.output import format_count
from orgkernel.cli.stores import open_operation
from orgkernel.decisions.ownership.changes import format_path
from orgkernel.decisions.ownership.owners import AuditedWorker
from orgkernel.decisions.ownership.recorded import split_changes
from orgkernel.decisions.ownership.sacred import SacredFiles
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import UsageError
from orgkernel.operations.contracts import choose_contract_organization, decode_contract
from orgkernel.operations.ownership_audits import AuditRequest, BriefToAudit, record_audit
from orgkernel.project.git.range import GitRange

if TYPE_CHECKING:
    from orgkernel.kernel.kernel import Kernel


def record_ownership_audit(
    workers: Sequence[AuditedWorker],
    git_range: GitRange,
    kernel: Kernel | None,
    sacred: SacredFiles,
    actor: str,
    store: str | None,
    org: str,
) -> None:
    """Record the audit in the store, in chunks of changed paths. Raises `UsageError` if a brief differs from the stored one."""
    audit_request = _build_request(workers, git_range)
    with open_operation(actor, store, kernel) as context:
        org_id = choose_contract_organization(context, org)
        for worker in workers:
            stored = context.store.contracts.get(org_id, worker.brief.id or "")
            if stored is not None and decode_contract(stored) != worker.brief:
                raise UsageError(
                    f"the brief of {quote(worker.name)} is not the stored one",
                    "`orgkernel task list --kind brief --format json` shows the stored brief",
                )
        for chunk in split_changes(git_range.changed):
            recorded = record_audit(context, audit_request, chunk, sacred, org=org_id, root=git_range.folder)
            # All chunks belong to the audit that the first one began.
            audit_request = msgspec.structs.replace(audit_request, audit=recorded.audit)
    click.echo(f"recorded audit {audit_request.audit} of {format_count(len(workers), 'brief')}", err=True)


def render_requests(workers: Sequence[AuditedWorker], git_range: GitRange) -> Iterator[str]:
    """The bodies of the requests that record the audit over HTTP, one for each chunk of changed paths. Send them in this order."""
    audit_request = msgspec.structs.replace(_build_request(workers, git_range), audit=str(uuid4()))
    for chunk in split_changes(git_range.changed):
        body = {**msgspec.to_builtins(audit_request), **msgspec.to_builtins(chunk)}
        yield msgspec.json.encode(_escape(body)).decode()


def _build_request(workers: Sequence[AuditedWorker], git_range: GitRange) -> AuditRequest:
    briefs = tuple(
        BriefToAudit(brief=each.brief.id or "", branch=each.name if each.has_branch else None)
        for each in workers
    )
    return AuditRequest(briefs=briefs, base=git_range.base, head=git_range.head)


def _escape(value: Any) -> Any:
    """A value for JSON. Bytes of paths that are not valid text are escaped, as in answers."""
    if isinstance(value, str):
        return format_path(value)
    if isinstance(value, dict):
        return {name: _escape(each) for name, each in value.items()}
    return [*map(_escape, value)] if isinstance(value, list | tuple) else value
