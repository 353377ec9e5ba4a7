"""Documents as everything above loading sees them: a frozen struct for each model.

Generated from `orgkernel/documents/model` by `make regenerate`: do not edit.
"""

from typing import Any, Literal
import msgspec
PREFIX = 'orgkernel:'
ORGANIZATION = f'{PREFIX}organization'
Id = str
PathGlob = str
RoleId = Id
OrgId = Id
DomainId = Id
PlanId = Id
SkillId = Id
AgentId = Id
OriginId = Id
PersonId = Id
PolicyId = Id
QualificationId = Id
RankId = Id
WebhookId = Id
ToolId = str
RuleCode = str
SuppressionReason = str


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A frozen part of a document. It rejects unknown fields; loading reports them as warnings."""


class Suppression(Record, frozen=True, kw_only=True):
    """A finding in this document that the author accepts, with the reason."""
    rule: RuleCode
    reason: SuppressionReason
    subject: str | None = None


class Document(Record, frozen=True, kw_only=True):
    """The fields of every kind of document."""
    version: str = msgspec.field(default='1.0', name='_version')
    suppressions: tuple[Suppression, ...] = ()
ToolLevel = Literal['none', 'observe', 'read', 'write', 'full']
SideEffects = Literal['none', 'read', 'write', 'destructive']
Proficiency = int
LEVELS: tuple[ToolLevel, ...] = ('none', 'observe', 'read', 'write', 'full')
LETTERS: dict[ToolLevel, str] = {'none': '---', 'observe': 'O--', 'read': 'OR-', 'write': 'ORW', 'full': 'ORWD'}
LEVEL_OF_SIDE_EFFECTS: dict[SideEffects, ToolLevel] = {'none': 'read', 'read': 'read', 'write': 'write', 'destructive': 'full'}
BillId = Id
StepId = Id
BillAction = Literal['cognitive_skill', 'tool', 'post_to_channel', 'send_dm', 'receive_message', 'captain_approval', 'sub_bill']
Gateway = Literal['sequential', 'parallel', 'xor', 'or']
OutputType = Literal['text', 'document', 'enum', 'boolean', 'number']
RoleCount = int | str


class BillActivation(Record, frozen=True, kw_only=True):
    """How a bill is started."""
    trigger: str = 'manual'
    authority: Id = 'department_chief'


class BillRole(Record, frozen=True, kw_only=True):
    """A role of a bill, and the requirements for taking it. Every given requirement must be met."""
    description: str = ''
    role: RoleId | None = None
    department: Id | None = None
    min_rank: RankId | None = None
    qualifications: tuple[QualificationId, ...] = ()
    count: RoleCount = '1'


class StepInput(Record, frozen=True, kw_only=True):
    """An input of a step."""
    name: Id
    source: str


class StepOutput(Record, frozen=True, kw_only=True):
    """An output of a step."""
    name: Id
    type: OutputType = 'text'
    values: tuple[str, ...] = ()


class Branch(Record, frozen=True, kw_only=True):
    """A branch of a gateway."""
    to: StepId
    condition: str | None = None
BranchEntry = StepId | Branch


class BillStep(Record, frozen=True, kw_only=True):
    """A step of a bill."""
    id: StepId
    name: str = ''
    action: BillAction
    role: Id | None = None
    roles: tuple[Id, ...] = ()
    skill: SkillId | None = None
    tool: ToolId | None = None
    tool_action: Id = 'use'
    channel: Id | None = None
    sub_bill: BillId | None = None
    inputs: tuple[StepInput, ...] = ()
    outputs: tuple[StepOutput, ...] = ()
    gate: Id | None = None
    timeout: float = 300.0
    condition: str | None = None
    gateway: Gateway = 'sequential'
    branches: tuple[BranchEntry, ...] = ()
    next: str | None = None


class Bill(Document, frozen=True, kw_only=True):
    """A procedure of several roles. The kernel decides which steps may start, and does not run them."""
    kind: "Literal['orgkernel:bill']" = msgspec.field(default='orgkernel:bill', name='_schema')
    slug: BillId
    edition: str = msgspec.field(default='1', name='version')
    title: str = ''
    description: str = ''
    author: str = ''
    activation: BillActivation = BillActivation()
    roles: dict[Id, BillRole] = msgspec.field(default_factory=dict)
    steps: tuple[BillStep, ...] = ()
    expected_results: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()


class CognitiveSkill(Document, frozen=True, kw_only=True):
    """A skill that is written as instructions."""
    kind: "Literal['orgkernel:cognitive_skill']" = msgspec.field(default='orgkernel:cognitive_skill', name='_schema')
    name: str
    description: str
    license: str = ''
    compatibility: str = ''
    metadata: dict[str, str] = msgspec.field(default_factory=dict)
    allowed_tools: str = msgspec.field(default='', name='allowed-tools')
    body: str = ''
CommandOption = str
ProgramName = str
SubcommandName = str
CommandPattern = str
CommandEffect = Literal['reads', 'adds', 'writes', 'changes', 'deletes', 'sends', 'publishes', 'runs', 'changes_rights', 'disables_safeguard', 'needs_somebody', 'unknown']
ProgramOutput = Literal['unknown', 'word', 'nothing', 'input', 'changed_input', 'made']
WordRole = Literal['text', 'host', 'url', 'path_read', 'path_added', 'path_written', 'path_changed', 'path_deleted', 'tree_deleted', 'folder_filled', 'folder', 'command', 'package', 'shell', 'shell_words', 'script', 'task', 'sql', 'sql_file', 'code']
CommandOperation = Literal['delete_directory', 'destroy_data', 'delete_resource', 'force_push', 'discard_changes', 'delete_branch', 'rewrite_history', 'drop_table', 'unbounded_delete', 'send_email', 'send_sms', 'make_payment', 'force_kill', 'disable_safeguard', 'publish']


class CommandOperands(Record, frozen=True, kw_only=True):
    """What the operands of a program are: the first ones, the last one, and the others."""
    first: tuple[WordRole, ...] = ()
    rest: WordRole = 'text'
    last: WordRole | None = None


class CommandCase(Record, frozen=True, kw_only=True):
    """A use of a program with an effect of its own. All conditions must hold."""
    options: tuple[CommandOption, ...] = ()
    and_options: tuple[CommandOption, ...] = ()
    unless: tuple[CommandOption, ...] = ()
    value: CommandPattern | None = None
    operand: CommandPattern | None = None
    position: int | None = None
    at_least: int | None = None
    at_most: int | None = None
    piped: bool | None = None
    safeguard: bool | None = None
    unclear: bool | None = None
    effect: CommandEffect | None = None
    operation: CommandOperation | None = None
    message: str = ''
    operands: WordRole | CommandOperands | None = None
    values: dict[WordRole, tuple[CommandOption, ...]] = msgspec.field(default_factory=dict)
    unseen: bool | None = None
    files: tuple[PathGlob, ...] = ()
    makes: str | None = None
    removes: str | None = None
    named_by: tuple[CommandOption, ...] = ()
    prints: ProgramOutput | None = None
    in_memory: bool | None = None


class CommandFields(Record, frozen=True, kw_only=True):
    """The part that programs and subcommands share."""
    description: str = ''
    values: dict[WordRole, tuple[CommandOption, ...]] = msgspec.field(default_factory=dict)
    flags: tuple[CommandOption, ...] = ()
    options_first: bool = False
    operands: WordRole | CommandOperands | None = None
    bundled: bool = False
    harmless_with: tuple[CommandOption, ...] = ()
    effect: CommandEffect | None = None
    operation: CommandOperation | None = None
    message: str = ''
    cases: tuple[CommandCase, ...] = ()
    elsewhere: bool = False
    piped: WordRole | None = None
    prints: ProgramOutput = 'unknown'
    reader: str | None = None
    opens: Literal['nothing', 'named', 'trees', 'environment'] | None = None
    names_only_with: tuple[CommandOption, ...] = ()
    unseen: bool = False
    files: tuple[PathGlob, ...] = ()
    makes: str | None = None
    removes: str | None = None
    named_by: tuple[CommandOption, ...] = ()


class SubcommandEntry(CommandFields, frozen=True, kw_only=True):
    """A subcommand, or several with the same effect."""
    names: tuple[SubcommandName, ...]


class ProgramEntry(CommandFields, frozen=True, kw_only=True):
    """A program."""
    also: tuple[ProgramName, ...] = ()
    subcommands: tuple[SubcommandEntry, ...] = ()
    otherwise: Literal['reads', 'changes', 'runs', 'unknown', 'task', 'script', 'command'] = 'unknown'


class CommandCatalog(Document, frozen=True, kw_only=True):
    """Programs, with the effects of their subcommands, options and operands."""
    kind: "Literal['orgkernel:command_catalog']" = msgspec.field(default='orgkernel:command_catalog', name='_schema')
    description: str = ''
    source: str = ''
    programs: dict[ProgramName, ProgramEntry] = msgspec.field(default_factory=dict)
WrittenTime = str
Confidence = float
Duration = float


class Contract(Document, frozen=True, kw_only=True):
    """A contract of a hand-off. It declares nothing, so it is not part of an organization, and it cannot suppress
    findings.
    """


class Assignment(Record, frozen=True, kw_only=True):
    """A role that an agent fills."""
    role: RoleId
    org: OrgId | None = None
    watches: tuple[Id, ...] = ('alpha',)
Trait = float


class PersonalitySeed(Record, frozen=True, kw_only=True):
    """The initial values of five traits, each from 0 to 1."""
    openness: Trait = 0.5
    conscientiousness: Trait = 0.5
    extraversion: Trait = 0.5
    agreeableness: Trait = 0.5
    neuroticism: Trait = 0.5


class RosterMember(Record, frozen=True, kw_only=True):
    """An agent of the crew."""
    callsign: str = ''
    rank: RankId | None = None
    trust: float | None = None
    trust_weight: float = 4.0
    assignments: tuple[Assignment, ...] = ()
    crew_tier: Literal['crew', 'utility', 'infrastructure', 'external'] = 'crew'
    personality: PersonalitySeed | None = None
    description: str = ''


class CrewRoster(Document, frozen=True, kw_only=True):
    """Agents, and the roles that they fill."""
    kind: "Literal['orgkernel:crew_roster']" = msgspec.field(default='orgkernel:crew_roster', name='_schema')
    description: str = ''
    org: OrgId | None = None
    agents: dict[AgentId, RosterMember] = msgspec.field(default_factory=dict)
Relationship = Literal['owner', 'partner', 'family', 'friend', 'work']
BUILT_IN_ORIGINS = ('cron', 'runtime', 'boot', 'restart', 'node', 'clock')


class Identity(Record, frozen=True, kw_only=True):
    """A person's identity on a platform."""
    platform: Id
    space: str | None = None
    id: str


