"""What a caller tells about a bill that runs, and what is decided about it. The kernel keeps none of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from orgkernel.decisions.reasons import Reason
from orgkernel.documents.records import BillAction

StepStatus = Literal["pending", "active", "completed", "skipped", "failed", "blocked"]
InstanceState = Literal["pending", "active", "completed", "failed", "cancelled"]


class StepReport(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What happened to a step so far."""

    status: StepStatus
    by: str = ""
    """The agent that does it, or did it: `agent:ID`. A `person:ID` can give the captain's approval."""
    outputs: Mapping[str, Any] = {}
    started_at: float | None = None
    """Seconds since 1970-01-01 UTC."""
    at: float | None = None
    """When it was completed, skipped or failed."""


class StepApproval(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Somebody approved that a step starts."""

    by: str
    """`agent:ID`."""
    at: float | None = None


class BillInstance(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A bill that somebody runs, as its runtime tells it.

    >>> BillInstance(bill="general_quarters").steps
    {}
    """

    bill: str = ""
    """Left out where the question names it."""
    digest: str | None = None
    """Digest of the bill that was started. Another one than today's is refused."""
    activated_by: str | None = None
    """`agent:ID`, `person:ID`, or the trigger of the bill, such as `alert:RED`. Absent means that it has not started."""
    inputs: Mapping[str, Any] = {}
    """What it was started with."""
    assignments: Mapping[str, tuple[str, ...]] = {}
    """Bill role to the agents that take it."""
    steps: Mapping[str, StepReport] = {}
    approvals: Mapping[str, StepApproval] = {}
    """Step to the approval that its gate asks for."""
    cancelled: bool = False


class StepObligation(msgspec.Struct, frozen=True):
    """What goes with starting a step."""

    code: str
    text: str


class UnfitAgent(msgspec.Struct, frozen=True):
    """An assigned agent that cannot do a step now, and why."""

    agent: str
    reasons: tuple[Reason, ...]


class StepBillRole(msgspec.Struct, frozen=True, kw_only=True):
    """A bill role in one step: any one of its agents does it."""

    bill_role: str
    agents: tuple[str, ...]
    """Agents that may do it now."""
    asking: tuple[str, ...] = ()
    """Those of them that have to ask for permission to use the tool."""
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
    """A step that has started and has not ended."""

    step: str
    by: str
    due_at: float | None
    """When it is overdue; None where nobody said when it started."""
    overdue: bool


class BlockedStep(msgspec.Struct, frozen=True, kw_only=True):
    """A step that may not start now, and what has to happen first."""

    step: str
    reasons: tuple[Reason, ...]
    bill_roles: tuple[StepBillRole, ...] = ()


class NextSteps(msgspec.Struct, frozen=True, kw_only=True):
    """What may happen next in a bill."""

    outcome: Literal["start", "wait", "refused", "over"]
    """`start`: some step may start. `wait`: none may yet. `refused`: the instance does not fit, so nothing may start.
    `over`: it is completed, failed or cancelled."""
    bill: str
    version: str
    digest: str
    """Digest of the bill."""
    state: InstanceState
    reasons: tuple[Reason, ...]
    may_start: tuple[StepToStart, ...] = ()
    running: tuple[RunningStep, ...] = ()
    blocked: tuple[BlockedStep, ...] = ()
    completed: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    """Steps that are not done: their condition is false, or another branch was taken."""
    findings: tuple[Reason, ...] = ()
    """Where the instance does not fit the bill or the crew as it is now."""
    snapshot: str
    """Digest of the organization the answer came from."""
    state_version: int


class BillRoleVacancy(msgspec.Struct, frozen=True, kw_only=True):
    """A bill role that has fewer agents than it needs."""

    bill_role: str
    missing: int
    reasons: tuple[Reason, ...]


class FilledBillRole(msgspec.Struct, frozen=True, kw_only=True):
    """A bill role with the agents that are proposed for it."""

    bill_role: str
    least: int
    most: int
    agents: tuple[str, ...]
    others: tuple[str, ...]
    """Other agents that could take the bill role."""
    reasons: tuple[Reason, ...]


class BillAssignment(msgspec.Struct, frozen=True, kw_only=True):
    """A proposal of who takes which bill role. Nobody is assigned by it."""

    outcome: Literal["filled", "vacant"]
    bill: str
    version: str
    digest: str
    bill_roles: tuple[FilledBillRole, ...]
    vacancies: tuple[BillRoleVacancy, ...]
    assignments: Mapping[str, tuple[str, ...]]
    """Bill role to agents, as an instance has them."""
    snapshot: str
    state_version: int
