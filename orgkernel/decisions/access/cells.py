"""What is asked for: each resource with everything its declaration says about who may use it, looked up once."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Any

from orgkernel.decisions.access.codes import (
    CREDENTIAL_UNKNOWN,
    DATA_UNKNOWN,
    RESOURCE_UNKNOWN,
    ROLE_UNKNOWN,
    TOOL_UNKNOWN,
)
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import OrgRecords
from orgkernel.graph.schema import EdgeKind
from orgkernel.records.access_policies import DATA_TIERS, STAR
from orgkernel.records.levels import LEVELS
from orgkernel.records.tool_catalog import EssentialFor, Tool

LEVEL: dict[str, int] = {name: number for number, name in enumerate(LEVELS)}
FULL = LEVEL["full"]
# Whatever an action requires, nobody may do it to whom nothing is granted.
LEAST = 1
DISPATCH, ESCALATE, LOCK = "dispatch", "escalate", "lock"
# A tool can be asked for as a whole: every action it has.
WHOLE = ("use", "run")


class Cell:
    """A resource: what its actions require, and what its declaration caps."""

    __slots__ = ("__dict__", "actions", "delegating", "departments", "enabled", "exclusive", "id", "is_capped", "kind", "levels", "obliges",
                 "qualifications", "rank_levels", "required", "resource", "restricted_to", "runs", "tier", "unknown")  # fmt: skip

    def __init__(self, kind: str, name: str, required: dict[str, int], unknown: int = 0) -> None:
        self.resource = f"{kind}:{name}"
        self.kind = kind
        self.id = name
        self.required = required
        """Action to level, the words for the whole tool included."""
        self.actions = tuple(required)
        """The declared actions."""
        self.unknown = unknown
        """What fails because nothing declares it."""
        self.tier = DATA_TIERS.index(name) if kind == "data" and name in DATA_TIERS else 0
        """Step of a data tier."""
        self.levels: tuple[str, ...] = (*DATA_TIERS, DATA_TIERS[-1]) if kind == "data" else LEVELS
        """The names of its levels, lowest first."""
        self.runs = kind == "role"
        """Whether the run a request is part of always has a say: dispatches, and exclusive tools."""
        self.enabled = True
        self.departments: frozenset[str] | None = None
        self.restricted_to: frozenset[str] | None = None
        self.rank_levels: tuple[int, ...] | None = None
        """The level of each rank, and last that of a rank nothing declares: none."""
        self.qualifications: tuple[str, ...] = ()
        self.exclusive = False
        self.delegating = False
        """Whether using it hands work to others."""
        self.obliges = False
        """Whether being allowed to use it may oblige the caller to something."""
        self.is_capped = False
        """Whether its declaration caps anybody."""

    @cached_property
    def action_groups(self) -> tuple[tuple[str, ...], ...]:
        """The declared actions, those together that require the same and are subject to the same layers."""
        groups: dict[tuple[int, str], list[str]] = {}
        for action in self.actions:
            apart = action if action in (DISPATCH, ESCALATE, LOCK) else ""
            groups.setdefault((self.required[action], apart), []).append(action)
        return tuple(map(tuple, groups.values()))

    @cached_property
    def able(self) -> tuple[tuple[str, ...], ...]:
        """For each level, the declared actions it is enough for."""
        return tuple(
            tuple(action for action in self.actions if self.required[action] <= level)
            for level in range(FULL + 1)
        )

    @cached_property
    def is_plain(self) -> bool:
        """Whether it is a tool about which only documents, policies and the state decide, and no run."""
        return self.tool is not None and self.enabled and not self.exclusive and not self.delegating

    @cached_property
    def is_essential(self) -> bool:
        """Whether it is a tool that is never refused to some role."""
        return self.tool is not None and bool(self.tool.essential)

    @cached_property
    def words(self) -> dict[str, str]:
        """Action to the level it requires, in words."""
        return {action: self.levels[level] for action, level in self.required.items()}

    @cached_property
    def tool(self) -> Tool | None:
        """Its declaration, for a tool."""
        return None

    @cached_property
    def validator(self) -> Any:
        """What checks its input; None where no schema is declared."""
        if self.tool is None or self.tool.input_schema is None:
            return None
        from jsonschema.validators import validator_for

        validator = validator_for(self.tool.input_schema)
        validator.check_schema(self.tool.input_schema)
        return validator(self.tool.input_schema)


def build_cell(view: OrgView, resource: str) -> tuple[Cell, str | None]:
    """A resource, and the path within it that is asked for, if one is.

    What nothing declares is a resource too: one that fails.
    """
    kind, _, name = resource.partition(":")
    if kind == "tool":
        tool_id, colon, path = name.partition(":")
        return _tool(view, tool_id), path if colon else None
    if kind == "credential":
        known = name in declared_credentials(view)
        return Cell(kind, name, {"use": FULL}, 0 if known else CREDENTIAL_UNKNOWN), None
    if kind == "data":
        if name in DATA_TIERS:
            return Cell(kind, name, {"read": max(DATA_TIERS.index(name), LEAST)}), None
        known = any(name in post.profile.data for post in view.records.posts.values())
        return Cell(kind, name, {"read": 1}, 0 if known else DATA_UNKNOWN), None
    if kind == "role":
        unknown = 0 if view.is_role(name) else ROLE_UNKNOWN
        return Cell(kind, name, {DISPATCH: FULL, ESCALATE: FULL}, unknown), None
    return Cell(kind, name, {}, RESOURCE_UNKNOWN), None


def _tool(view: OrgView, tool_id: str) -> Cell:
    definition = view.records.tools.get(tool_id)
    if definition is None:
        return Cell("tool", tool_id, {}, TOOL_UNKNOWN)
    tool = definition.record
    levels = {action: max(LEVEL[level], LEAST) for action, level in tool.required_levels.items()}
    cell = Cell("tool", tool_id, levels)
    cell.resource = tool_resources(view)[tool_id]
    cell.tool = tool
    cell.required = {**dict.fromkeys(WHOLE, max(levels.values())), **levels}
    cell.enabled = tool.enabled
    cell.exclusive = tool.concurrency == "exclusive"
    if cell.exclusive:
        # Taking the lock needs the level of at least one thing that can then be done.
        cell.required.setdefault(LOCK, min(levels.values()))
        cell.actions = tuple(dict.fromkeys((*levels, LOCK)))
    cell.departments = frozenset(tool.departments) or None
    cell.restricted_to = frozenset(tool.restricted_to) or None
    row = view.records.rank_levels_of(tool_id)
    if row is not None:
        cell.rank_levels = (*(LEVEL[level] for level in row.values()), 0)
    needed = view.edges_from(EdgeKind.NEEDS_QUALIFICATION, tool_id)
    cell.qualifications = tuple(dict.fromkeys(edge.target for edge in needed))
    cell.obliges = cell.exclusive or bool(tool.credentials)
    cell.delegating = isinstance(tool.essential, EssentialFor) and tool.essential.delegating
    cell.runs = cell.exclusive or cell.delegating
    cell.is_capped = any((cell.departments, cell.restricted_to, cell.rank_levels, cell.qualifications))
    return cell


def tool_resources(view: OrgView) -> Mapping[str, str]:
    """Every declared tool as a resource, each one text: what a hundred thousand roles hold is kept once, and found by
    identity without being read.
    """
    return view.remember("tool resources", lambda: {tool: f"tool:{tool}" for tool in view.records.tools})


def declared_credentials(view: OrgView) -> Collection[str]:
    """Credentials are declared by being named: by a role, a tool or a policy."""
    return view.remember("credentials", lambda: _credentials(view.records))


def is_named(records: OrgRecords, credential: str, removed: frozenset[str]) -> bool:
    """Whether a credential is still named when these policies are removed."""
    return credential in _credentials(records, removed)


def _credentials(records: OrgRecords, removed: frozenset[str] = frozenset()) -> dict[str, None]:
    named = {each for post in records.posts.values() for each in post.profile.credentials}
    named.update(each for tool in records.tools.values() for each in tool.record.credentials)
    for policy in records.policies.values():
        if policy.id in removed:
            continue
        named.update(each for each in policy.record.permissions.credentials or () if each != STAR)
    return dict.fromkeys(sorted(named))
