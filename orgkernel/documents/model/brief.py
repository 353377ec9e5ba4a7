"""`brief`: what a sender hands down with a task. It is written once and never changed.

All ten sections are required. A rule reports each missing one, so all problems of a brief are reported together.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from orgkernel.documents.model.contract import Contract
from orgkernel.documents.model.record import Id, Record


class BriefContext(Record):
    """The project in which the work takes place."""

    project_root: str | None = None
    """Folder of the project."""
    deployed_url: str | None = None
    stack: str | None = None
    """Languages and frameworks of the project."""
    prior_runs: tuple[str, ...] = ()
    """Results of earlier runs that matter here."""


class BriefScope(Record):
    """The files and operations that the receiver may touch."""

    model_config = ConfigDict(json_schema_extra={"required": ["files_owned"]})

    files_owned: tuple[str, ...] | None = None
    """Paths and globs of the files that the receiver may write. An empty list means that the work only reads."""
    destructive: tuple[Id, ...] = ()
    """Destructive operations that are authorized, by id."""
    allow_authentication: bool = False
    """Whether the code of authentication may be changed: the rubric of the mission authorizes it."""
    allow_billing: bool = False
    """Whether billing modules may be changed."""
    allow_dependency_change: bool = False
    """Whether the dependencies of the project may be changed."""


class BriefSpec(Record):
    """The limits of the work."""

    model_config = ConfigDict(json_schema_extra={"required": ["scope"]})

    scope: BriefScope = BriefScope.model_construct()


class Brief(Contract):
    """A brief: the instructions for one worker."""

    model_config = ConfigDict(
        json_schema_extra={
            "required": [
                "id", "mission", "purpose", "context", "whats_done", "current_task", "done_criteria", "verify_command",
                "key_decisions", "spec", "relevant_memories", "ship",
            ]
        }
    )  # fmt: skip

    kind: Literal["orgkernel:brief"] = Field(default="orgkernel:brief", alias="_schema")
    id: str | None = None
    """UUID of version 4."""
    parent: str | None = None
    """Id of the brief that this one is derived from."""
    replaces: str | None = None
    """Id of a brief of the same parent that this one replaces. The close of the mission does not wait for the
    replaced brief."""
    mission: Annotated[str, Field(json_schema_extra={"maxLength": 200})] | None = None
    """The goal, in at most 200 characters."""
    purpose: str | None = None
    """The reason why the work matters to the person who requested it."""
    context: BriefContext | None = None
    whats_done: tuple[str, ...] | None = None
    """The completed parts of the mission."""
    current_task: str | None = None
    """Files, lines and exact changes."""
    done_criteria: str | None = None
    """A condition that can be measured."""
    verify_command: str | None = None
    """The shell command that verifies the criteria. It exits with 0 if they are met, and with another code otherwise."""
    key_decisions: tuple[str, ...] | None = None
    """Entries of the decision log that affect the task."""
    spec: BriefSpec = BriefSpec.model_construct()
    relevant_memories: tuple[str, ...] | None = None
    """Selected lessons of earlier work."""
    ship: bool | None = None
    """Whether the receiver ships the work."""
    audit_gates: tuple[Id, ...] = ()
    """Audits that must pass before the result may be `done_clean`."""
    lifecycle: Literal["ephemeral", "persistent"] = "ephemeral"
    """Whether the receiver ends with the result or stays for more work."""

    @property
    def files_owned(self) -> tuple[str, ...]:
        """Paths and globs of the files that the receiver may write."""
        return self.spec.scope.files_owned or ()

    @property
    def destructive(self) -> tuple[str, ...]:
        """Destructive operations that are authorized."""
        return self.spec.scope.destructive

    @property
    def allow_authentication(self) -> bool:
        """Whether the code of authentication may be changed."""
        return self.spec.scope.allow_authentication

    @property
    def allow_billing(self) -> bool:
        """Whether billing modules may be changed."""
        return self.spec.scope.allow_billing

    @property
    def allow_dependency_change(self) -> bool:
        """Whether the dependencies of the project may be changed."""
        return self.spec.scope.allow_dependency_change
