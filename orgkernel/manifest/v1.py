"""The shape of `crew_manifest` version 1.

Fields are only added, never removed. Fields for later features already exist and are empty or null until then. Every item of a list has an `id` and `why`.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from orgkernel.decisions.crew.promotion import PromotionDecision, RequirementCheck
from orgkernel.decisions.crew.skill_profile import SkillProfile
from orgkernel.decisions.evidence.trust import Trust
from orgkernel.decisions.reasons import Why
from orgkernel.manifest.agent_parts import (
    ActivityItem,
    AssetTag,
    CognitiveSkillItem,
    Duty,
    IntentItem,
    OrderItem,
    PersonalityItem,
    ProcedureCounts,
    ProcedureItem,
    QualificationStatus,
    RecallItem,
    WorkRecord,
)

SCHEMA: Literal["orgkernel:crew_manifest"] = "orgkernel:crew_manifest"
VERSION: Literal["1.0"] = "1.0"
_ENCODER = msgspec.json.Encoder()


class Item(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Something that a role has, with the lines that declare it."""

    id: str
    why: tuple[Why, ...]


class Named(Item, frozen=True, kw_only=True):
    """An item with a name for people."""

    name: str


class Fact(Item, frozen=True, kw_only=True):
    """A setting and its effective value, declared or default."""

    value: Any


class Member(Named, frozen=True, kw_only=True):
    """Another role, seen from this one."""

    role_type: str | None
    """Absent if the superior is outside the organization."""
    authority_level: int | None
    external: bool = False


class Peer(Member, frozen=True, kw_only=True):
    """A role that this role may speak with outside the chain of command."""

    channel: str


class ClaimItem(Item, frozen=True, kw_only=True):
    """Claimed files. The id is the token of the claim."""

    holder: str
    paths: tuple[str, ...]
    session: str | None
    expires_at: str | None
    """End of the lease."""


class BlockerItem(Item, frozen=True, kw_only=True):
    """An open question to a human. The id is that of the blocker."""

    agent: str
    session: str
    question: str
    fallback_action: str
    """What is being done in the meantime."""
    human_required_for: str | None
    since: str | None
    """When it was stored."""


class DomainItem(Item, frozen=True, kw_only=True):
    """A domain that the role handles."""

    description: str
    chosen: bool
    """Whether dispatch chooses this role for the domain."""


class PlanItem(Named, frozen=True, kw_only=True):
    """A plan that the role follows."""

    description: str
    domains: tuple[str, ...]
    steps: tuple[str, ...]
    runnable: bool
    """Whether the role is equipped with every tool that the plan needs."""
    missing_tools: tuple[str, ...]
    stale_after_turns: int | None


class HeldGrant(msgspec.Struct, frozen=True, kw_only=True):
    """A stored grant that currently applies to a tool. Of equal ones, the one that ends last."""

    id: str
    level: str
    expires_at: str | None


class ToolItem(Named, frozen=True, kw_only=True):
    """A tool that the role is equipped with."""

    description: str
    type: str | None
    provider: str
    side_effects: str | None
    level: str
    """The effective level now, after all layers."""
    letters: str
    preference: Literal["primary", "secondary", "stated", "essential", "granted"]
    actions: dict[str, str]
    """Each action and the level that it requires."""
    allowed_actions: tuple[str, ...]
    """Actions that are allowed now, whatever circumstances the caller has; for an exclusive tool also `lock`."""
    falls_back_to: tuple[str, ...]
    names: dict[str, str]
    input_schema: dict[str, Any] | None
    decided_by: str
    """The layer that decided the level."""
    capped_by: tuple[str, ...] = ()
    """The layers that reduce the level."""
    grants: tuple[HeldGrant, ...] = ()
    conditional: str | None = None
    """The times, channels, paths and locks that could change the level."""
    declared_level: str | None = None
    """The level from the role, if a layer could have changed it. Null if none could."""
    ask_actions: tuple[str, ...] = ()
    """Actions that need an approval first."""
    conditional_actions: tuple[str, ...] = ()
    """Actions that are not allowed with the known circumstances, but could be at another time, channel, path or lock."""
    declared: bool = True
    wired: bool | None = None
    """Whether the runtime of the agent, or of an agent in the role, has the tool: it has answered a call. Null if unknown."""
    used: bool | None = None
    """Whether the agent, or an agent in the role, has called the tool: in an episode, or through the toolbox or the gateway.
    Never false for a role, because calls in its own name are only in the audit. Null if unknown."""
    gated_by: tuple[str, ...] = ()
    """The requirements in its declaration: `department`, `rank`, `restricted_to`, `qualification`."""
    qualified: bool | None = None
    """Whether the agent has passed every test that the tool requires. Null for a role."""
    qualified_at: str | None = None
    """The time when it passed the last of them."""


