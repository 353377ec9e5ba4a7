"""`organization`: a directed hierarchy of roles with a mission and communication channels.

Source: the kernel specification, "Schema 3: Organization Definition"; fields that orgkernel adds are marked *(orgkernel)*.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, StringConstraints, Tag

from orgkernel.documents.model.record import Document, DomainId, Id, OrgId, Record, RoleId, ToolId
from orgkernel.documents.model.role_profile import Doctrine, PaceTier, Requirements

# The superior id for the person who talks to the crew.
USER = "user"


def _choose_text_form(value: Any) -> str:
    return "(text)" if isinstance(value, str) else "(lines)"


TextOrLines = Annotated[
    Annotated[str, Tag("(text)")] | Annotated[tuple[str, ...], Tag("(lines)")],
    Discriminator(_choose_text_form),
]


class Mission(Record):
    """The organization's mission. Agents read it; no decision depends on it."""

    objective: str = ""
    success_criteria: TextOrLines = ""
    constraints: tuple[str, ...] = ()


class HierarchyEntry(Record):
    """A role's place in the hierarchy. The key is its role id."""

    role_id: RoleId | None = None
    """Repeats the key, if given."""
    role_name: str | None = None
    """Repeats the profile's name, if given."""
    subordinates: tuple[RoleId, ...] = ()


class Channel(Record):
    """A communication channel between roles. The runtime carries messages; no decision depends on it."""

    description: str = ""
    direction: str = ""
    protocol: str = ""
    allowed_pairs: tuple[tuple[RoleId, RoleId], ...] = ()
    """Pairs of roles that may use the channel outside the chain of command."""


class MicrocosmConfig(Record):
    """All roles run in one container, one after the other. Only the runtime reads it."""

    execution_model: str = "sequential_role_switching"
    role_activation: str = "bst_domain_routing"
    state_sharing: str = "shared_agent_object"
    salute_storage: str = "filesystem"


class Network(Record):
    """How the containers of an organization find each other. Only the runtime reads it."""

    protocol: str = "ssh"
    discovery: str = "static_manifest"
    heartbeat_interval_seconds: Annotated[int, Field(ge=1)] = 30


class MacrocosmConfig(Record):
    """Each role runs in its own container, all at the same time. Only the runtime reads it."""

    execution_model: str = "concurrent_containers"
    role_activation: str = "announce_volunteer"
    state_sharing: str = "shared_volume"
    salute_storage: str = "shared_volume"
    network: Network = Network.model_construct()


class Department(Record):
    """A part of the organization (orgkernel)."""

    name: str = ""
    description: str = ""


class HandoffEdge(Record):
    """Permission for one layer to hand work to another (orgkernel)."""

    source: Id = Field(alias="from")
    target: Id = Field(alias="to")


class Limits(Record):
    """Limits on delegation and span (orgkernel)."""

    max_spawn_depth: Annotated[int, Field(ge=1, le=5)] = 3
    max_children: Annotated[int, Field(ge=1, le=20)] = 5
    max_concurrent: Annotated[int, Field(ge=1)] = 8
    delegation: Literal["envelope", "strict"] = "envelope"
    span_of_control: Annotated[int, Field(ge=1)] = 7
    """Maximum number of direct subordinates that one role should command."""
    personality_drift: Annotated[float, Field(ge=0.0, le=2.3)] = 0.3
    """Maximum distance between an agent's observed personality and the one in the roster before a finding is
    reported."""


class Separation(Record):
    """Separation of duties: no agent has more than one of them (orgkernel)."""

    description: str = ""
    roles: tuple[RoleId, ...] = ()
    """Roles, of which an agent may fill only one."""
    tools: tuple[ToolId, ...] = ()
    """Tools, of which a role, or an agent through all its roles, may be equipped with only one."""


# A property of one part of a question: `resource.status`.
PropertyName = Annotated[str, StringConstraints(pattern=r"^(subject|action|resource)\.[^.]{1,100}$")]
TypeName = Annotated[str, StringConstraints(min_length=1, max_length=100)]


class ForeignSubject(Record):
    """The subjects that a foreign type stands for (orgkernel)."""

    kind: Literal["role", "agent", "person", "system", "webhook"]
    ids: dict[str, Id] = Field(default_factory=dict)
    """Maps foreign ids to orgkernel ids. Empty means that ids are the same. Otherwise only these ids of the type are
    known."""


class ForeignResource(Record):
    """The resources that a foreign type stands for (orgkernel)."""

    kind: Literal["tool", "credential", "data", "role"]
    ids: dict[str, ToolId] = Field(default_factory=dict)
    """Maps foreign ids to orgkernel ids. Empty means that ids are the same. Otherwise only these ids of the type are
    known."""
    tool: ToolId | None = None
    """The one tool that handles all resources of the type. The foreign id is then the part of the tool's resources."""


class ActionMeaning(Record):
    """The orgkernel action for a foreign action, if its conditions are met (orgkernel)."""

    action: Id
    """Action of an orgkernel tool."""
    where: dict[PropertyName, str | bool | int | float] = Field(default_factory=dict)
    """Properties that the request must state, all of them, such as `resource.status: active`."""
    owner: str | None = None
    """Property of the resource that must contain the id of the subject, such as `ownerID`."""


