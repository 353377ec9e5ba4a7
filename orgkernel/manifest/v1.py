"""The shape of `crew_manifest` version 1.

Fields are only ever added to it. Fields for later features (levels decided by access, agents, reports) already exist and
are empty or null until then. Every item of a list has an `id` and `why`.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from orgkernel.decisions.reasons import Why
from orgkernel.manifest.v1_items import (
    ChannelItem,
    Coverage,
    DepartmentItem,
    DomainItem,
    EscalationItem,
    Fact,
    FindingItem,
    HeldGrant,
    Item,
    Member,
    Named,
    NextRank,
    Pace,
    Peer,
    PlanItem,
    PolicyItem,
    QualificationItem,
    RankItem,
    RequestableTool,
    SkillItem,
    TierItem,
    ToolItem,
)

__all__ = [
    "SCHEMA",
    "VERSION",
    "AgentManifest",
    "ChannelItem",
    "Coverage",
    "DepartmentItem",
    "DomainItem",
    "EscalationItem",
    "Fact",
    "FindingItem",
    "HeldGrant",
    "Item",
    "Member",
    "Named",
    "OrganizationManifest",
    "Pace",
    "Peer",
    "PlanItem",
    "PolicyItem",
    "Post",
    "RequestableTool",
    "RoleManifest",
    "SkillItem",
    "TierItem",
    "ToolItem",
    "Why",
    "build_definitions",
    "build_manifest_schema",
    "encode",
]

SCHEMA: Literal["orgkernel:crew_manifest"] = "orgkernel:crew_manifest"
VERSION: Literal["1.0"] = "1.0"


class RoleManifest(msgspec.Struct, frozen=True, kw_only=True):
    """The complete profile of a role.

    >>> from orgkernel import Kernel
    >>> co = Kernel.open().manifest("blank", "co")
    >>> co.role_name, [tool.id for tool in co.tools]
    ('Commanding Officer', ['code_execution_tool', 'call_subordinate'])
    """

    schema: Literal["orgkernel:crew_manifest"] = msgspec.field(name="_schema", default=SCHEMA)
    version: Literal["1.0"] = msgspec.field(name="_version", default=VERSION)
    manifest_of: Literal["role"] = "role"
    role_id: str
    role_name: str
    role_type: str
    org_id: str
    org_name: str
    description: str
    why: tuple[Why, ...]
    identity: tuple[Fact, ...]
    """Authority, the right to delegate, position, tier, clearance and similar settings."""
    department: Named | None
    layer: Item | None
    chain_of_command: tuple[Member, ...]
    """Superiors, nearest first."""
    subordinates: tuple[Member, ...]
    peers: tuple[Peer, ...]
    dispatch_targets: tuple[Member, ...]
    dispatch_sources: tuple[Member, ...]
    domains: tuple[DomainItem, ...]
    intents: tuple[Item, ...]
    plans: tuple[PlanItem, ...]
    tools: tuple[ToolItem, ...]
    essential_tools: tuple[ToolItem, ...]
    requestable_tools: tuple[RequestableTool, ...] = ()
    """Tools that its plans need or its profile lists, and that it cannot use without a grant."""
    skills: tuple[SkillItem, ...]
    cognitive_skills: tuple[Item, ...] = ()
    qualifications: tuple[Item, ...] = ()
    credentials: tuple[Item, ...]
    data: tuple[Item, ...]
    file_scope: tuple[Item, ...]
    escalation: tuple[EscalationItem, ...]
    pace: Pace
    doctrine: tuple[Fact, ...]
    requirements: tuple[Fact, ...]
    standing_orders: tuple[Item, ...]
    does_not_have: tuple[Item, ...]
    rank: Item | None = None
    agents: tuple[Item, ...] = ()
    latest_report: dict[str, Any] | None = None
    """The latest SALUTE report, as the host wrote it."""
    file_claims: tuple[Item, ...] = ()
    open_blockers: tuple[Item, ...] = ()
    recent_activity: tuple[Item, ...] = ()
    findings: tuple[FindingItem, ...]
    snapshot: str
    state_version: int = 0
    """Version of the stored state."""


class Post(Named, frozen=True, kw_only=True):
    """A role that the agent fills."""

    role_type: str
    watches: tuple[str, ...]


class AgentManifest(msgspec.Struct, frozen=True, kw_only=True):
    """The complete profile of an agent, and what it may do in all its roles together.

    >>> from orgkernel import Kernel
    >>> butler = Kernel.open().agent_manifest("household", "butler")
    >>> butler.callsign, [role.id for role in butler.roles]
    ('Butler', ['steward', 'errand_runner'])
    """

    schema: Literal["orgkernel:crew_manifest"] = msgspec.field(name="_schema", default=SCHEMA)
    version: Literal["1.0"] = msgspec.field(name="_version", default=VERSION)
    manifest_of: Literal["agent"] = "agent"
    agent_id: str
    callsign: str
    description: str
    org_id: str
    org_name: str
    why: tuple[Why, ...]
    roles: tuple[Post, ...]
    lifecycle: str
    rank: RankItem | None
    """The current rank."""
    next_rank: NextRank | None
    trust: float | None
    qualifications: tuple[QualificationItem, ...]
    """Passed qualifications that have not expired."""
    tools: tuple[ToolItem, ...]
    requestable_tools: tuple[RequestableTool, ...]
    credentials: tuple[Item, ...]
    data: tuple[Item, ...]
    dispatch_targets: tuple[Item, ...]
    restrictions: tuple[Item, ...]
    """Stored restrictions in effect now."""
    pace_current: str | None = None
    """The PACE tier for access decisions if the caller states none."""
    latest_report: dict[str, Any] | None = None
    """The latest SALUTE report that the agent's own API key or folder delivered."""
    findings: tuple[FindingItem, ...]
    snapshot: str
    state_version: int


