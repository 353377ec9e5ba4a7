"""Joins the files of ProbOS into one organization: posts with their skills and tools, the crew, and its orders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from orgkernel.documents.records import (
    Capabilities,
    CrewRoster,
    Document,
    Organization,
    RoleProfile,
    StandingOrder,
    Tool,
    ToolCatalog,
)
from orgkernel.loading.files import Root
from orgkernel.loading.formats.building import complete_with, replace_document
from orgkernel.loading.formats.names import MAX_NAME_LENGTH, convert_to_id
from orgkernel.loading.formats.organizations import get_organization_name, locate_organization
from orgkernel.loading.formats.probos.reading import AVAILABLE, get_shared_ladder
from orgkernel.loading.formats.roles import ROLE_TYPES, measure_height
from orgkernel.loading.formats.words import get_list_words
from orgkernel.loading.marks import Marks
from orgkernel.loading.sources import Completion, LoadedFile, MergedDocument, PackedParts, SourceDocument

# A file that becomes no document has no place in another one.
_NOWHERE = (0, 0)
_FOR_ALL = ("federation", "ship")
R = TypeVar("R", bound=Document)
Of = Iterator[tuple[SourceDocument, R]]


def complete(root: Root, files: Sequence[LoadedFile]) -> Completion:
    """Join the files of one root."""
    documents = [document for file in files for document in file.read.documents]
    parts = list(_select(documents, Organization))
    roles = list(_select(documents, RoleProfile))
    skill_parts = {record.role_id: document for document, record in roles if record.overlay}
    posts = [(document, record) for document, record in roles if not record.overlay]
    removed = {id(document) for document, _ in parts}
    main = next(((document, record) for document, record in parts if record.hierarchy), None)
    if main is None:
        return Completion(removed=frozenset(removed))
    below = {role_id: entry.subordinates for role_id, entry in main[1].hierarchy.items()}
    catalogs = [(document, record.tools) for document, record in _select(documents, ToolCatalog)]
    instead: dict[int, SourceDocument] = {}
    # The part of a post that is not declared stays, and is reported as a role of no organization.
    removed |= {id(skill_parts[record.role_id]) for _, record in posts if record.role_id in skill_parts}
    for document, record in posts:
        mine = [skill_parts[record.role_id]] if record.role_id in skill_parts else []
        mine += _build_offers(record, catalogs)
        role_type = ROLE_TYPES[measure_height(record.role_id, below)]
        instead[id(document)] = _join_role(document, replace(record, role_type=role_type), mine)
    made = list(_declare_tools(posts, {tool for _, tools in catalogs for tool in tools}))
    if not any(each.kind == "rank_ladder" for each in documents):
        made.append(complete_with(main[0], "rank_ladder", get_shared_ladder(), main[0].marks[0]))
    rosters = list(_select(documents, CrewRoster))
    agents = _join_rosters(rosters)
    lost: dict[str, tuple[int, Marks]] = {}
    if agents is not None:
        instead[id(rosters[0][0])] = agents
        removed |= {id(document) for document, _ in rosters[1:]}
        joined: Any = agents.record
        for document, roster in rosters[1:]:
            if not roster.agents.keys() <= joined.agents.keys():
                lost[document.name] = _NOWHERE
    for first, others in _list_orders_for_all(documents):
        body = "\n".join(each.record.body for each in (first, *others))  # type: ignore[attr-defined]
        joined = StandingOrder(audience="organization", body=body)
        instead[id(first)] = _join(first, joined, others)
        removed |= set(map(id, others))
    for document, order in _select(documents, StandingOrder):
        if order.target in _FOR_ALL:
            continue
        addressed = list(_address(order, main[1], agents))
        if not addressed:
            removed.add(id(document))
            lost[document.name] = _NOWHERE
            continue
        instead[id(document)] = replace_document(document, addressed[0], document.marks)
        made += (
            complete_with(document, "standing_order", each, document.marks, path=document.path)
            for each in addressed[1:]
        )
    made.append(_build_organization(root, main[0], [each for each, _ in parts if each is not main[0]], lost))
    return Completion(instead, tuple(made), frozenset(removed))


def _select(documents: Iterable[SourceDocument], type: type[R]) -> Of[R]:
    for document in documents:
        record = document.record
        if isinstance(record, type):
            yield document, record


def _join(first: SourceDocument, record: Document, parts: Sequence[SourceDocument]) -> SourceDocument:
    packed = PackedParts(msgspec.msgpack.encode(record), first.packed.marks, first.packed.unknown)
    return MergedDocument(first, (first, *parts), packed).keep_unpacked(record, first.marks)


# -- roles -------------------------------------------------------------------------------------------------------------


def _build_offers(
    role: RoleProfile, catalogs: Iterable[tuple[SourceDocument, Mapping[str, Tool]]]
) -> Iterator[SourceDocument]:
    """The tools that the whole crew has, as parts of a role with the lines that say so."""
    for document, tools in catalogs:
        offered = [
            each
            for each in get_list_words(document).get(AVAILABLE, ())
            if each in tools and each not in role.capabilities.tools_primary
        ]
        if offered and role.crew_tier == "crew":
            at, below = document.marks
            entries = below["tools"][1][1]
            marks = [entries[each][1][1].get(AVAILABLE, entries[each])[0] for each in offered]
            capabilities = (at, (at, {"tools_secondary": (at, (at, marks))}))
            part = RoleProfile(
                role_id=role.role_id, overlay=True, capabilities=Capabilities(tools_secondary=tuple(offered))
            )
            yield complete_with(document, "role_profile", part, (at, {"capabilities": capabilities}))


def _join_role(post: SourceDocument, record: RoleProfile, parts: Sequence[SourceDocument]) -> SourceDocument:
    own = record.capabilities
    for _, part in _select(parts, RoleProfile):
        more = part.capabilities
        own = replace(
            own,
            skills=(*own.skills, *more.skills),
            tools_secondary=(*own.tools_secondary, *more.tools_secondary),
        )
    return _join(post, replace(record, capabilities=own), parts)


def _declare_tools(
    posts: Sequence[tuple[SourceDocument, RoleProfile]], known: set[str]
) -> Iterator[SourceDocument]:
    """The tools that only the capabilities of posts name. What they do is not declared."""
    tools: dict[str, Tool] = {}
    marks: dict[str, tuple[int, Marks]] = {}
    for document, role in posts:
        places = document.marks[1]["capabilities"][1][1]
        for number, tool in enumerate(role.capabilities.tools_primary):
            if tool not in known and tool not in tools:
                at = places["tools_primary"][1][1][number]
                tools[tool] = Tool(
                    description=f"The tool {tool}.", type="infra_service", side_effects="destructive"
                )
                marks[tool] = (at, at)
    if tools:
        document, at = posts[0][0], posts[0][0].marks[0]
        yield complete_with(
            document, "tool_catalog", ToolCatalog(tools=tools), (at, {"tools": (at, (at, marks))})
        )


# -- the crew and its orders -------------------------------------------------------------------------------------------


def _join_rosters(rosters: Sequence[tuple[SourceDocument, CrewRoster]]) -> SourceDocument | None:
    """The agents of the assignments, with the personality of their profiles."""
    first = next(((document, record) for document, record in rosters if _has_assignments(record)), None)
    if first is None:
        return None
    agents = dict(first[1].agents)
    parts = []
    for document, record in rosters:
        for agent_id, member in record.agents.items():
            if document is not first[0] and agent_id in agents and member.personality is not None:
                agents[agent_id] = replace(agents[agent_id], personality=member.personality)
                parts.append(document)
    return _join(first[0], replace(first[1], agents=agents), parts)


def _has_assignments(roster: CrewRoster) -> bool:
    return any(member.assignments for member in roster.agents.values())


def _list_orders_for_all(
    documents: Iterable[SourceDocument],
) -> Iterator[tuple[SourceDocument, Sequence[SourceDocument]]]:
    """The orders of the federation, followed by those of the ship. Both bind every role of this one organization."""
    named = {order.target: document for document, order in _select(documents, StandingOrder)}
    orders = [named[name] for name in _FOR_ALL if name in named]
    if orders:
        yield orders[0], orders[1:]


def _address(
    order: StandingOrder, organization: Organization, agents: SourceDocument | None
) -> Iterator[StandingOrder]:
    """An order for whom the name of its file means: a department, or the posts of an agent."""
    name = order.target
    if name in organization.departments:
        yield replace(order, audience="department", target=name)
    elif agents is not None and isinstance(agents.record, CrewRoster) and name in agents.record.agents:
        for assignment in agents.record.agents[name].assignments:
            if assignment.role in organization.hierarchy:
                yield replace(order, audience="role", target=assignment.role)


def _build_organization(
    root: Root, main: SourceDocument, parts: Sequence[SourceDocument], lost: Mapping[str, tuple[int, Marks]]
) -> SourceDocument:
    """The organization, named after the vessel. It belongs to the folder around all files."""
    record = main.record
    assert isinstance(record, Organization)
    for document, part in _select(parts, Organization):
        given = {
            name: getattr(part, name)
            for name in ("org_name", "description", "alerts", "watches")
            if document.has(name)
        }
        record = replace(record, **given)
    name = root.called or record.org_name or get_organization_name(root)
    org_id = convert_to_id(name)[:MAX_NAME_LENGTH] or "probos"
    record = replace(record, org_id=org_id, org_name=name)
    at, below = main.marks
    own = complete_with(
        main, "organization", record, (at, {**below, **lost}), path=locate_organization(root.path)
    )
    return _join(own, record, parts)
