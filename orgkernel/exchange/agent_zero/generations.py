"""The three generations of the host, recognized by their files, and where each looks for agent profiles."""

from __future__ import annotations

import os
from dataclasses import dataclass

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
