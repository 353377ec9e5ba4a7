"""Combines the files of a root: each crew as an organization, its manager, and the tools of its agents."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from typing import Any, NamedTuple

from orgkernel.documents.records import USER, HierarchyEntry, Tool, ToolCatalog
from orgkernel.loading.files import Root
from orgkernel.loading.formats.building import complete_with
from orgkernel.loading.formats.crewai.layout import AGENTS, CONFIG, TOOLS
from orgkernel.loading.formats.crewai.reading import HIERARCHICAL, ROLE, TASKS, TOOL_KIND, build_own_tool
from orgkernel.loading.formats.equipment import list_declared_tools
from orgkernel.loading.formats.names import convert_to_id
from orgkernel.loading.formats.organizations import build_organization
from orgkernel.loading.formats.roles import RolePart, build_tool_id_from_name, place_role
from orgkernel.loading.formats.words import get_list_words
from orgkernel.loading.marks import Marks, pack_mark
from orgkernel.loading.sources import Completion, LoadedFile, SourceDocument

_FIRST = pack_mark(1, 1)
_LIBRARY = "crewai_tools:"
# Lists whose entries are servers and services themselves, so naming one declares it.
_SERVICES = ("apps", "mcps")


class _Crew(NamedTuple):
    """The documents of one crew, and other facts about it."""

    roles: dict[str, SourceDocument]
    """Roles, keyed by their names in the crew."""
    says: SourceDocument | None
    """The document that defines the process of the crew."""
    raw: Mapping[str, Any]
    tasks: tuple[SourceDocument, ...]
    is_json: bool


def complete(root: Root, files: Sequence[LoadedFile], own: Sequence[LoadedFile]) -> Completion:
    """Combine the files of all crews of a root."""
    library = {tool for file in own for each in file.read.documents for tool in list_declared_tools(each)}
    folders: dict[str, list[SourceDocument]] = defaultdict(list)
    for file in files:
        for document in file.read.documents:
            folders[_get_crew_folder(document.path)].append(document)
    instead: dict[int, SourceDocument] = {}
    made: list[SourceDocument] = []
    for folder, documents in folders.items():
        crew = _build_crew(documents)
        if not crew.roles:
            continue
        declared = {tool for each in documents for tool in list_declared_tools(each)}
        services = _build_services(crew, declared | library)
        if services is not None:
            made.append(services)
            declared |= set(list_declared_tools(services))
        manager = _get_manager(crew)
        others = [name for name in _list_members(crew) if name != manager]
        for name in (*others, *([manager] if manager else [])):
            role = crew.roles[name]
            instead[id(role)] = place_role(
                role, _build_role_part(crew, name, manager, others, declared, library)
            )
        made.append(_build_organization(root, folder, crew, manager, others))
    return Completion(instead, tuple(made))


def _get_crew_folder(path: str) -> str:
    """The folder of the crew that a file belongs to."""
    folder = os.path.dirname(path)
    is_inside = os.path.basename(folder) in (AGENTS, CONFIG, TOOLS)
    return os.path.dirname(folder) if is_inside else folder


def _build_crew(documents: Sequence[SourceDocument]) -> _Crew:
    roles: dict[str, SourceDocument] = {}
    says: SourceDocument | None = None
    raw: Mapping[str, Any] = {}
    is_json = False
    for each in documents:
        if each.kind == ROLE:
            roles.setdefault(each.record.role_id, each)  # type: ignore[attr-defined]
        elif each.kind in (TASKS, TOOL_KIND) and (words := get_list_words(each)).keys() & {
            "agents",
            "is_crew",
        }:
            says, raw, is_json = each, words, "agents" in words
    return _Crew(roles, says, raw, tuple(each for each in documents if each.kind == TASKS), is_json)


def _list_members(crew: _Crew) -> list[str]:
    """The existing agents of a crew, in its order."""
    if not crew.is_json:
        return list(crew.roles)
    return [name for name in dict.fromkeys(map(convert_to_id, crew.raw["agents"])) if name in crew.roles]


def _get_manager(crew: _Crew) -> str | None:
    """The agent that a hierarchical crew names as its manager."""
    named = crew.raw.get("manager", ())
    if crew.raw.get("process") != [HIERARCHICAL] or not named or convert_to_id(named[0]) not in crew.roles:
        return None
    return convert_to_id(named[0])


def _build_role_part(
    crew: _Crew, name: str, manager: str | None, others: Sequence[str], declared: Set[str], library: Set[str]
) -> RolePart:
    """The part of an agent's role that comes from its crew."""
    role = crew.roles[name]
    raw, marks = get_list_words(role), role.marks[1]
    tools: dict[str, int] = {}
    undeclared = []
    for field in ("tools", *_SERVICES):
        for number, word in enumerate(raw.get(field, ())):
            tool = _resolve_tool(
                word, declared, () if crew.says is not None and not crew.is_json else library
            )
            if tool is None:
                undeclared.append(f"{field} {number}")
            else:
                tools.setdefault(tool, marks[field][1][1][number])
    # A tool in the code is at the agent, because its line in the code is in another file.
    for word in _list_code_tools(crew, name):
        tools.setdefault(str(_resolve_tool(word, declared, library)), role.marks[0])
    doing = [
        task
        for each in crew.tasks
        for task, who in _map_tasks_to_agents(each).items()
        if convert_to_id(who) == name
    ]
    if name == manager:
        return RolePart(tools, undeclared, USER, "commander", others, role.marks[0], doing)
    part = RolePart(tools, undeclared, manager or USER, procedures=doing)
    if "allow_delegation" in raw and len(others) > 1:
        may = [each for each in others if each != name]
        part = part._replace(
            role_type="executive", may_hand_off=may, delegates_at=_get_key(marks, "allow_delegation")
        )
    return part


