"""The instance of a running bill as a caller reports it, and the decisions about it. The kernel stores neither."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from orgkernel.decisions.reasons import Reason
from orgkernel.documents.records import BillAction

StepStatus = Literal["pending", "active", "completed", "skipped", "failed", "blocked"]
InstanceState = Literal["pending", "active", "completed", "failed", "cancelled"]


class StepReport(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The report of a step."""

    status: StepStatus
    by: str = ""
    """The agent that does it or did it, as `agent:ID`. A `person:ID` can give the captain's approval."""
    outputs: Mapping[str, Any] = {}
    started_at: float | None = None
    """The start in seconds since 1970-01-01 UTC."""
    at: float | None = None
    """The time when it was completed, skipped or failed."""


class StepApproval(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The approval for starting a step."""

    by: str
    """The approver as `agent:ID`."""
    at: float | None = None


class BillInstance(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A running bill, as its runtime reports it.

    >>> BillInstance(bill="general_quarters").steps
    {}
    """

    bill: str = ""
    """The slug of the bill. Leave it out if the question names the bill."""
    digest: str | None = None
    """The digest of the bill when it was started. If it differs from the current one, the instance is refused."""
    activated_by: str | None = None
    """`agent:ID`, `person:ID`, or the trigger of the bill, such as `alert:RED`. Absent if it has not started."""
    inputs: Mapping[str, Any] = {}
    """The inputs of the activation."""
    assignments: Mapping[str, tuple[str, ...]] = {}
    """The agents of each bill role."""
    steps: Mapping[str, StepReport] = {}
    approvals: Mapping[str, StepApproval] = {}
    """The approvals of gates, by step."""
    cancelled: bool = False


class StepObligation(msgspec.Struct, frozen=True):
    """An obligation of starting a step."""

    code: str
    text: str


class UnfitAgent(msgspec.Struct, frozen=True):
    """An assigned agent that cannot do a step now, with the reasons."""

    agent: str
    reasons: tuple[Reason, ...]


class StepBillRole(msgspec.Struct, frozen=True, kw_only=True):
    """A bill role in one step. Any one of its agents can do the step."""

    bill_role: str
    agents: tuple[str, ...]
    """The agents that may do it now."""
    asking: tuple[str, ...] = ()
    """The agents among them that need a permission for the tool."""
    unfit: tuple[UnfitAgent, ...] = ()


class StepToStart(msgspec.Struct, frozen=True, kw_only=True):
    """A step that may start now."""

    step: str
    name: str
    action: BillAction
    bill_roles: tuple[StepBillRole, ...]
    inputs: Mapping[str, Any]
    obligations: tuple[StepObligation, ...]
    reasons: tuple[Reason, ...]


class RunningStep(msgspec.Struct, frozen=True, kw_only=True):
    """A step that has started and not ended."""

    step: str
    by: str
    due_at: float | None
    """The time when it becomes overdue; None if its start is unknown."""
    overdue: bool


class BlockedStep(msgspec.Struct, frozen=True, kw_only=True):
    """A step that may not start now, with the reasons."""

    step: str
    reasons: tuple[Reason, ...]
    bill_roles: tuple[StepBillRole, ...] = ()


class NextSteps(msgspec.Struct, frozen=True, kw_only=True):
    """The next steps of a bill."""

    outcome: Literal["start", "wait", "refused", "over"]
    """`start`: a step may start. `wait`: none may start yet. `refused`: the instance is not valid, so no step may start.
    `over`: it is completed, failed or cancelled.
    """
    bill: str
    version: str
    digest: str
    """The digest of the bill."""
    state: InstanceState
    reasons: tuple[Reason, ...]
    may_start: tuple[StepToStart, ...] = ()
    running: tuple[RunningStep, ...] = ()
    blocked: tuple[BlockedStep, ...] = ()
    completed: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    """Steps that are not done, because their condition is false or another branch was taken."""
    findings: tuple[Reason, ...] = ()
    """Facts of the instance that contradict the bill or the current crew."""
    snapshot: str
    """The digest of the organization that was used."""
    state_version: int


class BillRoleVacancy(msgspec.Struct, frozen=True, kw_only=True):
    """A bill role that has fewer agents than it needs."""

    bill_role: str
    missing: int
    reasons: tuple[Reason, ...]


class FilledBillRole(msgspec.Struct, frozen=True, kw_only=True):
    """A bill role with the proposed agents."""

    bill_role: str
    least: int
    most: int
    agents: tuple[str, ...]
    others: tuple[str, ...]
    """Other agents that could take the bill role."""
    reasons: tuple[Reason, ...]


class BillAssignment(msgspec.Struct, frozen=True, kw_only=True):
    """A proposal of agents for bill roles. It does not assign them."""

    outcome: Literal["filled", "blocked", "vacant"]
    """`blocked`: every bill role has its agents, and none of them can do one of its steps now."""
    bill: str
    version: str
    digest: str
    bill_roles: tuple[FilledBillRole, ...]
    vacancies: tuple[BillRoleVacancy, ...]
    blocked: tuple[BlockedStep, ...] = ()
    """The steps that no proposed agent can do now, whatever comes before them."""
    assignments: Mapping[str, tuple[str, ...]]
    """The agents of each bill role, in the form of an instance."""
    snapshot: str
    state_version: int