class Person(Record, frozen=True, kw_only=True):
    """A person who talks to the organization."""
    name: str = ''
    relationship: Relationship | None = None
    tags: tuple[Id, ...] = ()
    identities: tuple[Identity, ...] = ()


class SystemOrigin(Record, frozen=True, kw_only=True):
    """A source inside a runtime that starts work."""
    description: str = ''


class Webhook(Record, frozen=True, kw_only=True):
    """An external service that starts work by sending a request."""
    description: str = ''


class Directory(Document, frozen=True, kw_only=True):
    """The subjects outside the crew that can send requests."""
    kind: "Literal['orgkernel:directory']" = msgspec.field(default='orgkernel:directory', name='_schema')
    description: str = ''
    people: dict[PersonId, Person] = msgspec.field(default_factory=dict)
    system_origins: dict[OriginId, SystemOrigin] = msgspec.field(default_factory=dict)
    webhooks: dict[WebhookId, Webhook] = msgspec.field(default_factory=dict)


class Domain(Record, frozen=True, kw_only=True):
    """A task domain."""
    description: str = ''
    broader: DomainId | None = None
    passthrough: bool = False
    examples: tuple[str, ...] = ()
    triggers: tuple[str, ...] = ()


class DomainCatalog(Document, frozen=True, kw_only=True):
    """Domains, which are kinds of task, and their aliases."""
    kind: "Literal['orgkernel:domain_catalog']" = msgspec.field(default='orgkernel:domain_catalog', name='_schema')
    description: str = ''
    domains: dict[DomainId, Domain] = msgspec.field(default_factory=dict)
    aliases: dict[Id, DomainId] = msgspec.field(default_factory=dict)
    unmapped: tuple[Id, ...] = ()


class PlanStep(Record, frozen=True, kw_only=True):
    """One step of a plan."""
    step: str
    tools: tuple[ToolId, ...] = ()
StepEntry = str | PlanStep


class Plan(Record, frozen=True, kw_only=True):
    """A plan that roles can follow."""
    name: str = ''
    description: str = ''
    domains: tuple[DomainId, ...] = ()
    steps: tuple[StepEntry, ...] = ()
    tools: tuple[ToolId, ...] = ()
    stale_after_turns: int | None = None


class PlanCatalog(Document, frozen=True, kw_only=True):
    """Plans: steps for tasks of a domain."""
    kind: "Literal['orgkernel:plan_catalog']" = msgspec.field(default='orgkernel:plan_catalog', name='_schema')
    description: str = ''
    plans: dict[PlanId, Plan] = msgspec.field(default_factory=dict)
CompilationLevel = int
SkillName = str


class ToolNeed(Record, frozen=True, kw_only=True):
    """A tool that a step calls, with the action."""
    tool: ToolId
    action: Id | None = None
ToolNeedEntry = ToolId | ToolNeed


class ProcedureStep(Record, frozen=True, kw_only=True):
    """A step of a procedure."""
    id: Id
    name: str = ''
    required_tools: tuple[ToolNeedEntry, ...] = ()


