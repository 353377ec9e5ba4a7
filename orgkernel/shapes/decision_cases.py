"""`decision_cases`: a user's own tests for their organization, run by `orgkernel test`. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Annotated, Any, Literal
import msgspec
from orgkernel.shapes.levels import ToolLevel
from orgkernel.shapes.record import AgentId, Document, Id, OrgId, QualificationId, RankId, Record, ToolId


class DispatchQuestion(Record, frozen=True, kw_only=True):
    """A question to dispatch: who takes this? Exactly one of `domain`, `intent` and `text`."""
    domain: Id | None = None
    intent: Id | None = None
    text: str | None = None
    needs: tuple[ToolId, ...] = ()


class DispatchCase(Record, frozen=True, kw_only=True):
    """A question and the expected answer. A list that is given must be complete."""
    ask: DispatchQuestion
    outcome: Literal['role', 'not_applicable']
    role_id: Id | None = None
    plans: tuple[Id, ...] | None = None
    tools: tuple[ToolId, ...] | None = None
    because: tuple[str, ...] | None = None
Moment = Annotated[str, msgspec.Meta(pattern='^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}\\Z')]


class Circumstances(Record, frozen=True, kw_only=True):
    """The circumstances of a question about access. Missing values are unknown; an empty text says that there is none."""
    at: Moment | None = None
    channel: str | None = None
    peer_kind: Literal['dm', 'group', ''] | None = None
    peer_id: str | None = None
    account: str | None = None
    guild: str | None = None
    hook_id: str | None = None
    event_type: str | None = None
    alert: str | None = None
    watch: str | None = None
    session: str | None = None
    pace: Literal['primary', 'alternate', 'contingent', 'emergency'] | None = None
    input: dict[str, Any] | None = None
    depth: Annotated[int, msgspec.Meta(ge=0)] = 0
    children: Annotated[int, msgspec.Meta(ge=0)] = 0
    concurrent: Annotated[int, msgspec.Meta(ge=0)] = 0


class AccessQuestion(Record, frozen=True, kw_only=True):
    """A question about access: may this subject do this action to this resource?"""
    subject: str
    action: str
    resource: str
    context: Circumstances = Circumstances()
    on_behalf_of: str | None = None
    via: tuple[str, ...] = ()
    envelope: dict[str, ToolLevel] | None = None


class AccessCase(Record, frozen=True, kw_only=True):
    """A question and the expected answer."""
    ask: AccessQuestion
    outcome: Literal['allow', 'deny', 'ask', 'conditional']
    because: tuple[str, ...] | None = None
    level: str | None = None
    obligations: tuple[str, ...] | None = None
    remedies: tuple[str, ...] | None = None


class WhoCanCase(Record, frozen=True, kw_only=True):
    """The subjects that can do this: a complete list in the order of the hierarchy."""
    action: str
    resource: str
    context: Circumstances = Circumstances()
    kinds: tuple[Literal['role', 'agent', 'person', 'system', 'webhook'], ...] = ('role',)
    are: tuple[str, ...]
    must_ask: tuple[str, ...] = ()


class WhatCanCase(Record, frozen=True, kw_only=True):
    """What a subject can do: a complete list."""
    subject: str
    context: Circumstances = Circumstances()
    on_behalf_of: str | None = None
    kinds: tuple[Literal['tool', 'credential', 'data', 'role'], ...] = ('tool',)
    can: dict[str, tuple[str, ...]]
    must_ask: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)


class GivenAgent(Record, frozen=True, kw_only=True):
    """The stored state of an agent."""
    rank: RankId | None = None
    trust: Annotated[float, msgspec.Meta(ge=0.0, le=1.0)] | None = None
    lifecycle: Literal['registered', 'probationary', 'active', 'suspended', 'decommissioned'] = 'active'
    passed: tuple[QualificationId, ...] = ()


class GivenGrant(Record, frozen=True, kw_only=True):
    """A stored grant."""
    subject: str
    resources: tuple[str, ...]
    level: ToolLevel = 'full'
    waives: tuple[Literal['rank', 'qualification', 'visibility', 'restricted_to'], ...] = ()
    channel: str | None = None
    session: str | None = None
    uses_left: int | None = None
    expires: Moment | None = None
    snapshot: Annotated[str, msgspec.Meta(pattern='^sha256:[0-9a-f]{64}\\Z')] | None = None


class GivenRestriction(Record, frozen=True, kw_only=True):
    """A stored restriction."""
    subject: str
    resources: tuple[str, ...]
    level: ToolLevel = 'none'
    expires: Moment | None = None


class Given(Record, frozen=True, kw_only=True):
    """The stored state for the questions of a case. Default: nothing is stored."""
    agents: dict[AgentId, GivenAgent] = msgspec.field(default_factory=dict)
    grants: dict[Id, GivenGrant] = msgspec.field(default_factory=dict)
    restrictions: dict[Id, GivenRestriction] = msgspec.field(default_factory=dict)
    locks: dict[ToolId, str] = msgspec.field(default_factory=dict)
    alert: Id | None = None
    watch: Id | None = None


class Case(Record, frozen=True, kw_only=True):
    """Expectations about one organization, with a sentence that describes them."""
    name: str
    org: OrgId
    given: Given = Given()
    dispatch: Annotated[tuple[DispatchCase, ...], msgspec.Meta(min_length=1)] = ()
    access: Annotated[tuple[AccessCase, ...], msgspec.Meta(min_length=1)] = ()
    who_can: Annotated[tuple[WhoCanCase, ...], msgspec.Meta(min_length=1)] = ()
    what_can: Annotated[tuple[WhatCanCase, ...], msgspec.Meta(min_length=1)] = ()


class DecisionCases(Document, frozen=True, kw_only=True):
    """Cases."""
    kind: Literal['orgkernel:decision_cases'] = msgspec.field(default='orgkernel:decision_cases', name='_schema')
    description: str = ''
    cases: tuple[Case, ...]
