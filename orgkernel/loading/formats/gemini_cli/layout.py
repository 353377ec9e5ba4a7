"""Locates the files of Gemini CLI: `.gemini` of a project, or an extension with a folder of agents."""

from __future__ import annotations

import os

from orgkernel.loading.files import Area, has_file, is_file, is_folder
from orgkernel.loading.formats.agent_folders import AgentFolders
from orgkernel.loading.formats.format import Layout

EXTENSION, SETTINGS, AGENTS = "gemini-extension.json", "settings.json", "agents"
FOLDERS = AgentFolders(".gemini", (AGENTS,), ".md", (os.path.join(".gemini", SETTINGS),), is_flat=True)


def may_hold(path: str) -> bool:
    """Whether a file can be an agent or a configuration."""
    return FOLDERS.may_hold(path) or os.path.basename(path) == EXTENSION


def find_layout(path: str, *, is_certain: bool) -> Layout | None:
    """The location of the files for a path: a project, an extension, or a part of one."""
    layout = FOLDERS.find(path, is_certain=False)
    if layout is None and is_folder(path) and is_extension(path):
        return Layout(path, (Area(EXTENSION), Area(AGENTS, r"[^/]+[.]md")))
    return layout or FOLDERS.find(path, is_certain=is_certain)


def is_extension(folder: str) -> bool:
    """Whether a folder is an extension with agents."""
    return is_file(os.path.join(folder, EXTENSION)) and has_file(
        os.path.join(folder, AGENTS), FOLDERS.suffix, deep=False
    )