class Procedure(Record, frozen=True, kw_only=True):
    """A procedure that a role can run."""
    name: str = ''
    description: str = ''
    intents: tuple[Id, ...] = ()
    skill: SkillId | None = None
    compilation_level: CompilationLevel = 1
    falls_back_to: SkillName | None = None
    steps: tuple[ProcedureStep, ...] = ()


class ProcedureCatalog(Document, frozen=True, kw_only=True):
    """Procedures: sequences of tool calls that run without a language model."""
    kind: "Literal['orgkernel:procedure_catalog']" = msgspec.field(default='orgkernel:procedure_catalog', name='_schema')
    description: str = ''
    procedures: dict[Id, Procedure] = msgspec.field(default_factory=dict)
Fraction = float
Count = int
Seconds = float


class Status(Record, frozen=True, kw_only=True):
    """The status of the role."""
    state: Literal['idle', 'active', 'waiting', 'error_recovery', 'escalating', 'complete', 'aborted']
    progress: Fraction = 0.0
    pace_level: Literal['primary', 'alternate', 'contingent', 'emergency'] = 'primary'
    health: Literal['nominal', 'degraded', 'critical'] = 'nominal'


class Activity(Record, frozen=True, kw_only=True):
    """The current activity of the role."""
    current_task: str = ''
    bst_domain: str = ''
    htn_plan: str = ''
    htn_step: Count = 0
    htn_total_steps: Count = 0
    current_tool: str = ''
    iterations_on_current_step: Count = 0


class Location(Record, frozen=True, kw_only=True):
    """The place where the role works."""
    working_directory: str = ''
    files_modified: tuple[str, ...] = ()
    files_read: tuple[str, ...] = ()
    resources_claimed: tuple[str, ...] = ()


class Unit(Record, frozen=True, kw_only=True):
    """The role that reports."""
    role_id: str
    role_name: str = ''
    agent_number: Count = 0
    reports_to: str | None = ''
    organization: str = ''


class Time(Record, frozen=True, kw_only=True):
    """The times of the report and the task."""
    timestamp: str
    task_started: str | None = None
    elapsed_seconds: Seconds = 0
    turns_elapsed: Count = 0
    turns_since_progress: Count = 0
    context_turns_remaining: Count | None = None


class Environment(Record, frozen=True, kw_only=True):
    """The environment of the role."""
    model: str = ''
    context_fill_pct: float = 0.0
    context_tokens_used: Count = 0
    context_tokens_max: Count = 0
    gpu_available: bool | None = None
    tool_failures_consecutive: Count = 0
    tool_failures_total: Count = 0
    memory_fragments_stored: Count = 0


class SaluteReport(Document, frozen=True, kw_only=True):
    """A status report of a role (SALUTE: status, activity, location, unit, time, environment)."""
    kind: "Literal['orgkernel:salute_report']" = msgspec.field(default='orgkernel:salute_report', name='_schema')
    status: Status
    activity: Activity = Activity()
    location: Location = Location()
    unit: Unit
    time: Time
    environment: Environment = Environment()
OrderAudience = Literal['federation', 'organization', 'department', 'role', 'unknown']


class StandingOrder(Document, frozen=True, kw_only=True):
    """Orders for everyone in a federation, an organization, a department or a role."""
    kind: "Literal['orgkernel:standing_order']" = msgspec.field(default='orgkernel:standing_order', name='_schema')
    audience: OrderAudience
    target: str = ''
    body: str = ''


class DispatchQuestion(Record, frozen=True, kw_only=True):
    """A request to dispatch. Exactly one of `domain`, `intent` and `text`."""
    domain: Id | None = None
    intent: Id | None = None
    text: str | None = None
    needs: tuple[ToolId, ...] = ()


class DispatchCase(Record, frozen=True, kw_only=True):
    """A request and the expected answer. A given list must be complete."""
    ask: DispatchQuestion
    outcome: Literal['role', 'not_applicable']
    role_id: Id | None = None
    plans: tuple[Id, ...] | None = None
    tools: tuple[ToolId, ...] | None = None
    because: tuple[str, ...] | None = None
    agents: tuple[AgentId, ...] | None = None
    acting_role: Id | None = None
Moment = str


class Circumstances(Record, frozen=True, kw_only=True):
    """The circumstances of an access request. A missing value is unknown. An empty string means that none exists."""
    at: Moment | None = None
    channel: str | None = None
    peer_kind: Literal['dm', 'group', ''] | None = None
    peer_id: str | None = None
    account: str | None = None
    guild: str | None = None
    hook_id: str | None = None
    event_type: str | None = None
    alert: str | None = None
    watch: str | None = None
    session: str | None = None
    pace: Literal['primary', 'alternate', 'contingent', 'emergency'] | None = None
    input: dict[str, Any] | None = None
    depth: int = 0
    children: int = 0
    concurrent: int = 0


class AccessQuestion(Record, frozen=True, kw_only=True):
    """An access request: may this subject do this action to this resource?"""
    subject: str
    action: str
    resource: str
    context: Circumstances = Circumstances()
    on_behalf_of: str | None = None
    via: tuple[str, ...] = ()
    envelope: dict[str, ToolLevel] | None = None


class AccessCase(Record, frozen=True, kw_only=True):
    """A request and the expected answer."""
    ask: AccessQuestion
    outcome: Literal['allow', 'deny', 'ask', 'conditional']
    because: tuple[str, ...] | None = None
    level: str | None = None
    obligations: tuple[str, ...] | None = None
    remedies: tuple[str, ...] | None = None


class WhoCanCase(Record, frozen=True, kw_only=True):
    """The subjects that can do an action: a complete list in the order of the hierarchy."""
    action: str
    resource: str
    context: Circumstances = Circumstances()
    kinds: tuple[Literal['role', 'agent', 'person', 'system', 'webhook'], ...] = ('role',)
    are: tuple[str, ...]
    must_ask: tuple[str, ...] = ()


class WhatCanCase(Record, frozen=True, kw_only=True):
    """The actions that a subject can do: a complete list."""
    subject: str
    context: Circumstances = Circumstances()
    on_behalf_of: str | None = None
    kinds: tuple[Literal['tool', 'credential', 'data', 'role'], ...] = ('tool',)
    can: dict[str, tuple[str, ...]]
    must_ask: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)


class GivenAgent(Record, frozen=True, kw_only=True):
    """The stored state of an agent."""
    rank: RankId | None = None
    trust: float | None = None
    lifecycle: Literal['registered', 'probationary', 'active', 'suspended', 'decommissioned'] = 'active'
    passed: tuple[QualificationId, ...] = ()


class GivenGrant(Record, frozen=True, kw_only=True):
    """A stored grant."""
    subject: str
    resources: tuple[str, ...]
    level: ToolLevel = 'full'
    waives: tuple[Literal['rank', 'qualification', 'visibility', 'restricted_to'], ...] = ()
    channel: str | None = None
    session: str | None = None
    uses_left: int | None = None
    expires: Moment | None = None
    snapshot: str | None = None
    approved_by: tuple[str, ...] = ()


