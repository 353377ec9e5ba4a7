"""Combines the files of a root: the organization, its tools, the agents that each agent may start, and handoffs."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from orgkernel.documents.records import Channel, HandoffRights, HierarchyEntry, RoleProfile
from orgkernel.loading.files import Root
from orgkernel.loading.formats.building import add_tools, replace_document
from orgkernel.loading.formats.copilot.agents import HANDOFFS, NOT_STARTED, SERVERS, STARTS, TOOLS
from orgkernel.loading.formats.copilot.words import EVERY, STARTER, convert_tool_id, holds
from orgkernel.loading.formats.equipment import list_declared_tools, select_plain_tools
from orgkernel.loading.formats.organizations import build_organization, get_organization_name
from orgkernel.loading.formats.servers import (
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

_FIRST = pack_mark(1, 1)


def complete(root: Root, files: Sequence[LoadedFile], own: Sequence[LoadedFile]) -> Completion:
    """Combine the files of one root."""
    documents = [document for file in files for document in file.read.documents]
    roles = [each for each in documents if each.kind == "role_profile"]
    if not roles:
        return Completion({}, ())
    catalogs = [each for each in documents if each.kind == "tool_catalog"]
    made: list[SourceDocument] = []
    built_in = [document for file in own for document in file.read.documents]
    declaring = {
        tool: each for each in (*built_in, *reversed(catalogs)) for tool in list_declared_tools(each)
    }
    everything = dict.fromkeys(declaring)
    for catalog in dict.fromkeys(declaring.values()):
        servers = {tool for tool in list_declared_tools(catalog) if declaring[tool] is catalog}
        if words := sorted(
            {word for role in roles for word in filter_server_tools(_list_tools(role), servers)}
        ):
            made.append(build_named_tools(catalog, words))
            everything |= dict.fromkeys(words)
    agents, all_tools = _Agents(roles), _KnownTools(everything)
    instead = drop_repeated_servers(catalogs)
    declared_tools = collect_tools((*catalogs, *made))
    for role in roles:
        known = all_tools
        if own_servers := get_list_words(role).get(SERVERS):
            catalog = build_own_servers(role, SERVERS, own_servers, _list_tools(role))
            made.append(drop_declared_tools(catalog, declared_tools))
            known = _KnownTools(everything | dict.fromkeys(list_declared_tools(catalog)))
        instead[id(role)] = _complete_role(role, known, agents)
    made.append(_build_organization(root, roles, agents))
    return Completion(instead, tuple(made))


class _KnownTools:
    """The tools that an agent can have, in the order in which they are declared."""

    def __init__(self, names: Mapping[str, None]) -> None:
        self.names = names
        # Asking every tool about every other one takes minutes for a file of some thousand servers.
        self._sorted = sorted(names)
        self._positions = {name: position for position, name in enumerate(names)}

    def list_parts(self, tool: str) -> list[str]:
        """The tools that a set or a server contains, as `holds` tells."""
        parts = []
        for begin in (f"{tool}.", f"{tool}__"):
            position = bisect_left(self._sorted, begin)
            while position < len(self._sorted) and self._sorted[position].startswith(begin):
                parts.append(self._sorted[position])
                position += 1
        return sorted(parts, key=self._positions.__getitem__)


class _Agents:
    """The agents of a root, keyed by the name that other agents use."""

    def __init__(self, roles: Sequence[SourceDocument]) -> None:
        self._ids: dict[str, str] = {}
        self.started: list[str] = []
        """The agents that others may start on their own."""
        for role in roles:
            profile = _get_profile(role)
            self._ids.setdefault(profile.role_name, profile.role_id)
            if NOT_STARTED not in get_list_words(role):
                self.started.append(profile.role_id)

    def get_role_id(self, name: str) -> str | None:
        """The role for a name."""
        return self._ids.get(name)


def _get_profile(document: SourceDocument) -> RoleProfile:
    record = document.record
    assert isinstance(record, RoleProfile)
    return record


def _list_tools(role: SourceDocument) -> Iterator[str]:
    """The ids of the tools that an agent lists."""
    return map(convert_tool_id, get_list_words(role).get(TOOLS, ()))


def _complete_role(role: SourceDocument, known: _KnownTools, agents: _Agents) -> SourceDocument:
    """The role with its existing tools, and the agents that it may start."""
    record, marks, words = _get_profile(role), role.marks, get_list_words(role)
    tools: dict[str, int] = {}
    if TOOLS not in words or EVERY in words[TOOLS]:
        tools = dict.fromkeys(known.names, marks[1][TOOLS][0] if TOOLS in words else marks[0])
    else:
        named: set[str] = set()
        for word, mark in zip(words[TOOLS], marks[1][TOOLS][1][1], strict=True):
            tool = convert_tool_id(word)
            if tool in known.names and tool not in named:
                named.add(tool)
                tools.setdefault(tool, mark)
                for each in known.list_parts(tool):
                    tools.setdefault(each, mark)
    names, places = select_plain_tools(tools, tools.values())
    marks = add_tools(marks, places)
    starts: dict[str, int] = {}
    if any(each == STARTER or holds(STARTER, each) for each in tools):
        # If no tool starts agents, the list has no effect, and a rule reports it.
        marks_of_names: dict[str, int] = {}
        for name, mark in zip(
            words.get(STARTS, ()), marks[1][STARTS][1][1] if STARTS in words else (), strict=True
        ):
            marks_of_names.setdefault(name, mark)
        for name, mark in marks_of_names.items():
            for role_id in agents.started if name == EVERY else [agents.get_role_id(name)]:
                if role_id is not None and role_id != record.role_id:
                    starts.setdefault(role_id, mark)
    if starts:
        key = marks[1][STARTS][0]
        marks = (
            marks[0],
            {**marks[1], "handoff": (key, (key, {"may_to": (key, (key, list(starts.values())))}))},
        )
    changed = replace(
        record,
        capabilities=replace(record.capabilities, tools_primary=names),
        role_type="executive" if starts else record.role_type,
        handoff=HandoffRights(may_to=tuple(starts)),
    )
    return replace_document(role, changed, marks)


def _build_organization(root: Root, roles: Sequence[SourceDocument], agents: _Agents) -> SourceDocument:
    """The organization of all roles, without a chain of command, because no file declares one. Handoffs become a
    channel.
    """
    pairs = dict.fromkeys(
        (_get_profile(role).role_id, target)
        for role in roles
        for name in get_list_words(role).get(HANDOFFS, ())
        if (target := agents.get_role_id(name)) is not None
    )
    channels = {}
    if pairs:
        about = "An agent suggests that its user continue with another agent."
        channels[HANDOFFS] = Channel(description=about, allowed_pairs=tuple(pairs))
    hierarchy = dict.fromkeys((_get_profile(each).role_id for each in roles), HierarchyEntry())
    name = os.path.dirname(roles[0].name) or os.curdir
    return build_organization(
        roles[0],
        root.path,
        get_organization_name(root),
        hierarchy,
        name=name,
        communication_channels=channels,
    )
