"""`tool_catalog`: tools, their actions and the level each action requires (design §3, crew-capability facts §3)."""

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
    """Something a tool does."""

    level: ToolLevel
    """Level a caller needs."""
    description: str = ""


def _action_form(value: Any) -> str:
    return "(level)" if isinstance(value, str) else "(action)"


ActionEntry = Annotated[
    Annotated[ToolLevel, Tag("(level)")] | Annotated[Action, Tag("(action)")], Discriminator(_action_form)
]


class EssentialFor(Record):
    """The roles a tool is essential for, when it is not all of them."""

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
    """A tool roles can be equipped with."""

    name: str = ""
    description: str = ""
    type: ToolType
    provider: str = ""
    """Who serves the tool."""
    actions: dict[Id, ActionEntry] = Field(default_factory=dict)
    """Action to the level it requires; none declared means one action `use` at the level of the side effects."""
    side_effects: SideEffects = "none"
    falls_back_to: tuple[ToolId, ...] = ()
    """Tools that can stand in, best first."""
    essential: Essential = False
    """Never trimmed from a role and never refused to it: for every role, or for those stated."""
    input_schema: dict[str, Any] | None = None
    """JSON Schema of the tool's input."""
    names: dict[Id, str] = Field(default_factory=dict)
    """What the tool is called in each runtime."""
    tags: tuple[str, ...] = ()
    enabled: bool = True
    """Nobody can use a tool that is not enabled."""
    departments: tuple[Id, ...] = ()
    """Departments that see the tool; none means everyone does."""
    restricted_to: tuple[Id, ...] = ()
    """Roles or agents, by id, that may use the tool; none means everyone may."""
    rank_matrix: RankMatrix | None = None
    """Level each rank has: a mapping, or the name of a matrix, or of a row of one, in a rank ladder."""
    qualifications: tuple[QualificationId, ...] = ()
    """Qualifications a user of the tool needs."""
    credentials: tuple[Id, ...] = ()
    """Names of credentials the tool uses; never their values."""
    concurrency: Literal["concurrent", "exclusive"] = "concurrent"
    """An `exclusive` tool has one holder at a time."""
    lock_timeout_seconds: Annotated[float, Field(gt=0.0)] | None = None
    """Seconds after which an exclusive tool is taken back from its holder; absent means never."""

    @property
    def required_levels(self) -> dict[str, ToolLevel]:
        """Action to required level, the default action included."""
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