class GivenRestriction(Record, frozen=True, kw_only=True):
    """A stored restriction."""
    subject: str
    resources: tuple[str, ...]
    level: ToolLevel = 'none'
    expires: Moment | None = None


class Given(Record, frozen=True, kw_only=True):
    """The stored state for the questions of a case. Default: nothing is stored."""
    agents: dict[AgentId, GivenAgent] = msgspec.field(default_factory=dict)
    grants: dict[Id, GivenGrant] = msgspec.field(default_factory=dict)
    restrictions: dict[Id, GivenRestriction] = msgspec.field(default_factory=dict)
    locks: dict[ToolId, str] = msgspec.field(default_factory=dict)
    usage: dict[str, dict[str, float]] | None = None
    alert: Id | None = None
    watch: Id | None = None


class Case(Record, frozen=True, kw_only=True):
    """Expectations about one organization, with a sentence that describes them."""
    name: str
    org: OrgId
    undeclared: bool = False
    given: Given = Given()
    dispatch: tuple[DispatchCase, ...] = ()
    access: tuple[AccessCase, ...] = ()
    who_can: tuple[WhoCanCase, ...] = ()
    what_can: tuple[WhatCanCase, ...] = ()


class DecisionCases(Document, frozen=True, kw_only=True):
    """Decision cases: questions with the expected answers."""
    kind: "Literal['orgkernel:decision_cases']" = msgspec.field(default='orgkernel:decision_cases', name='_schema')
    description: str = ''
    cases: tuple[Case, ...]
Raises = dict[SkillId, Proficiency | None] | tuple[SkillId, ...]


class Qualification(Record, frozen=True, kw_only=True):
    """A test with a threshold."""
    name: str = ''
    description: str = ''
    tier: int = 1
    threshold: float = 0.5
    raises: Raises = ()
    unlocks: tuple[ToolId, ...] = ()
    prerequisites: tuple[QualificationId, ...] = ()
    expires_after_days: float | None = None
    min_sample_size: int | None = None
    digests: dict[Id, str] = msgspec.field(default_factory=dict)

    @property
    def raised_skills(self) -> dict[str, int | None]:
        """Each raised skill and the highest level to which passing raises it. None if it follows from the score."""
        return dict(self.raises) if isinstance(self.raises, dict) else dict.fromkeys(self.raises)


class QualificationCatalog(Document, frozen=True, kw_only=True):
    """Qualifications: the tests that agents take."""
    kind: "Literal['orgkernel:qualification_catalog']" = msgspec.field(default='orgkernel:qualification_catalog', name='_schema')
    description: str = ''
    qualifications: dict[QualificationId, Qualification] = msgspec.field(default_factory=dict)
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
ToolEntry = ToolUse


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
    tools: tuple[ToolEntry, ...] = ()
    skills: tuple[SkillEntry, ...] = ()
    intents: tuple[Id, ...] = ()
    procedures: tuple[Id, ...] = ()


class Requirements(Record, frozen=True, kw_only=True):
    """Requirements of the role on its runtime. The manifest shows them; no decision depends on them."""
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


class HandoffRights(Record, frozen=True, kw_only=True):
    """Roles that this role may hand work to and take work from, outside the chain of command (orgkernel)."""
    may_to: tuple[RoleId, ...] = ()
    may_from: tuple[RoleId, ...] = ()


class RoleProfile(Document, frozen=True, kw_only=True):
    """A role: the tasks it takes, the tools it may use, and its superior."""
    kind: "Literal['orgkernel:role_profile']" = msgspec.field(default='orgkernel:role_profile', name='_schema')
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
    handoff: HandoffRights = HandoffRights()
    department: Id | None = None
    crew_tier: Literal['crew', 'utility', 'infrastructure', 'external'] = 'crew'
    layer: Id | None = None
    position: Literal['manager', 'worker', 'unified'] | None = None
    clearance: Literal['basic', 'enhanced', 'full', 'oracle'] | None = None
    entry_rank: Id | None = None
    deputy: RoleId | None = None
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
UNIVERSAL = 'pcc'


class Prerequisite(Record, frozen=True, kw_only=True):
    """A skill that is required first, at a given proficiency."""
    skill: SkillId
    min_proficiency: Proficiency = 3
PrerequisiteEntry = SkillId | Prerequisite


class SkillCategory(Record, frozen=True, kw_only=True):
    """A family of skills."""
    name: str = ''
    description: str = ''


class Skill(Record, frozen=True, kw_only=True):
    """An ability that an agent has to some degree."""
    name: str = ''
    description: str = ''
    category: Id | None = None
    domain: DomainId | None = None
    prerequisites: tuple[PrerequisiteEntry, ...] = ()
    decay_rate_days: int = 14
    preferred_tools: tuple[ToolId, ...] = ()
    external: dict[Id, str] = msgspec.field(default_factory=dict)

    @property
    def prerequisite_levels(self) -> dict[str, int]:
        """Each prerequisite with its lowest proficiency. If a skill is listed twice, the higher one is used."""
        levels: dict[str, int] = {}
        for entry in self.prerequisites:
            skill, level = (entry, 3) if isinstance(entry, str) else (entry.skill, entry.min_proficiency)
            levels[skill] = max(level, levels.get(skill, 0))
        return levels


class SkillCatalog(Document, frozen=True, kw_only=True):
    """Skills, with their prerequisites and decay."""
    kind: "Literal['orgkernel:skill_catalog']" = msgspec.field(default='orgkernel:skill_catalog', name='_schema')
    description: str = ''
    proficiency_scale: tuple[str, ...] | None = None
    categories: dict[Id, SkillCategory] = msgspec.field(default_factory=dict)
    skills: dict[SkillId, Skill] = msgspec.field(default_factory=dict)
ToolType = Literal['utility_agent', 'infra_service', 'mcp_server', 'remote_api', 'computer_use', 'browser', 'communication', 'federation', 'deterministic_function']
FILE_TYPES: tuple[ToolType, ...] = ('infra_service', 'mcp_server', 'computer_use', 'deterministic_function')


class Action(Record, frozen=True, kw_only=True):
    """An action of a tool."""
    level: ToolLevel
    description: str = ''
ActionEntry = ToolLevel | Action


class EssentialFor(Record, frozen=True, kw_only=True):
    """The roles that a tool is essential for, if not for all roles."""
    with_tools: tuple[ToolId, ...] = ()
    delegating: bool = False
Essential = bool | EssentialFor
RankMatrix = Id | dict[RankId, ToolLevel]