class OrganizationManifest(msgspec.Struct, frozen=True, kw_only=True):
    """The whole crew, or the requested part of it.

    >>> from orgkernel import Kernel
    >>> crew = Kernel.open().crew("sigint_alpha")
    >>> crew.count, {domain.id: domain.role_id for domain in crew.domains}["osint"]
    (8, 'sigint_specialist')
    """

    schema: Literal["orgkernel:crew_manifest"] = msgspec.field(name="_schema", default=SCHEMA)
    version: Literal["1.0"] = msgspec.field(name="_version", default=VERSION)
    manifest_of: Literal["organization"] = "organization"
    org_id: str
    org_name: str
    description: str
    why: tuple[Why, ...]
    mission: tuple[Fact, ...]
    mode: Fact
    execution: tuple[Fact, ...]
    """The configuration of the current mode."""
    other_execution: tuple[Fact, ...]
    """The configuration of the other mode. It applies once the organization changes to that mode."""
    channels: tuple[ChannelItem, ...]
    departments: tuple[DepartmentItem, ...]
    layers: tuple[Item, ...]
    dispatch_edges: tuple[Item, ...]
    """Permissions to dispatch between layers. Ids are `FROM>TO`."""
    limits: tuple[Fact, ...]
    external: tuple[Item, ...]
    domains: tuple[Coverage, ...]
    roots: tuple[str, ...]
    roles: tuple[RoleManifest, ...]
    count: int
    """The number of roles that match the filter, on all pages."""
    next: str | None = None
    """Cursor of the next page. Null on the last page."""
    agents: tuple[Item, ...] = ()
    policies: tuple[PolicyItem, ...] = ()
    """Enabled access policies by priority."""
    findings: tuple[FindingItem, ...]
    """Findings about the organization. Findings about a role are in the role's manifest."""
    snapshot: str
    state_version: int = 0


_ENCODER = msgspec.json.Encoder()


def encode(value: Any) -> bytes:
    """The bytes of an answer. One snapshot always gives the same bytes.

    >>> encode(Why("role co is a commander", "org.yaml", 7))
    b'{"text":"role co is a commander","file":"org.yaml","line":7}'
    """
    return _ENCODER.encode(value)


def build_manifest_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of `crew_manifest` for a role, an agent or an organization."""
    references, definitions = build_definitions(
        [RoleManifest, AgentManifest, OrganizationManifest], "#/$defs/{name}"
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "orgkernel crew_manifest",
        "oneOf": references,
        "$defs": definitions,
    }


def build_definitions(
    shapes: Sequence[type[msgspec.Struct]], reference: str
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """References to record types, and the definitions of everything they contain, by name.

    The description of a definition is the first paragraph of the docstring, without Python examples.
    """
    references, definitions = msgspec.json.schema_components(shapes, ref_template=reference)
    for definition in definitions.values():
        if "description" in definition:
            paragraph = inspect.cleandoc(definition["description"]).partition("\n\n")[0]
            definition["description"] = " ".join(paragraph.split())
    return list(references), dict(sorted(definitions.items()))