class RequestableTool(Item, frozen=True, kw_only=True):
    """A needed tool that a grant would allow."""

    level: str
    """The level that the grant must give."""
    waives: tuple[str, ...]
    """The caps that the grant must waive."""


class GrantableTool(Item, frozen=True, kw_only=True):
    """A tool that a holder of the role may grant to others."""

    level: str
    """The highest level that it may grant, but never above its own."""


class SkillItem(Named, frozen=True, kw_only=True):
    """A skill that the role requires."""

    description: str
    category: str | None
    min_proficiency: int
    proficiency_name: str | None
    optional: bool
    held_proficiency: int | None = None
    """In the manifest of an agent: the current level of the skill. Null if the agent does not hold it."""
    gap: int | None = None
    """In the manifest of an agent: the number of missing levels."""


class EscalationItem(Member, frozen=True, kw_only=True):
    """The role that a PACE tier escalates to."""

    tier: str


class TierItem(Item, frozen=True, kw_only=True):
    """A tier of the PACE plan. Its id is the name of the tier."""

    description: str
    action: str
    trigger: str | None
    escalate_to: str | None


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """The PACE plan, and the current tier of a running role."""

    tiers: tuple[TierItem, ...]
    current: str | None = None
    """The tier in its latest report, for at most an hour."""


class FindingItem(Item, frozen=True, kw_only=True):
    """A finding about the role. Its id is the code."""

    name: str
    severity: str
    message: str
    help: str
    file: str
    line: int
    column: int


class Coverage(Item, frozen=True, kw_only=True):
    """A domain that the organization or one of its roles handles, with the role that dispatch chooses."""

    role_id: str | None
    answers_for: bool
    routing: tuple[str, ...]


class DepartmentItem(Named, frozen=True, kw_only=True):
    """A part of the organization."""

    description: str


class ChannelItem(Item, frozen=True, kw_only=True):
    """A communication channel."""

    description: str
    direction: str
    protocol: str
    allowed_pairs: tuple[tuple[str, str], ...]


class PolicyItem(Item, frozen=True, kw_only=True):
    """An enabled policy."""

    effect: str
    description: str
    priority: int
    ceiling: bool
    fallback: bool
    match: dict[str, Any]
    """The subjects and circumstances that it applies to."""
    allows: tuple[str, ...]
    """The resources that it allows, as `KIND:ID`; an id can end in `*`. For a ceiling: the highest levels that it allows."""
    asks: tuple[str, ...]
    """The resources that need an approval."""
    denies: tuple[str, ...]
    """The resources that it denies, even if others allow them. A `*` alone means everything, also under `asks`."""
    spares: tuple[str, ...]
    """The resources that a `deny` or `ask` policy about all tools leaves out."""
    bounds: tuple[str, ...]
    """For a ceiling: the kinds of resources that it limits."""
    approvals: dict[str, Any]
    """The number of different approvers that it requires (`count`), and who they are (`by`); empty if it requires none."""
    session: dict[str, Any]
    modifiers: dict[str, Any]


class RankItem(Named, frozen=True, kw_only=True):
    """A rank of the ladder."""

    description: str
    trust_from: float
    """Lowest mean trust for this rank, 0 to 1."""
    agency: str | None
    """How much an agent of this rank may start on its own."""
    recall_tier: str | None
    """The memory-recall tier of this rank."""