class Tool(Record, frozen=True, kw_only=True):
    """A tool that roles can be equipped with."""
    name: str = ''
    description: str = ''
    type: ToolType
    provider: str = ''
    actions: dict[Id, ActionEntry] = msgspec.field(default_factory=dict)
    side_effects: SideEffects = 'none'
    intents: tuple[Id, ...] = ()
    falls_back_to: tuple[ToolId, ...] = ()
    essential: Essential = False
    input_schema: dict[str, Any] | None = None
    action_argument: str = ''
    path_arguments: tuple[str, ...] | None = None
    command_arguments: tuple[str, ...] = ()
    command_lists: Literal['words', 'commands'] | None = None
    names: dict[Id, str] = msgspec.field(default_factory=dict)
    enabled: bool = True
    departments: tuple[Id, ...] = ()
    restricted_to: tuple[Id, ...] = ()
    rank_matrix: RankMatrix | None = None
    qualifications: tuple[QualificationId, ...] = ()
    credentials: tuple[Id, ...] = ()
    concurrency: Literal['concurrent', 'exclusive'] = 'concurrent'
    lock_timeout_seconds: float | None = None

    @property
    def opens_files(self) -> bool:
        """Whether it may open files of the workspace: stated, or else by its type."""
        return self.type in FILE_TYPES if self.path_arguments is None else bool(self.path_arguments)

    @property
    def required_levels(self) -> dict[str, ToolLevel]:
        """Each action and its required level, including the default action."""
        if not self.actions:
            return {'use': LEVEL_OF_SIDE_EFFECTS[self.side_effects]}
        return {action: entry.level if isinstance(entry, Action) else entry for action, entry in self.actions.items()}


class ToolCatalog(Document, frozen=True, kw_only=True):
    """Tools, with their actions and limits."""
    kind: "Literal['orgkernel:tool_catalog']" = msgspec.field(default='orgkernel:tool_catalog', name='_schema')
    description: str = ''
    tools: dict[ToolId, Tool] = msgspec.field(default_factory=dict)


class Blocker(Contract, frozen=True, kw_only=True):
    """A blocker: a question that a worker cannot answer itself."""
    kind: "Literal['orgkernel:blocker']" = msgspec.field(default='orgkernel:blocker', name='_schema')
    session: str
    id: str | None = None
    agent: str | None = None
    brief: str | None = None
    blocked_at: WrittenTime
    question: str | None = None
    best_guess: str | None = None
    fallback_action: str | None = None
    can_resume_without_answer: bool | None = None
    human_required_for: Literal['credential', 'destructive op', 'scope expansion'] | None = None


class BriefContext(Record, frozen=True, kw_only=True):
    """The project in which the work takes place."""
    project_root: str | None = None
    deployed_url: str | None = None
    stack: str | None = None
    prior_runs: tuple[str, ...] = ()


class BriefScope(Record, frozen=True, kw_only=True):
    """The files and operations that the receiver may touch."""
    files_owned: tuple[str, ...] | None = None
    destructive: tuple[Id, ...] = ()
    allow_authentication: bool = False
    allow_billing: bool = False
    allow_dependency_change: bool = False


class BriefSpec(Record, frozen=True, kw_only=True):
    """The limits of the work."""
    scope: BriefScope = BriefScope()


class Brief(Contract, frozen=True, kw_only=True):
    """A brief: the instructions for one worker."""
    kind: "Literal['orgkernel:brief']" = msgspec.field(default='orgkernel:brief', name='_schema')
    id: str | None = None
    parent: str | None = None
    replaces: str | None = None
    mission: str | None = None
    purpose: str | None = None
    context: BriefContext | None = None
    whats_done: tuple[str, ...] | None = None
    current_task: str | None = None
    done_criteria: str | None = None
    verify_command: str | None = None
    key_decisions: tuple[str, ...] | None = None
    spec: BriefSpec = BriefSpec()
    relevant_memories: tuple[str, ...] | None = None
    ship: bool | None = None
    audit_gates: tuple[Id, ...] = ()
    lifecycle: Literal['ephemeral', 'persistent'] = 'ephemeral'

    @property
    def files_owned(self) -> tuple[str, ...]:
        """Paths and globs of the files that the receiver may write."""
        return self.spec.scope.files_owned or ()

    @property
    def destructive(self) -> tuple[str, ...]:
        """Destructive operations that are authorized."""
        return self.spec.scope.destructive

    @property
    def allow_authentication(self) -> bool:
        """Whether the code of authentication may be changed."""
        return self.spec.scope.allow_authentication

    @property
    def allow_billing(self) -> bool:
        """Whether billing modules may be changed."""
        return self.spec.scope.allow_billing

    @property
    def allow_dependency_change(self) -> bool:
        """Whether the dependencies of the project may be changed."""
        return self.spec.scope.allow_dependency_change


class DecisionEntry(Contract, frozen=True, kw_only=True):
    """An entry of the decision log: a decision with its rationale and falsifier."""
    kind: "Literal['orgkernel:decision_entry']" = msgspec.field(default='orgkernel:decision_entry', name='_schema')
    id: str | None = None
    timestamp: WrittenTime | None = None
    title: str | None = None
    task: str | None = None
    classification: Literal['simple', 'medium', 'complex', 'epic'] | None = None
    decision: str | None = None
    rationale: str | None = None
    falsifier: str | None = None
    supersedes: str | None = None
    answers: str | None = None
    written_by: Id | None = None
    agent: str | None = None
    session: str | None = None
    corrects_premise: str | None = None
AgentName = str


class ManagerOutput(Record, frozen=True, kw_only=True):
    """The output of the manager."""
    agent: AgentName
    brief: str = ''
    status: Literal['DONE', 'PARTIAL', 'BLOCKED']
    confidence: Confidence
    artifacts: tuple[str, ...] = ()


class CheckerVerdict(Record, frozen=True, kw_only=True):
    """The verdict of an independent checker on the output."""
    agent: AgentName
    decision: Literal['PASS', 'FAIL']
    confidence: Confidence
    issues: tuple[str, ...] = ()
    feedback: str | None = None


class LmcAttempt(Record, frozen=True, kw_only=True):
    """One attempt."""
    manager: ManagerOutput | None = None
    checker: CheckerVerdict | None = None


class LmcRecord(Contract, frozen=True, kw_only=True):
    """A record of how a lead, a manager and a checker (LMC) arrived at a result."""
    kind: "Literal['orgkernel:lmc_record']" = msgspec.field(default='orgkernel:lmc_record', name='_schema')
    brief: str | None = None
    mode: Literal['full', 'lite', 'direct']
    lead: AgentName
    attempts: tuple[LmcAttempt, ...] = ()
    escalated_to: str | None = None


class DryRun(Record, frozen=True, kw_only=True):
    """Step 1. A run of the operation that changes nothing."""
    at: WrittenTime
    command: str | None = None
    exit_code: int | None = None


class DryRunOutput(Record, frozen=True, kw_only=True):
    """Step 2. The output of the dry run."""
    at: WrittenTime
    text: str | None = None


class BlastRadius(Record, frozen=True, kw_only=True):
    """Step 3. The expected changes, and other things that could be affected."""
    at: WrittenTime
    text: str | None = None


