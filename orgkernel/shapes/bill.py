"""`bill`: a procedure of several roles, with its steps, gateways and gates. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Annotated, Literal
import msgspec
from orgkernel.shapes.record import Document, Id, QualificationId, RankId, Record, RoleId, SkillId, ToolId
BillId = Id
StepId = Id
BillAction = Literal['cognitive_skill', 'tool', 'post_to_channel', 'send_dm', 'receive_message', 'captain_approval', 'sub_bill']
Gateway = Literal['sequential', 'parallel', 'xor', 'or']
OutputType = Literal['text', 'document', 'enum', 'boolean', 'number']
RoleCount = Annotated[int, msgspec.Meta(ge=1, le=1000)] | str


class BillActivation(Record, frozen=True, kw_only=True):
    """How a bill is started."""
    trigger: str = 'manual'
    authority: Id = 'department_chief'


class BillRole(Record, frozen=True, kw_only=True):
    """A part in a bill, and who may take it. Every condition that is written must hold."""
    description: str = ''
    role: RoleId | None = None
    department: Id | None = None
    min_rank: RankId | None = None
    qualifications: tuple[QualificationId, ...] = ()
    count: RoleCount = '1'


class StepInput(Record, frozen=True, kw_only=True):
    """What a step is given."""
    name: Id
    source: str


class StepOutput(Record, frozen=True, kw_only=True):
    """What a step yields."""
    name: Id
    type: OutputType = 'text'
    values: tuple[str, ...] = ()


class Branch(Record, frozen=True, kw_only=True):
    """A way that leads on from a gateway."""
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
    timeout: Annotated[float, msgspec.Meta(gt=0.0)] = 300.0
    condition: str | None = None
    gateway: Gateway = 'sequential'
    branches: tuple[BranchEntry, ...] = ()
    next: Annotated[str, msgspec.Meta(min_length=1)] | None = None


class Bill(Document, frozen=True, kw_only=True):
    """A procedure of several roles. The kernel says which steps may start; it runs none of them."""
    kind: Literal['orgkernel:bill'] = msgspec.field(default='orgkernel:bill', name='_schema')
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
