"""The three generations of the host, told apart by their files, and where each looks for agent profiles."""

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
    """Folder of agent profiles, one folder each."""
    role_prompt: str
    """File of a profile's prompts that says what the role is."""


FIRST = Generation("G1", "up to 0.9.7", "agents", "agent.system.main.role.md")
SECOND = Generation("G2", "0.9.8", "usr/agents", "agent.system.main.role.md")
THIRD = Generation("G3", "0.9.9, 1.0 and later", "usr/agents", "agent.system.main.specifics.md")


def find_generation(root: str) -> Generation:
    """The generation of the host whose files lie in a folder. Raises `UsageError` where no host lies."""
    if os.path.isfile(os.path.join(root, "helpers", "extension.py")):
        return THIRD
    try:
        with open(
            os.path.join(root, "python", "helpers", "extension.py"), encoding="utf-8", errors="replace"
        ) as file:
            text = file.read()
    except OSError:
        raise UsageError(
            f"{quote(root)} is no Agent-Zero: neither helpers/extension.py nor python/helpers/extension.py is there",
            "name the folder that Agent-Zero runs from, `/a0` in its image",
        ) from None
    return SECOND if "get_paths" in text else FIRST
