"""`role_profile`: the abilities of a role, its superior, and its handling of failures.

Source: the kernel specification, "Schema 1: Role Profile"; fields that orgkernel adds are marked *(orgkernel)*.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from orgkernel.documents.model.levels import Proficiency, ToolLevel
from orgkernel.documents.model.record import Document, DomainId, Id, PlanId, Record, RoleId, SkillId, ToolId

RoleType = Literal["specialist", "executive", "commander"]

# Specification, table "Role Types".
AUTHORITY_OF_TYPE: dict[RoleType, int] = {"specialist": 1, "executive": 2, "commander": 3}


class ChainOfCommand(Record):
    """The role's default place. The hierarchy of an organization that includes the role decides."""

    reports_to: Id | None = None
    """Role id of the superior. At the top: `null`, `user` or an id declared external."""
    authority_level: Annotated[int, Field(ge=1, le=3)] | None = None
    """1 specialist, 2 executive, 3 commander. Default: the level of the role type."""
    can_delegate: bool | None = None
    """Whether the role may delegate. Default: true for executives and commanders."""


class ToolUse(Record):
    """A tool that the role is equipped with, at a given level (orgkernel)."""

    tool: ToolId
    level: ToolLevel = "full"


def _read_tool_name(value: Any) -> Any:
    """A text is the id of a tool, as in `tools_primary`."""
    return {"tool": value} if isinstance(value, str) else value


# People write `tools: [ID]` as they do in the files of hosts. The level is then the default.
ToolEntry = Annotated[ToolUse, BeforeValidator(_read_tool_name, json_schema_input_type=ToolUse | ToolId)]


class SkillUse(Record):
    """A skill that the role requires (orgkernel)."""

    skill: SkillId
    min_proficiency: Proficiency = 1
    """Lowest proficiency on the seven-step scale."""
    optional: bool = False


def _choose_skill_form(value: Any) -> str:
    return "(skill-id)" if isinstance(value, str) else "(skill-use)"


# A callable discriminator gives one error per cause. The tags cannot be keys in a document.
SkillEntry = Annotated[
    Annotated[SkillId, Tag("(skill-id)")] | Annotated[SkillUse, Tag("(skill-use)")],
    Discriminator(_choose_skill_form),
]


class Capabilities(Record):
    """The abilities of the role."""

    bst_domains: tuple[DomainId, ...] = ()
    """Task domains that the role handles."""
    htn_plans: tuple[PlanId, ...] = ()
    """Plans that the role follows."""
    tools_primary: tuple[ToolId, ...] = ()
    """Tools at full level, first preference."""
    tools_secondary: tuple[ToolId, ...] = ()
    """Tools at full level, second preference."""
    tools: tuple[ToolEntry, ...] = ()
    """Tools at a given level (orgkernel). An id alone is at full level."""
    skills: tuple[SkillEntry, ...] = ()
    """Required skills: a skill id, or an object with a lowest proficiency (objects: orgkernel)."""
    intents: tuple[Id, ...] = ()
    """Intents that the role serves (orgkernel)."""
    procedures: tuple[Id, ...] = ()
    """Procedures that the role has, in addition to those of its required skills (orgkernel)."""


class Requirements(Record):
    """Requirements of the role on its runtime. The manifest shows them; no decision depends on them."""

    min_context_tokens: Annotated[int, Field(ge=0)] | None = None
    """Smallest context window of the model, in tokens."""
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
    """Id of the role that takes over or is informed."""


class PacePlan(Record):
    """Four-tier failure response: primary, alternate, contingent, emergency."""

    primary: PaceTier = PaceTier.model_construct()
    alternate: PaceTier | None = None
    contingent: PaceTier | None = None
    emergency: PaceTier | None = None


class Doctrine(Record):
    """Reporting and persistence rules. Defaults are those of the specification's example."""

    salute_interval_turns: Annotated[int, Field(ge=1)] = 5
    """Number of model calls between two SALUTE reports."""
    max_turns_without_progress: Annotated[int, Field(ge=1)] = 12
    """Maximum number of model calls without progress. Triggers call it `max`."""
    report_on_completion: bool = True
    report_on_failure: bool = True
    autonomous_retry_limit: Annotated[int, Field(ge=0)] = 2
    """Number of attempts at one step before the role asks for help. The manifest shows it; no component counts the
    attempts."""


