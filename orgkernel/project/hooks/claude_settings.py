"""Add orgkernel's hooks to the settings of Claude Code in a project, and remove them without a trace.

There are two hooks: one checks who owns a file, the other what a role may use. Either works without the other.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from orgkernel.diagnostics.wording import quote
from orgkernel.errors import UsageError
from orgkernel.project.replacing import BEFORE_US, replace_file

_HERE: Final = Path(__file__).parent
_OWNERSHIP: Final = "write_hook.py"
_ROLES: Final = "claude_hook/run.py"
_SCRIPTS: Final = (_OWNERSHIP, _ROLES)
_EVENTS: Final = ("PreToolUse", "SubagentStop", "SessionStart")
_SECONDS: Final = 60
_COMMENT: Final = "$comment"
_EXPORTED: Final = "Made by orgkernel "
"""The start of the comment in exported settings. With a hook in them, they differ from the export and must not be replaced."""


class SettingsHook(NamedTuple):
    """A hook of orgkernel: the script that distinguishes its entries from others, and the entry for each event."""

    script: str
    entries: Mapping[str, Mapping[str, Any]]


def build_ownership_hook() -> SettingsHook:
    """The hook that checks who owns a file."""
    failed = "orgkernel: whether this file may be written could not be checked, so it is not written"
    command = f"{_build_command(_OWNERSHIP)} || {{ echo {shlex.quote(failed)} >&2; exit 2; }}"
    entry = {
        "matcher": "Write|Edit|MultiEdit|NotebookEdit|Bash|Read|NotebookRead|Grep",
        "hooks": [_run(command)],
    }
    return SettingsHook(_OWNERSHIP, {"PreToolUse": entry})


def build_role_hook(on_error: str, if_missing: str = "refuse") -> SettingsHook:
    """The hook that checks what a role may use. If it fails, the action for errors is taken.

    The settings can be shared with other machines. Where the interpreter of this one is not there, `orgkernel` on the path of programs is
    used, and without it, `if_missing` decides.
    """
    failed = "orgkernel: the hook failed, so the call is refused; a person has to repair it"
    missing = (
        "orgkernel: it is not installed on this machine, so the call is refused; a person has to install it"
    )
    otherwise = {"refuse": f"{{ echo {shlex.quote(failed)} >&2; exit 2; }}", "pass": "exit 0"}
    without = {"refuse": f"echo {shlex.quote(missing)} >&2; exit 2", "pass": "exit 0"}
    event_commands = {
        event: _find_interpreter(event, on_error, otherwise[chosen], without[lacking])
        for event, chosen, lacking in ((each, "pass", "pass") for each in _EVENTS[1:])
    }
    decide_command = _find_interpreter("PreToolUse", on_error, otherwise[on_error], without[if_missing])
    return SettingsHook(
        _ROLES,
        {
            "PreToolUse": {"matcher": "*", "hooks": [_run(decide_command)]},
            **{event: {"hooks": [_run(command)]} for event, command in event_commands.items()},
        },
    )


def install_claude_hook(folder: str, hook: SettingsHook) -> str:
    """Add a hook and leave the rest of the settings unchanged. Returns the path of the settings."""
    path = check_settings(folder)
    place = os.path.dirname(path)
    is_new = not os.path.isdir(place)
    before = _read(path)
    there = _parse(path, before)
    if _is_entered(there, hook):
        return path
    is_first = not _has_ours(there)
    settings = _remove_mark(_remove_hook(there, hook.script))
    for event, entry in hook.entries.items():
        settings.setdefault("hooks", {}).setdefault(event, []).append(entry)
    os.makedirs(place, exist_ok=True)
    # Kept only once. A later copy would contain the hook of orgkernel, and uninstalling would restore it.
    if not is_new and is_first and not os.path.exists(path + BEFORE_US):
        # Empty: the folder existed without settings.
        replace_file(path + BEFORE_US, before or b"")
    replace_file(path, _render(settings, before))
    return path


def uninstall_claude_hook(folder: str, script: str) -> str | None:
    """Remove a hook and keep later changes by others. Returns the path of the settings, or None without the hook."""
    path = check_settings(folder)
    now = _read(path)
    if now is None or not _has(_parse(path, now), script):
        return None
    rest, before = _remove_hook(_parse(path, now), script), _read(path + BEFORE_US)
    if _has_ours(rest):
        replace_file(path, _render(rest, now))
        return path
    # If nothing but our hook has changed, the old bytes come back, with their comments and their order.
    if before and _remove_empty(_remove_mark(_parse(path, before))) == _remove_empty(rest):
        replace_file(path, before)
    elif rest or before:
        replace_file(path, _render(rest, now))
    else:
        os.unlink(path)
    if before is not None:
        os.unlink(path + BEFORE_US)
    elif not os.listdir(os.path.dirname(path)):
        os.rmdir(os.path.dirname(path))
    return path


def is_installed(folder: str, hook: SettingsHook) -> bool | None:
    """Whether a hook is in the settings exactly as it would be added now; None if it is not in them at all."""
    path = _find_settings(folder)
    settings = _parse(path, _read(path))
    return _is_entered(settings, hook) if _has(settings, hook.script) else None


def check_settings(folder: str) -> str:
    """The path of the settings. Raises `UsageError` if they cannot be read or written."""
    path = _find_settings(folder)
    _parse(path, _read(path))
    above = path
    while not os.path.exists(above):
        above = os.path.dirname(above)
    if not os.access(above, os.W_OK):
        raise UsageError(f"{quote(above)} cannot be written", "make it writable, and try again")
    return path


def _find_settings(folder: str) -> str:
    if not os.path.isdir(folder):
        raise UsageError(f"{quote(folder)} is not a folder", "pass the folder of a project")
    return os.path.realpath(os.path.join(folder, ".claude", "settings.json"))


def _build_command(script: str) -> str:
    return f"{shlex.quote(sys.executable)} -I -S {shlex.quote(str(_HERE / script))}"


def _find_interpreter(event: str, on_error: str, otherwise: str, without: str) -> str:
    """The command of the role hook: with the interpreter of this machine, or another one's, or with none."""
    python, script = shlex.quote(sys.executable), shlex.quote(str(_HERE / _ROLES))
    return (
        f'p={python} h={script}; if [ -x "$p" ] && [ -r "$h" ]; then "$p" -I -S "$h" {event} {on_error} || {otherwise}; '
        f"elif command -v orgkernel >/dev/null 2>&1; then orgkernel host hook {event} {on_error} || {otherwise}; "
        f"else {without}; fi"
    )


