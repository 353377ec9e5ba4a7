"""The records of a compiled organization in a host. Standard library only.

INVARIANT: only `read_bundle` makes them. It checks shapes and references, so that readers may rely on both.
Mappings inside are plain JSON that all readers of the bundle share: do not change them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

SCHEMA: Final = "orgkernel:agent_zero_bundle"
VERSION: Final = "1.0"


class BundleError(ValueError):
    """A bundle that must not be used. `code` is stable, `where` is the route to the value, `text` says what is wrong."""

    def __init__(self, code: str, where: str, text: str) -> None:
        super().__init__(f"{where}: {text}" if where else text)
        self.code = code
        self.where = where
        self.text = text


@dataclass(frozen=True, slots=True)
class BundleDomain:
    """A task domain with the texts that classify a message."""

    aliases: tuple[str, ...]
    broader: tuple[str, ...]
    """Broader domains, nearest first."""
    passthrough: bool
    examples: tuple[str, ...]
    triggers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ToolGrant:
    """What one role may do with one tool when no circumstances are known."""

    level: str
    preferred: bool
    actions: Mapping[str, bool]
    """Every action of the tool, and whether it is allowed without approval."""
    ask: tuple[str, ...]
    """Actions that need approval. A host cannot ask for it, so they are not allowed."""
    conditional: str | None
    """The times, channels and paths that could change it, in words. None if nothing could."""


@dataclass(frozen=True, slots=True)
class BundleTool:
    """A tool under the host's name for it."""

    tool: str
    """The tool's id in the catalog."""
    name: str
    roles: tuple[str, ...]
    """Roles that may use it."""
    essential: bool
    """Whether at least one role always has it."""


@dataclass(frozen=True, slots=True)
class BundleRole:
    """A role and what the decisions allow it."""

    role_id: str
    role_name: str
    role_type: str
    description: str
    brief: str
    """The text about the role in its prompt."""
    reports_to: str | None
    chain: tuple[str, ...]
    """All superiors, nearest first. The last may be outside the organization."""
    subordinates: tuple[str, ...]
    can_delegate: bool
    delegates_to: tuple[str, ...]
    domains: tuple[str, ...]
    plans: tuple[str, ...]
    tools: Mapping[str, ToolGrant]
    """By tool id."""
    host_tools: frozenset[str]
    """Host names of the tools that it may call, essential ones included."""
    essential: frozenset[str]
    """Tools among them that are never taken away."""
    pace: Mapping[str, Mapping[str, Any]]
    """For each tier: action, description, escalate_to, trigger (a checked tree or None) and text."""
    max_turns: int
    """Model calls without progress that the doctrine allows. Triggers call it `max`."""
    doctrine: Mapping[str, Any]
    profile: Mapping[str, Any]
    """The role in the JSON form of the specification. Neighbor layers read it."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """One compiled organization."""

    digest: str
    """Digest of the documents that it was compiled from."""
    checksum: str
    """Checksum of the bundle itself."""
    compiled_by: str
    organization: Mapping[str, Any]
    domains: Mapping[str, BundleDomain]
    aliases: Mapping[str, str | None]
    """Each alias and the domain that it means. None if it is listed as `unmapped`."""
    dispatch: Mapping[str, str | None]
    """Each domain and the role that takes it."""
    roles: Mapping[str, BundleRole]
    """In the order of the hierarchy."""
    tools: Mapping[str, BundleTool]
    """By the host's name for the tool."""
    signals: Mapping[str, Any]

    @property
    def org_id(self) -> str:
        """The id of the organization."""
        return str(self.organization["org_id"])

    @property
    def document(self) -> Mapping[str, Any]:
        """The organization in the JSON form of the specification."""
        document: Mapping[str, Any] = self.organization["document"]
        return document
