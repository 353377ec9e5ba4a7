"""The audit: decisions and changes, newest first, and whether the audit is unchanged."""

from __future__ import annotations

import os
from threading import Lock
from typing import TYPE_CHECKING, Annotated

import msgspec
from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from manifest_api.problems import BAD_CURSOR, RequestRefused
from manifest_api.questions import KNOWN_PARAMETERS, Cursor, declare_word
from manifest_api.routes.documented import declare_store_responses
from manifest_api.store_access import StoreAccess
from manifest_api.store_requests import DEFAULT_ROWS, RowLimit, build_json_response, with_store
from orgkernel.decisions.evidence.state_records import (
    AcceptedFinding,
    AuditEntry,
    AuditFilter,
    AuditFinding,
    AuditKind,
    AuditVerdict,
    OpenRows,
)
from orgkernel.errors import StoreBusy, UnknownRecord
from orgkernel.operations.upkeep import read_audit, verify
from orgkernel.prepared_types import prepared

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store

router = APIRouter(tags=["audit"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])
_VERIFYING_SECONDS = 600.0
_LATEST = 1e15


class AuditLine(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the audit."""

    row: str
    digest: str
    entry: AuditEntry


class AuditPage(msgspec.Struct, frozen=True, kw_only=True):
    """Rows, newest first."""

    rows: tuple[AuditLine, ...]
    next: str | None


class KnownFolder(msgspec.Struct, frozen=True, kw_only=True):
    """A folder of checkpoints that the server compares the rows with."""

    folder: str
    """Its name, without the folders above it."""
    has_key: bool
    """Whether it has the key that signs checkpoints. Without it, the folder proves nothing."""
    writers: tuple[str, ...]
    """The processes whose checkpoints it has. Each one has written chains of its own, named `WRITER:STREAM`."""


class AuditVerification(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the audit is unchanged."""

    is_whole: bool
    """The same as the verdict `whole`."""
    verdict: AuditVerdict
    """`changed` if rows were changed, moved or removed. `unproven` if a checkpoint is missing that would prove that none
    was.
    """
    rows: int
    chains: int
    dropped: int
    """Rows that retention removed. The checkpoints of their segments are kept."""
    findings: tuple[AuditFinding, ...]
    more_findings: int
    """Beyond those listed."""
    accepted: tuple[AcceptedFinding, ...]
    """Accepted findings. They do not affect the verdict."""
    open: tuple[OpenRows, ...]
    """Rows that are signed one by one and that no checkpoint covers yet, such as after a process was killed. They do not
    affect the verdict.
    """
    folders: tuple[KnownFolder, ...]
    """The folders of checkpoints that the server knows. Rows of other writers, such as those of a machine with a folder of its
    own, are unproven here.
    """


@router.get("/v1/audit", responses=declare_store_responses(AuditPage, 409))
async def get_audit(
    request: Request,
    since: Annotated[
        float | None, Query(ge=0, le=_LATEST, description="Seconds since 1970-01-01 UTC.")
    ] = None,
    until: Annotated[
        float | None, Query(ge=0, le=_LATEST, description="Seconds since 1970-01-01 UTC.")
    ] = None,
    kind: Annotated[AuditKind | None, Query(description="Only rows of this kind.")] = None,
    activity: Annotated[
        str | None,
        declare_word("Only rows with this outcome, such as allow, deny, ask, created, used or revoked."),
    ] = None,
    subject: Annotated[
        str | None, declare_word("Only rows about `KIND:ID`, or about all of a kind with `KIND:`.")
    ] = None,
    channel: Annotated[str | None, declare_word("Channel.")] = None,
    record: Annotated[str | None, declare_word("Only rows about this grant, request or key.")] = None,
    cursor: Cursor = None,
    limit: RowLimit = DEFAULT_ROWS,
) -> Response:
    """List the rows that match every filter, newest first. The digest of a row covers the row before it."""
    wanted = AuditFilter(since, until, kind, activity, subject, channel, record_id=record)

    def read(store: Store) -> AuditPage:
        try:
            rows = list(read_audit(store, wanted, limit + 1, cursor))
        except UnknownRecord as error:
            raise RequestRefused(BAD_CURSOR, error.message, "start again without a cursor") from None
        lines = tuple(AuditLine(row=row.audit_id, digest=row.digest, entry=row.entry) for row in rows[:limit])
        return AuditPage(rows=lines, next=lines[-1].row if len(rows) > limit else None)

    return build_json_response(await with_store(request, read, AuditPage(rows=(), next=None)))


@router.get("/v1/audit/verification", responses=declare_store_responses(AuditVerification, 409))
async def get_verification(request: Request) -> Response:
    """Verify that no row is missing, moved or changed.

    Only one verification runs at a time, because it reads every row.
    """
    verifying: Lock = request.app.state.verifying

    def check(store: Store) -> AuditVerification:
        if not verifying.acquire(blocking=False):
            raise StoreBusy("another verification is running", "try again when it has ended")
        try:
            verification = verify(store)
        finally:
            verifying.release()
        # Clients need not know the location of the store.
        folders = tuple(
            msgspec.structs.replace(each, folder=os.path.basename(each.folder))
            for each in verification.folders
        )
        public_fields = msgspec.json.decode(
            msgspec.json.encode(msgspec.structs.replace(verification, folders=folders)).replace(
                _quote_path(store.folder.path), b"the folder of checkpoints"
            )
        )
        return msgspec.convert(
            {"is_whole": verification.verdict == "whole", **public_fields}, prepared(AuditVerification)
        )

    access: StoreAccess = request.app.state.store_access
    lost = await run_in_threadpool(access.find_lost)
    nothing = AuditVerification(
        is_whole=not lost, verdict="changed" if lost else "whole", rows=0, chains=0, dropped=0, findings=lost,
        more_findings=0, accepted=(), open=(), folders=(),
    )  # fmt: skip
    return build_json_response(await with_store(request, check, nothing, _VERIFYING_SECONDS))


def _quote_path(path: str) -> bytes:
    """A path in the form that it has inside a JSON string."""
    return msgspec.json.encode(path)[1:-1]
