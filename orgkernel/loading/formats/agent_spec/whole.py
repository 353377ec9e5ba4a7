"""Combine the files of a root: build its organization, and resolve components in other files."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from orgkernel.documents.records import (
    USER,
    AccessPolicies,
    HierarchyEntry,
    Policy,
    RoleProfile,
    StandingOrder,
    Tool,
    ToolCatalog,
)
from orgkernel.loading.files import Root
from orgkernel.loading.formats.agent_spec.components import CATALOG, REF
from orgkernel.loading.formats.building import replace_document
from orgkernel.loading.formats.organizations import build_organization, get_organization_name
from orgkernel.loading.formats.roles import (
    ROLE_TYPES,
    RolePart,
    build_tool_id_from_name,
    measure_height,
    place_role,
)
from orgkernel.loading.formats.words import get_list_words
from orgkernel.loading.sources import Completion, LoadedFile, SourceDocument


class _Edges(NamedTuple):
    """Relations between roles, as `{source: {target: mark}}`. A mark is the packed line and column of the declaring value."""

    commands: dict[str, dict[str, int]]
    queries: dict[str, dict[str, int]]
    unresolved: list[int]


def complete(root: Root, files: Sequence[LoadedFile]) -> Completion:
    """Combine the files of one root: the organization of its agents, and the roles with their tools and superiors."""
    every = [document for file in files for document in file.read.documents]
    repeated = _find_repeated(every)
    documents = [each for each in every if id(each) not in repeated]
    roles: dict[str, SourceDocument] = {}
    for document in documents:
        if isinstance(document.record, RoleProfile):
            roles.setdefault(document.record.role_id, document)
    catalogs = [each for each in documents if each.kind == CATALOG]
    if not roles:
        return Completion()
    raw: dict[int, Mapping[str, Any]] = {id(each): get_list_words(each) for each in catalogs}
    agents = {ref: role for each in raw.values() for ref, role in each.get("agents", {}).items()}
    ids = {ref: tool for each in raw.values() for ref, tool in each.get("ids", {}).items()}
    declared = {
        tool for each in catalogs if isinstance(each.record, ToolCatalog) for tool in each.record.tools
    }
    replacements: dict[int, SourceDocument] = {}
    edges: dict[int, _Edges] = {}
    for each in catalogs:
        file_edges = edges[id(each)] = _read_edges(each, raw[id(each)], agents, roles)
        if file_edges.unresolved:
            more = {**raw[id(each)], "unresolved": file_edges.unresolved}
            replacements[id(each)] = replace_document(each, each.record, each.marks, more)
    commands = _merge(each.commands for each in edges.values())
    queries = _merge(each.queries for each in edges.values())
    # Several teams can have one worker. Reversed, the first team in the files is kept as its superior.
    superior = {worker: manager for manager, below in reversed(commands.items()) for worker in below}
    for name, role in roles.items():
        tools, undeclared = _list_tools(role, ids, declared)
        query_targets = [each for each in queries.get(name, {}) if each != name]
        # Asking another agent takes the right to hand work down, which only an executive or a commander has.
        height = max(measure_height(name, commands), 1 if query_targets else 0)
        at = next(iter(queries.get(name, {}).values()), 0) or role.marks[0]
        part = RolePart(
            tools,
            undeclared,
            superior.get(name, USER),
            ROLE_TYPES[min(height, 2)],
            query_targets,
            at if height else 0,
        )
        replacements[id(role)] = place_role(role, part)
    _drop_repeated(documents, replacements)
    organization = _build_organization(root, catalogs, raw, roles, commands, edges)
    return Completion(replacements, (organization,), removed=repeated)


def _find_repeated(documents: Sequence[SourceDocument]) -> frozenset[int]:
    """The identities of agents that several files declare identically, such as one component in YAML and in JSON, and of their
    instructions. The first file declares them.
    """
    first: dict[str, SourceDocument] = {}
    repeated: set[int] = set()
    dropped: set[tuple[str, str]] = set()
    for each in documents:
        if isinstance(each.record, RoleProfile):
            known = first.setdefault(each.record.role_id, each)
            if known.path != each.path and known.record == each.record and _has_same_words(known, each):
                repeated.add(id(each))
                dropped.add((each.path, each.record.role_id))
    repeated |= {
        id(each)
        for each in documents
        if isinstance(each.record, StandingOrder) and (each.path, each.record.target) in dropped
    }
    return frozenset(repeated)


def _has_same_words(known: SourceDocument, other: SourceDocument) -> bool:
    """Whether the files of two agents name the same tools."""
    return get_list_words(known) == get_list_words(other)


def _drop_repeated(documents: Sequence[SourceDocument], replacements: dict[int, SourceDocument]) -> None:
    """Merge identical tools of several files. The first file keeps the tool and its confirmation policy."""
    tools: dict[str, Tool] = {}
    policies: dict[str, Policy] = {}
    for each in documents:
        record = each.record
        now = replacements.get(id(each), each)
        raw = get_list_words(now)
        if isinstance(record, ToolCatalog):
            kept = {name: tool for name, tool in record.tools.items() if tools.get(name) != tool}
            tools = {**record.tools, **tools}
            if len(kept) < len(record.tools):
                replacements[id(each)] = replace_document(each, ToolCatalog(tools=kept), now.marks, raw)
        elif isinstance(record, AccessPolicies):
            further = {
                name: policy for name, policy in record.policies.items() if policies.get(name) != policy
            }
            policies = {**record.policies, **policies}
            if len(further) < len(record.policies):
                replacements[id(each)] = replace_document(
                    each, AccessPolicies(policies=further), now.marks, raw
                )


def _read_edges(
    catalog: SourceDocument,
    raw: Mapping[str, Any],
    agents: Mapping[str, str],
    roles: Mapping[str, SourceDocument],
) -> _Edges:
    """The edges of a file between existing roles."""
    edges = _Edges(defaultdict(dict), defaultdict(dict), [])
    marks = catalog.marks[1]["edges"][1][1]
    for number, (verb, *ends) in enumerate(raw.get("edges", ())):
        source, target = (_get_role(each, agents) for each in ends)
        if source not in roles or target not in roles:
            edges.unresolved.append(number)
        elif verb == "commands":
            edges.commands[source].setdefault(target, marks[number])
        else:
            edges.queries[source].setdefault(target, marks[number])
    return edges


def _get_role(end: str | None, agents: Mapping[str, str]) -> str:
    """The role at an end of an edge, even if it is in another file. Empty if none exists."""
    name = end or ""
    return agents.get(name.removeprefix(f"{REF} "), "") if name.startswith(f"{REF} ") else name


def _merge(each: Iterable[Mapping[str, Mapping[str, int]]]) -> dict[str, dict[str, int]]:
    merged: dict[str, dict[str, int]] = {}
    for edges in each:
        for source, below in edges.items():
            # The first file that declares an edge keeps its place.
            merged[source] = {**below, **merged.get(source, {})}
    return merged


def _list_tools(
    role: SourceDocument, ids: Mapping[str, str], declared: Iterable[str]
) -> tuple[dict[str, int], list[str]]:
    """The tools of an agent with their marks, and the positions of undeclared ones."""
    known = set(declared)
    tools: dict[str, int] = {}
    undeclared = []
    raw, marks = get_list_words(role), role.marks[1]
    for field in ("tools", "toolboxes"):
        for number, word in enumerate(raw.get(field, ())):
            tool = ids.get(word) or build_tool_id_from_name(word)
            if tool in known:
                tools.setdefault(str(tool), marks[field][1][1][number])
            else:
                undeclared.append(f"{field} {number}")
    return tools, undeclared


def _build_organization(
    root: Root,
    catalogs: Sequence[SourceDocument],
    raw: Mapping[int, Mapping[str, Any]],
    roles: Mapping[str, SourceDocument],
    commands: Mapping[str, Mapping[str, int]],
    edges: Mapping[int, _Edges],
) -> SourceDocument:
    """The organization of all agents of a folder, named after its only team or the folder."""
    teams = [each for each in catalogs if raw[id(each)].get("team", [""])[0].strip()]
    team = teams[0] if len(teams) == 1 else None
    called = raw[id(team)]["team"][0].strip() if team else get_organization_name(root)
    hierarchy = {name: HierarchyEntry(subordinates=tuple(commands.get(name, ()))) for name in roles}
    like = team or catalogs[0]
    # Without one team, no file is the place of the organization, so it is shown at the folder.
    if team is None and len(catalogs) > 1:
        return build_organization(like, root.path, called, hierarchy, name=root.name or os.curdir)
    start = like.marks[0]
    entries: dict[str, Any] = {}
    for name, role in roles.items():
        at = role.marks[0] if role.name == like.name else start
        places = edges[id(like)].commands.get(name, {})
        listed = [places.get(each, start) for each in commands.get(name, ())]
        entries[name] = (at, (at, {"subordinates": (at, (at, listed))} if listed else {}))
    below: dict[str, Any] = {"hierarchy": (start, (start, entries))}
    if team is not None:
        below |= dict.fromkeys(("org_id", "org_name"), team.marks[1]["name"])
    return build_organization(like, root.path, called, hierarchy, marks=(start, below))
