"""A host: which of its three generations it is, and how it enforces an active organization.

The files of a host show its generation, which decides where it looks for agent profiles. The settings are
`x_orgkernel` in `active.json`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from orgkernel.diagnostics.wording import quote
from orgkernel.errors import UsageError
from orgkernel.exchange.confined_folder import ConfinedFolder


@dataclass(frozen=True, slots=True)
class Generation:
    """One generation of the host."""

    name: str
    words: str
    profiles: str
    """Folder of agent profiles. Each profile has its own folder."""
    role_prompt: str
    """Prompt file of a profile that describes the role."""


FIRST = Generation("G1", "up to 0.9.7", "agents", "agent.system.main.role.md")
SECOND = Generation("G2", "0.9.8", "usr/agents", "agent.system.main.role.md")
THIRD = Generation("G3", "0.9.9, 1.0 and later", "usr/agents", "agent.system.main.specifics.md")


def open_host(root: str) -> ConfinedFolder:
    """Open the folder of a host. Raises `UsageError` if it is not a folder or cannot be opened."""
    try:
        return ConfinedFolder(root)
    except OSError as error:
        raise UsageError(
            f"{quote(root)} cannot be opened as a folder: {error.strerror}",
            "pass the folder that Agent-Zero runs from (`/a0` in its image)",
        ) from None


def find_generation(tree: ConfinedFolder) -> Generation:
    """The generation of the host in a folder. Raises `UsageError` if the folder is not a host."""
    if tree.is_file("helpers/extension.py"):
        return THIRD
    text = tree.read("python/helpers/extension.py")
    if text is None:
        raise UsageError(
            f"{quote(tree.root)} is not an Agent-Zero folder: helpers/extension.py and python/helpers/extension.py are missing",
            "pass the folder that Agent-Zero runs from (`/a0` in its image)",
        )
    return SECOND if b"get_paths" in text else FIRST


CHOICES: Mapping[str, tuple[str, ...]] = {
    "enforcement": ("observe", "trim", "enforce"),
    "on_error": ("pass", "refuse"),
    "unlisted_tools": ("warn", "refuse"),
    "examples": ("arguments", "all", "first"),
}


@dataclass(frozen=True, slots=True)
class ActivationSettings:
    """The user's settings. The defaults are the host's defaults."""

    enforcement: str = "enforce"
    on_error: str = "pass"
    unlisted_tools: str = "warn"
    examples: str = "arguments"

    def changed(self, chosen: Mapping[str, Any]) -> ActivationSettings:
        """These settings with the valid choices applied. Invalid ones change nothing."""
        return replace(self, **{name: chosen[name] for name in CHOICES if chosen.get(name) in CHOICES[name]})

    @staticmethod
    def slips(given: object) -> tuple[str, ...]:
        """The invalid settings, for which a default is used. `bundle` and `kept_roles` are not settings."""
        if not isinstance(given, Mapping):
            return () if given is None else ("`x_orgkernel` is not a mapping",)
        return tuple(
            f"`{name}` is `{str(value)[:40]}`, not one of {', '.join(CHOICES[name])}"
            if name in CHOICES
            else f"unknown setting `{str(name)[:40]}`"
            for name, value in given.items()
            if name not in ("bundle", "kept_roles") and (name not in CHOICES or value not in CHOICES[name])
        )

    def as_json(self) -> dict[str, str]:
        """The settings by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def read_json(tree: ConfinedFolder, path: str) -> Any:
    """The content of a JSON file in a host. None if it is missing or cannot be read."""
    try:
        return json.loads((tree.read(path) or b"").decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
