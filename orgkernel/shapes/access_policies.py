"""`access_policies`: who may use what, and when. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Annotated, Literal
import msgspec
from orgkernel.shapes.directory import Relationship
from orgkernel.shapes.record import Document, Id, PathGlob, PersonId, PolicyId, Record
STAR = '*'
CommandBeginning = Annotated[str, msgspec.Meta(pattern='^[A-Za-z0-9_./:@%+,=~-]+( [A-Za-z0-9_./:@%+,=~-]+)*\\Z', max_length=200)]
Effect = Literal['allow', 'deny', 'ask', 'annotate']
DataTier = Literal['none', 'minimal', 'contextual', 'full']
DATA_TIERS: tuple[DataTier, ...] = ('none', 'minimal', 'contextual', 'full')
PeerKind = Literal['dm', 'group']
QueueMode = Literal['steer', 'followup', 'collect', 'interrupt', 'queue', 'steer-backlog']
ToolGlob = Annotated[str, msgspec.Meta(pattern='^(\\*|[A-Za-z_][A-Za-z0-9_.-]{0,199}\\*?)\\Z')]
AnyOr = Annotated[str, msgspec.Meta(pattern='^(\\*|[A-Za-z_][A-Za-z0-9_-]{0,99})\\Z')]
TimeWindow = Annotated[str, msgspec.Meta(pattern='^(weekends|([01][0-9]|2[0-3]):[0-5][0-9]-([01][0-9]|2[0-3]):[0-5][0-9])\\Z')]
Data = DataTier
PolicyPeer = PeerKind


class ToolRules(Record, frozen=True, kw_only=True):
    """Allowed and denied tools. Each is an id or a prefix with a star."""
    allow: tuple[ToolGlob, ...] = ()
    deny: tuple[ToolGlob, ...] = ()
ToolPermission = Literal['*'] | tuple[ToolGlob, ...] | ToolRules
CredentialPermission = Literal['*'] | tuple[Id, ...]


class Permissions(Record, frozen=True, kw_only=True):
    """The resources that a policy covers. It says nothing about kinds that are left out."""
    tools: ToolPermission | None = None
    paths: tuple[PathGlob, ...] = ()
    commands: tuple[CommandBeginning, ...] = ()
    credentials: CredentialPermission | None = None
    data: Data | None = None


class Principal(Record, frozen=True, kw_only=True):
    """The subject that asks. All given fields must match."""
    is_user: bool | None = None
    relationship: Relationship | None = None
    tags: tuple[Id, ...] = ()
    person_id: PersonId | None = None
    unknown: bool | None = None
    system: AnyOr | None = None
    webhook: AnyOr | None = None
    agent: AnyOr | None = None
    role: AnyOr | None = None


class Condition(Record, frozen=True, kw_only=True):
    """Circumstances. All given fields must match."""
    channel: Id | None = None
    peer_kind: PolicyPeer | None = None
    account: str | None = None
    guild: str | None = None
    time: TimeWindow | None = None
    hook_id: str | None = None
    event_type: str | None = None


class Match(Record, frozen=True, kw_only=True):
    """When a policy applies."""
    principal: Principal | None = None
    conditions: tuple[Condition, ...] = ()
    alert: tuple[Id, ...] = ()
    watch: tuple[Id, ...] = ()


class Session(Record, frozen=True, kw_only=True):
    """The session that keeps the conversation."""
    persona: str | None = None
    key: str | None = None
    pin: bool = False


class Modifiers(Record, frozen=True, kw_only=True):
    """How a message is handled, independent of permissions."""
    queue_mode: QueueMode | None = None
    delay_response: bool | None = None


class Policy(Record, frozen=True, kw_only=True):
    """A rule about who may use what."""
    description: str = ''
    match: Match = Match()
    effect: Effect
    permissions: Permissions = Permissions()
    ceiling: bool = False
    fallback: bool = False
    session: Session = Session()
    modifiers: Modifiers = Modifiers()
    priority: Annotated[int, msgspec.Meta(ge=0, le=100)] = 50
    enabled: bool = True


class AccessPolicies(Document, frozen=True, kw_only=True):
    """Policies."""
    kind: Literal['orgkernel:access_policies'] = msgspec.field(default='orgkernel:access_policies', name='_schema')
    description: str = ''
    policies: dict[PolicyId, Policy] = msgspec.field(default_factory=dict)