class AuthzenTypes(Record):
    """The orgkernel types and actions for those of AuthZEN requests (orgkernel)."""

    subjects: dict[TypeName, ForeignSubject] = Field(default_factory=dict)
    resources: dict[TypeName, ForeignResource] = Field(default_factory=dict)
    actions: dict[TypeName, tuple[ActionMeaning, ...]] = Field(default_factory=dict)
    """The meanings of each foreign action. The first one whose conditions are met is used. If none is, the name is
    unchanged."""


class Authzen(Record):
    """How AuthZEN requests are interpreted (orgkernel)."""

    types: AuthzenTypes = AuthzenTypes.model_construct()


class ProcedureProposals(Record):
    """When a cognitive skill is proposed as a procedure. A proposal has no effect by itself (orgkernel)."""

    min_successes: Annotated[int, Field(ge=1)] = 5
    """Minimum number of recorded successes."""
    min_success_rate: Annotated[float, Field(ge=0.0, le=1.0)] = 0.9
    """Minimum share of successes among all outcomes."""


class PaceOverride(Record):
    """PACE tiers that replace those of the profile."""

    primary: PaceTier | None = None
    alternate: PaceTier | None = None
    contingent: PaceTier | None = None
    emergency: PaceTier | None = None


class RoleOverride(Record):
    """Overrides for a role in this organization. Only the given fields replace those of its profile (orgkernel)."""

    doctrine: Doctrine | None = None
    requirements: Requirements | None = None
    pace_plan: PaceOverride | None = None
    department: Id | None = None
    layer: Id | None = None


# The first format that a folder shows is used. MCP is last, because servers belong to the agents next to them.
SourceFormat = Literal[
    "claude-code", "copilot", "opencode", "codex", "gemini-cli", "cursor", "kiro", "roo", "crewai", "adk", "agent-framework", "agent-format", "autogen",
    "agent-zero", "probos", "agent-spec", "a2a", "skills", "mcp",
]  # fmt: skip
"""Another format in which agents are described. `orgkernel/loading/formats` has a package for each."""


class AgentSource(Record):
    """Files in another format whose roles, tools and skills belong to the organization (orgkernel)."""

    format: SourceFormat
    path: Annotated[str, StringConstraints(min_length=1)]
    """File or folder, relative to the folder of this document."""


class Organization(Document):
    """An organization: its roles, their chain of command, and its limits."""

    kind: Literal["orgkernel:organization"] = Field(default="orgkernel:organization", alias="_schema")
    org_id: OrgId
    org_name: str = ""
    description: str = ""
    mission: Mission = Mission.model_construct()
    hierarchy: dict[RoleId, HierarchyEntry]
    """The roles of the organization. The first one without a superior is its root."""
    sources: tuple[AgentSource, ...] = ()
    """Agents in other formats that belong to the organization and are read in place. The hierarchy includes all of
    them (orgkernel)."""
    communication_channels: dict[Id, Channel] = Field(default_factory=dict)
    mode: Literal["microcosm", "macrocosm"] = "microcosm"
    microcosm_config: MicrocosmConfig = MicrocosmConfig.model_construct()
    macrocosm_config: MacrocosmConfig = MacrocosmConfig.model_construct()
    domain_routing: dict[DomainId, tuple[RoleId, ...]] = Field(default_factory=dict)
    """Preferred roles per domain, best first: advice to dispatch (published variant)."""
    defaults: dict[str, Any] | None = Field(
        default=None,
        deprecated="write the values in each profile or under `overrides`; nothing reads this field",
    )
    """Values of the published variant. They are kept but have no effect."""
    domains: tuple[DomainId, ...] = ()
    """Domains for which the organization is responsible. A role must handle each of them (orgkernel)."""
    external: tuple[Id, ...] = ()
    """Ids of superiors outside the organization (orgkernel)."""
    departments: dict[Id, Department] = Field(default_factory=dict)
    layers: tuple[Id, ...] = ()
    """Hand-off layers, top layer first (orgkernel)."""
    dispatch_edges: tuple[HandoffEdge, ...] = ()
    limits: Limits = Limits.model_construct()
    overrides: dict[RoleId, RoleOverride] = Field(default_factory=dict)
    separations: dict[Id, Separation] = Field(default_factory=dict)
    """Sets of duties that no agent may combine (orgkernel)."""
    alerts: tuple[Id, ...] = ("GREEN", "YELLOW", "RED")
    """Alerts that can be called, calmest first. Policies can match them (orgkernel)."""
    watches: tuple[Id, ...] = ("alpha", "beta", "gamma")
    """Watches in their order. Policies can match them, and agents are assigned to them (orgkernel)."""
    workspace_root: Annotated[str, StringConstraints(pattern=r"^(/|[A-Za-z]:[/\\\\])")] | None = None
    """Folder at which relative paths start, such as `/repo` or `C:/repo`. If it is not set, relative and absolute
    paths cannot be compared (orgkernel)."""
    authzen: Authzen = Authzen.model_construct()
    """Maps types and actions of AuthZEN requests to those of this organization (orgkernel)."""
    procedure_proposals: ProcedureProposals = ProcedureProposals.model_construct()
    rank_matrix: Id | None = None
    """Rank matrix for every tool without one of its own. The first matching row caps the tool (orgkernel)."""

    @property
    def name(self) -> str:
        """The organization's name for people."""
        return self.org_name or self.org_id.replace("_", " ").title()
