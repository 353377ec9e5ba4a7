"""Reads marketplaces and the manifests of plugins: where a plugin is, and which files it lists."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from orgkernel.loading.files import (
    MARKDOWN,
    SKILL_FILE,
    SKILLS,
    Area,
    does_exist,
    does_stay_below,
    is_file,
    is_folder,
    read_text,
)
from orgkernel.loading.formats.claude_code.paths import (
    AGENT,
    AGENT_FILES,
    AGENTS,
    CLAUDE_CODE,
    COMMAND,
    COMMANDS,
    MANIFESTS,
    MARKETPLACE,
    PLUGIN,
    SERVERS,
    SKILL,
    SKILL_FILES,
)
from orgkernel.loading.formats.listing import FolderListing, LeftOut
from orgkernel.loading.json_reader import parse_json

_MAX_PLUGINS = 5_000
"""Maximum number of plugins of one marketplace."""
# Why a plugin is not read: for one, and for several.
_ELSEWHERE = ("the plugin {name} is not in this tree", "{count} plugins are not in this tree, such as {name}")
_OUTSIDE = (
    "the plugin {name} is outside of the folder of its marketplace",
    "{count} plugins are outside of the folder of their marketplace, such as {name}",
)
_NO_FOLDER = (
    "the folder of the plugin {name} does not exist",
    "the folders of {count} plugins do not exist, such as that of {name}",
)


class Plugin(NamedTuple):
    """A plugin of the tree, with what its manifests list."""

    path: str
    name: str
    listed: Mapping[str, Any]
    is_shared: bool = False
    """Whether other plugins have the same folder, so only what it lists belongs to it."""


def read_plugin(path: str) -> Plugin:
    """The plugin in a folder, from its own manifest."""
    manifest = _read_mapping(os.path.join(path, PLUGIN))
    name = manifest.get("name")
    return Plugin(path, name if isinstance(name, str) and name else os.path.basename(path), manifest)


def find_plugins(folders: Iterable[FolderListing], left_out: list[LeftOut]) -> Iterator[Plugin]:
    """The plugins that marketplaces list, and the other folders with a manifest of a plugin."""
    with_manifests = [each.path for each in folders if MANIFESTS in each.folders]
    listed: dict[tuple[str, str], Plugin] = {}
    for path in with_manifests:
        for plugin in _list_plugins(path, left_out):
            listed.setdefault((plugin.path, plugin.name), plugin)
    plugins_in = Counter(path for path, _ in listed)
    for plugin in listed.values():
        yield plugin._replace(is_shared=plugins_in[plugin.path] > 1)
    for path in with_manifests:
        if path not in plugins_in and is_file(os.path.join(path, PLUGIN)):
            yield read_plugin(path)


def get_marketplace_name(path: str) -> str:
    """The name of the marketplace in a folder. Empty if there is none."""
    name = _read_mapping(os.path.join(path, MARKETPLACE)).get("name")
    return name if isinstance(name, str) else ""


def _list_plugins(top: str, left_out: list[LeftOut]) -> Iterator[Plugin]:
    file = os.path.join(top, MARKETPLACE)
    if not is_file(file):
        return
    value = _read_mapping(file)
    more, plugins = value.get("metadata"), value.get("plugins")
    base = more.get("pluginRoot") if isinstance(more, dict) else ""
    listed = plugins if isinstance(plugins, tuple) else ()
    if len(listed) > _MAX_PLUGINS:
        reason = f"it lists more than {_MAX_PLUGINS:,} plugins, and the rest is not read"
        left_out.append(LeftOut(file, reason, CLAUDE_CODE))
    missing: dict[tuple[str, str], list[str]] = {}
    for plugin in listed[:_MAX_PLUGINS]:
        source, name = (
            (plugin.get("source"), plugin.get("name")) if isinstance(plugin, dict) else (None, None)
        )
        if not isinstance(name, str) or not name:
            continue
        if not isinstance(source, str) or "\0" in source:
            missing.setdefault(_ELSEWHERE, []).append(name)
            continue
        below = base if isinstance(base, str) and not source.startswith("./") and "\0" not in base else ""
        path = os.path.normpath(os.path.join(top, below, source))
        if not does_stay_below(path, top):
            missing.setdefault(_OUTSIDE, []).append(name)
        elif not is_folder(path):
            missing.setdefault(_NO_FOLDER, []).append(name)
        else:
            manifest = _read_mapping(os.path.join(path, PLUGIN))
            yield Plugin(
                path, name, {**manifest, **{key: each for key, each in plugin.items() if key != "source"}}
            )
    for (one, several), names in missing.items():
        text = one if len(names) == 1 else several
        left_out.append(LeftOut(file, text.format(name=names[0], count=f"{len(names):,}"), CLAUDE_CODE))


def _read_mapping(path: str) -> dict[str, Any]:
    """The values of a JSON file. Empty if it is missing or is not a mapping."""
    if not is_file(path):
        return {}
    parsed = parse_json(read_text(path, path).text)
    value = parsed.documents[0].value if parsed.documents and not parsed.problems else None
    return value if isinstance(value, dict) else {}


def list_plugin_areas(plugin: Plugin) -> Iterator[Area]:
    """The files of a plugin: those that it lists, and those in the usual folders."""
    for field, kind, files in (
        (AGENTS, AGENT, AGENT_FILES), (SKILLS, SKILL, SKILL_FILES), (COMMANDS, COMMAND, AGENT_FILES),
    ):  # fmt: skip
        paths = list(_list_paths(plugin, plugin.listed.get(field)))
        for path in paths:
            yield from _build_area(plugin.path, path, kind, files)
        # Listed skills are added to the usual folder. Listed agents and commands replace it.
        is_usual_read = not paths or (kind == SKILL and not plugin.is_shared)
        if is_usual_read and is_folder(os.path.join(plugin.path, field)):
            yield Area(field, files, content=kind)
    if not plugin.is_shared:
        servers = plugin.listed.get("mcpServers")
        for path in [SERVERS, *(_list_paths(plugin, servers) if isinstance(servers, (str, tuple)) else ())]:
            if is_file(os.path.join(plugin.path, path)):
                yield Area(path)
        if is_file(os.path.join(plugin.path, PLUGIN)):
            yield Area(PLUGIN)


def _list_paths(plugin: Plugin, value: Any) -> Iterator[str]:
    """The paths that a manifest lists, relative to the plugin. A path that leaves the plugin is ignored."""
    for each in (value,) if isinstance(value, str) else value if isinstance(value, tuple) else ():
        if isinstance(each, str) and each and "\0" not in each:
            path = os.path.normpath(os.path.join(plugin.path, each))
            if does_exist(path) and does_stay_below(path, plugin.path):
                yield os.path.relpath(path, plugin.path)


def _build_area(top: str, path: str, kind: str, files: str) -> Iterator[Area]:
    full = os.path.join(top, path)
    if kind == SKILL:
        if is_file(os.path.join(full, SKILL_FILE)):
            yield Area(os.path.normpath(os.path.join(path, SKILL_FILE)), content=kind)
        elif is_folder(full):
            yield Area(path, files, content=kind)
    elif is_folder(full):
        yield Area(path, files, content=kind)
    elif full.endswith(MARKDOWN):
        yield Area(path, content=kind)
