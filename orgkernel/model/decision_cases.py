"""`decision_cases`: a user's own tests for their organization, run by `orgkernel test`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from orgkernel.model.levels import ToolLevel
from orgkernel.model.record import AgentId, Document, Id, OrgId, QualificationId, RankId, Record, ToolId


class DispatchQuestion(Record):
    """Who takes this?"""

    domain: Id
    needs: tuple[ToolId, ...] = ()
    """Tools the taker must be equipped with."""


class DispatchCase(Record):
    """A question with the answer that is expected; lists are complete where they are written."""

    ask: DispatchQuestion
    outcome: Literal["role", "not_applicable"]
    role_id: Id | None = None
    plans: tuple[Id, ...] | None = None
    """Plans the role follows for that domain, in order."""
    tools: tuple[ToolId, ...] | None = None
    """Tools in order of preference."""
    because: tuple[str, ...] | None = None
    """Codes of the reasons, in order."""


Moment = Annotated[str, StringConstraints(pattern=r"^\d{4}-\d\d-\d\d[ T]\d\d:\d\d$")]


class Circumstances(Record):
    """The circumstances of a question about access; what is left out is not known."""

    at: Moment | None = None
    """Local date and time, `YYYY-MM-DD HH:MM`; by default noon of 1 January 1970, a Thursday."""
    channel: str | None = None
    peer_kind: Literal["dm", "group"] | None = None
    peer_id: str | None = None
    account: str | None = None
    guild: str | None = None
    hook_id: str | None = None
    event_type: str | None = None
    session: str | None = None
    pace: Literal["primary", "alternate", "contingent", "emergency"] | None = None
    """PACE tier of the role that asks."""
    input: dict[str, Any] | None = None
    """Arguments of the tool."""
    depth: Annotated[int, Field(ge=0)] = 0
    """How many dispatches lie above the subject."""
    children: Annotated[int, Field(ge=0)] = 0
    """Agents the subject has dispatched and that have not ended."""
    concurrent: Annotated[int, Field(ge=0)] = 0
    """Those of them that run."""


class AccessQuestion(Record):
    """May this subject do this to that?"""

    subject: str
    """`role:ID`, `agent:ID`, `person:ID`, `system:ID`, `webhook:ID` or `sender:PLATFORM/SPACE/ID`."""
    action: str
    resource: str
    """`tool:ID`, `tool:ID:PATH`, `credential:ID`, `data:TIER` or `role:ID`."""
    context: Circumstances = Circumstances.model_construct()
    on_behalf_of: str | None = None
    """Who triggered the run."""
    via: tuple[str, ...] = ()
    """Who dispatched whom, from the first to the one that dispatched the subject."""
    envelope: dict[str, ToolLevel] | None = None
    """What the dispatchers passed on, resource to level."""


class AccessCase(Record):
    """A question with the answer that is expected."""

    ask: AccessQuestion
    outcome: Literal["allow", "deny", "ask"]
    because: tuple[str, ...] | None = None
    """Codes, in order: every failing reason of a denial, the sources of an allowance."""
    level: str | None = None
    """Level the subject has."""
    obligations: tuple[str, ...] | None = None
    remedies: tuple[str, ...] | None = None
    """What would change a denial, in words."""


class WhoCanCase(Record):
    """Who can do this, as a complete list in the order of the hierarchy."""

    action: str
    resource: str
    context: Circumstances = Circumstances.model_construct()
    kinds: tuple[Literal["role", "agent", "person", "system", "webhook"], ...] = ("role",)
    """Kinds of subjects that are looked for."""
    are: tuple[str, ...]
    """Subjects that are allowed."""
    must_ask: tuple[str, ...] = ()
    """Subjects that have to ask."""


class WhatCanCase(Record):
    """What a subject can do, as a complete list."""

    subject: str
    context: Circumstances = Circumstances.model_construct()
    on_behalf_of: str | None = None
    kinds: tuple[Literal["tool", "credential", "data", "role"], ...] = ("tool",)
    """Kinds of resources that are looked for."""
    can: dict[str, tuple[str, ...]]
    """Resource to the actions that are allowed, in any order."""
    must_ask: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Resource to the actions that have to be asked for."""


class GivenAgent(Record):
    """What is stored about an agent."""

    rank: RankId | None = None
    trust: Annotated[float, Field(ge=0.0, le=1.0)] | None = None
    lifecycle: Literal["registered", "probationary", "active", "suspended", "decommissioned"] = "active"
    passed: tuple[QualificationId, ...] = ()
    """Qualifications it has passed."""


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


class GivenRestriction(Record):
    """A stored upper bound."""

    subject: str
    resources: tuple[str, ...]
    level: ToolLevel = "none"
    expires: Moment | None = None
    """Local date and time, `YYYY-MM-DD HH:MM`."""


class Given(Record):
    """What is stored when the questions of a case are asked; nothing by default."""

    agents: dict[AgentId, GivenAgent] = Field(default_factory=dict)
    grants: dict[Id, GivenGrant] = Field(default_factory=dict)
    """Grants by id."""
    restrictions: dict[Id, GivenRestriction] = Field(default_factory=dict)
    """Restrictions by id."""
    locks: dict[ToolId, str] = Field(default_factory=dict)
    """Exclusive tool to its holder, `agent:ID`."""


class Case(Record):
    """Expectations about one organization, under a sentence that says what is true."""

    name: str
    org: OrgId
    given: Given = Given.model_construct()
    dispatch: Annotated[tuple[DispatchCase, ...], Field(min_length=1)] = ()
    access: Annotated[tuple[AccessCase, ...], Field(min_length=1)] = ()
    who_can: Annotated[tuple[WhoCanCase, ...], Field(min_length=1)] = ()
    what_can: Annotated[tuple[WhatCanCase, ...], Field(min_length=1)] = ()


class DecisionCases(Document):
    """Cases."""

    kind: Literal["orgkernel:decision_cases"] = Field(default="orgkernel:decision_cases", alias="_schema")
    description: str = ""
    cases: tuple[Case, ...]
