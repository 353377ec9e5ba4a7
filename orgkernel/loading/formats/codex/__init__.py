"""OpenAI Codex: agents (`.codex/agents/*.toml`), and the sandbox and MCP servers of `.codex/config.toml`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from orgkernel.loading.files import (
    Area,
    Root,
    SourceText,
    find_in_head,
    is_file,
    is_folder,
    list_files_in,
    read_head,
)
from orgkernel.loading.formats.agent_folders import AgentFolders
from orgkernel.loading.formats.format import Layout
from orgkernel.loading.sources import Completion, FileResult, LoadedFile
from orgkernel.runtime.lazy_patterns import lazy_pattern

CONFIGURATION = "config.toml"
FOLDERS = AgentFolders(".codex", ("agents",), ".toml", (os.path.join(".codex", CONFIGURATION),))

_AGENTS, _PLACE = os.path.join(FOLDERS.hidden, "agents"), (FOLDERS.hidden, CONFIGURATION)
_NAMES = lazy_pattern(r"[^.].*\.toml")
_AGENT = lazy_pattern(rb"^developer_instructions[ \t]*=", re.MULTILINE)
_DECLARED = lazy_pattern(rb"^[ \t]*\[[ \t]*agents[ \t]*\.|^[ \t]*\[[ \t]*agents[ \t]*\]", re.MULTILINE)
_SIZE, _MAX_OPENED = 16 * 1024, 50
_CONFIGURATION_SIZE = 256 * 1024


class Codex:
    """The Codex format. Its readers are imported on first use."""

    name = "codex"
    title = "OpenAI Codex"
    catalog = os.path.join(os.path.dirname(__file__), "tools.yaml")

    def may_hold(self, path: str) -> bool:
        """Whether a file can be an agent or the configuration."""
        return FOLDERS.may_hold(path)

    def find(self, path: str, *, is_certain: bool) -> Layout | None:
        """The locations of the files for a path: a project, or a folder elsewhere that directly contains agents."""
        layout = FOLDERS.find(path, is_certain=is_certain)
        if layout is None or not is_file(os.path.join(layout.top, *_PLACE)):
            layout = self._find_declared(path) or layout
        if layout is not None and layout.areas[0].path.startswith(FOLDERS.hidden):
            return _add_declared_files(layout)
        if layout is None and is_folder(path):
            names = list_files_in(path, _NAMES)[:_MAX_OPENED]
            if any(find_in_head(each, _AGENT, _SIZE) for each in names):
                return Layout(path, (Area(os.curdir, r"[^/]+[.]toml", depth=0),))
        return layout

    def _find_declared(self, path: str) -> Layout | None:
        """The layout of a project whose configuration declares agents, and that has no folder of agents."""
        if os.path.basename(path) == CONFIGURATION:
            path = os.path.dirname(path)
        top = os.path.dirname(path) if os.path.basename(path) == FOLDERS.hidden else path
        does_declare = bool(find_in_head(os.path.join(top, *_PLACE), _DECLARED, _CONFIGURATION_SIZE))
        return FOLDERS.build_layout(top) if does_declare else None

    def read(self, source: SourceText, root: Root) -> FileResult:
        """Read one file."""
        from orgkernel.loading.formats.codex.agents import read_agent
        from orgkernel.loading.formats.codex.configuration import read_configuration

        is_agent = os.path.basename(source.path) != CONFIGURATION
        return read_agent(source, root) if is_agent else read_configuration(source, root)

    def complete(self, root: Root, files: Sequence[LoadedFile], own: Sequence[LoadedFile]) -> Completion:
        """Build the organization, and apply the sandbox to its tools."""
        from orgkernel.loading.formats.codex.agents import NAMES, give_project_servers
        from orgkernel.loading.formats.codex.declarations import join_declarations
        from orgkernel.loading.formats.coding_agents import complete_agents
        from orgkernel.loading.formats.replacing import complete_replaced

        def complete_joined(joined: Sequence[LoadedFile]) -> Completion:
            given = give_project_servers(joined)
            return complete_replaced(joined, given, lambda read: complete_agents(root, read, own, NAMES))

        return complete_replaced(files, join_declarations(files), complete_joined)


def _add_declared_files(layout: Layout) -> Layout:
    """The layout with the files of the agents that the configuration declares. The folder of agents leaves them out, so
    each is read once.
    """
    declared: dict[str, str] = {}
    for file, name in _list_declared_files(layout.top):
        declared.setdefault(file, name)
    if not declared:
        return layout
    without = "|".join(re.escape(os.path.relpath(each, _AGENTS).replace(os.sep, "/")) for each in declared)
    areas = (
        area._replace(files=rf"(?!(?:{without})\Z){area.files}") if area.path == _AGENTS else area
        for area in layout.areas
    )
    return Layout(layout.top, (*(Area(each, content=name) for each, name in declared.items()), *areas))


def _list_declared_files(top: str) -> Iterator[tuple[str, str]]:
    """The files that the configuration of a project names, relative to its top, each with the name of the agent. Files
    outside of the project are left out.
    """
    import tomllib

    head = read_head(os.path.join(top, *_PLACE), _CONFIGURATION_SIZE)
    if not _DECLARED.search(head):
        return
    try:
        agents = tomllib.loads(head.decode()).get("agents")
    except (ValueError, RecursionError):
        return
    for name, each in agents.items() if isinstance(agents, dict) else ():
        file = resolve_declared_file(each.get("config_file")) if isinstance(each, dict) else None
        if file is not None and is_file(os.path.join(top, file)):
            yield file, name


def resolve_declared_file(written: object) -> str | None:
    """The path of an agent's file relative to the top of the project. None if it is not in the project.

    >>> resolve_declared_file("agents/reviewer.toml"), resolve_declared_file("../../other.toml")
    ('.codex/agents/reviewer.toml', None)
    """
    if not isinstance(written, str) or not written or os.path.isabs(written) or "\0" in written:
        return None
    path = os.path.normpath(os.path.join(FOLDERS.hidden, written))
    return None if path.startswith(os.pardir) else path


FORMAT = Codex()
