"""`tool_catalog`: tools, their actions and the level that each action requires. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Annotated, Any, Literal
import msgspec
from orgkernel.shapes.levels import SideEffects, ToolLevel
from orgkernel.shapes.record import Document, Id, QualificationId, RankId, Record, ToolId
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
    names: dict[Id, str] = msgspec.field(default_factory=dict)
    enabled: bool = True
    departments: tuple[Id, ...] = ()
    restricted_to: tuple[Id, ...] = ()
    rank_matrix: RankMatrix | None = None
    qualifications: tuple[QualificationId, ...] = ()
    credentials: tuple[Id, ...] = ()
    concurrency: Literal['concurrent', 'exclusive'] = 'concurrent'
    lock_timeout_seconds: Annotated[float, msgspec.Meta(gt=0.0)] | None = None


class ToolCatalog(Document, frozen=True, kw_only=True):
    """Tools."""
    kind: Literal['orgkernel:tool_catalog'] = msgspec.field(default='orgkernel:tool_catalog', name='_schema')
    description: str = ''
    tools: dict[ToolId, Tool] = msgspec.field(default_factory=dict)
