"""Enter our hook into the settings of Claude Code in a project, and take it out again without a trace."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any, Final

from orgkernel.diagnostics.wording import quote
from orgkernel.errors import UsageError
from orgkernel.project.replacing import BEFORE_US, replace_file

_MATCHER: Final = "Write|Edit|MultiEdit|NotebookEdit|Bash"
_SCRIPT: Final = Path(__file__).with_name("write_hook.py")
_FAILED: Final = "orgkernel: whether this file may be written could not be checked, so it is not written"


def install_claude_hook(folder: str) -> str:
    """Enter the hook. The rest of the settings stays as it is. The path of the settings."""
    path = _settings_in(folder)
    place = os.path.dirname(path)
    is_new = not os.path.isdir(place)
    before = _read(path)
    settings = _without_ours(_parse(path, before))
    entries = settings.setdefault("hooks", {}).setdefault("PreToolUse", [])
    entries.append(
        {"matcher": _MATCHER, "hooks": [{"type": "command", "command": _command(), "timeout": 60}]}
    )
    content = _rendered(settings, before)
    if content == before:
        return path
    os.makedirs(place, exist_ok=True)
    if not is_new and not os.path.exists(path + BEFORE_US):
        # Empty: there was a folder without settings.
        replace_file(path + BEFORE_US, before or b"")
    replace_file(path, content)
    return path


def uninstall_claude_hook(folder: str) -> str | None:
    """Take the hook out. What was entered by others since then stays. None if there is no hook of ours."""
    path = _settings_in(folder)
    now = _read(path)
    if now is None or not _has_ours(_parse(path, now)):
        return None
    rest, before = _without_ours(_parse(path, now)), _read(path + BEFORE_US)
    if before and _without_empty(_parse(path, before)) == _without_empty(rest):
        replace_file(path, before)
    elif rest or before:
        replace_file(path, _rendered(rest, now))
    else:
        os.unlink(path)
    if before is not None:
        os.unlink(path + BEFORE_US)
    elif not os.listdir(os.path.dirname(path)):
        os.rmdir(os.path.dirname(path))
    return path


def _settings_in(folder: str) -> str:
    if not os.path.isdir(folder):
        raise UsageError(f"{quote(folder)} is not a folder", "pass the folder of a project")
    return os.path.realpath(os.path.join(folder, ".claude", "settings.json"))


def _command() -> str:
    python, script = shlex.quote(sys.executable), shlex.quote(str(_SCRIPT))
    return f"{python} -I -S {script} || {{ echo {shlex.quote(_FAILED)} >&2; exit 2; }}"


def _read(path: str) -> bytes | None:
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        return None


def _parse(path: str, content: bytes | None) -> dict[str, Any]:
    """The settings. Raises `UsageError` for what cannot be written back as it is."""
    if not content:
        return {}
    try:
        settings = json.loads(content, object_pairs_hook=_without_repeats)
        entries = settings.get("hooks", {}).get("PreToolUse", [])
        if all(isinstance(each, dict) and isinstance(each.get("hooks", []), list) for each in entries):
            return dict(settings)
    except (ValueError, AttributeError, TypeError, RecursionError):
        pass
    raise UsageError(
        f"{quote(path)} cannot be read as settings", "repair it first, so that nothing in it is lost"
    )


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key is there twice")
    return dict(pairs)


def _is_ours(entry: dict[str, Any]) -> bool:
    return any(_SCRIPT.name in str(each) and "orgkernel" in str(each) for each in entry.get("hooks", []))


def _has_ours(settings: dict[str, Any]) -> bool:
    return any(map(_is_ours, settings.get("hooks", {}).get("PreToolUse", [])))


def _without_ours(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings without our hook, and without what was made for it alone."""
    if not _has_ours(settings):
        return settings
    kept = [each for each in settings["hooks"]["PreToolUse"] if not _is_ours(each)]
    return _without_empty({**settings, "hooks": {**settings["hooks"], "PreToolUse": kept}})


def _without_empty(settings: dict[str, Any]) -> dict[str, Any]:
    hooks = {name: each for name, each in settings.get("hooks", {}).items() if each or name != "PreToolUse"}
    return {
        name: hooks if name == "hooks" else each
        for name, each in settings.items()
        if hooks or name != "hooks"
    }


def _rendered(settings: dict[str, Any], like: bytes | None) -> bytes:
    """JSON with the indentation and the end of what was there."""
    text = (like or b"").decode("utf-8", "replace")
    indent = re.search(r'\n([ \t]+)"', text)
    end = "\n" if not text or text.endswith("\n") else ""
    return (json.dumps(settings, indent=indent[1] if indent else 2, ensure_ascii=False) + end).encode()