class RequirementItem(msgspec.Struct, frozen=True, kw_only=True):
    """Skills that a promotion requires."""

    skills: str
    min_proficiency: int
    """Lowest proficiency on the scale of 1 to 7."""
    min_count: int | None
    """How many of these skills must reach it. Null means all."""


class NextRank(RankItem, frozen=True, kw_only=True):
    """The next rank and its requirements."""

    requirements: tuple[RequirementItem, ...]
    qualifications: tuple[str, ...]
    missing_qualifications: tuple[str, ...]
    """Required qualifications that the agent has not passed or whose result is no longer valid."""
    eligible: bool
    """Whether every requirement is met. A promotion still needs a decision by a superior, the owner or an operator."""
    checks: tuple[RequirementCheck, ...]
    """Every requirement, including trust and lifecycle, and whether it is met."""


class QualificationItem(Named, frozen=True, kw_only=True):
    """A test that the agent has passed."""

    description: str
    tier: int | None
    """1 baseline, 2 domain, 3 collective. Null for a test that is no longer declared."""
    threshold: float | None
    """The score needed to pass, 0 to 1."""
    score: float
    passed_at: str | None


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
    handoff_targets: tuple[Member, ...]
    handoff_sources: tuple[Member, ...]
    depth_left: Fact | None
    """The number of consecutive hand-offs below the role if a run starts with it. Within a run, a hand-off check returns the
    remaining number. Null if the role cannot hand work down.
    """
    domains: tuple[DomainItem, ...]
    intents: tuple[Item, ...]
    plans: tuple[PlanItem, ...]
    listed_procedures: tuple[Item, ...] = ()
    """Procedures in the profile, in addition to those of the skills that the role requires."""
    tools: tuple[ToolItem, ...]
    essential_tools: tuple[ToolItem, ...]
    requestable_tools: tuple[RequestableTool, ...] = ()
    """Tools that its plans need or its profile lists, and that it can use only with a grant."""
    skills: tuple[SkillItem, ...]
    cognitive_skills: tuple[CognitiveSkillItem, ...] = ()
    """Skills with instructions (SKILL.md) that are open to a new holder of the role."""
    qualifications: tuple[Item, ...] = ()
    """Empty: agents pass qualifications, and their manifests show them."""
    credentials: tuple[Item, ...]
    data: tuple[Item, ...]
    file_scope: tuple[Item, ...]
    may_grant: tuple[GrantableTool, ...] = ()
    escalation: tuple[EscalationItem, ...]
    pace: Pace
    doctrine: tuple[Fact, ...]
    requirements: tuple[Fact, ...]
    standing_orders: tuple[Item, ...]
    does_not_have: tuple[Item, ...]
    examples: tuple[Item, ...] = ()
    """Requests that the role takes, as people write them."""
    not_examples: tuple[Item, ...] = ()
    """Requests that sound similar to the role's work but are not."""
    rank: Item | None = None
    """Null: agents have ranks, and their manifests show them."""
    agents: tuple[Item, ...] = ()
    latest_report: dict[str, Any] | None = None
    """The latest SALUTE report, as the host wrote it."""
    file_claims: tuple[ClaimItem, ...] = ()
    """Files that the role or an agent that fills it has claimed now."""
    open_blockers: tuple[BlockerItem, ...] = ()
    """Questions of agents that fill the role, which no decision has answered."""
    recent_activity: tuple[ActivityItem, ...] = ()
    """Recorded work of the agents that fill the role, the latest first."""
    findings: tuple[FindingItem, ...]
    snapshot: str
    state_version: int = 0
    """Version of the stored state."""


class Post(Named, frozen=True, kw_only=True):
    """A role that the agent fills."""

    role_type: str
    watches: tuple[str, ...]


