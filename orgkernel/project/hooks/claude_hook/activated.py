"""The files that an activation wrote for the hook: the switch with its settings, and the answers for each role."""

from __future__ import annotations

import os

from orgkernel.project.hooks.engine import json_reader
from orgkernel.project.hooks.engine.digests import sha256_hex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

FOLDER: Final = ".orgkernel/claude-code"
ACTIVE: Final = "active.json"
DOCUMENTS: Final = "documents.json"
SHOWN_OF_DIGEST: Final = 12
"""The number of hexadecimal digits of a digest in a file name."""
SCHEMA: Final = "orgkernel:claude_code_activation"
VERSION: Final = "2.0"
_PARTS: Final = {
    "agents": dict,
    "roles": dict,
    "tools": dict,
    "names": dict,
    "superiors": dict,
    "org_id": str,
    "org_name": str,
}
_SETTINGS: Final = ("enforcement", "on_error", "unnamed_agents", "main_role")
_STAND_INS: Final = {"MultiEdit": "Edit", "Task": "Agent", "Agent": "Task"}
"""For an activation of before they were compiled."""
_LARGEST: Final = 64 * 1024 * 1024


class NotUnderstood(Exception):
    """The host's call cannot be understood. It is refused, whatever the action for errors is."""


class HookFault(Exception):
    """The files of an activation cannot be used."""


class ActiveOrganization:
    """An organization that is active in a project."""

    def __init__(self, project: str, data: dict[str, Any]) -> None:
        self.project = project
        self.data = data

    @property
    def settings(self) -> dict[str, str]:
        """The settings by name."""
        settings: dict[str, str] = self.data["settings"]
        return settings

    @property
    def stand_ins(self) -> dict[str, str]:
        """The tools that do what another one does, and that other one."""
        stand_ins: dict[str, str] = self.data.get("stand_ins", _STAND_INS)
        return stand_ins

    @property
    def unknown(self) -> str:
        """What happens to tools that no catalog lists: ask, deny or pass."""
        chosen = self.data["settings"].get("unknown")
        return chosen if chosen in ("deny", "pass") else "ask"

    def find_built_in(self, name: str) -> dict[str, Any] | None:
        """The agent of the host with a name, unless the organization has a role of that name."""
        built_in: dict[str, dict[str, Any]] = self.data.get("built_in_agents", {})
        return built_in.get(name) if self.get_role(name) is None else None

    def get_role(self, name: str) -> str | None:
        """The role with the name of an agent. The name of an agent from a plugin starts with the name of the plugin."""
        role_id: str | None = self.data["agents"].get(name.removeprefix(f"{self.data['org_id']}:"))
        return role_id

    def read_documents(self) -> dict[str, Any]:
        """The compiled documents, with their digests."""
        return _read(os.path.join(self.project, FOLDER, DOCUMENTS))

    def read_answers(self, role: str) -> dict[str, Any]:
        """The compiled answers for a role."""
        name = self.data["roles"][role]
        if os.path.basename(name) != name:
            raise HookFault(f"{ACTIVE} names a file that is not in its folder")
        content = _read_whole(os.path.join(self.project, FOLDER, name))
        # The name is the digest of the content, so an edited file of answers is noticed at every call.
        if f"{sha256_hex(content)[:SHOWN_OF_DIGEST]}.json" != name:
            raise HookFault(f"{name} differs from what was compiled")
        answers = _parse(name, content)
        if answers.get("role") != role:
            raise HookFault(f"{name} belongs to another role")
        return answers


def find_project(stated: str, cwd: object) -> str:
    """The folder of the project: the one that the host states, or else the nearest parent of its working folder with an activation."""
    if stated:
        return stated
    here = cwd if isinstance(cwd, str) and os.path.isabs(cwd) and "\0" not in cwd else os.getcwd()
    # An agent can change its working folder. The rules of the project apply in every folder below it.
    while not os.path.exists(os.path.join(here, FOLDER, ACTIVE)):
        above = os.path.dirname(here)
        if above == here:
            raise HookFault("no organization is active in this project")
        here = above
    return here


def read_active(project: str) -> ActiveOrganization:
    """Read the activation in a project. Raises `HookFault`."""
    data = _read(os.path.join(project, FOLDER, ACTIVE))
    if data.get("_schema") != SCHEMA or str(data.get("_version")).partition(".")[0] != "2":
        raise HookFault(f"{FOLDER}/{ACTIVE} is not an activation that this version reads")
    settings = data.get("settings")
    if not isinstance(settings, dict) or any(
        not isinstance(data.get(name), kind) for name, kind in _PARTS.items()
    ):
        raise HookFault(f"{FOLDER}/{ACTIVE} is not complete")
    if missing := [each for each in _SETTINGS if not isinstance(settings.get(each), str)]:
        raise HookFault(f"{FOLDER}/{ACTIVE} has no setting {missing[0]}")
    return ActiveOrganization(project, data)


def _read(path: str) -> dict[str, Any]:
    return _parse(os.path.basename(path), _read_whole(path))


def _read_whole(path: str) -> bytes:
    """Read a file that orgkernel wrote, never through a link."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        with os.fdopen(os.open(path, flags), "rb") as file:
            return file.read(_LARGEST)
    except OSError as error:
        raise HookFault(f"{os.path.basename(path)} cannot be read: {error.strerror}") from error


def _parse(name: str, content: bytes) -> dict[str, Any]:
    try:
        data = json_reader.parse(content)
    except (ValueError, RecursionError) as error:
        raise HookFault(f"{name} cannot be read: {error}") from error
    if not isinstance(data, dict):
        raise HookFault(f"{name} is not an object")
    return data
