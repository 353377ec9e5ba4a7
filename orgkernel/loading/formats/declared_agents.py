"""Builds roles, tools and a chain of command from files that each declare one agent with the tools that it lists.

Tools are declared by the agents that list them. What they do is not declared, so the most severe effects are assumed.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from orgkernel.documents.records import (
    USER,
    ChainOfCommand,
    HierarchyEntry,
    Permissions,
    Requirements,
    RoleProfile,
    StandingOrder,
    Tool,
    ToolCatalog,
    ToolType,
)
from orgkernel.loading.documents import build_diagnostic
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.building import read_as
from orgkernel.loading.formats.equipment import list_declared_tools
from orgkernel.loading.formats.names import convert_to_id
from orgkernel.loading.formats.organizations import build_organization, get_organization_name
from orgkernel.loading.formats.roles import (
    ROLE_TYPES,
    RolePart,
    build_tool_id_from_name,
    measure_height,
    place_role,
)
from orgkernel.loading.formats.servers import drop_declared_tools
from orgkernel.loading.formats.tool_policies import KIND as POLICIES
from orgkernel.loading.formats.tool_policies import (
    ToolPolicy,
    build_access_policies,
    build_role_policy_id,
    place_policies,
)
from orgkernel.loading.formats.words import get_list_words
from orgkernel.loading.marks import Marks
from orgkernel.loading.parsed import DocumentProblem
from orgkernel.loading.sources import Completion, FileResult, LoadedFile, SourceDocument

KIND = "role_profile"
_TOOLS, BELOW, _PEERS = "listed_tools", "below", "peers"
_TRANSFERRED, _TRANSFERS = "transferred", "transfers"
Transfer = Literal["superior", "siblings"]
"""To whom an agent may transfer work, besides to those below it."""


class ListedTool(NamedTuple):
    """A tool that an agent lists."""

    name: str
    mark: int
    type: ToolType = "deterministic_function"
    description: str = ""


class DeclaredAgent(NamedTuple):
    """What the file of one agent states."""

    name: str
    description: str
    tools: Sequence[ListedTool]
    below: Sequence[tuple[str, int]]
    """The agents that it commands: each the path of a file, relative to its own, or a name; with its mark."""
    model: str
    body: str
    own_id: str = ""
    """The id, if it is not made from the name."""
    asking: Sequence[tuple[str, int]] = ()
    """The tools whose calls a person approves, with their marks."""
    peers: Sequence[tuple[str, int]] = ()
    """The names of the agents to which it may hand work without commanding them, with their marks."""
    transferred: Sequence[tuple[str, int]] = ()
    """The agents among those below it that may transfer work to it and to each other, as paths, with their marks."""
    transfers: Collection[Transfer] = ()
    """To whom it may transfer work, if the agent above it is one that work may be transferred to."""


def build_declared(
    source: SourceText, root: Root, agent: DeclaredAgent, marks: tuple[int, dict[str, tuple[int, Marks]]],
    fields: Mapping[str, str], problems: Sequence[DocumentProblem],
) -> FileResult:  # fmt: skip
    """The documents of a file: a role, its orders, and the tools that it lists. `fields` names the file's own fields for
    `name`, `model` and `body`.
    """
    start, below = marks
    role_id = convert_to_id(agent.own_id or agent.name)
    record = RoleProfile(
        role_id=role_id,
        role_name=agent.name,
        description=agent.description,
        chain_of_command=ChainOfCommand(reports_to=USER),
        requirements=Requirements(preferred_model=agent.model or None),
    )
    own = {key: each for key, each in below.items() if key not in ("tools", "capabilities")}
    own |= {"role_id": below.get("role_id", below[fields["name"]]), "role_name": below[fields["name"]]}
    if agent.model:
        key, at = below[fields["model"]]
        own["requirements"] = (key, (key, {"preferred_model": (key, at)}))
    raw: dict[str, list[str]] = {}
    for name, marked in (
        (_TOOLS, [(each.name, each.mark) for each in agent.tools]),
        (BELOW, agent.below),
        (_PEERS, agent.peers),
        (_TRANSFERRED, agent.transferred),
    ):
        if marked:
            raw[name] = [word for word, _ in marked]
            own[name] = (marked[0][1], (marked[0][1], [mark for _, mark in marked]))
    if agent.transfers:
        raw[_TRANSFERS] = sorted(agent.transfers)
    documents = [read_as(source, root, KIND, record, (start, own), raw)]
    if agent.body.strip():
        key, at = below[fields["body"]]
        order = StandingOrder(audience="role", target=role_id, body=agent.body)
        documents.append(read_as(source, root, "standing_order", order, (start, {"body": (key, at)})))
    tools: dict[str, Tool] = {}
    places: dict[str, tuple[int, Marks]] = {}
    for each in agent.tools:
        tool_id = build_tool_id_from_name(each.name)
        if tool_id is not None and tool_id not in tools:
            tools[tool_id] = Tool(
                name=each.name, description=each.description, type=each.type, side_effects="destructive"
            )
            places[tool_id] = (each.mark, each.mark)
    if tools:
        full = (start, {"tools": (start, (start, places))})
        documents.append(read_as(source, root, "tool_catalog", ToolCatalog(tools=tools), full))
    if agent.asking:
        documents.append(_build_asking(source, root, role_id, agent.asking, start))
    return FileResult(tuple(documents), (), tuple(build_diagnostic(source, each) for each in problems))


def _build_asking(
    source: SourceText, root: Root, role_id: str, asking: Sequence[tuple[str, int]], start: int
) -> SourceDocument:
    """The policies that ask a person before an agent uses some tools."""
    policies = (
        ToolPolicy(
            build_role_policy_id(role_id, "ask", number),
            "ask",
            f"The tool {name} requires an approval.",
            Permissions(tools=(tool,)),
            mark,
            role_id,
        )
        for number, (name, mark) in enumerate(asking, 1)
        if (tool := build_tool_id_from_name(name)) is not None
    )
    record, marks = build_access_policies(policies)
    return read_as(source, root, POLICIES, record, place_policies(start, marks))


def complete_declared(root: Root, files: Sequence[LoadedFile]) -> Completion:
    """The organization of all agents, and each role with its tools, its superior and its type."""
    documents = [document for file in files for document in file.read.documents]
    roles = {
        each.record.role_id: each for each in reversed(documents) if isinstance(each.record, RoleProfile)
    }
    # Of several files with one id, the first wins; reversing twice also keeps the order of the files.
    roles = dict(reversed(roles.items()))
    if not roles:
        return Completion()
    by_path = {os.path.normpath(each.path): role_id for role_id, each in roles.items()}
    commands = {role_id: _list_below(each, BELOW, by_path, roles) for role_id, each in roles.items()}
    transfers = _list_transfers(roles, by_path)
    # An agent that may hand work on is above a level, so that its superior is above it.
    ladder: dict[str, Iterable[str]] = {
        role_id: below or ([role_id + "/"] if role_id in transfers else [])
        for role_id, below in commands.items()
    }
    superiors: dict[str, str] = {}
    for superior, below in commands.items():
        for each in below:
            # An agent can be listed below several others. It has one superior: the first that lists it.
            superiors.setdefault(each, superior)
    instead: dict[int, SourceDocument] = {}
    declared: dict[str, Tool] = {}
    known: dict[str, None] = {}
    for document in documents:
        if document.kind == "tool_catalog":
            known |= dict.fromkeys(list_declared_tools(document))
            made = drop_declared_tools(document, declared)
            if made is not document:
                instead[id(document)] = made
    for role_id, role in roles.items():
        words, marks = get_list_words(role), role.marks[1]
        tools: dict[str, int] = {}
        for number, word in enumerate(words.get(_TOOLS, ())):
            tool = build_tool_id_from_name(word)
            if tool in known:
                tools.setdefault(str(tool), marks[_TOOLS][1][1][number])
        peers = {
            each: None
            for each in map(convert_to_id, words.get(_PEERS, ()))
            if each in roles and each != role_id
        }
        # The files do not state a rank. An agent above others is an executive, and one above executives a commander.
        height = measure_height(role_id, ladder)
        allowed = tuple({**commands[role_id], **peers, **transfers.get(role_id, {})})
        at = marks[BELOW if commands[role_id] else _PEERS if peers else "role_id"][0] if allowed else 0
        part = RolePart(
            tools, (), superiors.get(role_id, USER), ROLE_TYPES[max(height, 1 if peers else 0)], allowed, at
        )
        instead[id(role)] = place_role(role, part)
    hierarchy = {
        role_id: HierarchyEntry(subordinates=tuple(each for each in below if superiors[each] == role_id))
        for role_id, below in commands.items()
    }
    first = next(iter(roles.values()))
    name = root.name or os.curdir
    organization = build_organization(first, root.path, get_organization_name(root), hierarchy, name=name)
    return Completion(instead, (organization,))


def _list_transfers(
    roles: Mapping[str, SourceDocument], by_path: Mapping[str, str]
) -> dict[str, dict[str, None]]:
    """The roles to which each role may transfer work, besides to those that it commands."""
    transfers: dict[str, dict[str, None]] = {}
    for superior, role in roles.items():
        siblings = _list_below(role, _TRANSFERRED, by_path, roles)
        for each in siblings:
            wanted = get_list_words(roles[each]).get(_TRANSFERS, ())
            allowed = {superior: None} if "superior" in wanted else {}
            if "siblings" in wanted:
                allowed |= {other: None for other in siblings if other != each}
            if allowed:
                transfers.setdefault(each, {}).update(allowed)
    return transfers


def _list_below(
    role: SourceDocument, key: str, by_path: Mapping[str, str], roles: Mapping[str, SourceDocument]
) -> dict[str, None]:
    """The roles that a role commands, by the words under a key. What is in no file of the root is left out."""
    found_roles: dict[str, None] = {}
    record = role.record
    assert isinstance(record, RoleProfile)
    for word in get_list_words(role).get(key, ()):
        path = os.path.normpath(os.path.join(os.path.dirname(role.path), word))
        role_id = by_path.get(path) or convert_to_id(word)
        if role_id in roles and role_id != record.role_id:
            found_roles[role_id] = None
    return found_roles
