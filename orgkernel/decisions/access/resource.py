"""Resources of requests, each with everything that its declaration states about access, looked up once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from typing import Any, Literal, get_args

from orgkernel.decisions.access.arguments import find_optional_arguments
from orgkernel.decisions.access.input_limits import list_input_limits
from orgkernel.documents.records import DATA_TIERS, LEVELS, STAR, EssentialFor, Tool
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import OrgRecords
from orgkernel.graph.schema import EdgeKind

LEVEL: dict[str, int] = {name: number for number, name in enumerate(LEVELS)}
FULL = LEVEL["full"]
MIN_LEVEL = 1
"""The lowest level that an action can require: a subject that is granted nothing has no access."""
HANDOFF, ESCALATE, LOCK = "handoff", "escalate", "lock"
_MAX_ACTION_LENGTH = 100
WHOLE = ("use", "run")
"""The action words that request a tool as a whole, with all its actions."""


SubjectGroup = Literal["role", "agent", "outsider", "undeclared"]
"""The kinds of subjects that layers distinguish."""
GROUPS: tuple[SubjectGroup, ...] = get_args(SubjectGroup)


class Resource:
    """A resource: the levels that its actions require, and the limits in its declaration."""

    __slots__ = (
        "__dict__",
        "action_argument",
        "actions",
        "command_arguments",
        "command_lists",
        "delegating",
        "departments",
        "depends_on_circumstances",
        "enabled",
        "exclusive",
        "has_file_scope",
        "id",
        "is_divided",
        "is_essential",
        "kind",
        "levels",
        "limits",
        "obliges",
        "opens_files",
        "optional_arguments",
        "path_arguments",
        "qualifications",
        "rank_levels",
        "required",
        "resource",
        "restricted_to",
        "steps",
        "tier",
        "unknown",
    )  # fmt: skip

    def __init__(self, kind: str, name: str, required: dict[str, int], unknown: str = "") -> None:
        self.resource = f"{kind}:{name}"
        self.kind = kind
        self.id = name
        self.required = required
        """The level that each action requires, including the words for the whole tool."""
        self.actions = tuple(required)
        """The declared actions."""
        self.unknown = unknown
        """The reason code of an undeclared resource; empty if it is declared."""
        self.tier = DATA_TIERS.index(name) if kind == "data" and name in DATA_TIERS else 0
        """The position of a data tier."""
        self.levels: tuple[str, ...] = (*DATA_TIERS, DATA_TIERS[-1]) if kind == "data" else LEVELS
        """The names of its levels, lowest first."""
        self.steps: dict[str, dict[str, Any]] = {group: {} for group in GROUPS}
        """The compiled layers by group of subjects and action, filled by `LayerOrder.compile_steps`."""
        self.enabled = True
        self.departments: frozenset[str] | None = None
        self.restricted_to: frozenset[str] | None = None
        self.rank_levels: tuple[int, ...] | None = None
        """The level of each rank, and as the last entry that of an undeclared rank: none."""
        self.qualifications: tuple[str, ...] = ()
        self.exclusive = False
        self.delegating = False
        """Whether using it hands work to others."""
        self.limits: tuple[Any, ...] = ()
        """The limits that count its calls."""
        self.depends_on_circumstances = False
        """Whether an answer about it can depend on circumstances that the caller has to state."""
        self.is_essential = False
        """Whether it is an essential tool of some role."""
        self.opens_files = False
        """Whether it can open files of the workspace."""
        self.optional_arguments: frozenset[str] = frozenset()
        """The arguments that have no value if a call leaves them out."""
        self.path_arguments: tuple[str, ...] = ()
        """The arguments that contain paths."""
        self.action_argument = ""
        """The argument whose value names the action of a call."""
        self.command_arguments: tuple[str, ...] = ()
        """The arguments that contain shell commands."""
        self.command_lists: str | None = None
        """Whether a list in them is the words of one command or several commands; None if it can be both."""
        self.has_file_scope = False
        """Whether it opens files and some role has a file scope."""
        self.is_divided = False
        """Whether a policy is about a part of it."""
        self.obliges = False
        """Whether an allowance to use it can come with obligations."""

    @cached_property
    def action_groups(self) -> tuple[tuple[str, ...], ...]:
        """The declared actions, grouped by required level and applicable layers."""
        groups: dict[tuple[int, str], list[str]] = {}
        for action in self.actions:
            apart = action if action in (HANDOFF, ESCALATE, LOCK) else ""
            groups.setdefault((self.required[action], apart), []).append(action)
        return tuple(map(tuple, groups.values()))

    def read_action(self, action: str, tool_input: Mapping[str, Any] | None) -> str:
        """The action of a call: the one that its input names, if the tool declares the argument for it.

        If the caller names another action too, the one that requires more counts. An input that names no declared action
        is a call of an unknown action, and one without the argument can be any action.
        """
        if not self.action_argument or tool_input is None or action == LOCK or action not in self.required:
            return action
        # The tool would choose its default action, which is unknown here, so the strictest level is required.
        if self.action_argument not in tool_input:
            return WHOLE[0]
        named = tool_input[self.action_argument]
        declared = () if self.tool is None else self.tool.required_levels
        # An undeclared name becomes an action that the resource does not have, which requires the full level.
        if not isinstance(named, str) or named not in declared:
            return f"{self.action_argument}={named}"[:_MAX_ACTION_LENGTH]
        if action in WHOLE and action not in declared:
            return named
        # A caller cannot lower what its own input requires by also naming an action of a lower level.
        return max(named, action, key=self.required.__getitem__)

    @cached_property
    def able(self) -> tuple[tuple[str, ...], ...]:
        """For each level, the declared actions that it permits."""
        return tuple(
            tuple(action for action in self.actions if self.required[action] <= level)
            for level in range(FULL + 1)
        )

    @cached_property
    def input_limits(self) -> tuple[str, ...]:
        """The ways in which the input of a call can break the limits of the declared schema, in words."""
        return () if self.tool is None else list_input_limits(self.tool.input_schema)

    @cached_property
    def least_action(self) -> str:
        """The action that requires the lowest level."""
        return min(self.actions, key=self.required.__getitem__, default="")

    @cached_property
    def words(self) -> dict[str, str]:
        """The required level of each action, as a word."""
        return {action: self.levels[level] for action, level in self.required.items()}

    @cached_property
    def tool(self) -> Tool | None:
        """The declaration of a tool."""
        return None

    @cached_property
    def validator(self) -> Any:
        """The validator of its input; None if no schema is declared."""
        if self.tool is None or self.tool.input_schema is None:
            return None
        # Imported here, because the library takes longer to load than most organizations take to answer.
        from jsonschema.validators import validator_for
        from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

        validator = validator_for(self.tool.input_schema)
        validator.check_schema(self.tool.input_schema)
        # References out of a schema are never fetched; they fail.
        return validator(self.tool.input_schema, registry=REGISTRY)


def build_resource(
    view: OrgView, resource_name: str, credentials: Callable[[], Collection[str]]
) -> tuple[Resource, str | None]:
    """The resource with this name, and the requested path within it, if any. `credentials` are the declared ones.

    An undeclared name also gives a resource, which fails.
    """
    kind, _, name = resource_name.partition(":")
    if kind == "tool":
        tool_id, colon, path = name.partition(":")
        return _build_tool(view, tool_id), path if colon else None
    if kind == "credential":
        return Resource(
            kind, name, {"use": FULL}, "" if name in credentials() else "CREDENTIAL_UNKNOWN"
        ), None
    if kind == "data":
        if name in DATA_TIERS:
            return Resource(kind, name, {"read": max(DATA_TIERS.index(name), MIN_LEVEL)}), None
        known = any(name in post.profile.data for post in view.records.posts.values())
        return Resource(kind, name, {"read": 1}, "" if known else "DATA_UNKNOWN"), None
    if kind == "role":
        unknown = "" if view.is_role(name) else "ROLE_UNKNOWN"
        return Resource(kind, name, {HANDOFF: FULL, ESCALATE: FULL}, unknown), None
    return Resource(kind, name, {}, "RESOURCE_UNKNOWN"), None


def _build_tool(view: OrgView, tool_id: str) -> Resource:
    definition = view.records.tools.get(tool_id)
    if definition is None:
        return Resource("tool", tool_id, {}, "TOOL_UNKNOWN")
    tool = definition.record
    # A declared level `none` would make an action free for subjects that have nothing.
    levels = {action: max(LEVEL[level], MIN_LEVEL) for action, level in tool.required_levels.items()}
    resource = Resource("tool", tool_id, levels)
    resource.tool = tool
    # Using the tool as a whole can be any of its actions, so it requires the level of the strictest one.
    resource.required = {**dict.fromkeys(WHOLE, max(levels.values())), **levels}
    resource.enabled = tool.enabled
    resource.exclusive = tool.concurrency == "exclusive"
    if resource.exclusive:
        # Acquiring the lock requires the level of at least one action that it makes possible.
        resource.required.setdefault(LOCK, min(levels.values()))
        resource.actions = tuple(dict.fromkeys((*levels, LOCK)))
    resource.departments = frozenset(tool.departments) or None
    resource.restricted_to = frozenset(tool.restricted_to) or None
    row = view.records.get_rank_levels(tool_id)
    if row is not None:
        # Position -1, an agent without a rank, thus reads the last entry: no level at all.
        resource.rank_levels = (*(LEVEL[level] for level in row.values()), 0)
    needed = view.list_edges_from(EdgeKind.NEEDS_QUALIFICATION, tool_id)
    resource.qualifications = tuple(dict.fromkeys(edge.target for edge in needed))
    resource.is_essential = bool(tool.essential)
    resource.opens_files = tool.opens_files
    resource.path_arguments = tool.path_arguments or ()
    resource.action_argument = tool.action_argument
    resource.command_arguments = tool.command_arguments
    resource.optional_arguments = find_optional_arguments(tool)
    resource.command_lists = tool.command_lists
    resource.obliges = resource.exclusive or bool(tool.credentials)
    resource.delegating = isinstance(tool.essential, EssentialFor) and tool.essential.delegating
    return resource


def find_named_credentials(records: OrgRecords, removed: frozenset[str] = frozenset()) -> dict[str, None]:
    """The credentials that are declared by being named in a role, a tool or a policy. Some policies can be left out.

    A policy that denies does not declare a credential: denying it to one subject must not create it for others.
    """
    named = {each for post in records.posts.values() for each in post.profile.credentials}
    named.update(each for tool in records.tools.values() for each in tool.record.credentials)
    for policy in records.policies.values():
        if policy.id not in removed and policy.record.effect != "deny":
            named.update(each for each in policy.record.permissions.credentials or () if each != STAR)
    return dict.fromkeys(sorted(named))
