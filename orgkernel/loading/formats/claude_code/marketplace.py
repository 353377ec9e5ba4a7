"""Reads a marketplace, which lists plugins. Each plugin in its folder is an organization, because plugins are
installed one by one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from orgkernel.loading.files import does_stay_below, has_markdown, is_file, is_folder, read_text
from orgkernel.loading.formats.claude_code.layout import AGENTS
from orgkernel.loading.json_reader import parse_json

MARKETPLACE = os.path.join(".claude-plugin", "marketplace.json")


class ListedPlugin(NamedTuple):
    """A plugin with agents, and its name in the marketplace."""

    path: str
    name: str


def list_plugins(path: str) -> list[ListedPlugin]:
    """The plugins with agents in the folder of a marketplace. Empty for any other folder."""
    file = os.path.join(path, MARKETPLACE)
    if not is_folder(path) or not is_file(file):
        return []
    parsed = parse_json(read_text(file, MARKETPLACE).text)
    value = parsed.documents[0].value if parsed.documents and not parsed.refusals else None
    return sorted(set(_list_listed(path, value))) if isinstance(value, dict) else []


def _list_listed(top: str, value: dict[str, object]) -> Iterator[ListedPlugin]:
    plugins, more = value.get("plugins"), value.get("metadata")
    root = more.get("pluginRoot") if isinstance(more, dict) else ""
    for plugin in plugins if isinstance(plugins, tuple) else ():
        source, name = (
            (plugin.get("source"), plugin.get("name")) if isinstance(plugin, dict) else (None, None)
        )
        if not isinstance(source, str) or not isinstance(name, str) or "\0" in source:
            continue  # the plugin is outside the folder
        below = root if isinstance(root, str) and not source.startswith("./") and "\0" not in root else ""
        path = os.path.normpath(os.path.join(top, below, source))
        if does_stay_below(path, top) and has_markdown(os.path.join(path, AGENTS)):
            yield ListedPlugin(path, name)