def _list_code_tools(crew: _Crew, name: str) -> list[str]:
    """The tools that the code of the crew gives to an agent."""
    given: Mapping[str, list[str]] = crew.raw.get("code_tools", {})
    return [word for agent, words in given.items() if convert_to_id(agent) == name for word in words]


def _get_key(marks: Mapping[str, tuple[int, Marks]], field: str) -> int:
    return marks[field][0]


def _map_tasks_to_agents(tasks: SourceDocument) -> Mapping[str, str]:
    """The agent of each task."""
    words: Mapping[str, Any] = get_list_words(tasks)
    return dict(words.get("doing", {}))


def _resolve_tool(word: str, declared: Set[str], library: Set[str] | tuple[()]) -> str | None:
    """The tool that a word stands for: a tool of the project, or of the library under any name that CrewAI accepts."""
    tool = build_tool_id_from_name(word)
    if tool is not None and tool in declared:
        return tool
    name = word.removeprefix(_LIBRARY)
    pascal = "".join(each.capitalize() for each in name.split("_"))
    return next((each for each in (name, f"{name}Tool", f"{pascal}Tool") if each in library), None)


def _build_services(crew: _Crew, declared: Set[str]) -> SourceDocument | None:
    """The apps and MCP servers that agents name, each at its first mention, and the classes of tools in the code of the crew that
    nothing declares.
    """
    tools: dict[str, Tool] = {}
    first: dict[str, tuple[SourceDocument, int]] = {}
    for role in crew.roles.values():
        raw, marks = get_list_words(role), role.marks[1]
        for field in ("tools", *_SERVICES):
            for number, word in enumerate(raw.get(field, ())):
                tool = build_tool_id_from_name(word)
                if tool is None or tool in tools or (field == "tools" and not word.startswith("platform:")):
                    continue
                tools[tool] = Tool(
                    name=word,
                    description=f"The {'MCP server or tool' if field == 'mcps' else 'app'} {word}.",
                    type="mcp_server" if field == "mcps" else "remote_api",
                    provider=word,
                    side_effects="destructive",
                )
                first[tool] = (role, marks[field][1][1][number])
        for word in _list_code_tools(crew, role.record.role_id):  # type: ignore[attr-defined]
            tool = build_tool_id_from_name(word)
            if tool is not None and tool not in tools and _resolve_tool(word, declared, declared) is None:
                tools[tool] = build_own_tool(f"The tool {word} in the code of the crew.")
                first[tool] = (role, role.marks[0])
    if not tools:
        return None
    role = next(iter(first.values()))[0]
    marks = {tool: (mark, mark) for tool, (_, mark) in first.items()}
    return complete_with(
        role, TOOL_KIND, ToolCatalog(tools=tools), (_FIRST, {"tools": (_FIRST, (_FIRST, marks))})
    )


def _build_organization(
    root: Root, folder: str, crew: _Crew, manager: str | None, others: Sequence[str]
) -> SourceDocument:
    """The organization of a crew. If the crew names a manager, the manager is the superior of all others. Otherwise
    there is no superior.
    """
    words = crew.raw.get("crew") or [""]
    called = words[0] or (root.called if folder == root.path else "") or os.path.basename(folder)
    hierarchy = {name: HierarchyEntry() for name in others}
    if manager is not None:
        hierarchy = {manager: HierarchyEntry(subordinates=tuple(others)), **hierarchy}
    first = next(iter(crew.roles.values()))
    says = crew.says
    below: dict[str, Any] = {}
    if says is not None:
        written = says.marks[1]
        if words[0]:
            below |= {"org_id": written["name"], "org_name": written["name"]}
        at = written.get("manager_agent", written.get("process", (_FIRST, _FIRST)))
        entries: dict[str, Any] = dict.fromkeys(others, (at[0], at[0]))
        if crew.is_json and "agents" in written:
            places = dict(zip(map(convert_to_id, crew.raw["agents"]), written["agents"][1][1], strict=True))
            entries = {name: (places[name], places[name]) for name in others}
        if manager is not None:
            listed = (at[0], (at[0], [at[0]] * len(others)))
            entries[manager] = (at[0], (at[0], {"subordinates": listed}))
        below["hierarchy"] = (at[0], (at[0], entries))
    like = says or first
    return build_organization(like, folder, called, hierarchy, marks=(_FIRST, below), otherwise="crew")
