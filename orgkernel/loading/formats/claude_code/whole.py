"""Combines the files of a root: builds the organization, adds server tools that agents name, and expands "every
tool".
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from orgkernel.documents.records import HierarchyEntry, RoleProfile
from orgkernel.loading.files import Root
from orgkernel.loading.formats.building import add_tools, replace_document
from orgkernel.loading.formats.claude_code.commands import COMMAND
from orgkernel.loading.formats.claude_code.file_scopes import (
    compute_file_scope,
    find_harmless_tools,
    is_file_part,
)
from orgkernel.loading.formats.claude_code.host_table import list_older_names
from orgkernel.loading.formats.claude_code.permissions import restrict_to_known_tools
from orgkernel.loading.formats.equipment import list_declared_tools, select_plain_tools
from orgkernel.loading.formats.names import MCP, get_server_tool_id_of
from orgkernel.loading.formats.organizations import build_organization, get_organization_name
from orgkernel.loading.formats.servers import (
    FIELD,
    PLUGIN_NAME,
    build_named_tools,
    build_own_servers,
    collect_tools,
    drop_declared_tools,
    drop_repeated_servers,
    filter_server_tools,
)
from orgkernel.loading.formats.words import get_list_words
from orgkernel.loading.marks import pack_mark
from orgkernel.loading.sources import Completion, LoadedFile, SourceDocument

EVERY = "*"
_FIRST = pack_mark(1, 1)


def complete(root: Root, files: Sequence[LoadedFile], own: Sequence[LoadedFile]) -> Completion:
    """Combine the files of one root."""
    documents = [document for file in files for document in file.read.documents]
    roles = [each for each in documents if each.kind == "role_profile"]
    catalogs = [
        each for each in documents if each.kind == "tool_catalog" and COMMAND not in get_list_words(each)
    ]
    if not roles:
        return Completion({}, ())
    built_in = [tool for file in own for each in file.read.documents for tool in list_declared_tools(each)]
    pooled = [each for file in own for each in file.read.documents if _is_pooled(each)]
    # Reversed, so the first declaration of a tool remains: the project's own, before those of other plugins.
    servers = {tool: each for each in reversed((*catalogs, *pooled)) for tool in list_declared_tools(each)}
    raw = {id(each): get_list_words(each) for each in roles}
    made: list[SourceDocument] = []
    everything = dict.fromkeys((*built_in, *servers))
    named = {
        tool: servers[str(get_server_tool_id_of(tool))]
        for words in raw.values()
        for tool in filter_server_tools(_list_tool_names(words), servers)
    }
    for catalog in dict.fromkeys(named.values()):
        words = sorted(word for word, declaring in named.items() if declaring is catalog)
        made.append(build_named_tools(catalog, words))
        everything |= dict.fromkeys(words)
    instead = drop_repeated_servers(catalogs)
    declared_tools = collect_tools((*catalogs, *made))
    harmless = find_harmless_tools(document for file in own for document in file.read.documents)
    for role in roles:
        known = everything
        if own_servers := raw[id(role)].get(FIELD):
            catalog = build_own_servers(role, FIELD, own_servers, _list_tool_names(raw[id(role)]))
            # Several agents may declare servers of one name.
            made.append(drop_declared_tools(catalog, declared_tools))
            # Servers in the front matter of an agent exist for this agent alone.
            known = everything | dict.fromkeys(list_declared_tools(catalog))
        if _does_depend_on_others(raw[id(role)], known):
            instead[id(role)] = _equip(role, raw[id(role)], known, harmless)
    # Policies apply to all agents, so they may also name tools that only one of them has.
    everything |= dict.fromkeys(tool for catalog in made for tool in list_declared_tools(catalog))
    for each in documents:
        if each.kind == "access_policies":
            instead[id(each)] = restrict_to_known_tools(each, everything)
    made.append(_build_organization(root, files, roles, catalogs))
    return Completion(instead, tuple(made))


def _is_pooled(document: SourceDocument) -> bool:
    """Whether a document declares the servers of another plugin."""
    return (
        document.kind == "tool_catalog" and not document.context and COMMAND not in get_list_words(document)
    )


def _list_tool_names(raw: Mapping[str, Any]) -> Iterator[str]:
    """The tools that an agent has or lacks, by the names in its file."""
    yield from (*raw.get("tools", ()), *raw.get("disallowedTools", ()))


def _does_depend_on_others(raw: Mapping[str, Any], everything: dict[str, None]) -> bool:
    """Whether the tools of a role differ from the words that its file lists."""
    words = raw.get("tools")
    if words is None or "disallowedTools" in raw:
        return True
    older = list_older_names()
    return any(word not in everything or word.startswith(MCP) or word in older for word in words)


def _equip(
    role: SourceDocument, raw: Mapping[str, Any], everything: dict[str, None], harmless: Collection[str]
) -> SourceDocument:
    """The role with its existing tools. An undeclared word adds no tool. Rules report it."""
    record, marks = role.record, role.marks
    assert isinstance(record, RoleProfile)
    words: dict[str, int] = {}
    if "tools" not in raw or EVERY in raw["tools"]:
        at = marks[0] if "tools" not in raw else marks[1]["tools"][0]
        whole = parts = dict.fromkeys(everything, at)
    else:
        words = dict(zip(raw["tools"], marks[1]["tools"][1][1], strict=False))
        whole = _expand_words((each for each in words.items() if not is_file_part(each[0])), everything)
        parts = _expand_words(words.items(), everything)
    denied = [_get_tool_name(word) for word in raw.get("disallowedTools", ())]
    removed = _expand_words(((word, 0) for word in denied), everything)
    equipped = [each for each in whole if each not in removed]
    scoped, paths = compute_file_scope(words, denied, equipped, harmless)
    tools = {tool: mark for tool, mark in (whole if scoped else parts).items() if tool not in removed}
    names, places = select_plain_tools({**tools, **scoped}, [*tools.values(), *scoped.values()])
    changed = replace(
        record, capabilities=replace(record.capabilities, tools_primary=names), file_scope=tuple(paths)
    )
    marks = add_tools(marks, places)
    if paths:
        key = marks[1]["tools"][0]
        marks = (marks[0], {**marks[1], "file_scope": (key, (key, list(paths.values())))})
    return replace_document(role, changed, marks)


def _get_tool_name(word: str) -> str:
    """The tool of which a word lists a part, or the word. Claude Code gives, or denies, the whole tool."""
    return word.partition("(")[0].strip()


def _expand_words(words: Iterable[tuple[str, int]], everything: dict[str, None]) -> dict[str, int]:
    """The tools that words stand for, each with the mark of the first word."""
    tools: dict[str, int] = {}
    for word, mark in words:
        for tool in _expand_word(_get_tool_name(word), everything):
            tools.setdefault(tool, mark)
    return tools


def _expand_word(word: str, everything: dict[str, None]) -> Iterator[str]:
    """The tools that a word stands for: the tool itself, its alias, or all known tools of a server."""
    if word in everything:
        yield word
    if (name := list_older_names().get(word)) is not None and name in everything:
        yield name
    server = get_server_tool_id_of(word)
    if server is not None and word in (server, f"{server}__{EVERY}") and server in everything:
        yield server
        yield from (each for each in everything if each.startswith(f"{server}__"))


def _build_organization(
    root: Root,
    files: Sequence[LoadedFile],
    roles: Sequence[SourceDocument],
    catalogs: Sequence[SourceDocument],
) -> SourceDocument:
    """The organization of all roles, without a chain of command, because no file declares one."""
    named = {
        id(each): str(get_list_words(each)[PLUGIN_NAME])
        for each in catalogs
        if PLUGIN_NAME in get_list_words(each)
    }
    plugin = next((each for each in catalogs if id(each) in named), None)
    called = named[id(plugin)] if plugin is not None else get_organization_name(root)
    hierarchy = dict.fromkeys((each.record.role_id for each in roles), HierarchyEntry())  # type: ignore[attr-defined]
    description = plugin.record.description if plugin is not None else ""  # type: ignore[attr-defined]
    area = root.find_area(roles[0].path)
    folder = (
        os.path.normpath(os.path.join(root.name, area.path)) if area is not None and area.files else root.name
    )
    name = plugin.name if plugin is not None else folder or os.curdir
    below = dict(plugin.marks[1]) if plugin is not None else {}
    if plugin is not None:
        below |= {"org_id": below["name"], "org_name": below["name"]}
    return build_organization(
        roles[0], root.path, called, hierarchy, name=name, marks=(_FIRST, below), description=description
    )
