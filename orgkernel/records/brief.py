"""`brief`: what a dispatcher hands down with a task. It is written once and never changed. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Literal
import msgspec
from orgkernel.records.contract import Contract
from orgkernel.records.record import Id, Record


class BriefContext(Record, frozen=True, kw_only=True):
    """Where the work takes place."""
    project_root: str | None = None
    deployed_url: str | None = None
    stack: str | None = None
    prior_runs: tuple[str, ...] = ()


class BriefScope(Record, frozen=True, kw_only=True):
    """What the receiver may touch."""
    files_owned: tuple[str, ...] | None = None
    destructive: tuple[Id, ...] = ()
    allow_billing: bool = False
    allow_dependency_change: bool = False


class BriefSpec(Record, frozen=True, kw_only=True):
    """The limits of the work."""
    scope: BriefScope = BriefScope()


class Brief(Contract, frozen=True, kw_only=True):
    """One brief."""
    kind: Literal['orgkernel:brief'] = msgspec.field(default='orgkernel:brief', name='_schema')
    id: str | None = None
    parent: str | None = None
    replaces: str | None = None
    mission: str | None = None
    purpose: str | None = None
    context: BriefContext | None = None
    whats_done: tuple[str, ...] | None = None
    current_task: str | None = None
    done_criteria: str | None = None
    verify_command: str | None = None
    key_decisions: tuple[str, ...] | None = None
    spec: BriefSpec = BriefSpec()
    relevant_memories: tuple[str, ...] | None = None
    ship: bool | None = None
    audit_gates: tuple[Id, ...] = ()
    lifecycle: Literal['ephemeral', 'persistent'] = 'ephemeral'

    @property
    def files_owned(self) -> tuple[str, ...]:
        """Paths and globs of the files that the receiver may write."""
        return self.spec.scope.files_owned or ()

    @property
    def destructive(self) -> tuple[str, ...]:
        """Destructive operations that are authorized."""
        return self.spec.scope.destructive

    @property
    def allow_billing(self) -> bool:
        """Whether billing modules may be changed."""
        return self.spec.scope.allow_billing

    @property
    def allow_dependency_change(self) -> bool:
        """Whether the dependencies of the project may be changed."""
        return self.spec.scope.allow_dependency_change
