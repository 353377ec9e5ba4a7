"""Locates the files of Copilot: below `.github` of a project, or as `*.agent.md` in a folder."""

from __future__ import annotations

import os

from orgkernel.loading.files import MARKDOWN, SKILLS, Area, has_file, is_folder
from orgkernel.loading.formats.format import Layout

HIDDEN, AGENTS, MODES = ".github", "agents", "chatmodes"
AGENT, MODE = ".agent.md", ".chatmode.md"
"""File suffixes of agents. Chat modes are the older form of agents."""
SERVERS = (os.path.join(".vscode", "mcp.json"), ".mcp.json")
_AGENT_FILES, _ALONE = r".*\.md", r".*\.agent\.md"
_MODE_FILES, _SKILL_FILES = r".*\.chatmode\.md", r"[^/]+/SKILL\.md"


def get_agent_stem(path: str) -> str:
    """The name of an agent from its file name."""
    name = os.path.basename(path)
    for suffix in (AGENT, MODE, MARKDOWN):
        if name.endswith(suffix):
            return name.removesuffix(suffix)
    return name


def may_hold(path: str) -> bool:
    """Whether a file can be an agent."""
    folders = path.split(os.sep)[:-1]
    return path.endswith((AGENT, MODE)) or (
        path.endswith(MARKDOWN) and HIDDEN in folders and AGENTS in folders
    )


def find_layout(path: str, *, is_certain: bool) -> Layout | None:
    """The location of the files for a path: a project, its `.github`, the folders in it, or a file in one of them."""
    if not is_folder(path):
        return _find_layout_around(path) if path.endswith(MARKDOWN) else None
    name, above = os.path.basename(path), os.path.dirname(path)
    if _has_agents(os.path.join(path, HIDDEN)):
        return _build_project_layout(path)
    if name == HIDDEN and _has_agents(path):
        return _build_project_layout(above)
    if name in (AGENTS, MODES) and os.path.basename(above) == HIDDEN and _has_agents(above):
        return _build_project_layout(os.path.dirname(above))
    if is_certain or has_file(path, AGENT, deep=False):
        return Layout(path, (Area(".", _AGENT_FILES if is_certain else _ALONE),))
    return None


def _find_layout_around(path: str) -> Layout | None:
    """The project whose `.github` contains a file, or the folder of an agent elsewhere."""
    folder = os.path.dirname(path)
    while os.path.basename(folder) not in ("", AGENTS, MODES):
        folder = os.path.dirname(folder)
    above = os.path.dirname(folder)
    if os.path.basename(above) == HIDDEN and _has_agents(above):
        return _build_project_layout(os.path.dirname(above))
    return Layout(os.path.dirname(path), (Area(".", _ALONE),)) if path.endswith(AGENT) else None


def _has_agents(folder: str) -> bool:
    """Whether a `.github` folder contains agents."""
    return has_file(os.path.join(folder, AGENTS), MARKDOWN) or has_file(os.path.join(folder, MODES), MODE)


def _build_project_layout(top: str) -> Layout:
    return Layout(
        top,
        (
            Area(os.path.join(HIDDEN, AGENTS), _AGENT_FILES),
            Area(os.path.join(HIDDEN, MODES), _MODE_FILES),
            Area(os.path.join(HIDDEN, SKILLS), _SKILL_FILES),
            *(Area(each) for each in SERVERS),
        ),
    )