def _run(command: str) -> dict[str, Any]:
    return {"type": "command", "command": command, "timeout": _SECONDS}


def _read(path: str) -> bytes | None:
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"{quote(path)} cannot be read: {error.strerror}", "repair it first") from None


def _parse(path: str, content: bytes | None) -> dict[str, Any]:
    """Parse settings. Raises `UsageError` if writing them would lose something."""
    if not content:
        return {}
    try:
        # The last of two equal keys would win, and writing the settings back would lose the first one.
        settings = json.loads(content, object_pairs_hook=_refuse_repeats)
        if all(
            isinstance(each, dict) and isinstance(each.get("hooks", []), list)
            for each in _list_entries(settings)
        ):
            return dict(settings)
    except (ValueError, AttributeError, TypeError, RecursionError):
        pass
    raise UsageError(f"{quote(path)} cannot be read as settings", "repair it first, so nothing in it is lost")


def _refuse_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("it contains a key twice")
    return dict(pairs)


def _list_entries(settings: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    return (each for event in _EVENTS for each in settings.get("hooks", {}).get(event, []))


def _is_of(entry: Mapping[str, Any], script: str) -> bool:
    return any(script in str(each) and "orgkernel" in str(each) for each in entry.get("hooks", []))


def _has(settings: Mapping[str, Any], script: str) -> bool:
    return any(_is_of(each, script) for each in _list_entries(settings))


def _has_ours(settings: Mapping[str, Any]) -> bool:
    return any(_has(settings, script) for script in _SCRIPTS)


def _is_entered(settings: Mapping[str, Any], hook: SettingsHook) -> bool:
    there = settings.get("hooks", {})
    return all(
        [each for each in there.get(event, []) if _is_of(each, hook.script)] == wanted
        for event in _EVENTS
        for wanted in [[hook.entries[event]] if event in hook.entries else []]
    )


def _remove_hook(settings: dict[str, Any], script: str) -> dict[str, Any]:
    """The settings without a hook and without the containers that were made only for it."""
    if not _has(settings, script):
        return settings
    hooks = {
        event: [each for each in entries if not _is_of(each, script)] if event in _EVENTS else entries
        for event, entries in settings["hooks"].items()
    }
    return _remove_empty({**settings, "hooks": hooks})


def _remove_mark(settings: dict[str, Any]) -> dict[str, Any]:
    is_exported = str(settings.get(_COMMENT, "")).startswith(_EXPORTED)
    return {name: each for name, each in settings.items() if name != _COMMENT or not is_exported}


def _remove_empty(settings: dict[str, Any]) -> dict[str, Any]:
    hooks = {name: each for name, each in settings.get("hooks", {}).items() if each or name not in _EVENTS}
    return {
        name: hooks if name == "hooks" else each
        for name, each in settings.items()
        if hooks or name != "hooks"
    }


def _render(settings: dict[str, Any], like: bytes | None) -> bytes:
    """Render JSON with the indentation and the final newline of the old text."""
    text = (like or b"").decode("utf-8", "replace")
    indent = re.search(r'\n([ \t]+)"', text)
    end = "\n" if not text or text.endswith("\n") else ""
    return (json.dumps(settings, indent=indent[1] if indent else 2, ensure_ascii=False) + end).encode()