class HandoffRights(Record):
    """Roles that this role may hand work to and take work from, outside the chain of command (orgkernel)."""

    may_to: tuple[RoleId, ...] = ()
    may_from: tuple[RoleId, ...] = ()


class RoleProfile(Document):
    """A role: the tasks it takes, the tools it may use, and its superior."""

    kind: Literal["orgkernel:role_profile"] = Field(default="orgkernel:role_profile", alias="_schema")
    role_id: RoleId
    overlay: bool = False
    """Whether the document adds to the role with this id in a source of the organization. It may set only values that
    the source does not set (orgkernel)."""
    role_name: str = ""
    """Name for people. Default: the id in words."""
    role_type: RoleType = "specialist"
    description: str = ""
    """Purpose of the role, in one or two sentences (orgkernel)."""
    examples: tuple[str, ...] = ()
    """Requests that the role takes, as people write them, in any language. Dispatch by text matches them (orgkernel)."""
    not_examples: tuple[str, ...] = ()
    """Requests that sound like the role's work but are not. Dispatch by text never gives them to the role
    (orgkernel)."""
    chain_of_command: ChainOfCommand = ChainOfCommand.model_construct()
    capabilities: Capabilities = Capabilities.model_construct()
    requirements: Requirements = Requirements.model_construct()
    pace_plan: PacePlan | None = None
    doctrine: Doctrine = Doctrine.model_construct()
    does_not_have: tuple[str, ...] = ()
    """Abilities that the role explicitly lacks, so an agent does not claim them. No decision depends on it
    (orgkernel)."""
    handoff: HandoffRights = HandoffRights.model_construct()
    department: Id | None = None
    """Department of the organization (orgkernel)."""
    crew_tier: Literal["crew", "utility", "infrastructure", "external"] = "crew"
    """`external` is a person or system outside the crew (orgkernel)."""
    layer: Id | None = None
    """Hand-off layer of the organization (orgkernel)."""
    position: Literal["manager", "worker", "unified"] | None = None
    """Whether the role talks and delegates, executes, or does both. Default: manager if it can delegate (orgkernel)."""
    clearance: Literal["basic", "enhanced", "full", "oracle"] | None = None
    """Lowest memory-recall tier of the position. Not yet: no command reads it (orgkernel)."""
    entry_rank: Id | None = None
    """Starting rank of a holder (orgkernel)."""
    deputy: RoleId | None = None
    """Role whose agents take the tasks of this role while none of its own agents can. They keep their own permissions
    (orgkernel)."""
    open_to_probation: bool = False
    """Whether an agent on probation may work in the role (orgkernel)."""
    may_grant: tuple[ToolUse, ...] = ()
    """Tools that a holder may grant to others, up to a level, but never above its own level (orgkernel)."""
    credentials: tuple[Id, ...] = ()
    """Names of credentials that the role uses, never their values (orgkernel)."""
    data: tuple[Id, ...] = ()
    """Names of data that the role works on (orgkernel)."""
    file_scope: tuple[str, ...] = ()
    """Paths or globs where the role may write; `src/**` is everything in `src`. Empty means anywhere (orgkernel)."""
    lmc_mode: Literal["full", "lite", "direct"] | None = None
    """Lead-manager-checker (LMC) mode of work that the role leads: lead, manager and checker; lead and manager; or
    direct. A record with a weaker mode is not valid. Default: the mode that the governance document requires for its
    layer (orgkernel)."""
    standing_orders: tuple[str, ...] = ()
    """Orders for every task. The agent reads them; no decision depends on them (orgkernel)."""

    @property
    def name(self) -> str:
        """The role's name for people."""
        return self.role_name or self.role_id.replace("_", " ").title()

    @property
    def authority_level(self) -> int:
        """Declared authority, or the default of the role type."""
        declared = self.chain_of_command.authority_level
        return AUTHORITY_OF_TYPE[self.role_type] if declared is None else declared

    @property
    def can_delegate(self) -> bool:
        """Declared right to delegate, or the default of the role type."""
        declared = self.chain_of_command.can_delegate
        return self.role_type != "specialist" if declared is None else declared
