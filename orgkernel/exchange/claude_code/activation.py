"""Activate and deactivate an organization in a Claude Code project.

The answers of all activations are in one folder, each named by its digest. `active.json` names them and is replaced
in one step, and the settings come last. So the hook finds a complete activation at every moment, and a second call
finishes an interrupted one.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from orgkernel.diagnostics.wording import listing, quote
from orgkernel.errors import UsageError
from orgkernel.exchange.claude_code.compiling import CompiledHook
from orgkernel.project.hooks.claude_hook.activated import ACTIVE, DOCUMENTS, FOLDER, HookFault, read_active
from orgkernel.project.hooks.claude_hook.deciding import FREE
from orgkernel.project.hooks.claude_hook.drifting import find_drift
from orgkernel.project.hooks.claude_hook.reporting import REPORTS
from orgkernel.project.hooks.claude_settings import (
    build_role_hook,
    check_settings,
    install_claude_hook,
    is_installed,
    uninstall_claude_hook,
)
from orgkernel.project.replacing import replace_file

CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "enforcement": ("enforce", "observe"),
    "on_error": ("refuse", "pass"),
    "if_missing": ("refuse", "pass"),
    "unknown": ("ask", "deny", "pass"),
    "unnamed_agents": ("refuse", "ask"),
}
"""The settings and their values, the default first."""
_ACTIVATION_FILES: Final = re.compile(r"(?:active|documents|[0-9a-f]{12})\.json(?:\.[0-9]+\.new)?")


@dataclass(frozen=True, slots=True)
class HookStatus:
    """The activation of a project."""

    on: bool
    """Whether an organization is active and its hook is in the settings of the project."""
    why: str
    """Why it is on or off, in a clause."""
    organization: str | None = None
    digest: str | None = None
    settings: Mapping[str, str] | None = None
    roles: int = 0
    hook: str = "not installed"
    drift: tuple[str, ...] = ()


def activate(
    project: str, compiled: CompiledHook, chosen: Mapping[str, str | None], documents: Mapping[str, Any]
) -> tuple[str, ...]:
    """Activate a compiled organization. Settings that are not given keep their former values. Returns the
    written paths.

    Raises `UsageError` before anything is written, and OSError if it cannot be written.
    """
    check_settings(project)
    settings = choose_settings(project, compiled, chosen)
    folder = _get_folder(project)
    has_made_parent = _is_parent_made(project)
    os.makedirs(folder, exist_ok=True)
    # The files come before `active.json`, and it before the settings: a hook that runs in between finds either the old
    # activation or the new one, each complete. Files of the old one go last, because the hook could still be reading them.
    files = {**compiled.files, DOCUMENTS: _encode_json(documents)}
    for name, content in files.items():
        path = os.path.join(folder, name)
        if not _has_content(path, content):
            replace_file(path, content)
    data = {**compiled.data, "settings": settings, "made": has_made_parent}
    replace_file(os.path.join(folder, ACTIVE), _encode_json(data))
    written = install_claude_hook(project, build_role_hook(settings["on_error"], settings["if_missing"]))
    for name in _list_own_files(folder):
        if name != ACTIVE and name not in files:
            os.unlink(os.path.join(folder, name))
    return (*(os.path.join(folder, name) for name in sorted((*files, ACTIVE))), written)


def deactivate(project: str) -> tuple[str, ...]:
    """Remove what an activation entered and wrote, except reports. Returns the changed and removed paths."""
    folder, changed = _get_folder(project), []
    has_made_parent = _is_parent_made(project)
    settings = uninstall_claude_hook(project, build_role_hook("pass").script)
    if settings is not None:
        changed.append(settings)
    for name in _list_own_files(folder):
        os.unlink(os.path.join(folder, name))
        changed.append(os.path.join(folder, name))
    with suppress(OSError):
        os.rmdir(folder)
        if has_made_parent:
            os.rmdir(os.path.dirname(folder))
    return tuple(changed)


def choose_settings(project: str, compiled: CompiledHook, chosen: Mapping[str, str | None]) -> dict[str, str]:
    """The settings: the given ones, else those of the last activation, else the defaults."""
    former = _read_former_settings(project)
    settings = {
        name: chosen.get(name) or (former[name] if former.get(name) in values else values[0])
        for name, values in CHOICES.items()
    }
    roles = compiled.data["roles"]
    main = chosen.get("main_role") or former.get("main_role") or _find_commander(compiled.data)
    if main is None or (main != FREE and main not in roles):
        unknown = (
            f"{quote(main)} is not a role of" if main else "no setting names the role of the main thread in"
        )
        raise UsageError(
            f"{unknown} {quote(compiled.data['org_id'])}",
            f"pass `--main-role` with one of {listing(roles)}, or `{FREE}`: then only the rules of Claude Code apply there",
        )
    return {**settings, "main_role": main}


def _find_commander(data: Mapping[str, Any]) -> str | None:
    """The only role that no other role commands."""
    top = [role for role, superior in data["superiors"].items() if superior not in data["roles"]]
    return top[0] if len(top) == 1 else None


def read_hook_status(project: str) -> HookStatus:
    """Whether an organization is active in a project. Raises `UsageError` if its settings cannot be read."""
    former = _read_former_settings(project)
    is_hook_installed = is_installed(
        project, build_role_hook(former.get("on_error", "refuse"), former.get("if_missing", "refuse"))
    )
    hook = {None: "not installed", True: "installed", False: "installed by another version; activate again"}[
        is_hook_installed
    ]
    try:
        active = read_active(project)
    except HookFault as fault:
        why = "no organization is active" if not os.path.lexists(_get_active_path(project)) else str(fault)
        return HookStatus(False, why, hook=hook)
    data = active.data
    return HookStatus(
        is_hook_installed is not None,
        "an organization is active" if is_hook_installed is not None else "the hook is not in the settings",
        data["org_id"],
        data["digest"],
        data["settings"],
        len(data["roles"]),
        hook,
        tuple(find_drift(active)),
    )


def _read_former_settings(project: str) -> Mapping[str, str]:
    try:
        settings = read_active(project).data.get("settings")
    except HookFault:
        return {}
    return settings if isinstance(settings, dict) else {}


def _is_parent_made(project: str) -> bool:
    """Whether an activation created the parent of its folder, so a deactivation may remove it."""
    try:
        return read_active(project).data.get("made") is True
    except HookFault:
        return not os.path.lexists(os.path.dirname(_get_folder(project)))


def _get_folder(project: str) -> str:
    folder = os.path.join(os.path.abspath(project), *FOLDER.split("/"))
    for each in (os.path.dirname(folder), folder):
        if os.path.islink(each) or (os.path.lexists(each) and not os.path.isdir(each)):
            raise UsageError(f"{quote(each)} is not a folder", "remove it, and try again")
    return folder


def _get_active_path(project: str) -> str:
    return os.path.join(_get_folder(project), ACTIVE)


def _list_own_files(folder: str) -> list[str]:
    try:
        return sorted(each for each in os.listdir(folder) if _ACTIVATION_FILES.fullmatch(each))
    except FileNotFoundError:
        return []


def find_reports_folder(project: str) -> str | None:
    """The folder of reports, if there are any."""
    folder = os.path.join(os.path.abspath(project), *REPORTS.split("/"))
    return folder if os.path.isdir(folder) else None


def _has_content(path: str, content: bytes) -> bool:
    try:
        with open(path, "rb") as file:
            return not os.path.islink(path) and file.read() == content
    except OSError:
        return False


def _encode_json(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, ensure_ascii=True, separators=(",", ":")) + "\n").encode()
