"""Finds all sources of Claude Code in a tree: plugins with the paths that their manifests list, `.claude` folders, and
folders of Markdown files that begin like agents.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from orgkernel.loading.files import SKILL_FILE, Area, has_markdown, read_head
from orgkernel.loading.formats.claude_code.beginnings import (
    begins_like_agent,
    can_be_agent,
    list_tools_in_head,
)
from orgkernel.loading.formats.claude_code.paths import (
    AGENT,
    AGENTS,
    CLAUDE_CODE,
    COLLECTION,
    COLLECTION_FILES,
    COMMANDS,
    HIDDEN,
    MANIFESTS,
    build_project_layout,
)
from orgkernel.loading.formats.claude_code.plugins import Plugin, find_plugins, list_plugin_areas
from orgkernel.loading.formats.format import Layout
from orgkernel.loading.formats.listing import FolderListing, LeftOut, SourceFound
from orgkernel.loading.formats.names import MCP

_HEAD = 4096
_MAX_OPENED = 200
_MAX_HEADS = 5_000
_OF_ANOTHER_HOST = "gemini-extension.json"
# Hidden folders of other hosts: what is in them at any depth is theirs.
_OTHER_HOSTS = frozenset({".codex", ".cursor", ".gemini", ".kiro", ".opencode"})
_GEMINI_CLI = "gemini-cli"
_AGENTS_LOOKED_AT = 5
_NOT_LISTED = "it has files that begin like agents, which the plugin {} does not list; `--from claude-code` with this folder reads them"
_SEVERAL_NOT_LISTED = "files in {} folders begin like agents, such as in `{}`, and the plugin {} does not list them; `--from claude-code` with one of these folders reads them"
_GENERIC = frozenset({AGENTS, "subagents", "sub-agents"})


def find_claude_sources(
    top: str, folders: Sequence[FolderListing], left_out: list[LeftOut], *, is_certain: bool = False
) -> Iterator[SourceFound]:
    """The sources of Claude Code, plugins first. Plugins without agents are included if there are agents elsewhere.

    A folder whose agents list the tools of another host is a source of that host, unless the user named the format
    (`is_certain`).
    """
    plugins = list(find_plugins(folders, left_out))
    sources = [
        SourceFound(CLAUDE_CODE, plugin.path, Layout(plugin.path, areas), plugin.name, is_pooled=True)
        for plugin in plugins
        if (areas := tuple(list_plugin_areas(plugin)))
    ]
    sources += (
        SourceFound(CLAUDE_CODE, each.path, build_project_layout(each.path), os.path.basename(each.path))
        for each in folders
        if HIDDEN in each.folders and has_markdown(os.path.join(each.path, HIDDEN, AGENTS))
    )
    complete = {} if is_certain else _list_complete_plugins(top, plugins, sources)
    collections: list[SourceFound] = []
    not_listed: dict[str, list[str]] = {}
    for each in _find_collections(top, folders, [each.layout for each in sources], is_certain):
        if (plugin := _find_plugin_above(each.place, complete)) is None:
            collections.append(each)
        else:
            not_listed.setdefault(plugin, []).append(each.place)
    for plugin, places in not_listed.items():
        if len(places) == 1:
            left_out.append(LeftOut(places[0], _NOT_LISTED.format(complete[plugin]), CLAUDE_CODE))
        else:
            example = os.path.relpath(places[0], plugin)
            text = _SEVERAL_NOT_LISTED.format(f"{len(places):,}", example, complete[plugin])
            left_out.append(LeftOut(os.path.dirname(plugin), text, CLAUDE_CODE))
    sources += (each for each in collections if each.format == CLAUDE_CODE)
    if any(_does_hold_agents(each.layout) for each in sources):
        yield from sources
    yield from (each for each in collections if each.format != CLAUDE_CODE)


def _list_complete_plugins(
    top: str, plugins: Sequence[Plugin], sources: Sequence[SourceFound]
) -> dict[str, str]:
    """The names of the plugins that have agents of their own, by their folder. Claude Code loads no other agents below it.

    What is below a plugin that is the whole tree can also be for copying, so it is not among them.
    """
    with_agents = {each.place for each in sources if any(area.content == AGENT for area in each.layout.areas)}
    return {
        os.path.join(each.path, ""): each.name
        for each in plugins
        if each.path in with_agents and each.path != top and not each.is_shared
    }


def _find_plugin_above(folder: str, plugins: Mapping[str, str]) -> str | None:
    """The folder of the plugin that a folder is in, with a separator at its end."""
    while (above := os.path.dirname(folder)) != folder:
        if os.path.join(folder, "") in plugins:
            return os.path.join(folder, "")
        folder = above
    return None


# -- collections -------------------------------------------------------------------------------------------------------


def _find_collections(
    top: str, folders: Sequence[FolderListing], layouts: Sequence[Layout], is_certain: bool
) -> Iterator[SourceFound]:
    """Folders of Markdown files, of which at least one begins like an agent, outside of the other sources."""
    areas = [os.path.join(each.top, area.path) for each in layouts for area in each.areas]
    taken = tuple(os.path.join(each, "") for each in areas)
    files = set(areas)
    in_skill: set[str] = set()
    extensions = {
        each.path for each in folders if _OF_ANOTHER_HOST in each.files and MANIFESTS not in each.folders
    }
    heads = 0
    for listing in folders:
        parent = os.path.dirname(listing.path)
        if SKILL_FILE in listing.files or parent in in_skill:
            in_skill.add(listing.path)  # files next to a skill belong to it
            continue
        if not any(map(can_be_agent, listing.files)):
            continue
        if os.path.join(listing.path, "").startswith(taken) or _is_hidden(listing.path, top):
            continue
        folder = os.path.basename(listing.path)
        if folder == COMMANDS or (folder == AGENTS and parent in extensions):
            continue
        names = [
            name
            for name in listing.files
            if can_be_agent(name) and os.path.join(listing.path, name) not in files
        ]
        agents = []
        for name in names[:_MAX_OPENED]:
            heads += 1
            head = read_head(os.path.join(listing.path, name), _HEAD)
            if begins_like_agent(head):
                agents.append(head)
                if len(agents) == _AGENTS_LOOKED_AT:
                    break
        if agents:
            host = CLAUDE_CODE if is_certain else _find_host(agents)
            area = Area(os.curdir, COLLECTION_FILES, depth=0, content=COLLECTION)
            name = _name_collection(listing.path, top)
            yield SourceFound(host, listing.path, Layout(listing.path, (area,)), name)
        if heads > _MAX_HEADS:
            return


def _find_host(heads: Sequence[bytes]) -> str:
    """The host of agents by the tools that they list: Claude Code, unless they have tools of another host and none of its."""
    words = {word for head in heads for word in list_tools_in_head(head)}
    if all("_" not in word or word.startswith(MCP) for word in words):
        return CLAUDE_CODE  # no name that another host would have
    from orgkernel.loading.formats import read_built_in_tools  # the formats import this module

    known = {host: words & set(read_built_in_tools(host)) for host in (CLAUDE_CODE, _GEMINI_CLI)}
    return _GEMINI_CLI if known[_GEMINI_CLI] and not known[CLAUDE_CODE] else CLAUDE_CODE


def _is_hidden(folder: str, top: str) -> bool:
    """Whether a folder is in a hidden folder below the top, or of the top, which belongs to a host."""
    around = [os.path.basename(top), os.path.basename(os.path.dirname(top))]
    around += (each for each in top.split(os.sep) if each in _OTHER_HOSTS)
    inside = os.path.relpath(folder, top).split(os.sep)
    return any(part.startswith(".") and part != os.curdir for part in (*around, *inside))


def _name_collection(folder: str, top: str) -> str:
    """The name of a folder of agents: its own, or that of the folder above if it is just called `agents`."""
    while os.path.basename(folder) in _GENERIC and folder != top:
        folder = os.path.dirname(folder)
    return os.path.basename(folder)


def _does_hold_agents(layout: Layout) -> bool:
    """Whether a source has agents, and not only skills, commands or servers."""
    return any(
        area.content in (AGENT, COLLECTION)
        and (not area.files or has_markdown(os.path.join(layout.top, area.path)))
        for area in layout.areas
    )