class OperationAuthorization(Record, frozen=True, kw_only=True):
    """Step 4. The brief that lists the operation."""
    at: WrittenTime
    brief: str | None = None


class OperationBackup(Record, frozen=True, kw_only=True):
    """Step 5. The location from which the lost state can be restored."""
    at: WrittenTime
    path: str | None = None


class OperationRun(Record, frozen=True, kw_only=True):
    """Step 6. The operation itself."""
    at: WrittenTime
    output: str | None = None
    exit_code: int | None = None


class OperationVerification(Record, frozen=True, kw_only=True):
    """Step 7. The proof that the operation had its intended effect and no other."""
    at: WrittenTime
    command: str | None = None
    exit_code: int | None = None


class Preflight(Contract, frozen=True, kw_only=True):
    """The steps around one destructive operation. The first five steps are recorded before it is carried out, and all seven
    afterwards.
    """
    kind: "Literal['orgkernel:preflight']" = msgspec.field(default='orgkernel:preflight', name='_schema')
    id: str | None = None
    session: str | None = None
    operation: str
    command: str
    dry_run: DryRun | None = None
    dry_run_output: DryRunOutput | None = None
    blast_radius: BlastRadius | None = None
    authorization: OperationAuthorization | None = None
    backup: OperationBackup | None = None
    execution: OperationRun | None = None
    verification: OperationVerification | None = None
ReportStatus = Literal['done_clean', 'pending', 'failed']
CommitId = str
GateVerdict = Literal['satisfied', 'partial', 'unsatisfied']


class VerifyEvidence(Record, frozen=True, kw_only=True):
    """The command that was run, and its output."""
    verify_command: str | None = None
    verify_exit_code: int | None = None
    verify_stdout: str | None = None
    verify_stderr: str | None = None
    artefacts: tuple[str, ...] = ()
    backups: tuple[str, ...] = ()


class AuditSummary(Record, frozen=True, kw_only=True):
    """The audits of the work."""
    gates_required: tuple[Id, ...] = ()
    gates_passed: tuple[Id, ...] = ()
    scores: dict[Id, float] = msgspec.field(default_factory=dict)
    verdict: GateVerdict | None = None


class Shipping(Record, frozen=True, kw_only=True):
    """Whether the work was shipped."""
    requested: bool = False
    result: Literal['ok', 'failed', 'skipped', 'frozen'] | None = None
    commit: str | None = None
    deploy_url: str | None = None
    deploy_status: Literal['READY', 'ERROR', 'TIMEOUT'] | None = None


class StatedChanges(Record, frozen=True, kw_only=True):
    """The files that the work changed, between two commits."""
    base: CommitId
    head: CommitId
    files: tuple[str, ...] = ()
    no_audit: bool = False


class SessionReport(Contract, frozen=True, kw_only=True):
    """The fields shared by a result, a correction and the close of a mission."""
    id: str | None = None
    brief: str | None = None
    session: str | None = None
    agent: str
    project: str | None = None
    status: ReportStatus
    started_at: WrittenTime
    finished_at: WrittenTime
    duration_sec: Duration | None = None
    mission: str | None = None
    evidence: VerifyEvidence = VerifyEvidence()
    audit: AuditSummary = AuditSummary()
    changes: StatedChanges | None = None
    regressions: tuple[str, ...] | None = None
    pending_actions: tuple[str, ...] = ()
    ship: Shipping | None = None
    refusal_reason: str | None = None
    approved_by: str | None = None
    report_path: str | None = None


class Result(SessionReport, frozen=True, kw_only=True):
    """A result: the final report of a worker's session."""
    kind: "Literal['orgkernel:result']" = msgspec.field(default='orgkernel:result', name='_schema')


class Subtask(Record, frozen=True, kw_only=True):
    """A piece of work for one worker."""
    id: Id
    kind: Literal['narrow', 'broad', 'terminal'] | None = None
    files: tuple[str, ...] = ()
    depends_on: tuple[Id, ...] = ()
    domain: DomainId | None = None
    needs: tuple[ToolId, ...] = ()


class SubtaskPlan(Contract, frozen=True, kw_only=True):
    """The subtasks of a mission, from which batches are built."""
    kind: "Literal['orgkernel:subtask_plan']" = msgspec.field(default='orgkernel:subtask_plan', name='_schema')
    batch_size: int = 3
    subtasks: tuple[Subtask, ...]
STAR = '*'
CommandBeginning = str
Effect = Literal['allow', 'deny', 'ask', 'annotate']
DataTier = Literal['none', 'minimal', 'contextual', 'full']
DATA_TIERS: tuple[DataTier, ...] = ('none', 'minimal', 'contextual', 'full')
LimitCounter = Literal['all', 'subject', 'role', 'principal', 'tool']
LimitWindow = str
PeerKind = Literal['dm', 'group']
QueueMode = Literal['steer', 'followup', 'collect', 'interrupt', 'queue', 'steer-backlog']
HostName = str
ArgumentName = str
ToolGlob = str
AnyOr = str
TimeWindow = str
Data = DataTier
PolicyPeer = PeerKind


class ToolRules(Record, frozen=True, kw_only=True):
    """Allowed and denied tools. Each is an id or a prefix with a star."""
    allow: tuple[ToolGlob, ...] = ()
    deny: tuple[ToolGlob, ...] = ()
ToolPermission = Literal['*'] | tuple[ToolGlob, ...] | ToolRules
NamePermission = Literal['*'] | tuple[Id, ...]


class ArgumentTest(Record, frozen=True, kw_only=True):
    """Tests of one argument of a tool. An argument passes if it passes all of them."""
    one_of: tuple[str, ...] = ()
    none_of: tuple[str, ...] = ()
    matches: tuple[str, ...] = ()
    not_matches: tuple[str, ...] = ()
    host_in: tuple[HostName, ...] = ()
    host_not_in: tuple[HostName, ...] = ()
    under: tuple[PathGlob, ...] = ()
    not_under: tuple[PathGlob, ...] = ()
    more_than: float | None = None
    less_than: float | None = None
    longer_than: int | None = None


class Permissions(Record, frozen=True, kw_only=True):
    """The resources that a policy covers. The policy does not affect omitted kinds."""
    tools: ToolPermission | None = None
    paths: tuple[PathGlob, ...] = ()
    commands: tuple[CommandBeginning, ...] = ()
    input: dict[ArgumentName, ArgumentTest] = msgspec.field(default_factory=dict)
    credentials: NamePermission | None = None
    roles: NamePermission | None = None
    data: Data | None = None


class Principal(Record, frozen=True, kw_only=True):
    """The subject of a request. All given fields must match."""
    is_user: bool | None = None
    relationship: Relationship | None = None
    tags: tuple[Id, ...] = ()
    person_id: PersonId | None = None
    unknown: bool | None = None
    system: AnyOr | None = None
    webhook: AnyOr | None = None
    agent: AnyOr | None = None
    role: AnyOr | None = None


