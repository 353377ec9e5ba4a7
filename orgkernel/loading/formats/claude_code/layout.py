"""Locates the files of Claude Code: below `.claude` of a project, or in the folder of a plugin."""

from __future__ import annotations

import os

from orgkernel.loading.files import MARKDOWN, Area, has_markdown, is_file, is_folder, list_names_in, read_head
from orgkernel.loading.formats.claude_code.beginnings import begins_like_agent, can_be_agent
from orgkernel.loading.formats.claude_code.paths import (
    AGENT_FILES,
    AGENTS,
    COLLECTION,
    HIDDEN,
    PLUGIN,
    build_project_layout,
)
from orgkernel.loading.formats.claude_code.plugins import list_plugin_areas, read_plugin
from orgkernel.loading.formats.format import Layout

_MAX_OPENED = 20
_HEAD = 4096


def find_layout(path: str, *, is_certain: bool) -> Layout | None:
    """The location of the files for a path: a project, its `.claude`, a plugin, their `agents`, or a file in one of
    them.
    """
    if not is_folder(path):
        return _find_around_file(path) if path.endswith(MARKDOWN) else None
    name, above = os.path.basename(path), os.path.dirname(path)
    if has_markdown(os.path.join(path, HIDDEN, AGENTS)):
        return build_project_layout(path)
    if name == HIDDEN and has_markdown(os.path.join(path, AGENTS)):
        return build_project_layout(above)
    if (is_certain or is_file(os.path.join(path, PLUGIN))) and has_markdown(os.path.join(path, AGENTS)):
        return _build_plugin(path)
    if name == AGENTS and has_markdown(path):
        if os.path.basename(above) == HIDDEN:
            return build_project_layout(os.path.dirname(above))
        if is_file(os.path.join(above, PLUGIN)):
            return _build_plugin(above)
        # A folder `agents` alone proves nothing: other hosts have one in a hidden folder of theirs.
        if is_certain or (not os.path.basename(above).startswith(".") and _has_agent(path)):
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
            return build_project_layout(os.path.dirname(above))
        if is_file(os.path.join(above, PLUGIN)):
            return _build_plugin(above)
    return None


def _build_plugin(top: str) -> Layout:
    return Layout(top, tuple(list_plugin_areas(read_plugin(top))))


def _build_single(top: str) -> Layout:
    """A folder of agents without a manifest: a file is an agent if it begins like one."""
    return Layout(top, (Area(".", AGENT_FILES, content=COLLECTION),))


def _has_agent(folder: str) -> bool:
    """Whether one of the first Markdown files directly in a folder begins like an agent."""
    names = [name for name in list_names_in(folder) if can_be_agent(name)]
    return any(
        begins_like_agent(read_head(os.path.join(folder, name), _HEAD)) for name in names[:_MAX_OPENED]
    )
