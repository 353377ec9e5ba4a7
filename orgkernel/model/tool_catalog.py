"""`tool_catalog`: tools, their actions and the level that each action requires."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from orgkernel.model.levels import LEVEL_OF_SIDE_EFFECTS, SideEffects, ToolLevel
from orgkernel.model.record import Document, Id, QualificationId, RankId, Record, ToolId

ToolType = Literal[
    "utility_agent",
    "infra_service",
    "mcp_server",
    "remote_api",
    "computer_use",
    "browser",
    "communication",
    "federation",
    "deterministic_function",
]


class Action(Record):
    """An action of a tool."""

    level: ToolLevel
    """Level that a caller needs."""
    description: str = ""


def _action_form(value: Any) -> str:
    return "(level)" if isinstance(value, str) else "(action)"


ActionEntry = Annotated[
    Annotated[ToolLevel, Tag("(level)")] | Annotated[Action, Tag("(action)")], Discriminator(_action_form)
]


class EssentialFor(Record):
    """The roles that a tool is essential for, if not for all roles."""

    with_tools: tuple[ToolId, ...] = ()
    """Essential for roles equipped with one of these tools."""
    delegating: bool = False
    """Essential for roles that can delegate."""


def _essential_form(value: Any) -> str:
    return "(flag)" if isinstance(value, bool) else "(roles)"


Essential = Annotated[
    Annotated[bool, Tag("(flag)")] | Annotated[EssentialFor, Tag("(roles)")], Discriminator(_essential_form)
]


def _matrix_form(value: Any) -> str:
    return "(matrix-name)" if isinstance(value, str) else "(matrix-row)"


RankMatrix = Annotated[
    Annotated[Id, Tag("(matrix-name)")] | Annotated[dict[RankId, ToolLevel], Tag("(matrix-row)")],
    Discriminator(_matrix_form),
]


class Tool(Record):
    """A tool that roles can be equipped with."""

    name: str = ""
    description: str = ""
    type: ToolType
    provider: str = ""
    """The provider of the tool."""
    actions: dict[Id, ActionEntry] = Field(default_factory=dict)
    """Each action and its required level. Without actions, the tool has the action `use` at the level of its side effects."""
    side_effects: SideEffects = "none"
    falls_back_to: tuple[ToolId, ...] = ()
    """Tools that can replace it, best first."""
    essential: Essential = False
    """An essential tool is never hidden from a role and never refused to it: for every role, or for the given ones."""
    input_schema: dict[str, Any] | None = None
    """JSON Schema of the tool's input."""
    names: dict[Id, str] = Field(default_factory=dict)
    """The name of the tool in each runtime."""
    tags: tuple[str, ...] = ()
    enabled: bool = True
    """No subject can use a tool that is not enabled."""
    departments: tuple[Id, ...] = ()
    """Departments that see the tool. Empty means all."""
    restricted_to: tuple[Id, ...] = ()
    """Ids of roles or agents that may use the tool. Empty means all."""
    rank_matrix: RankMatrix | None = None
    """Level of each rank: a mapping, or the name of a matrix or matrix row in a rank ladder."""
    qualifications: tuple[QualificationId, ...] = ()
    """Qualifications that a user of the tool needs."""
    credentials: tuple[Id, ...] = ()
    """Names of credentials that the tool uses, never their values."""
    concurrency: Literal["concurrent", "exclusive"] = "concurrent"
    """An `exclusive` tool has one holder at a time."""
    lock_timeout_seconds: Annotated[float, Field(gt=0.0)] | None = None
    """Seconds after which an exclusive tool is released by force. Absent means never."""

    @property
    def required_levels(self) -> dict[str, ToolLevel]:
        """Each action and its required level, including the default action."""
        if not self.actions:
            return {"use": LEVEL_OF_SIDE_EFFECTS[self.side_effects]}
        return {
            action: entry.level if isinstance(entry, Action) else entry
            for action, entry in self.actions.items()
        }


class ToolCatalog(Document):
    """Tools."""

    kind: Literal["orgkernel:tool_catalog"] = Field(default="orgkernel:tool_catalog", alias="_schema")
    description: str = ""
    tools: dict[ToolId, Tool] = Field(default_factory=dict)
