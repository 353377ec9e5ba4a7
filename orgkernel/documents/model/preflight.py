"""`preflight`: the seven steps around one destructive operation, recorded in their order."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from orgkernel.documents.model.contract import Contract, WrittenTime
from orgkernel.documents.model.record import Record


class DryRun(Record):
    """Step 1. The operation, done in a way that changes nothing."""

    at: WrittenTime
    command: str | None = None
    """A command that only shows what would happen, such as the operation with `--dry-run`."""
    exit_code: int | None = None


class DryRunOutput(Record):
    """Step 2. What the dry run printed."""

    at: WrittenTime
    text: str | None = None


class BlastRadius(Record):
    """Step 3. What the operation will change, and what else could be hit."""

    at: WrittenTime
    text: str | None = None


class OperationAuthorization(Record):
    """Step 4. The brief that lists the operation."""

    at: WrittenTime
    brief: str | None = None
    """Id of the brief."""


class OperationBackup(Record):
    """Step 5. Where the lost state can be found again."""

    at: WrittenTime
    path: str | None = None


class OperationRun(Record):
    """Step 6. The operation itself."""

    at: WrittenTime
    output: str | None = None
    exit_code: int | None = None


class OperationVerification(Record):
    """Step 7. The proof that the operation did what it should and nothing else."""

    at: WrittenTime
    command: str | None = None
    exit_code: int | None = None


class Preflight(Contract):
    """One destructive operation. Before it is carried out, its first five steps are there; afterwards, all seven."""

    model_config = ConfigDict(
        json_schema_extra={
            "required": [
                "operation", "command", "dry_run", "dry_run_output", "blast_radius", "authorization", "backup",
            ]
        }
    )  # fmt: skip

    kind: Literal["orgkernel:preflight"] = Field(default="orgkernel:preflight", alias="_schema")
    id: str | None = None
    """A random UUID."""
    session: str | None = None
    """Name of the session that carries the operation out."""
    operation: Annotated[str, Field(min_length=1)]
    """Id of the operation in the catalog, such as `force_push`."""
    command: Annotated[str, Field(min_length=1)]
    """The command that will be run, to the letter."""
    dry_run: DryRun | None = None
    dry_run_output: DryRunOutput | None = None
    blast_radius: BlastRadius | None = None
    authorization: OperationAuthorization | None = None
    backup: OperationBackup | None = None
    execution: OperationRun | None = None
    verification: OperationVerification | None = None
