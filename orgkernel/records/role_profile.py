"""`role_profile`: what a role can do, whom it reports to and how it handles failure. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Literal
import msgspec
from orgkernel.records.levels import Proficiency, ToolLevel
from orgkernel.records.record import Document, DomainId, Id, PlanId, Record, RoleId, SkillId, ToolId
RoleType = Literal['specialist', 'executive', 'commander']
AUTHORITY_OF_TYPE: dict[RoleType, int] = {'specialist': 1, 'executive': 2, 'commander': 3}


class ChainOfCommand(Record, frozen=True, kw_only=True):
    """The role's default place. The hierarchy of an organization that includes the role decides."""
    reports_to: Id | None = None
    authority_level: int | None = None
    can_delegate: bool | None = None


class ToolUse(Record, frozen=True, kw_only=True):
    """A tool that the role is equipped with, at a given level (orgkernel)."""
    tool: ToolId
    level: ToolLevel = 'full'


class SkillUse(Record, frozen=True, kw_only=True):
    """A skill that the role requires (orgkernel)."""
    skill: SkillId
    min_proficiency: Proficiency = 1
    optional: bool = False
SkillEntry = SkillId | SkillUse


class Capabilities(Record, frozen=True, kw_only=True):
    """The abilities of the role."""
    bst_domains: tuple[DomainId, ...] = ()
    htn_plans: tuple[PlanId, ...] = ()
    tools_primary: tuple[ToolId, ...] = ()
    tools_secondary: tuple[ToolId, ...] = ()
    tools: tuple[ToolUse, ...] = ()
    skills: tuple[SkillEntry, ...] = ()
    intents: tuple[Id, ...] = ()
    procedures: tuple[Id, ...] = ()


class Requirements(Record, frozen=True, kw_only=True):
    """What the role needs from its runtime. The manifest shows it; no decision depends on it."""
    min_context_tokens: int | None = None
    preferred_model: str | None = None
    required_extensions: tuple[str, ...] = ()


class PaceTier(Record, frozen=True, kw_only=True):
    """One tier of the PACE plan."""
    description: str = ''
    action: str = ''
    trigger: str | None = None
    escalate_to: Id | None = None


class PacePlan(Record, frozen=True, kw_only=True):
    """Four-tier failure response: primary, alternate, contingent, emergency."""
    primary: PaceTier = PaceTier()
    alternate: PaceTier | None = None
    contingent: PaceTier | None = None
    emergency: PaceTier | None = None


class Doctrine(Record, frozen=True, kw_only=True):
    """Reporting and persistence rules. Defaults are those of the specification's example."""
    salute_interval_turns: int = 5
    max_turns_without_progress: int = 12
    report_on_completion: bool = True
    report_on_failure: bool = True
    autonomous_retry_limit: int = 2


class DispatchRights(Record, frozen=True, kw_only=True):
    """Roles that this role may dispatch to and take work from, outside the chain of command (orgkernel)."""
    may_to: tuple[RoleId, ...] = ()
    may_from: tuple[RoleId, ...] = ()


class RoleProfile(Document, frozen=True, kw_only=True):
    """A role: an operational capability profile."""
    kind: Literal['orgkernel:role_profile'] = msgspec.field(default='orgkernel:role_profile', name='_schema')
    role_id: RoleId
    overlay: bool = False
    role_name: str = ''
    role_type: RoleType = 'specialist'
    description: str = ''
    examples: tuple[str, ...] = ()
    not_examples: tuple[str, ...] = ()
    chain_of_command: ChainOfCommand = ChainOfCommand()
    capabilities: Capabilities = Capabilities()
    requirements: Requirements = Requirements()
    pace_plan: PacePlan | None = None
    doctrine: Doctrine = Doctrine()
    does_not_have: tuple[str, ...] = ()
    dispatch: DispatchRights = DispatchRights()
    department: Id | None = None
    tier: Literal['crew', 'utility', 'infrastructure', 'external'] = 'crew'
    layer: Id | None = None
    position: Literal['manager', 'worker', 'unified'] | None = None
    clearance: Literal['basic', 'enhanced', 'full', 'oracle'] | None = None
    entry_rank: Id | None = None
    open_to_probation: bool = False
    may_grant: tuple[ToolUse, ...] = ()
    credentials: tuple[Id, ...] = ()
    data: tuple[Id, ...] = ()
    file_scope: tuple[str, ...] = ()
    lmc_mode: Literal['full', 'lite', 'direct'] | None = None
    standing_orders: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The role's name for people."""
        return self.role_name or self.role_id.replace('_', ' ').title()

    @property
    def authority_level(self) -> int:
        """Declared authority, or the default of the role type."""
        declared = self.chain_of_command.authority_level
        return AUTHORITY_OF_TYPE[self.role_type] if declared is None else declared

    @property
    def can_delegate(self) -> bool:
        """Declared right to delegate, or the default of the role type."""
        declared = self.chain_of_command.can_delegate
        return self.role_type != 'specialist' if declared is None else declared
