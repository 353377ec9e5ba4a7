"""List the tools of this host, as the host itself does, and find the tool that a misspelled name means."""

from __future__ import annotations

import glob
import importlib
import os
import re
from collections.abc import Iterable
from typing import Any

from . import places, reading

_ROOT = os.path.dirname(os.path.dirname(places.ORGANIZATIONS))
_FOLDERS = ("tools", "python/tools", "usr/tools", "agents/{0}/tools", "usr/agents/{0}/tools")
_FOLDERS_OF_PLUGINS = ("plugins/*", "usr/plugins/*")
_FOLDERS_OF_PROJECT = ("usr/projects/{1}/.a0proj/tools", "usr/projects/{1}/.a0proj/agents/{0}/tools")
_OFF = ".toggle-0"
_MIN_TO_COMPLETE = 5
_MIN_TO_CORRECT = 4


def is_unknown(agent: Any, name: str) -> bool:
    """Whether the host has no tool for the running call. It then runs a stand-in that answers with all tools."""
    tool = getattr(getattr(agent, "loop_data", None), "current_tool", None)
    return _is_stand_in(tool) if tool is not None else is_missing(agent, name)


def is_missing(agent: Any, name: str) -> bool:
    """Whether the host has no tool of this name. The check is the host's own.

    If it fails, the tool is not treated as missing.
    """
    try:
        if _get_servers().get_tool(agent, name):
            return False
        return _is_stand_in(
            agent.get_tool(name=name, method=None, args={}, message="", loop_data=agent.loop_data)
        )
    except Exception:
        return False


def _is_stand_in(tool: object) -> bool:
    kind = type(tool)
    return kind.__name__ == "Unknown" and kind.__module__.rpartition(".")[2] == "unknown"


def list_tool_names(agent: Any) -> frozenset[str]:
    """The names of the tools that the host has for this agent, including those of its MCP servers. Empty if unknown."""
    profile = reading.read_profile(agent) or "agent0"
    project = reading.read_project(agent)
    wanted = [*_FOLDERS, *(_FOLDERS_OF_PROJECT if project else ())]
    folders = [os.path.join(_ROOT, each.format(profile, project)) for each in wanted]
    plugins = [
        each
        for pattern in _FOLDERS_OF_PLUGINS
        for each in glob.glob(os.path.join(glob.escape(_ROOT), pattern))
    ]
    on = (each for each in plugins if not os.path.exists(os.path.join(each, _OFF)))
    folders += [os.path.join(each, "tools") for each in on]
    files = {name[:-3] for folder in folders for name in _list(folder) if name.endswith(".py")}
    own = {name for name in files if name != "unknown" and not name.startswith("_")}
    return frozenset({*own, *_list_remote_names()}) if own else frozenset()


def _list(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _list_remote_names() -> set[str]:
    try:
        return {str(tool) for each in _get_servers().get_tools() for tool in each}
    except Exception:  # a version of the host that lists them in another way
        return set()


def _get_servers() -> Any:
    """The host's MCP servers."""
    try:
        module = importlib.import_module("helpers.mcp_handler")
    except ImportError:
        module = importlib.import_module("python.helpers.mcp_handler")
    return module.MCPConfig.get_instance()


def find_meant_tool(name: str, tools: Iterable[str]) -> str | None:
    """The tool that a misspelled or incomplete name means; None if no tool is similar enough.

    Case, hyphens and spaces do not matter, nor does one wrong letter. A method may follow after a dot or a colon.
    """
    plain = {tool: _normalize_name(tool) for tool in tools}
    plain_name = _normalize_name(name)
    for tool, known in plain.items():
        if known == plain_name:
            return tool
    stem, mark, method = name.partition(":") if ":" in name else name.rpartition(".")
    if mark and (tool_of_method := find_meant_tool(stem, plain)) is not None:
        return f"{tool_of_method}:{method}" if method else tool_of_method
    if len(plain_name) >= _MIN_TO_COMPLETE:
        longer = [tool for tool, known in plain.items() if known.startswith(plain_name)]
        if len(longer) == 1:
            return longer[0]
    if len(plain_name) >= _MIN_TO_CORRECT:
        return next((tool for tool, known in plain.items() if _is_one_letter_off(plain_name, known)), None)
    return None


def without_method(name: str) -> str:
    """The tool in a name that may end in a method."""
    return name.partition(":")[0]


def _normalize_name(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.lower())


def _is_one_letter_off(word: str, other: str) -> bool:
    """Whether one letter was added, left out, changed or swapped with the next."""
    if abs(len(word) - len(other)) > 1:
        return False
    pairs = enumerate(zip(word, other, strict=False))
    start = next((place for place, (one, two) in pairs if one != two), min(len(word), len(other)))
    a, b = word[start:], other[start:]
    return a[1:] == b[1:] or a == b[1:] or a[1:] == b or (a[:2] == b[1::-1] and a[2:] == b[2:])
