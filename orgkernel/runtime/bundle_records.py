"""The records of a compiled organization, as a host holds them. Standard library only.

INVARIANT: they are made by `read_bundle` alone, which checks shapes and references; who holds one may rely on both.
Mappings inside are plain JSON, shared by everybody who reads the bundle: do not change them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

SCHEMA: Final = "orgkernel:agent_zero_bundle"
VERSION: Final = "1.0"


class BundleError(ValueError):
    """A bundle that must not be used: `code` is stable, `where` is the route to the value, `text` says what is wrong."""

    def __init__(self, code: str, where: str, text: str) -> None:
        super().__init__(f"{where}: {text}" if where else text)
        self.code = code
        self.where = where
        self.text = text


@dataclass(frozen=True, slots=True)
class BundleDomain:
    """A task domain, with what tells whether a message belongs to it."""

    aliases: tuple[str, ...]
    broader: tuple[str, ...]
    """Ever broader domains, nearest first."""
    passthrough: bool
    examples: tuple[str, ...]
    triggers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ToolGrant:
    """What one role has of one tool, in no particular circumstances."""

    level: str
    preferred: bool
    actions: Mapping[str, bool]
    """Every action of the tool to whether it is allowed without asking."""
    ask: tuple[str, ...]
    """Those of them that somebody has to approve; a host has nobody to ask, so they are not allowed."""
    conditional: str | None
    """The times, channels and paths that could change it, in words; None where nothing could."""


@dataclass(frozen=True, slots=True)
class BundleTool:
    """A tool by the name the host calls it."""

    tool: str
    """Its id in the catalog."""
    name: str
    roles: tuple[str, ...]
    """Roles that may use it."""
    essential: bool
    """Whether some role always has it."""


@dataclass(frozen=True, slots=True)
class BundleRole:
    """A role with what the decisions allow it, worked out."""

    role_id: str
    role_name: str
    role_type: str
    description: str
    brief: str
    """What the role is told about itself, for the prompt."""
    reports_to: str | None
    chain: tuple[str, ...]
    """Everybody above, nearest first; the last may stand outside the organization."""
    subordinates: tuple[str, ...]
    can_delegate: bool
    delegates_to: tuple[str, ...]
    domains: tuple[str, ...]
    plans: tuple[str, ...]
    tools: Mapping[str, ToolGrant]
    """By tool id."""
    host_tools: frozenset[str]
    """Names of the host's tools it may call, essential ones included."""
    essential: frozenset[str]
    """Those of them that are never taken away."""
    pace: Mapping[str, Mapping[str, Any]]
    """Tier to action, description, escalate_to, trigger (a checked tree or None) and text."""
    max_turns: int
    """Model calls without progress that the doctrine allows: `max` of the trigger language."""
    doctrine: Mapping[str, Any]
    profile: Mapping[str, Any]
    """The role in the JSON form of the specification, which neighbor layers read."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """One compiled organization."""

    digest: str
    """Of the documents it was compiled from."""
    checksum: str
    """Of the bundle itself."""
    compiled_by: str
    organization: Mapping[str, Any]
    domains: Mapping[str, BundleDomain]
    aliases: Mapping[str, str | None]
    """Word of another vocabulary to the domain it means; None where it is listed as meaning none."""
    dispatch: Mapping[str, str | None]
    """Domain to the role that takes it."""
    roles: Mapping[str, BundleRole]
    """In the order of the hierarchy."""
    tools: Mapping[str, BundleTool]
    """By the host's name."""
    signals: Mapping[str, Any]

    @property
    def org_id(self) -> str:
        """Id of the organization."""
        return str(self.organization["org_id"])

    @property
    def document(self) -> Mapping[str, Any]:
        """The organization in the JSON form of the specification."""
        document: Mapping[str, Any] = self.organization["document"]
        return document
