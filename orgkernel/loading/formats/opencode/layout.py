"""Locates the files of OpenCode: `.opencode` of a project, and its configuration."""

from __future__ import annotations

import itertools
import os

from orgkernel.loading.files import find_in_head, is_file, is_folder
from orgkernel.loading.formats.agent_folders import AgentFolders
from orgkernel.loading.formats.format import Layout
from orgkernel.loading.formats.listed_files import FilesByContent
from orgkernel.runtime.lazy_patterns import lazy_pattern

CONFIGURATIONS = ("opencode.json", "opencode.jsonc")
FOLDERS = AgentFolders(
    ".opencode",
    ("agent", "agents", "mode", "modes"),
    ".md",
    (*CONFIGURATIONS, *(os.path.join(".opencode", each) for each in CONFIGURATIONS)),
)
_MODES = ("mode", "modes")
# Collections of agents for copying are in folders of any name. Only agents of OpenCode have a mode.
COLLECTIONS = FilesByContent(
    r"[^/]+[.]md",
    lazy_pattern(r"[^.].*\.md"),
    lazy_pattern(
        rb"\A---[ \t]*\r?\n(?:(?!---)[^\n]*\n){0,40}?mode:[ \t]*[\"']?(?:primary|subagent|all)[\"']?[ \t]*\r?\n"
    ),
    4 * 1024,
)
_AGENT = lazy_pattern(rb'"(?:agent|mode)"\s*:\s*\{\s*(?://[^\n]*\n\s*)*"')
_SIZE = 256 * 1024


def may_hold(path: str) -> bool:
    """Whether a file can be an agent or a configuration."""
    return FOLDERS.may_hold(path)


def find_layout(path: str, *, is_certain: bool) -> Layout | None:
    """The location of the files for a path: a project with agents in files or in its configuration, or a part of it."""
    if is_folder(path) and any(
        bool(find_in_head(full, _AGENT, _SIZE))
        for each in FOLDERS.others
        if is_file(full := os.path.join(path, each))
    ):
        return FOLDERS.build_layout(path)
    if os.path.basename(path) in CONFIGURATIONS and is_file(path):
        above = os.path.dirname(path)
        return FOLDERS.build_layout(os.path.dirname(above) if above.endswith(".opencode") else above)
    layout = FOLDERS.find(path, is_certain=is_certain)
    return layout or COLLECTIONS.find(path, is_certain=False)


def get_agent_name(path: str) -> str:
    """The name of an agent: its path below the folder of agents, without the suffix.

    >>> get_agent_name("/p/.opencode/agents/docs/writer.md"), get_agent_name("/p/writer.md")
    ('docs/writer', 'writer')
    """
    parts = path.removesuffix(FOLDERS.suffix).split(os.sep)
    for number in range(len(parts) - 2, 0, -1):
        if parts[number] in FOLDERS.names and parts[number - 1] == FOLDERS.hidden:
            return "/".join(parts[number + 1 :])
    return parts[-1]


def is_mode(path: str) -> bool:
    """Whether a file is in a folder of modes, so it is an agent that no other one starts."""
    parts = path.split(os.sep)
    return any(first == FOLDERS.hidden and second in _MODES for first, second in itertools.pairwise(parts))


def rank_layer(path: str) -> int:
    """The number of the layer that a file belongs to. OpenCode merges the layers of a project, and higher ones win.

    >>> [rank_layer(each) for each in ("/p/opencode.json", "/p/.opencode/opencode.json", "/p/.opencode/agents/a.md")]
    [1, 3, 4]
    """
    folder, name = os.path.split(path)
    if name in CONFIGURATIONS:
        return (2 if os.path.basename(folder) == FOLDERS.hidden else 0) + (name == CONFIGURATIONS[0])
    return 5 if is_mode(path) else 4
