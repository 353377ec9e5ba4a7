"""`access_policies`: who may use what, and when. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Literal
import msgspec
from orgkernel.records.directory import Relationship
from orgkernel.records.record import Document, Id, PathGlob, PersonId, PolicyId, Record
STAR = '*'
CommandBeginning = str
Effect = Literal['allow', 'deny', 'ask', 'annotate']
DataTier = Literal['none', 'minimal', 'contextual', 'full']
DATA_TIERS: tuple[DataTier, ...] = ('none', 'minimal', 'contextual', 'full')
PeerKind = Literal['dm', 'group']
QueueMode = Literal['steer', 'followup', 'collect', 'interrupt', 'queue', 'steer-backlog']
ToolGlob = str
AnyOr = str
TimeWindow = str
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
    priority: int = 50
    enabled: bool = True

    @property
    def _denies_others(self) -> bool:
        """Whether the `*` under `deny` means all tools but those under `allow`."""
        tools = self.permissions.tools
        if not isinstance(tools, ToolRules) or self.effect == 'annotate':
            return False
        return bool(tools.allow) and STAR in tools.deny and (STAR not in tools.allow)

    @property
    def named_tools(self) -> tuple[str, ...] | None:
        """The tools and globs that its effect applies to. None if it says nothing about tools."""
        tools = self.permissions.tools
        if tools is None:
            return None
        if isinstance(tools, ToolRules):
            return (STAR,) if self.spared_tools else tools.allow
        return (tools,) if isinstance(tools, str) else tools

    @property
    def spared_tools(self) -> tuple[str, ...]:
        """The tools and globs that a `deny` or `ask` policy about all tools leaves out."""
        tools = self.permissions.tools
        if not isinstance(tools, ToolRules) or self.effect == 'allow' or (not self._denies_others):
            return ()
        return tools.allow

    @property
    def denied_tools(self) -> tuple[str, ...]:
        """The tools and globs that it denies whatever its effect."""
        tools = self.permissions.tools
        if not isinstance(tools, ToolRules):
            return ()
        return tuple((each for each in tools.deny if each != STAR or not self._denies_others))

    @property
    def is_ceiling(self) -> bool:
        """Whether what it allows is also the most that is left: it says so, or it denies all other tools."""
        return self.effect == 'allow' and (self.ceiling or self._denies_others)

    @property
    def is_everything(self) -> bool:
        """Whether it names nothing, and so denies or asks for everything."""
        named = self.permissions
        names = (named.tools, named.credentials, named.data)
        return self.effect in ('deny', 'ask') and all((each is None for each in names))


class AccessPolicies(Document, frozen=True, kw_only=True):
    """Policies."""
    kind: Literal['orgkernel:access_policies'] = msgspec.field(default='orgkernel:access_policies', name='_schema')
    description: str = ''
    policies: dict[PolicyId, Policy] = msgspec.field(default_factory=dict)
