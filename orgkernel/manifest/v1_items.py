"""The items of `crew_manifest` version 1, including the ranks and qualifications of an agent."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from orgkernel.decisions.reasons import Why


class Item(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Something that a role has or is, and the lines that declare it."""

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
    """A stored grant that currently adds to a tool."""

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
    """Actions that are allowed now."""
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
    declared: bool = True
    wired: bool | None = None
    """Whether the role's runtime has registered the tool. Null if unknown."""
    used: bool | None = None
    """Whether the tool has been called. Null if unknown."""


class RequestableTool(Item, frozen=True, kw_only=True):
    """A tool that is needed and that a grant would allow."""

    level: str
    """The level that the grant must give."""
    waives: tuple[str, ...]
    """The caps that the grant must waive."""


class SkillItem(Named, frozen=True, kw_only=True):
    """A skill that the role requires."""

    description: str
    category: str | None
    min_proficiency: int
    proficiency_name: str | None
    optional: bool
    held_proficiency: int | None = None
    gap: int | None = None


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
    """A domain that the organization answers for or one of its roles handles, and the role that dispatch chooses."""

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
    """The subjects that it applies to, and when."""
    allows: tuple[str, ...]
    """What it allows, as `KIND:ID`; an id may end in `*`. For a ceiling: the most that it leaves."""
    asks: tuple[str, ...]
    """What needs an approval."""
    denies: tuple[str, ...]
    """What it denies, even if others allow it."""
    bounds: tuple[str, ...]
    """For a ceiling: the kinds of resources that it limits."""
    session: dict[str, Any]
    modifiers: dict[str, Any]


class RankItem(Named, frozen=True, kw_only=True):
    """A rank of the ladder (crew-capability facts §2.2)."""

    description: str
    trust_from: float
    """Lowest mean trust for this rank, 0 to 1."""
    agency: str | None
    """How much an agent of this rank may start on its own."""
    recall_tier: str | None
    """The memory-recall tier of this rank."""


class RequirementItem(msgspec.Struct, frozen=True, kw_only=True):
    """Skills that a promotion requires (crew-capability facts §4.7)."""

    scope: str
    min_proficiency: int
    """Lowest proficiency on the scale of 1 to 7."""
    min_count: int | None
    """How many of these skills must reach it. Null means all."""


class NextRank(RankItem, frozen=True, kw_only=True):
    """The next rank and its requirements."""

    requirements: tuple[RequirementItem, ...]
    qualifications: tuple[str, ...]
    missing_qualifications: tuple[str, ...]
    """Required qualifications that the agent has not passed or that have expired."""


class QualificationItem(Named, frozen=True, kw_only=True):
    """A test that the agent has passed (crew-capability facts §5)."""

    description: str
    tier: int | None
    """1 baseline, 2 domain, 3 collective. Null for a test that is no longer declared."""
    threshold: float | None
    """The score needed to pass, 0 to 1."""
    score: float
    passed_at: str | None
