"""Locates Agent-Zero profiles: `agents/NAME/` and `usr/agents/NAME/` of a host, or a separate `agents` folder."""

from __future__ import annotations

import os

from orgkernel.loading.files import Area, is_file, is_folder, list_entries_in, list_names_in
from orgkernel.loading.formats.format import Layout

AGENTS, OF_USER = "agents", os.path.join("usr", "agents")
ABOUT = ("agent.yaml", "agent.json")
CONTEXT = "_context.md"
"""File of first-generation profiles instead of `agent.yaml`."""
PROMPTS = ("agent.system.main.specifics.md", "agent.system.main.role.md")
POLICY = "plugins/_tool_access/config.json"
_MORE = r"|prompts/agent\.system\.main\.(?:specifics|role)\.md|plugins/_tool_access/config\.json)"
_FILES, _OF_FIRST = r"[^/]+/(?:agent\.yaml|agent\.json" + _MORE, r"[^/]+/(?:_context\.md" + _MORE
_MAX_OPENED = 200


def get_profile_name(path: str) -> str:
    """The name of the profile that a file belongs to, which is the name of its folder."""
    folder = os.path.dirname(path)
    if os.path.basename(path) in PROMPTS:
        folder = os.path.dirname(folder)
    elif os.path.basename(path) == "config.json":
        folder = os.path.dirname(os.path.dirname(folder))
    return os.path.basename(folder)


def find_layout(path: str, *, is_certain: bool) -> Layout | None:
    """The location of the profiles for a path: a host, its `usr`, a folder `agents`, a profile, or one of its files."""
    if not is_folder(path):
        return (
            _find_layout_around(os.path.dirname(path))
            if os.path.basename(path) in (*ABOUT, CONTEXT)
            else None
        )
    # Those of the user, if there are any: the others come with the host.
    for each in (OF_USER, AGENTS):
        if _does_hold_profiles(os.path.join(path, each)):
            return Layout(path, (_build_area(path, each),))
    if os.path.basename(path) == AGENTS and _does_hold_profiles(path):
        return Layout(path, (_build_area(path, "."),))
    return _find_layout_around(path) or (Layout(path, (_build_area(path, "."),)) if is_certain else None)


def _build_area(top: str, folder: str) -> Area:
    """The files of profiles. First-generation profiles are used only if there are no newer ones."""
    path = os.path.join(top, folder)
    has_about = any(is_file(os.path.join(path, name, each)) for name in list_names_in(path) for each in ABOUT)
    return Area(folder, _FILES if has_about else _OF_FIRST)


def _find_layout_around(folder: str) -> Layout | None:
    """The layout of the folder that contains a profile."""
    above = os.path.dirname(folder)
    is_one = os.path.basename(above) == AGENTS and _is_profile(folder)
    return Layout(above, (_build_area(above, "."),)) if is_one else None


def _does_hold_profiles(folder: str) -> bool:
    """Whether a folder directly contains profiles."""
    names = list_names_in(folder)[:_MAX_OPENED]
    # A folder of that name can also be full of the files of another host.
    files = set(list_entries_in(folder)[0]) if names else ()
    return any(_is_profile(os.path.join(folder, name)) for name in names if name not in files)


def _is_profile(folder: str) -> bool:
    """Whether a folder has a description, and a prompt or a tool policy. An `agent.json` alone could belong to
    another program.
    """
    if not any(is_file(os.path.join(folder, each)) for each in (*ABOUT, CONTEXT)):
        return False
    prompts = os.path.join(folder, "prompts")
    return (
        any(is_file(os.path.join(prompts, each)) for each in PROMPTS)
        or any(name.startswith("agent.system.") for name in list_names_in(prompts))
        or is_file(os.path.join(folder, POLICY))
    )
