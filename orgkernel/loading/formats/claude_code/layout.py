"""Locates the files of Claude Code: below `.claude` of a project, or in the folder of a plugin."""

from __future__ import annotations

import os

from orgkernel.loading.files import (
    MARKDOWN,
    SKILLS,
    Area,
    has_markdown,
    is_file,
    is_folder,
    read_markdown_heads,
)
from orgkernel.loading.formats.format import Layout

AGENTS, COMMANDS, HIDDEN = "agents", "commands", ".claude"
PLUGIN = os.path.join(".claude-plugin", "plugin.json")
SERVERS = ".mcp.json"
SETTINGS = ("settings.json", "settings.local.json")
AGENT_FILES, SKILL_FILES = r".*\.md", r"[^/]+/SKILL\.md"
_MOST_LOOKED_AT = 20
_HEAD = 4096
_OF_OTHERS = ".agent.md"  # of GitHub Copilot


def is_command(path: str, top: str) -> bool:
    """Whether a file below a project or plugin is a command rather than an agent."""
    return os.path.relpath(path, top).removeprefix(HIDDEN + os.sep).startswith(COMMANDS + os.sep)


def find_layout(path: str, *, is_certain: bool) -> Layout | None:
    """The location of the files for a path: a project, its `.claude`, a plugin, their `agents`, or a file in one of
    them.
    """
    if not is_folder(path):
        return _find_around_file(path) if path.endswith(MARKDOWN) else None
    name, above = os.path.basename(path), os.path.dirname(path)
    if has_markdown(os.path.join(path, HIDDEN, AGENTS)):
        return _build_project(path)
    if name == HIDDEN and has_markdown(os.path.join(path, AGENTS)):
        return _build_project(above)
    if (is_certain or is_file(os.path.join(path, PLUGIN))) and has_markdown(os.path.join(path, AGENTS)):
        return _build_plugin(path)
    if name == AGENTS and has_markdown(path):
        if os.path.basename(above) == HIDDEN:
            return _build_project(os.path.dirname(above))
        if is_file(os.path.join(above, PLUGIN)):
            return _build_plugin(above)
        if is_certain or _has_agent(path):
            return _build_single(path)
    return _build_single(path) if is_certain else None


def _find_around_file(path: str) -> Layout | None:
    """The project or plugin whose `agents` folder contains a file."""
    folder = os.path.dirname(path)
    while os.path.basename(folder) not in ("", AGENTS):
        folder = os.path.dirname(folder)
    above = os.path.dirname(folder)
    if os.path.basename(folder) == AGENTS:
        if os.path.basename(above) == HIDDEN:
            return _build_project(os.path.dirname(above))
        if is_file(os.path.join(above, PLUGIN)):
            return _build_plugin(above)
    return None


def _build_project(top: str) -> Layout:
    return Layout(
        top,
        (
            Area(os.path.join(HIDDEN, AGENTS), AGENT_FILES),
            Area(os.path.join(HIDDEN, SKILLS), SKILL_FILES),
            Area(os.path.join(HIDDEN, COMMANDS), AGENT_FILES),
            Area(SERVERS),
            *(Area(os.path.join(HIDDEN, each)) for each in SETTINGS),
        ),
    )


def _build_plugin(top: str) -> Layout:
    return Layout(
        top,
        (
            Area(AGENTS, AGENT_FILES),
            Area(SKILLS, SKILL_FILES),
            Area(COMMANDS, AGENT_FILES),
            Area(SERVERS),
            Area(PLUGIN),
        ),
    )


def _build_single(top: str) -> Layout:
    return Layout(top, (Area(".", AGENT_FILES),))


def _has_agent(folder: str) -> bool:
    """Whether one of the first Markdown files directly in a folder begins like an agent."""
    for head in read_markdown_heads(folder, _MOST_LOOKED_AT, _HEAD, other=_OF_OTHERS):
        lines = head.splitlines()
        begins = bool(lines) and lines[0].rstrip() == b"---"
        if begins and any(line.startswith(b"name:") for line in lines) and b"\ndescription:" in head:
            return True
    return False
