"""`decision_cases`: a user's own tests for their organization, run by `orgkernel test`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from orgkernel.documents.model.levels import ToolLevel
from orgkernel.documents.model.record import (
    AgentId,
    Document,
    Id,
    OrgId,
    QualificationId,
    RankId,
    Record,
    ToolId,
)


class DispatchQuestion(Record):
    """A request to dispatch. Exactly one of `domain`, `intent` and `text`."""

    domain: Id | None = None
    intent: Id | None = None
    text: str | None = None
    """The task in plain words."""
    needs: tuple[ToolId, ...] = ()
    """Tools that the role must be equipped with."""


class DispatchCase(Record):
    """A request and the expected answer. A given list must be complete."""

    ask: DispatchQuestion
    outcome: Literal["role", "not_applicable"]
    role_id: Id | None = None
    plans: tuple[Id, ...] | None = None
    """Plans that the role follows for the domain, in order."""
    tools: tuple[ToolId, ...] | None = None
    """Tools in order of preference."""
    because: tuple[str, ...] | None = None
    """Codes of the reasons, in order."""
    agents: tuple[AgentId, ...] | None = None
    """Agents who can take the task in the given state, best first."""
    acting_role: Id | None = None
    """Role of these agents: the role itself, its deputy or a superior."""


Moment = Annotated[str, StringConstraints(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}$")]


class Circumstances(Record):
    """The circumstances of an access request. A missing value is unknown. An empty string means that none exists."""

    at: Moment | None = None
    """Local date and time, `YYYY-MM-DD HH:MM`. Default: noon of 1 January 1970, a Thursday."""
    channel: str | None = None
    peer_kind: Literal["dm", "group", ""] | None = None
    peer_id: str | None = None
    account: str | None = None
    guild: str | None = None
    hook_id: str | None = None
    event_type: str | None = None
    alert: str | None = None
    watch: str | None = None
    session: str | None = None
    pace: Literal["primary", "alternate", "contingent", "emergency"] | None = None
    """PACE tier of the requesting role."""
    input: dict[str, Any] | None = None
    """Arguments of the tool."""
    depth: Annotated[int, Field(ge=0)] = 0
    """The number of hand-offs above the subject."""
    children: Annotated[int, Field(ge=0)] = 0
    """Number of agents that the subject has handed work to and that have not ended."""
    concurrent: Annotated[int, Field(ge=0)] = 0
    """Number of these agents that are running."""


class AccessQuestion(Record):
    """An access request: may this subject do this action to this resource?"""

    subject: str
    """`role:ID`, `agent:ID`, `person:ID`, `system:ID`, `webhook:ID` or `sender:PLATFORM/SPACE/ID`."""
    action: str
    resource: str
    """`tool:ID`, `tool:ID:PATH`, `credential:ID`, `data:TIER` or `role:ID`."""
    context: Circumstances = Circumstances.model_construct()
    on_behalf_of: str | None = None
    """The subject that triggered the run."""
    via: tuple[str, ...] = ()
    """Who handed work to whom, from the first to the one that handed it to the subject."""
    envelope: dict[str, ToolLevel] | None = None
    """The permissions that they passed on: each resource and its level."""


class AccessCase(Record):
    """A request and the expected answer."""

    ask: AccessQuestion
    outcome: Literal["allow", "deny", "ask", "conditional"]
    because: tuple[str, ...] | None = None
    """Codes of the reasons, in order: all failing reasons of a denial, or the sources of an allow."""
    level: str | None = None
    """The subject's level."""
    obligations: tuple[str, ...] | None = None
    remedies: tuple[str, ...] | None = None
    """The texts of the remedies for a denial."""


class WhoCanCase(Record):
    """The subjects that can do an action: a complete list in the order of the hierarchy."""

    action: str
    resource: str
    context: Circumstances = Circumstances.model_construct()
    kinds: tuple[Literal["role", "agent", "person", "system", "webhook"], ...] = ("role",)
    """Kinds of subjects to list."""
    are: tuple[str, ...]
    """Subjects that are allowed."""
    must_ask: tuple[str, ...] = ()
    """Subjects that need an approval."""


class WhatCanCase(Record):
    """The actions that a subject can do: a complete list."""

    subject: str
    context: Circumstances = Circumstances.model_construct()
    on_behalf_of: str | None = None
    kinds: tuple[Literal["tool", "credential", "data", "role"], ...] = ("tool",)
    """Kinds of resources to list."""
    can: dict[str, tuple[str, ...]]
    """Each resource and its allowed actions, in any order."""
    must_ask: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Each resource and its actions that need an approval."""


class GivenAgent(Record):
    """The stored state of an agent."""

    rank: RankId | None = None
    trust: Annotated[float, Field(ge=0.0, le=1.0)] | None = None
    lifecycle: Literal["registered", "probationary", "active", "suspended", "decommissioned"] = "active"
    passed: tuple[QualificationId, ...] = ()
    """Qualifications that the agent has passed."""


class GivenGrant(Record):
    """A stored grant."""

    subject: str
    resources: tuple[str, ...]
    level: ToolLevel = "full"
    waives: tuple[Literal["rank", "qualification", "visibility", "restricted_to"], ...] = ()
    channel: str | None = None
    session: str | None = None
    uses_left: int | None = None
    expires: Moment | None = None
    """Local date and time, `YYYY-MM-DD HH:MM`."""
    snapshot: Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")] | None = None
    """The only version of the documents for which the grant is valid. Use one that never existed to test the state
    after an edit."""
    approved_by: tuple[str, ...] = ()
    """The different approvers of the request that the grant answers, such as `person:ann`."""


class GivenRestriction(Record):
    """A stored restriction."""

    subject: str
    resources: tuple[str, ...]
    level: ToolLevel = "none"
    expires: Moment | None = None
    """Local date and time, `YYYY-MM-DD HH:MM`."""


class Given(Record):
    """The stored state for the questions of a case. Default: nothing is stored."""

    agents: dict[AgentId, GivenAgent] = Field(default_factory=dict)
    grants: dict[Id, GivenGrant] = Field(default_factory=dict)
    """Grants by id."""
    restrictions: dict[Id, GivenRestriction] = Field(default_factory=dict)
    """Restrictions by id."""
    locks: dict[ToolId, str] = Field(default_factory=dict)
    """Each exclusive tool and its holder, `agent:ID`."""
    usage: dict[str, dict[str, Annotated[float, Field(ge=0, le=1_000_000_000)]]] | None = None
    """What is used of each limit, by counter; a missing counter is used up. Without it, the usage is not known."""
    alert: Id | None = None
    """The recorded alert of the organization."""
    watch: Id | None = None
    """The recorded watch of the organization."""


class Case(Record):
    """Expectations about one organization, with a sentence that describes them."""

    name: str
    org: OrgId
    undeclared: bool = False
    """Whether the case is about names that the organization does not declare. Otherwise, such a name is an error (ORG708)."""
    given: Given = Given.model_construct()
    dispatch: Annotated[tuple[DispatchCase, ...], Field(min_length=1)] = ()
    access: Annotated[tuple[AccessCase, ...], Field(min_length=1)] = ()
    who_can: Annotated[tuple[WhoCanCase, ...], Field(min_length=1)] = ()
    what_can: Annotated[tuple[WhatCanCase, ...], Field(min_length=1)] = ()


class DecisionCases(Document):
    """Decision cases: questions with the expected answers."""

    kind: Literal["orgkernel:decision_cases"] = Field(default="orgkernel:decision_cases", alias="_schema")
    description: str = ""
    cases: tuple[Case, ...]
