"""`role_profile`: what an agent in a role can do, whom it reports to and how it handles failure.

Source: the kernel specification, "Schema 1: Role Profile"; the fields it does not have are marked as ours.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from orgkernel.model.levels import Proficiency, ToolLevel
from orgkernel.model.record import Document, DomainId, Id, PlanId, Record, RoleId, SkillId, ToolId

RoleType = Literal["specialist", "executive", "commander"]

# Specification, table "Role Types".
AUTHORITY_OF_TYPE: dict[RoleType, int] = {"specialist": 1, "executive": 2, "commander": 3}


class ChainOfCommand(Record):
    """The role's place by default; an organization's hierarchy decides where it includes the role."""

    reports_to: Id | None = None
    """Role id of the superior; `null`, `user` or an id declared external at the top."""
    authority_level: Annotated[int, Field(ge=1, le=3)] | None = None
    """1 specialist, 2 executive, 3 commander; by default what the role type says."""
    can_delegate: bool | None = None
    """May hand work down; by default true for executives and commanders."""


class ToolUse(Record):
    """A tool the role is equipped with at a given level (ours)."""

    tool: ToolId
    level: ToolLevel = "full"


class SkillUse(Record):
    """A skill the role requires (ours)."""

    skill: SkillId
    min_proficiency: Proficiency = 1
    """Least proficiency on the seven-step scale."""
    optional: bool = False


def _skill_form(value: Any) -> str:
    return "(skill-id)" if isinstance(value, str) else "(skill-use)"


# A callable discriminator gives one error per cause; the tags cannot be keys of a user (facts: loading §3).
SkillEntry = Annotated[
    Annotated[SkillId, Tag("(skill-id)")] | Annotated[SkillUse, Tag("(skill-use)")],
    Discriminator(_skill_form),
]


class Capabilities(Record):
    """What the role is able to do."""

    bst_domains: tuple[DomainId, ...] = ()
    """Task domains the role handles."""
    htn_plans: tuple[PlanId, ...] = ()
    """Plans the role follows."""
    tools_primary: tuple[ToolId, ...] = ()
    """Tools at full level, reached for first."""
    tools_secondary: tuple[ToolId, ...] = ()
    """Tools at full level, reached for second."""
    tools: tuple[ToolUse, ...] = ()
    """Tools at a stated level (ours)."""
    skills: tuple[SkillEntry, ...] = ()
    """Skills required: a skill id, or an object with a least proficiency (objects are ours)."""
    intents: tuple[Id, ...] = ()
    """Intents the role serves (ours)."""


class Requirements(Record):
    """What the role needs from the runtime it is filled in."""

    min_context_tokens: Annotated[int, Field(ge=0)] | None = None
    """Least size of the model's context window, in tokens."""
    preferred_model: str | None = None
    required_extensions: tuple[str, ...] = ()


class PaceTier(Record):
    """One tier of the PACE plan."""

    description: str = ""
    action: str = ""
    """`normal_execution`, `fallback_chain`, `escalate` or `abort_and_report`."""
    trigger: str | None = None
    """Condition that enters the tier, in the trigger language (docs/triggers.md)."""
    escalate_to: Id | None = None
    """Role id that takes over or is told."""


class PacePlan(Record):
    """Four-tier failure response: primary, alternate, contingent, emergency."""

    primary: PaceTier = PaceTier.model_construct()
    alternate: PaceTier | None = None
    contingent: PaceTier | None = None
    emergency: PaceTier | None = None


class Doctrine(Record):
    """Reporting and persistence rules; defaults are those of the specification's example."""

    salute_interval_turns: Annotated[int, Field(ge=1)] = 5
    """Model calls between two SALUTE reports."""
    max_turns_without_progress: Annotated[int, Field(ge=1)] = 12
    """Model calls without progress that are tolerated; `max` in triggers."""
    report_on_completion: bool = True
    report_on_failure: bool = True
    autonomous_retry_limit: Annotated[int, Field(ge=0)] = 2
    """Attempts at one step before the role asks for help."""


class DispatchRights(Record):
    """Whom the role may hand work to and take it from, besides the chain of command (ours)."""

    may_to: tuple[RoleId, ...] = ()
    may_from: tuple[RoleId, ...] = ()


class RoleProfile(Document):
    """A role: an operational capability profile."""

    kind: Literal["orgkernel:role_profile"] = Field(default="orgkernel:role_profile", alias="_schema")
    role_id: RoleId
    role_name: str = ""
    """Name for people; by default the id in words."""
    role_type: RoleType = "specialist"
    description: str = ""
    """What the role is for, in a sentence or two (ours)."""
    chain_of_command: ChainOfCommand = ChainOfCommand.model_construct()
    capabilities: Capabilities = Capabilities.model_construct()
    requirements: Requirements = Requirements.model_construct()
    pace_plan: PacePlan | None = None
    doctrine: Doctrine = Doctrine.model_construct()
    does_not_have: tuple[str, ...] = ()
    """What the role explicitly lacks, so that an agent does not invent it (ours)."""
    dispatch: DispatchRights = DispatchRights.model_construct()
    department: Id | None = None
    """Department of the organization (ours)."""
    tier: Literal["crew", "utility", "infrastructure", "external"] = "crew"
    """`external` is a person or system outside the crew (ours)."""
    layer: Id | None = None
    """Dispatch layer of the organization (ours)."""
    position: Literal["manager", "worker", "unified"] | None = None
    """Talks and delegates, executes, or both; by default manager where the role can delegate (ours)."""
    clearance: Literal["basic", "enhanced", "full", "oracle"] | None = None
    """Least memory-recall tier the position gives (ours)."""
    entry_rank: Id | None = None
    """Rank a holder starts at (ours)."""
    may_grant: tuple[ToolUse, ...] = ()
    """Tools a holder may grant to others, up to a level; never above the level it has itself (ours)."""
    credentials: tuple[Id, ...] = ()
    """Names of credentials the role uses; never their values (ours)."""
    data: tuple[Id, ...] = ()
    """Names of data the role works on (ours)."""
    file_scope: tuple[str, ...] = ()
    """Paths or globs the role may write in (ours)."""
    lmc_mode: Literal["full", "lite", "direct"] | None = None
    """Whether work runs as lead, manager and checker, as lead and manager, or directly (ours)."""
    standing_orders: tuple[str, ...] = ()
    """Orders that hold whatever the task is (ours)."""

    @property
    def name(self) -> str:
        """The role's name for people."""
        return self.role_name or self.role_id.replace("_", " ").title()

    @property
    def authority_level(self) -> int:
        """Declared authority, or what the role type says."""
        declared = self.chain_of_command.authority_level
        return AUTHORITY_OF_TYPE[self.role_type] if declared is None else declared

    @property
    def can_delegate(self) -> bool:
        """Declared right to delegate, or what the role type says."""
        declared = self.chain_of_command.can_delegate
        return self.role_type != "specialist" if declared is None else declared
