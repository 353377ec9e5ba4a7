"""A host: which of its three generations it is, and how it enforces an active organization.

The files of a host show its generation, which decides where it looks for agent profiles. The settings are
`x_orgkernel` in `active.json`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from orgkernel.diagnostics.wording import quote
from orgkernel.errors import UsageError


@dataclass(frozen=True, slots=True)
class Generation:
    """One generation of the host."""

    name: str
    words: str
    profiles: str
    """Folder of agent profiles. Each profile has a folder of its own."""
    role_prompt: str
    """The prompt file of a profile that describes the role."""


FIRST = Generation("G1", "up to 0.9.7", "agents", "agent.system.main.role.md")
SECOND = Generation("G2", "0.9.8", "usr/agents", "agent.system.main.role.md")
THIRD = Generation("G3", "0.9.9, 1.0 and later", "usr/agents", "agent.system.main.specifics.md")


def find_generation(root: str) -> Generation:
    """The generation of the host in a folder. Raises `UsageError` if the folder is not a host."""
    if os.path.isfile(os.path.join(root, "helpers", "extension.py")):
        return THIRD
    try:
        with open(
            os.path.join(root, "python", "helpers", "extension.py"), encoding="utf-8", errors="replace"
        ) as file:
            text = file.read()
    except OSError:
        raise UsageError(
            f"{quote(root)} is not an Agent-Zero folder: helpers/extension.py and python/helpers/extension.py are missing",
            "pass the folder that Agent-Zero runs from (`/a0` in its image)",
        ) from None
    return SECOND if "get_paths" in text else FIRST


CHOICES: Mapping[str, tuple[str, ...]] = {
    "enforcement": ("observe", "trim", "enforce"),
    "on_error": ("pass", "refuse"),
    "unlisted_tools": ("warn", "refuse"),
}


@dataclass(frozen=True, slots=True)
class ActivationSettings:
    """The user's settings. The defaults are those of the host."""

    enforcement: str = "enforce"
    on_error: str = "pass"
    unlisted_tools: str = "warn"

    def changed(self, chosen: Mapping[str, Any]) -> ActivationSettings:
        """These settings with the valid choices applied. Invalid ones change nothing."""
        return replace(self, **{name: chosen[name] for name in CHOICES if chosen.get(name) in CHOICES[name]})

    @staticmethod
    def slips(given: object) -> tuple[str, ...]:
        """The invalid settings, for which a default is used. `bundle` is not a setting."""
        if not isinstance(given, Mapping):
            return () if given is None else ("`x_orgkernel` is not a mapping",)
        return tuple(
            f"`{name}` is `{str(value)[:40]}`, not one of {', '.join(CHOICES[name])}"
            if name in CHOICES
            else f"unknown setting `{str(name)[:40]}`"
            for name, value in given.items()
            if name != "bundle" and (name not in CHOICES or value not in CHOICES[name])
        )

    def as_json(self) -> dict[str, str]:
        """The settings by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def read_json(root: str, path: str) -> Any:
    """The content of a JSON file in a host. None if it is missing or cannot be read."""
    try:
        with open(os.path.join(root, *path.split("/")), encoding="utf-8-sig") as file:
            return json.load(file)
    except (OSError, ValueError, RecursionError):
        return None
