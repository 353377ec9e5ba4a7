"""`organization`: a directed hierarchy of roles with a mission and communication channels.

Source: the kernel specification, "Schema 3: Organization Definition"; the fields it does not have are marked as ours.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from orgkernel.model.record import Document, DomainId, Id, OrgId, Record, RoleId, ToolId
from orgkernel.model.role_profile import Doctrine, PaceTier, Requirements

# A superior that is the person in front of the crew (design §3).
USER = "user"


def _text_form(value: Any) -> str:
    return "(text)" if isinstance(value, str) else "(lines)"


TextOrLines = Annotated[
    Annotated[str, Tag("(text)")] | Annotated[tuple[str, ...], Tag("(lines)")], Discriminator(_text_form)
]


class Mission(Record):
    """What the organization is for."""

    objective: str = ""
    success_criteria: TextOrLines = ""
    constraints: tuple[str, ...] = ()


class Post(Record):
    """A role's place in the hierarchy, under its role id."""

    role_id: RoleId | None = None
    """Repeats the key, where written."""
    role_name: str | None = None
    """Repeats the profile's name, where written."""
    subordinates: tuple[RoleId, ...] = ()


class Channel(Record):
    """A way roles speak with one another."""

    description: str = ""
    direction: str = ""
    protocol: str = ""
    allowed_pairs: tuple[tuple[RoleId, RoleId], ...] = ()
    """Pairs of roles that may use the channel beside the chain of command."""


class MicrocosmConfig(Record):
    """All roles in one container, one after the other."""

    execution_model: str = "sequential_role_switching"
    role_activation: str = "bst_domain_routing"
    state_sharing: str = "shared_agent_object"
    salute_storage: str = "filesystem"


class Network(Record):
    """How containers of one organization find each other."""

    protocol: str = "ssh"
    discovery: str = "static_manifest"
    heartbeat_interval_seconds: Annotated[int, Field(ge=1)] = 30


class MacrocosmConfig(Record):
    """Each role in its own container, at the same time."""

    execution_model: str = "concurrent_containers"
    role_activation: str = "announce_volunteer"
    state_sharing: str = "shared_volume"
    salute_storage: str = "shared_volume"
    network: Network = Network()


class Department(Record):
    """A part of the organization (ours)."""

    name: str = ""
    description: str = ""


class DispatchEdge(Record):
    """Permission for one layer to hand work to another (ours)."""

    source: Id = Field(alias="from")
    target: Id = Field(alias="to")


class Limits(Record):
    """Bounds on delegation and span (ours)."""

    max_spawn_depth: Annotated[int, Field(ge=1, le=5)] = 3
    max_children: Annotated[int, Field(ge=1, le=20)] = 5
    max_concurrent: Annotated[int, Field(ge=1)] = 8
    delegation: Literal["envelope", "strict"] = "envelope"
    span_of_control: Annotated[int, Field(ge=1)] = 7
    """Most direct subordinates one role should command."""


class Separation(Record):
    """Duties that are kept apart: no agent has more than one of them (ours)."""

    description: str = ""
    roles: tuple[RoleId, ...] = ()
    """Roles of which no agent fills two."""
    tools: tuple[ToolId, ...] = ()
    """Tools of which no role, and no agent by its roles together, is equipped with two."""


class PaceOverride(Record):
    """Tiers that replace those of a profile here."""

    primary: PaceTier | None = None
    alternate: PaceTier | None = None
    contingent: PaceTier | None = None
    emergency: PaceTier | None = None


class RoleOverride(Record):
    """What differs for a role in this organization; only the fields written replace those of its profile (ours)."""

    doctrine: Doctrine | None = None
    requirements: Requirements | None = None
    pace_plan: PaceOverride | None = None
    department: Id | None = None
    layer: Id | None = None


class Organization(Document):
    """An organization of roles."""

    kind: Literal["orgkernel:organization"] = Field(default="orgkernel:organization", alias="_schema")
    org_id: OrgId
    org_name: str = ""
    description: str = ""
    mission: Mission = Mission()
    hierarchy: dict[RoleId, Post]
    """The roles the organization includes; the first without a superior is its root."""
    communication_channels: dict[Id, Channel] = Field(default_factory=dict)
    mode: Literal["microcosm", "macrocosm"] = "microcosm"
    microcosm_config: MicrocosmConfig = MicrocosmConfig()
    macrocosm_config: MacrocosmConfig = MacrocosmConfig()
    domain_routing: dict[DomainId, tuple[RoleId, ...]] = Field(default_factory=dict)
    """Preference order of roles per domain, advice to dispatch (published variant)."""
    defaults: dict[str, Any] | None = Field(
        default=None,
        deprecated="write the values in each profile or under `overrides`; nothing reads this field",
    )
    """Values of the published variant; kept, not read."""
    domains: tuple[DomainId, ...] = ()
    """Domains the organization answers for: each must be handled by a role (ours)."""
    external: tuple[Id, ...] = ()
    """Ids of superiors outside the organization (ours)."""
    departments: dict[Id, Department] = Field(default_factory=dict)
    layers: tuple[Id, ...] = ()
    """Dispatch layers, uppermost first (ours)."""
    dispatch_edges: tuple[DispatchEdge, ...] = ()
    limits: Limits = Limits()
    overrides: dict[RoleId, RoleOverride] = Field(default_factory=dict)
    separations: dict[Id, Separation] = Field(default_factory=dict)
    """Sets of duties that no agent combines (ours)."""
    rank_matrix: Id | None = None
    """Matrix of a rank ladder that caps every tool without one of its own: the first row that fits the tool (ours)."""

    @property
    def name(self) -> str:
        """The organization's name for people."""
        return self.org_name or self.org_id.replace("_", " ").title()
