"""Where Agent-Zero keeps profiles: `agents/NAME/` and `usr/agents/NAME/` of a host, or a folder `agents` alone."""

from __future__ import annotations

import os

from orgkernel.loading.files import Area, is_file, is_folder, list_names_in
from orgkernel.loading.formats.format import Layout

AGENTS, OF_USER = "agents", os.path.join("usr", "agents")
ABOUT = ("agent.yaml", "agent.json")
CONTEXT = "_context.md"
"""What the first generation has instead."""
PROMPTS = ("agent.system.main.specifics.md", "agent.system.main.role.md")
POLICY = "plugins/_tool_access/config.json"
_MORE = r"|prompts/agent\.system\.main\.(?:specifics|role)\.md|plugins/_tool_access/config\.json)"
_FILES, _OF_FIRST = r"[^/]+/(?:agent\.yaml|agent\.json" + _MORE, r"[^/]+/(?:_context\.md" + _MORE
_MOST_LOOKED_AT = 200


def get_profile_name(path: str) -> str:
    """The name of the profile that a file belongs to: that of its folder."""
    folder = os.path.dirname(path)
    if os.path.basename(path) in PROMPTS:
        folder = os.path.dirname(folder)
    elif os.path.basename(path) == "config.json":
        folder = os.path.dirname(os.path.dirname(folder))
    return os.path.basename(folder)


def find_layout(path: str, *, is_certain: bool) -> Layout | None:
    """Where the files lie that a path means: a host, its `usr`, a folder `agents`, a profile, or a file of one."""
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
    """The files of profiles. Only where no profile has more do those of the first generation count."""
    path = os.path.join(top, folder)
    has_about = any(is_file(os.path.join(path, name, each)) for name in list_names_in(path) for each in ABOUT)
    return Area(folder, _FILES if has_about else _OF_FIRST)


def _find_layout_around(folder: str) -> Layout | None:
    """The profiles beside the one in a folder."""
    above = os.path.dirname(folder)
    is_one = os.path.basename(above) == AGENTS and _is_profile(folder)
    return Layout(above, (_build_area(above, "."),)) if is_one else None


def _does_hold_profiles(folder: str) -> bool:
    """Whether a folder directly holds profiles."""
    return any(_is_profile(os.path.join(folder, name)) for name in list_names_in(folder)[:_MOST_LOOKED_AT])


def _is_profile(folder: str) -> bool:
    """Whether a folder says what a profile is, and how: an `agent.json` alone could be anybody's."""
    about = is_file(os.path.join(folder, ABOUT[0])) or is_file(os.path.join(folder, ABOUT[1]))
    has_prompt = any(is_file(os.path.join(folder, "prompts", each)) for each in PROMPTS)
    has_others = any(
        name.startswith("agent.system.") for name in list_names_in(os.path.join(folder, "prompts"))
    )
    is_first = is_file(os.path.join(folder, CONTEXT))
    return (about or is_first) and (has_prompt or has_others or is_file(os.path.join(folder, POLICY)))