class AgentManifest(msgspec.Struct, frozen=True, kw_only=True):
    """The complete profile of an agent, with its permissions in all its roles together.

    >>> from orgkernel import Kernel
    >>> butler = Kernel.open().agent_manifest("household", "butler")
    >>> butler.callsign, [role.id for role in butler.roles]
    ('Butler', ['steward', 'errand_runner'])
    """

    schema: Literal["orgkernel:crew_manifest"] = msgspec.field(name="_schema", default=SCHEMA)
    version: Literal["1.0"] = msgspec.field(name="_version", default=VERSION)
    manifest_of: Literal["agent"] = "agent"
    agent_id: str
    did: str | None = None
    """`did:key:…`, the public key of the agent. Null before it is commissioned."""
    callsign: str
    description: str
    org_id: str
    org_name: str
    why: tuple[Why, ...]
    roles: tuple[Post, ...]
    departments: tuple[Item, ...]
    """The departments of its roles."""
    lifecycle: str
    lifecycle_why: tuple[Why, ...] = ()
    asset_tag: AssetTag | None = None
    """For an agent that is equipment. Null for a member of the crew, which has a `did` instead."""
    recall_tier: RecallItem | None = None
    """The effective memory-recall tier. Null if none is stated."""
    rank: RankItem | None
    """The current rank."""
    next_rank: NextRank | None
    trust: float | None
    """The mean of its trust now, 0 to 1."""
    trust_why: tuple[Why, ...] = ()
    trust_distribution: Trust
    """The distribution behind the mean: the starting trust and the recorded outcomes."""
    promotion: PromotionDecision
    """Its trust, and the paths to the ranks above and below."""
    qualifications: tuple[QualificationItem, ...]
    """Passed qualifications that have not expired."""
    qualification_status: QualificationStatus
    skills: tuple[SkillItem, ...]
    """The skills that its roles require, with its own level."""
    skill_profile: SkillProfile
    personality: PersonalityItem
    standing_orders: tuple[OrderItem, ...]
    """The standing orders, highest precedence first."""
    cognitive_skills: tuple[CognitiveSkillItem, ...]
    """Skills with instructions (SKILL.md) that are open to it now."""
    handled_intents: tuple[IntentItem, ...]
    executable_skills: tuple[ProcedureItem, ...]
    procedures: ProcedureCounts
    current_duty: Duty
    service_record: WorkRecord
    recent_activity: tuple[ActivityItem, ...]
    tools: tuple[ToolItem, ...]
    requestable_tools: tuple[RequestableTool, ...]
    credentials: tuple[Item, ...]
    data: tuple[Item, ...]
    handoff_targets: tuple[Item, ...]
    handoff_sources: tuple[Item, ...]
    """Roles that may hand work to one of its roles."""
    depth_left: Fact | None
    """The number of consecutive hand-offs below its roles, as in the manifest of a role."""
    file_claims: tuple[ClaimItem, ...]
    """Files that it has claimed now."""
    open_blockers: tuple[BlockerItem, ...]
    """Its questions that no decision has answered."""
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
    """Permissions to hand work from layer to layer. Ids are `FROM>TO`."""
    limits: tuple[Fact, ...]
    external: tuple[Item, ...]
    domains: tuple[Coverage, ...]
    roots: tuple[str, ...]
    roles: tuple[RoleManifest, ...]
    count: int
    """The number of roles that match the filter, on all pages."""
    next: str | None = None
    """Cursor of the next page. Null on the last page."""
    unknown_words: tuple[str, ...] = ()
    """A sentence for each word of the filter that the organization does not declare."""
    agents: tuple[Item, ...] = ()
    policies: tuple[PolicyItem, ...] = ()
    """Enabled access policies by priority."""
    findings: tuple[FindingItem, ...]
    """Findings about the organization. Findings about a role are in the role's manifest."""
    snapshot: str
    state_version: int = 0


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
    """References to record types, and the definitions of all types they contain, by name.

    The description of a definition is the first paragraph of the docstring, without Python examples.
    """
    references, definitions = msgspec.json.schema_components(shapes, ref_template=reference)
    for definition in definitions.values():
        if "description" in definition:
            paragraph = inspect.cleandoc(definition["description"]).partition("\n\n")[0]
            definition["description"] = " ".join(paragraph.split())
    return list(references), dict(sorted(definitions.items()))
