"""`governance`: the layers of an organization, who may hand work from one to another, and what a hand-off requires."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from orgkernel.documents.model.access_policies import QueueMode
from orgkernel.documents.model.record import Document, Id, PathGlob, Record, RoleId

HandoffNeed = Literal["brief", "verify_command", "right_to_delegate"]
SessionKey = Annotated[
    str, StringConstraints(pattern=r"^([A-Za-z0-9_:.-]|\{org\}|\{from\}|\{to\}|\{principal\}){1,200}$")
]


class GovernedLayer(Record):
    """A layer. The key is its id. The layers stand in the order of the document, the top layer first."""

    name: str = ""
    """Name for people."""
    optional: bool = False
    """Whether the organization also works without a role in this layer."""
    roles: tuple[RoleId, ...] = ()
    """Roles of the layer. A role may name its layer itself instead, under `layer` in its profile."""
    read_only: bool = False
    """Whether its roles only read what other layers do. Their briefs own no files, unless a budget guard has fired."""


class GovernedEdge(Record):
    """Permission for the roles of one layer to hand work to those of another, and what each hand-off requires."""

    source: Id = Field(alias="from")
    target: Id = Field(alias="to")
    requires: tuple[HandoffNeed, ...] = ()
    """What the sender must show: a brief, a command in it that verifies the result, the right to delegate."""
    gates: tuple[Id, ...] = ()
    """Quality gates that the brief must name under `audit_gates`."""
    queue_mode: QueueMode | None = None
    """What happens to work that arrives while the receiver works. Default: by the positions of both."""
    session_key: SessionKey | None = None
    """Session that does the work. It may contain `{org}`, `{from}`, `{to}` and `{principal}`, whom the work is for."""


class SacredScope(Record):
    """Files that no brief hands over, or only under conditions. The key is its id."""

    paths: tuple[PathGlob, ...]
    """Paths and globs of the files."""
    description: str = ""
    """Why they are sacred."""
    unlocked_by: Literal["allow_billing", "allow_dependency_change"] | None = None
    """Permission in a brief that unlocks them."""
    unlocked_with_gate: Id | None = None
    """Quality gate that a brief must name to unlock them. With neither, nothing unlocks them."""
    new_files_only: bool = False
    """New files may come; those that are there stay as they are."""


class QualityGate(Record):
    """An audit that a brief may name under `audit_gates`. The key is its id."""

    description: str = ""


class HandoffLimits(Record):
    """Bounds on hand-offs. They replace those of the organization."""

    max_spawn_depth: Annotated[int, Field(ge=1, le=5)] | None = None
    """How deep hand-offs may lie. Default: 3."""
    max_children: Annotated[int, Field(ge=1, le=20)] | None = None
    """How many agents one agent may have handed work to. Default: 5."""
    max_concurrent: Annotated[int, Field(ge=1)] | None = None
    """How many of them may run at the same time. Default: 8."""


class Governance(Document):
    """Rules for hand-offs in an organization."""

    kind: Literal["orgkernel:governance"] = Field(default="orgkernel:governance", alias="_schema")
    description: str = ""
    layers: dict[Id, GovernedLayer] = Field(default_factory=dict)
    """The layers, top layer first. They replace those of the organization."""
    dispatch_edges: tuple[GovernedEdge, ...] = ()
    """The only pairs of layers between which work is handed down."""
    limits: HandoffLimits = HandoffLimits.model_construct()
    sacred_scopes: dict[Id, SacredScope] = Field(default_factory=dict)
    """Files that briefs do not hand over."""
    destructive_operations: tuple[Id, ...] | None = None
    """Destructive operations that a brief may allow (docs/destructive-commands.md). Absent means any; empty means none."""
    quality_gates: dict[Id, QualityGate] = Field(default_factory=dict)
    """Audits. If there are any, a brief names no other ones."""
    lmc_modes: dict[Id, Literal["full", "lite", "direct"]] = Field(default_factory=dict)
    """By layer, how much of the work is checked: `full` by a manager and a checker, `lite` by the lead, `direct` by nobody.
    A record of a lead with less is not sound. A role may demand something else under `lmc_mode`."""
    phrases: tuple[Annotated[str, StringConstraints(pattern=r"[^ ]", max_length=200)], ...] = ()
    """Words that a session that waits for nobody never says, besides those that always count. A blocker that asks with
    them, and a pending action that has them, are not sound."""
    batch_size: Annotated[int, Field(ge=1, le=4)] | None = None
    """How many workers of one mission may write at the same time. Default: 3."""
