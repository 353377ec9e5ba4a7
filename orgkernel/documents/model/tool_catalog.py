"""`tool_catalog`: tools, their actions and the level that each action requires."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from orgkernel.documents.model.levels import LEVEL_OF_SIDE_EFFECTS, SideEffects, ToolLevel
from orgkernel.documents.model.record import Document, Id, QualificationId, RankId, Record, ToolId

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

# A tool of these types can open files, unless its catalog declares otherwise.
FILE_TYPES: tuple[ToolType, ...] = ("infra_service", "mcp_server", "computer_use", "deterministic_function")


class Action(Record):
    """An action of a tool."""

    level: ToolLevel
    """Level that a caller needs."""
    description: str = ""


def _choose_action_form(value: Any) -> str:
    return "(level)" if isinstance(value, str) else "(action)"


ActionEntry = Annotated[
    Annotated[ToolLevel, Tag("(level)")] | Annotated[Action, Tag("(action)")],
    Discriminator(_choose_action_form),
]


class EssentialFor(Record):
    """The roles that a tool is essential for, if not for all roles."""

    with_tools: tuple[ToolId, ...] = ()
    """Essential for roles equipped with one of these tools."""
    delegating: bool = False
    """Essential for roles that can delegate."""


def _choose_essential_form(value: Any) -> str:
    return "(flag)" if isinstance(value, bool) else "(roles)"


Essential = Annotated[
    Annotated[bool, Tag("(flag)")] | Annotated[EssentialFor, Tag("(roles)")],
    Discriminator(_choose_essential_form),
]


def _choose_matrix_form(value: Any) -> str:
    return "(matrix-name)" if isinstance(value, str) else "(matrix-row)"


RankMatrix = Annotated[
    Annotated[Id, Tag("(matrix-name)")] | Annotated[dict[RankId, ToolLevel], Tag("(matrix-row)")],
    Discriminator(_choose_matrix_form),
]


class Tool(Record):
    """A tool that roles can be equipped with."""

    name: str = ""
    description: str = ""
    type: ToolType
    provider: str = ""
    """The provider of the tool. For an MCP server, its name, by which the gateway identifies its tools."""
    actions: dict[Id, ActionEntry] = Field(default_factory=dict)
    """Each action and its required level. Without actions, the tool has the action `use` at the level of its side effects."""
    side_effects: SideEffects = "none"
    intents: tuple[Id, ...] = ()
    """Intents that the tool serves by itself."""
    falls_back_to: tuple[ToolId, ...] = ()
    """Tools that can replace it, best first."""
    essential: Essential = False
    """An essential tool is never hidden from a role and never refused to it: for every role, or for the given ones."""
    input_schema: dict[str, Any] | None = None
    """JSON Schema of the tool's input."""
    action_argument: str = ""
    """The argument whose value names the action of a call. Without it, who calls the tool names the action."""
    path_arguments: tuple[str, ...] | None = None
    """Arguments that contain the paths of the tool: one path each, or a list. Empty for a tool that opens no files."""
    command_arguments: tuple[str, ...] = ()
    """Arguments that contain shell commands. A program in one and its words in another are one command."""
    command_lists: Literal["words", "commands"] | None = None
    """What a list in these arguments is: the `words` of one command, or several `commands`. Without it, a list is read both ways."""
    names: dict[Id, str] = Field(default_factory=dict)
    """The name of the tool in each runtime."""
    enabled: bool = True
    """No subject can use a tool that is not enabled."""
    departments: tuple[Id, ...] = ()
    """Departments whose roles and agents see the tool. Empty means all. The field applies only to roles and agents."""
    restricted_to: tuple[Id, ...] = ()
    """Ids of the only roles and agents that may use the tool, so no person, webhook or origin may. Empty means all."""
    rank_matrix: RankMatrix | None = None
    """Level of each rank of the crew: a mapping, or the name of a matrix or matrix row in a rank ladder."""
    qualifications: tuple[QualificationId, ...] = ()
    """Tests that every user of the tool must have passed. Only agents can pass one."""
    credentials: tuple[Id, ...] = ()
    """Names of credentials that the tool uses, never their values."""
    concurrency: Literal["concurrent", "exclusive"] = "concurrent"
    """An `exclusive` tool has one holder at a time."""
    lock_timeout_seconds: Annotated[float, Field(gt=0.0)] | None = None
    """Seconds after which an exclusive tool is released by force. Absent means never."""

    @property
    def opens_files(self) -> bool:
        """Whether it may open files of the workspace: stated, or else by its type."""
        return self.type in FILE_TYPES if self.path_arguments is None else bool(self.path_arguments)

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
    """Tools, with their actions and limits."""

    kind: Literal["orgkernel:tool_catalog"] = Field(default="orgkernel:tool_catalog", alias="_schema")
    description: str = ""
    tools: dict[ToolId, Tool] = Field(default_factory=dict)
