"""`preflight`: the seven steps around one destructive operation, recorded in their order. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Literal
import msgspec
from orgkernel.records.contract import Contract, WrittenTime
from orgkernel.records.record import Record


class DryRun(Record, frozen=True, kw_only=True):
    """Step 1. The operation, done in a way that changes nothing."""
    at: WrittenTime
    command: str | None = None
    exit_code: int | None = None


class DryRunOutput(Record, frozen=True, kw_only=True):
    """Step 2. What the dry run printed."""
    at: WrittenTime
    text: str | None = None


class BlastRadius(Record, frozen=True, kw_only=True):
    """Step 3. What the operation will change, and what else could be hit."""
    at: WrittenTime
    text: str | None = None


class OperationAuthorization(Record, frozen=True, kw_only=True):
    """Step 4. The brief that lists the operation."""
    at: WrittenTime
    brief: str | None = None


class OperationBackup(Record, frozen=True, kw_only=True):
    """Step 5. Where the lost state can be found again."""
    at: WrittenTime
    path: str | None = None


class OperationRun(Record, frozen=True, kw_only=True):
    """Step 6. The operation itself."""
    at: WrittenTime
    output: str | None = None
    exit_code: int | None = None


class OperationVerification(Record, frozen=True, kw_only=True):
    """Step 7. The proof that the operation did what it should and nothing else."""
    at: WrittenTime
    command: str | None = None
    exit_code: int | None = None


class Preflight(Contract, frozen=True, kw_only=True):
    """One destructive operation. Before it is carried out, its first five steps are there; afterwards, all seven."""
    kind: Literal['orgkernel:preflight'] = msgspec.field(default='orgkernel:preflight', name='_schema')
    id: str | None = None
    session: str | None = None
    operation: str
    command: str
    dry_run: DryRun | None = None
    dry_run_output: DryRunOutput | None = None
    blast_radius: BlastRadius | None = None
    authorization: OperationAuthorization | None = None
    backup: OperationBackup | None = None
    execution: OperationRun | None = None
    verification: OperationVerification | None = None