class Condition(Record, frozen=True, kw_only=True):
    """Circumstances. All given fields must match."""
    channel: Id | None = None
    peer_kind: PolicyPeer | None = None
    account: str | None = None
    guild: str | None = None
    time: TimeWindow | None = None
    hook_id: str | None = None
    event_type: str | None = None


class Match(Record, frozen=True, kw_only=True):
    """When a policy applies."""
    principal: Principal | None = None
    conditions: tuple[Condition, ...] = ()
    alert: tuple[Id, ...] = ()
    watch: tuple[Id, ...] = ()
Approver = str


class RequiredApprovals(Record, frozen=True, kw_only=True):
    """The approvals that an `ask` policy requires. Only a request that all of them have answered opens it."""
    count: int = 2
    by: tuple[Approver, ...] = ()


class Session(Record, frozen=True, kw_only=True):
    """The session that keeps the conversation."""
    persona: str | None = None
    key: str | None = None
    pin: bool = False


class Modifiers(Record, frozen=True, kw_only=True):
    """How a message is handled, independent of permissions."""
    queue_mode: QueueMode | None = None
    delay_response: bool | None = None


class Policy(Record, frozen=True, kw_only=True):
    """A rule about who may use what."""
    description: str = ''
    match: Match = Match()
    effect: Effect
    permissions: Permissions = Permissions()
    approvals: RequiredApprovals | None = None
    ceiling: bool = False
    fallback: bool = False
    session: Session = Session()
    modifiers: Modifiers = Modifiers()
    priority: int = 50
    enabled: bool = True

    @property
    def _denies_others(self) -> bool:
        """Whether the `*` under `deny` means all tools but those under `allow`."""
        tools = self.permissions.tools
        if not isinstance(tools, ToolRules) or self.effect == 'annotate':
            return False
        return bool(tools.allow) and STAR in tools.deny and (STAR not in tools.allow)

    @property
    def named_tools(self) -> tuple[str, ...] | None:
        """The tools and globs that its effect applies to. None if it does not affect tools."""
        tools = self.permissions.tools
        if tools is None:
            return None
        if isinstance(tools, ToolRules):
            return (STAR,) if self.spared_tools else tools.allow
        return (tools,) if isinstance(tools, str) else tools

    @property
    def spared_tools(self) -> tuple[str, ...]:
        """The exceptions of a `deny` or `ask` policy about all tools."""
        tools = self.permissions.tools
        if not isinstance(tools, ToolRules) or self.effect == 'allow' or (not self._denies_others):
            return ()
        return tools.allow

    @property
    def denied_tools(self) -> tuple[str, ...]:
        """The tools and globs that it denies whatever its effect."""
        tools = self.permissions.tools
        if not isinstance(tools, ToolRules):
            return ()
        return tuple((each for each in tools.deny if each != STAR or not self._denies_others))

    @property
    def is_ceiling(self) -> bool:
        """Whether its permissions are also an upper bound: it sets `ceiling`, or it denies all other tools."""
        return self.effect == 'allow' and (self.ceiling or self._denies_others)

    @property
    def is_everything(self) -> bool:
        """Whether it lists no resources, and so denies or asks for everything."""
        named = self.permissions
        names = (named.tools, named.credentials, named.roles, named.data)
        return self.effect in ('deny', 'ask') and all((each is None for each in names))


class LimitSubjects(Record, frozen=True, kw_only=True):
    """Whose calls a limit counts. Empty lists mean everyone."""
    roles: tuple[Id, ...] = ()
    agents: tuple[Id, ...] = ()
    people: tuple[PersonId, ...] = ()


class CallLimit(Record, frozen=True, kw_only=True):
    """How many calls of some tools are allowed. The store counts them, and every further call is denied."""
    tools: tuple[ToolGlob, ...]
    subjects: LimitSubjects = LimitSubjects()
    each: LimitCounter = 'all'
    calls: int | None = None
    per: LimitWindow = '1h'
    concurrent: int | None = None
    budget: float | None = None
    cost: float | None = None
    cost_argument: str | None = None
    unit: str = ''


class AccessPolicies(Document, frozen=True, kw_only=True):
    """Access policies: who may use what, and when."""
    kind: "Literal['orgkernel:access_policies']" = msgspec.field(default='orgkernel:access_policies', name='_schema')
    description: str = ''
    policies: dict[PolicyId, Policy] = msgspec.field(default_factory=dict)
    limits: dict[PolicyId, CallLimit] = msgspec.field(default_factory=dict)
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


class HandoffEdge(Record, frozen=True, kw_only=True):
    """Permission for one layer to hand work to another (orgkernel)."""
    source: Id = msgspec.field(name='from')
    target: Id = msgspec.field(name='to')


class Limits(Record, frozen=True, kw_only=True):
    """Limits on delegation and span (orgkernel)."""
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
    """The orgkernel action for a foreign action, if its conditions are met (orgkernel)."""
    action: Id
    where: dict[PropertyName, str | bool | int | float] = msgspec.field(default_factory=dict)
    owner: str | None = None


class AuthzenTypes(Record, frozen=True, kw_only=True):
    """The orgkernel types and actions for those of AuthZEN requests (orgkernel)."""
    subjects: dict[TypeName, ForeignSubject] = msgspec.field(default_factory=dict)
    resources: dict[TypeName, ForeignResource] = msgspec.field(default_factory=dict)
    actions: dict[TypeName, tuple[ActionMeaning, ...]] = msgspec.field(default_factory=dict)


class Authzen(Record, frozen=True, kw_only=True):
    """How AuthZEN requests are interpreted (orgkernel)."""
    types: AuthzenTypes = AuthzenTypes()


class ProcedureProposals(Record, frozen=True, kw_only=True):
    """When a cognitive skill is proposed as a procedure. A proposal has no effect by itself (orgkernel)."""
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
SourceFormat = Literal['claude-code', 'copilot', 'opencode', 'codex', 'gemini-cli', 'cursor', 'kiro', 'roo', 'crewai', 'adk', 'agent-framework', 'agent-format', 'autogen', 'agent-zero', 'probos', 'agent-spec', 'a2a', 'skills', 'mcp']


class AgentSource(Record, frozen=True, kw_only=True):
    """Files in another format whose roles, tools and skills belong to the organization (orgkernel)."""
    format: SourceFormat
    path: str


class Organization(Document, frozen=True, kw_only=True):
    """An organization: its roles, their chain of command, and its limits."""
    kind: "Literal['orgkernel:organization']" = msgspec.field(default='orgkernel:organization', name='_schema')
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
    dispatch_edges: tuple[HandoffEdge, ...] = ()
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
RecallTier = Literal['basic', 'enhanced', 'full', 'oracle']


