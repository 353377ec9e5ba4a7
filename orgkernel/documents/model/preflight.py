"""`preflight`: the seven steps around one destructive operation, recorded in order."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from orgkernel.documents.model.contract import Contract, WrittenTime
from orgkernel.documents.model.record import Record


class DryRun(Record):
    """Step 1. A run of the operation that changes nothing."""

    at: WrittenTime
    command: str | None = None
    """A command that only shows what would happen, such as the operation with `--dry-run`."""
    exit_code: int | None = None


class DryRunOutput(Record):
    """Step 2. The output of the dry run."""

    at: WrittenTime
    text: str | None = None


class BlastRadius(Record):
    """Step 3. The expected changes, and other things that could be affected."""

    at: WrittenTime
    text: str | None = None


class OperationAuthorization(Record):
    """Step 4. The brief that lists the operation."""

    at: WrittenTime
    brief: str | None = None
    """Id of the brief."""


class OperationBackup(Record):
    """Step 5. The location from which the lost state can be restored."""

    at: WrittenTime
    path: str | None = None


class OperationRun(Record):
    """Step 6. The operation itself."""

    at: WrittenTime
    output: str | None = None
    exit_code: int | None = None


class OperationVerification(Record):
    """Step 7. The proof that the operation had its intended effect and no other."""

    at: WrittenTime
    command: str | None = None
    exit_code: int | None = None


class Preflight(Contract):
    """The steps around one destructive operation. The first five steps are recorded before it is carried out, and all seven
    afterwards.
    """

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
    """The exact command to be run."""
    dry_run: DryRun | None = None
    dry_run_output: DryRunOutput | None = None
    blast_radius: BlastRadius | None = None
    authorization: OperationAuthorization | None = None
    backup: OperationBackup | None = None
    execution: OperationRun | None = None
    verification: OperationVerification | None = None
