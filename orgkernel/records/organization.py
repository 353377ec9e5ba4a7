"""`organization`: a directed hierarchy of roles with a mission and communication channels. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Any, Literal
import msgspec
from orgkernel.records.record import Document, DomainId, Id, OrgId, Record, RoleId, ToolId
from orgkernel.records.role_profile import Doctrine, PaceTier, Requirements
USER = 'user'
TextOrLines = str | tuple[str, ...]


class Mission(Record, frozen=True, kw_only=True):
    """The organization's mission. Agents read it; no decision depends on it."""
    objective: str = ''
    success_criteria: TextOrLines = ''
    constraints: tuple[str, ...] = ()


class HierarchyEntry(Record, frozen=True, kw_only=True):
    """A role's place in the hierarchy. The key is its role id."""
    role_id: RoleId | None = None
    role_name: str | None = None
    subordinates: tuple[RoleId, ...] = ()


class Channel(Record, frozen=True, kw_only=True):
    """A communication channel between roles. The runtime carries messages; no decision depends on it."""
    description: str = ''
    direction: str = ''
    protocol: str = ''
    allowed_pairs: tuple[tuple[RoleId, RoleId], ...] = ()


class MicrocosmConfig(Record, frozen=True, kw_only=True):
    """All roles run in one container, one after the other. Only the runtime reads it."""
    execution_model: str = 'sequential_role_switching'
    role_activation: str = 'bst_domain_routing'
    state_sharing: str = 'shared_agent_object'
    salute_storage: str = 'filesystem'


class Network(Record, frozen=True, kw_only=True):
    """How the containers of an organization find each other. Only the runtime reads it."""
    protocol: str = 'ssh'
    discovery: str = 'static_manifest'
    heartbeat_interval_seconds: int = 30


class MacrocosmConfig(Record, frozen=True, kw_only=True):
    """Each role runs in its own container, all at the same time. Only the runtime reads it."""
    execution_model: str = 'concurrent_containers'
    role_activation: str = 'announce_volunteer'
    state_sharing: str = 'shared_volume'
    salute_storage: str = 'shared_volume'
    network: Network = Network()


class Department(Record, frozen=True, kw_only=True):
    """A part of the organization (orgkernel)."""
    name: str = ''
    description: str = ''


class DispatchEdge(Record, frozen=True, kw_only=True):
    """Permission for one layer to dispatch to another (orgkernel)."""
    source: Id = msgspec.field(name='from')
    target: Id = msgspec.field(name='to')


class Limits(Record, frozen=True, kw_only=True):
    """Bounds on delegation and span (orgkernel)."""
    max_spawn_depth: int = 3
    max_children: int = 5
    max_concurrent: int = 8
    delegation: Literal['envelope', 'strict'] = 'envelope'
    span_of_control: int = 7
    personality_drift: float = 0.3


class Separation(Record, frozen=True, kw_only=True):
    """Separation of duties: no agent has more than one of them (orgkernel)."""
    description: str = ''
    roles: tuple[RoleId, ...] = ()
    tools: tuple[ToolId, ...] = ()
PropertyName = str
TypeName = str


class ForeignSubject(Record, frozen=True, kw_only=True):
    """The subjects that a foreign type stands for (orgkernel)."""
    kind: Literal['role', 'agent', 'person', 'system', 'webhook']
    ids: dict[str, Id] = msgspec.field(default_factory=dict)


class ForeignResource(Record, frozen=True, kw_only=True):
    """The resources that a foreign type stands for (orgkernel)."""
    kind: Literal['tool', 'credential', 'data', 'role']
    ids: dict[str, ToolId] = msgspec.field(default_factory=dict)
    tool: ToolId | None = None


class ActionMeaning(Record, frozen=True, kw_only=True):
    """The action that a foreign action stands for, if its conditions hold (orgkernel)."""
    action: Id
    where: dict[PropertyName, str | bool | int | float] = msgspec.field(default_factory=dict)
    owner: str | None = None


class AuthzenTypes(Record, frozen=True, kw_only=True):
    """What the types and actions of AuthZEN questions stand for here (orgkernel)."""
    subjects: dict[TypeName, ForeignSubject] = msgspec.field(default_factory=dict)
    resources: dict[TypeName, ForeignResource] = msgspec.field(default_factory=dict)
    actions: dict[TypeName, tuple[ActionMeaning, ...]] = msgspec.field(default_factory=dict)


class Authzen(Record, frozen=True, kw_only=True):
    """How questions of AuthZEN are understood (orgkernel)."""
    types: AuthzenTypes = AuthzenTypes()


class ProcedureProposals(Record, frozen=True, kw_only=True):
    """When a cognitive skill is proposed as a procedure. Nothing is made of a proposal by itself (orgkernel)."""
    min_successes: int = 5
    min_success_rate: float = 0.9


class PaceOverride(Record, frozen=True, kw_only=True):
    """PACE tiers that replace those of the profile."""
    primary: PaceTier | None = None
    alternate: PaceTier | None = None
    contingent: PaceTier | None = None
    emergency: PaceTier | None = None


class RoleOverride(Record, frozen=True, kw_only=True):
    """Overrides for a role in this organization. Only the given fields replace those of its profile (orgkernel)."""
    doctrine: Doctrine | None = None
    requirements: Requirements | None = None
    pace_plan: PaceOverride | None = None
    department: Id | None = None
    layer: Id | None = None


class AgentSource(Record, frozen=True, kw_only=True):
    """Files in the format of others whose roles, tools and skills belong to the organization (orgkernel)."""
    format: Literal['claude-code', 'crewai', 'skills', 'mcp', 'a2a', 'agent-zero', 'copilot', 'agent-spec']
    path: str


class Organization(Document, frozen=True, kw_only=True):
    """An organization of roles."""
    kind: Literal['orgkernel:organization'] = msgspec.field(default='orgkernel:organization', name='_schema')
    org_id: OrgId
    org_name: str = ''
    description: str = ''
    mission: Mission = Mission()
    hierarchy: dict[RoleId, HierarchyEntry]
    sources: tuple[AgentSource, ...] = ()
    communication_channels: dict[Id, Channel] = msgspec.field(default_factory=dict)
    mode: Literal['microcosm', 'macrocosm'] = 'microcosm'
    microcosm_config: MicrocosmConfig = MicrocosmConfig()
    macrocosm_config: MacrocosmConfig = MacrocosmConfig()
    domain_routing: dict[DomainId, tuple[RoleId, ...]] = msgspec.field(default_factory=dict)
    defaults: dict[str, Any] | None = None
    domains: tuple[DomainId, ...] = ()
    external: tuple[Id, ...] = ()
    departments: dict[Id, Department] = msgspec.field(default_factory=dict)
    layers: tuple[Id, ...] = ()
    dispatch_edges: tuple[DispatchEdge, ...] = ()
    limits: Limits = Limits()
    overrides: dict[RoleId, RoleOverride] = msgspec.field(default_factory=dict)
    separations: dict[Id, Separation] = msgspec.field(default_factory=dict)
    alerts: tuple[Id, ...] = ('GREEN', 'YELLOW', 'RED')
    watches: tuple[Id, ...] = ('alpha', 'beta', 'gamma')
    workspace_root: str | None = None
    authzen: Authzen = Authzen()
    procedure_proposals: ProcedureProposals = ProcedureProposals()
    rank_matrix: Id | None = None

    @property
    def name(self) -> str:
        """The organization's name for people."""
        return self.org_name or self.org_id.replace('_', ' ').title()
