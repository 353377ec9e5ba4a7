"""What a `crew_manifest` of version 1 lists: every item has an `id` and `why`."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from orgkernel.decisions.reasons import Why


class Item(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Something a role has or is, and the lines that say so."""

    id: str
    why: tuple[Why, ...]


class Named(Item, frozen=True, kw_only=True):
    """An item with a name for people."""

    name: str


class Fact(Item, frozen=True, kw_only=True):
    """A setting: what holds, declared or by default."""

    value: Any


class Member(Named, frozen=True, kw_only=True):
    """Another role as seen from this one."""

    role_type: str | None
    """Absent for a superior outside the organization."""
    authority_level: int | None
    external: bool = False


class Peer(Member, frozen=True, kw_only=True):
    """A role this one may speak with beside the chain of command."""

    channel: str


class DomainItem(Item, frozen=True, kw_only=True):
    """A domain the role handles."""

    description: str
    chosen: bool
    """Whether dispatch gives this domain's work to the role."""


class PlanItem(Named, frozen=True, kw_only=True):
    """A plan the role follows."""

    description: str
    domains: tuple[str, ...]
    steps: tuple[str, ...]
    runnable: bool
    """Whether the role is equipped with every tool the plan needs."""
    missing_tools: tuple[str, ...]
    stale_after_turns: int | None


class HeldGrant(msgspec.Struct, frozen=True, kw_only=True):
    """A stored grant that adds to a tool now."""

    id: str
    level: str
    expires_at: str | None


class ToolItem(Named, frozen=True, kw_only=True):
    """A tool the role is equipped with."""

    description: str
    type: str | None
    provider: str
    side_effects: str | None
    level: str
    """What is left of it here and now."""
    letters: str
    preference: Literal["primary", "secondary", "stated", "essential", "granted"]
    actions: dict[str, str]
    """Action to the level it requires."""
    allowed_actions: tuple[str, ...]
    """Actions that are allowed here and now."""
    falls_back_to: tuple[str, ...]
    names: dict[str, str]
    input_schema: dict[str, Any] | None
    decided_by: str
    """The layer that decided the level."""
    capped_by: tuple[str, ...] = ()
    """Layers that take something of it."""
    grants: tuple[HeldGrant, ...] = ()
    conditional: str | None = None
    """The times, channels, paths and locks that could change it."""
    declared_level: str | None = None
    """What the role gives, where a layer could have changed it; null where none could."""
    ask_actions: tuple[str, ...] = ()
    """Actions that somebody has to approve first."""
    declared: bool = True
    wired: bool | None = None
    """Whether the role's runtime has registered it; null when nobody has said."""
    used: bool | None = None
    """Whether it has really been called; null when nobody has said."""


class RequestableTool(Item, frozen=True, kw_only=True):
    """A tool that is wanted and that a grant would open."""

    level: str
    """What the grant has to give."""
    waives: tuple[str, ...]
    """The caps it has to lift."""


class SkillItem(Named, frozen=True, kw_only=True):
    """A skill the role requires."""

    description: str
    category: str | None
    min_proficiency: int
    proficiency_name: str | None
    optional: bool
    held_proficiency: int | None = None
    gap: int | None = None


class EscalationItem(Member, frozen=True, kw_only=True):
    """To whom a PACE tier hands over."""

    tier: str


class TierItem(Item, frozen=True, kw_only=True):
    """A tier of the PACE plan; its id is the tier's name."""

    description: str
    action: str
    trigger: str | None
    escalate_to: str | None


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """The PACE plan, and the tier a running role is in."""

    tiers: tuple[TierItem, ...]
    current: str | None = None
    """By its latest report, for an hour."""


class FindingItem(Item, frozen=True, kw_only=True):
    """A finding about the role; its id is the code."""

    name: str
    severity: str
    message: str
    help: str
    file: str
    line: int
    column: int


class Coverage(Item, frozen=True, kw_only=True):
    """A domain the organization answers for or a role of it handles, and the role dispatch gives it to."""

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
    """A policy that is in force."""

    effect: str
    description: str
    priority: int
    ceiling: bool
    fallback: bool
    match: dict[str, Any]
    """Whom it speaks of, and when."""
    allows: tuple[str, ...]
    """What it allows, `KIND:ID` each; an id may end in a star. For a ceiling: the most that is left of what it bounds."""
    asks: tuple[str, ...]
    """For what somebody has to be asked."""
    denies: tuple[str, ...]
    """What it denies, whatever others allow."""
    bounds: tuple[str, ...]
    """For a ceiling: the kinds of resource of which no more is left than it allows."""
    session: dict[str, Any]
    modifiers: dict[str, Any]
