"""`bill`: a procedure of several roles, with its steps, gateways and gates."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, StringConstraints, Tag

from orgkernel.documents.model.record import (
    Document,
    Id,
    QualificationId,
    RankId,
    Record,
    RoleId,
    SkillId,
    ToolId,
)

BillId = Id
StepId = Id

BillAction = Literal[
    "cognitive_skill", "tool", "post_to_channel", "send_dm", "receive_message", "captain_approval", "sub_bill"
]
Gateway = Literal["sequential", "parallel", "xor", "or"]
OutputType = Literal["text", "document", "enum", "boolean", "number"]


def _count_form(value: Any) -> str:
    return "(count)" if isinstance(value, int) else "(count-text)"


RoleCount = Annotated[
    Annotated[int, Field(ge=1, le=1000), Tag("(count)")] | Annotated[str, Tag("(count-text)")],
    Discriminator(_count_form),
]


class BillActivation(Record):
    """How a bill is started."""

    trigger: str = "manual"
    """`manual`, `alert:NAME`, `schedule:NAME` or `event:NAME`."""
    authority: Id = "department_chief"
    """The role that may start it by hand, or `department_chief` for every role that heads a department of the bill.
    Its superiors and the owner may also start it."""


class BillRole(Record):
    """A role of a bill, and the requirements for taking it. Every given requirement must be met."""

    description: str = ""
    role: RoleId | None = None
    """A role of the organization that the agent must fill."""
    department: Id | None = None
    """The department of a role that the agent fills. Absent means any."""
    min_rank: RankId | None = None
    """The lowest current rank of the agent."""
    qualifications: tuple[QualificationId, ...] = ()
    """Tests that the agent has passed and whose results are still valid."""
    count: RoleCount = "1"
    """How many agents take the bill role: a number, or a range such as `1-3`."""


class StepInput(Record):
    """An input of a step."""

    name: Id
    source: str
    """`STEP.OUTPUT` of an earlier step, or `activation.NAME` for an input of the bill."""


class StepOutput(Record):
    """An output of a step."""

    name: Id
    type: OutputType = "text"
    values: tuple[str, ...] = ()
    """The values of an output of type `enum`."""


class Branch(Record):
    """A branch of a gateway."""

    to: StepId
    condition: str | None = None
    """Condition on outputs. Absent on the last branch of `xor` or `or`: that branch is taken if no other is."""


def _choose_branch_form(value: Any) -> str:
    return "(branch-step)" if isinstance(value, str) else "(branch)"


BranchEntry = Annotated[
    Annotated[StepId, Tag("(branch-step)")] | Annotated[Branch, Tag("(branch)")],
    Discriminator(_choose_branch_form),
]


class BillStep(Record):
    """A step of a bill."""

    id: StepId
    name: str = ""
    action: BillAction
    role: Id | None = None
    """The bill role that does the step."""
    roles: tuple[Id, ...] = ()
    """The bill roles that do the step together, instead of `role`."""
    skill: SkillId | None = None
    """The skill that the step exercises."""
    tool: ToolId | None = None
    tool_action: Id = "use"
    """The action of the tool."""
    channel: Id | None = None
    sub_bill: BillId | None = None
    inputs: tuple[StepInput, ...] = ()
    outputs: tuple[StepOutput, ...] = ()
    gate: Id | None = None
    """A bill role, or a role of the organization, that must approve the step before it starts."""
    timeout: Annotated[float, Field(gt=0.0)] = 300.0
    """Seconds after which a started step is overdue."""
    condition: str | None = None
    """Condition on outputs of earlier steps. The step is skipped if it is false, and waits while it is unknown."""
    gateway: Gateway = "sequential"
    """How the flow continues: to one step, to all branches (`parallel`), to the first whose condition is true
    (`xor`), or to each whose condition is true (`or`)."""
    branches: tuple[BranchEntry, ...] = ()
    """Steps that the gateway leads to."""
    next: Annotated[str, StringConstraints(min_length=1)] | None = None
    """The step that follows, or `end`. Default: the next one in the list."""


class Bill(Document):
    """A procedure of several roles. The kernel decides which steps may start, and does not run them."""

    kind: Literal["orgkernel:bill"] = Field(default="orgkernel:bill", alias="_schema")
    slug: BillId
    edition: str = Field(default="1", alias="version")
    """Version of the bill."""
    title: str = ""
    description: str = ""
    author: str = ""
    activation: BillActivation = BillActivation.model_construct()
    roles: dict[Id, BillRole] = Field(default_factory=dict)
    """The bill roles that agents take."""
    steps: tuple[BillStep, ...] = ()
    expected_results: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
