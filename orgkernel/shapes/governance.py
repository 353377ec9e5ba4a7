"""`governance`: the layers of an organization, who may dispatch from one to another, and what a dispatch requires. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Annotated, Literal
import msgspec
from orgkernel.shapes.access_policies import QueueMode
from orgkernel.shapes.record import Document, Id, PathGlob, Record, RoleId
DispatchNeed = Literal['brief', 'verify_command', 'right_to_delegate']
SessionKey = Annotated[str, msgspec.Meta(pattern='^([A-Za-z0-9_:.-]|\\{org\\}|\\{from\\}|\\{to\\}|\\{principal\\}){1,200}\\Z')]


class GovernedLayer(Record, frozen=True, kw_only=True):
    """A layer. The key is its id. The layers stand in the order of the document, the top layer first."""
    name: str = ''
    optional: bool = False
    roles: tuple[RoleId, ...] = ()
    read_only: bool = False


class GovernedEdge(Record, frozen=True, kw_only=True):
    """Permission for the roles of one layer to dispatch to those of another, and what each dispatch requires."""
    source: Id = msgspec.field(name='from')
    target: Id = msgspec.field(name='to')
    requires: tuple[DispatchNeed, ...] = ()
    gates: tuple[Id, ...] = ()
    queue_mode: QueueMode | None = None
    session_key: SessionKey | None = None


class SacredScope(Record, frozen=True, kw_only=True):
    """Files that no brief hands over, or only under conditions. The key is its id."""
    paths: tuple[PathGlob, ...]
    description: str = ''
    unlocked_by: Literal['allow_billing', 'allow_dependency_change'] | None = None
    unlocked_with_gate: Id | None = None
    new_files_only: bool = False


class QualityGate(Record, frozen=True, kw_only=True):
    """An audit that a brief may name under `audit_gates`. The key is its id."""
    description: str = ''


class DispatchLimits(Record, frozen=True, kw_only=True):
    """Bounds on dispatching. They replace those of the organization."""
    max_spawn_depth: Annotated[int, msgspec.Meta(ge=1, le=5)] | None = None
    max_children: Annotated[int, msgspec.Meta(ge=1, le=20)] | None = None
    max_concurrent: Annotated[int, msgspec.Meta(ge=1)] | None = None


class Governance(Document, frozen=True, kw_only=True):
    """Rules for dispatching in an organization."""
    kind: Literal['orgkernel:governance'] = msgspec.field(default='orgkernel:governance', name='_schema')
    description: str = ''
    layers: dict[Id, GovernedLayer] = msgspec.field(default_factory=dict)
    dispatch_edges: tuple[GovernedEdge, ...] = ()
    limits: DispatchLimits = DispatchLimits()
    sacred_scopes: dict[Id, SacredScope] = msgspec.field(default_factory=dict)
    destructive_operations: tuple[Id, ...] | None = None
    quality_gates: dict[Id, QualityGate] = msgspec.field(default_factory=dict)
    lmc_modes: dict[Id, Literal['full', 'lite', 'direct']] = msgspec.field(default_factory=dict)
    phrases: tuple[Annotated[str, msgspec.Meta(pattern='[^ ]', max_length=200)], ...] = ()
    batch_size: Annotated[int, msgspec.Meta(ge=1, le=4)] | None = None