class Rank(Record, frozen=True, kw_only=True):
    """A step of trust that an agent has earned."""
    id: RankId
    name: str = ''
    trust_from: float = 0.0
    agency: Literal['reactive', 'suggestive', 'autonomous', 'unrestricted'] | None = None
    recall_tier: RecallTier | None = None
    description: str = ''


class Requirement(Record, frozen=True, kw_only=True):
    """A requirement on an agent's skills for a promotion."""
    skills: Literal['universal', 'role', 'required_role']
    min_proficiency: Proficiency
    min_count: int | None = None


class Promotion(Record, frozen=True, kw_only=True):
    """The requirements to reach a rank from the one below."""
    requirements: tuple[Requirement, ...] = ()
    qualifications: tuple[QualificationId, ...] = ()


class MatrixRow(Record, frozen=True, kw_only=True):
    """The level of each rank for tools with certain types and side effects."""
    name: Id
    types: tuple[ToolType, ...] = ()
    side_effects: tuple[SideEffects, ...] = ()
    levels: dict[RankId, ToolLevel]


class RankLadder(Document, frozen=True, kw_only=True):
    """Ranks, promotions and permission matrices."""
    kind: "Literal['orgkernel:rank_ladder']" = msgspec.field(default='orgkernel:rank_ladder', name='_schema')
    description: str = ''
    ranks: tuple[Rank, ...] = ()
    trust_margin: float = 0.05
    promotions: dict[RankId, Promotion] = msgspec.field(default_factory=dict)
    matrices: dict[Id, tuple[MatrixRow, ...]] = msgspec.field(default_factory=dict)


class Correction(SessionReport, frozen=True, kw_only=True):
    """A correction: a report that replaces an earlier result."""
    kind: "Literal['orgkernel:correction']" = msgspec.field(default='orgkernel:correction', name='_schema')
    original: str | None = None
    reason: str


class ClosedWorker(Record, frozen=True, kw_only=True):
    """A worker of the mission and its result."""
    agent: str
    session: str | None = None
    result: str | None = None
    status: ReportStatus


class MissionClose(SessionReport, frozen=True, kw_only=True):
    """The close of a mission: the final report of its planner."""
    kind: "Literal['orgkernel:mission_close']" = msgspec.field(default='orgkernel:mission_close', name='_schema')
    consensus_score: float | None = None
    verdict: GateVerdict | None = None
    workers: tuple[ClosedWorker, ...] | None = None
HandoffNeed = Literal['brief', 'verify_command', 'right_to_delegate']
SessionKey = str


class GovernedLayer(Record, frozen=True, kw_only=True):
    """A layer. The key is its id. Layers are listed in order, top layer first."""
    name: str = ''
    optional: bool = False
    roles: tuple[RoleId, ...] = ()
    read_only: bool = False


class GovernedEdge(Record, frozen=True, kw_only=True):
    """Permission for the roles of one layer to hand work to those of another, and what each hand-off requires."""
    source: Id = msgspec.field(name='from')
    target: Id = msgspec.field(name='to')
    requires: tuple[HandoffNeed, ...] = ()
    gates: tuple[Id, ...] = ()
    queue_mode: QueueMode | None = None
    session_key: SessionKey | None = None


class SacredScope(Record, frozen=True, kw_only=True):
    """Files that no brief may own, or only under conditions. The key is its id."""
    paths: tuple[PathGlob, ...]
    description: str = ''
    unlocked_by: Literal['allow_authentication', 'allow_billing', 'allow_dependency_change'] | None = None
    unlocked_with_gate: Id | None = None
    new_files_only: bool = False
    readers: tuple[RoleId, ...] | None = None


class QualityGate(Record, frozen=True, kw_only=True):
    """An audit that a brief may name under `audit_gates`. The key is its id."""
    description: str = ''


class HandoffLimits(Record, frozen=True, kw_only=True):
    """Limits on hand-offs. They replace those of the organization."""
    max_spawn_depth: int | None = None
    max_children: int | None = None
    max_concurrent: int | None = None


class ClaimRules(Record, frozen=True, kw_only=True):
    """Limits on claims of files, so that no agent locks a project."""
    without_handoff: tuple[RoleId, ...] = ()
    max_seconds: float | None = None
    max_claims: int | None = None
    min_fixed_names: int | None = None


class CommitRules(Record, frozen=True, kw_only=True):
    """Whom the hooks of git and `orgkernel ownership verify-push` hold to a brief."""
    held: Literal['everyone', 'agents'] = 'everyone'
    agent_variables: tuple[str, ...] | None = None
    agent_authors: tuple[str, ...] = ()


class Governance(Document, frozen=True, kw_only=True):
    """Rules for hand-offs in an organization."""
    kind: "Literal['orgkernel:governance']" = msgspec.field(default='orgkernel:governance', name='_schema')
    description: str = ''
    layers: dict[Id, GovernedLayer] = msgspec.field(default_factory=dict)
    dispatch_edges: tuple[GovernedEdge, ...] = ()
    limits: HandoffLimits = HandoffLimits()
    claims: ClaimRules = ClaimRules()
    commits: CommitRules = CommitRules()
    sacred_scopes: dict[Id, SacredScope] = msgspec.field(default_factory=dict)
    destructive_operations: tuple[Id, ...] | None = None
    quality_gates: dict[Id, QualityGate] = msgspec.field(default_factory=dict)
    ownership_audits: Literal['always', 'stated', 'optional'] | None = None
    lmc_modes: dict[Id, Literal['full', 'lite', 'direct']] = msgspec.field(default_factory=dict)
    phrases: tuple[str, ...] = ()
    batch_size: int | None = None


# Each kind of document with its record.
RECORDS: dict[str, type[Document]] = {
    "role_profile": RoleProfile,
    "organization": Organization,
    "domain_catalog": DomainCatalog,
    "plan_catalog": PlanCatalog,
    "tool_catalog": ToolCatalog,
    "skill_catalog": SkillCatalog,
    "rank_ladder": RankLadder,
    "qualification_catalog": QualificationCatalog,
    "command_catalog": CommandCatalog,
    "procedure_catalog": ProcedureCatalog,
    "directory": Directory,
    "access_policies": AccessPolicies,
    "crew_roster": CrewRoster,
    "bill": Bill,
    "governance": Governance,
    "decision_cases": DecisionCases,
    "salute_report": SaluteReport,
    "brief": Brief,
    "result": Result,
    "blocker": Blocker,
    "correction": Correction,
    "decision_entry": DecisionEntry,
    "lmc_record": LmcRecord,
    "mission_close": MissionClose,
    "preflight": Preflight,
    "subtask_plan": SubtaskPlan,
    "cognitive_skill": CognitiveSkill,
    "standing_order": StandingOrder,
}

# In a route, every item of a list or a mapping.
EACH = None
# The route of each deprecated field, and what to write instead.
DEPRECATED: dict[str, tuple[tuple[tuple[str | None, ...], str], ...]] = {'organization': ((('defaults',), 'write the values in each profile or under `overrides`; nothing reads this field'),)}
