"""Combines several sources of one format, such as the plugins of a marketplace, into one organization.

Each source becomes a department. An id that several sources declare gets the name of its source as a prefix, because
the host keeps such agents apart too. Identical tools and skills are declared once.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from orgkernel.documents.records import (
    AccessPolicies,
    CognitiveSkill,
    Department,
    HierarchyEntry,
    Organization,
    Permissions,
    Principal,
    ProcedureCatalog,
    RoleProfile,
    SkillCatalog,
    SkillId,
    SkillUse,
    StandingOrder,
    Tool,
    ToolCatalog,
    ToolRules,
)
from orgkernel.loading.files import Root, SourceUnion
from orgkernel.loading.formats.building import complete_with, replace_document
from orgkernel.loading.formats.names import MAX_NAME_LENGTH, convert_to_id
from orgkernel.loading.formats.organizations import locate_organization
from orgkernel.loading.formats.servers import drop_declared_tools
from orgkernel.loading.formats.words import get_list_words
from orgkernel.loading.marks import Marks, pack_mark
from orgkernel.loading.sources import (
    NAMES_BEFORE,
    Completion,
    LoadedFile,
    MergedDocument,
    PackedParts,
    SourceDocument,
)

SEPARATOR = "__"
"""Separates the source from the name in an id that several sources declare."""
SHOWN_SEPARATOR = ":"
"""The same in names for people, as hosts write it."""
_FIRST = pack_mark(1, 1)


class UnionMember(NamedTuple):
    """A root of a union, with its files and the completion of its format."""

    root: Root
    files: Sequence[LoadedFile]
    completion: Completion


class _Source:
    """One source: its organization, if it has roles, and its documents."""

    def __init__(self, name: str, organization: SourceDocument | None) -> None:
        self.name = name
        self.id = convert_to_id(name)[:MAX_NAME_LENGTH] or "agents"
        self.organization = organization
        self.documents: list[tuple[int, SourceDocument]] = []
        """The documents, each with the identity of the document that it replaces, or 0 for an added one."""
        self.renamed: dict[str, dict[str, str]] = {}
        """The new ids of roles, skills, abilities (the skills of a catalog), tools and procedures, by kind and former id."""

    def add_prefix(self, name: str) -> str:
        """The name with the id of the source as a prefix."""
        return f"{self.id}{SEPARATOR}{name}"[:MAX_NAME_LENGTH]

    def get_new_id(self, kind: str, old: str) -> str:
        """The id in the union of something that this source declares."""
        return self.renamed.get(kind, {}).get(old, old)


def unite_members(
    members: Iterable[tuple[Root, Sequence[LoadedFile], Completion]],
) -> tuple[dict[int, tuple[SourceDocument, ...]], list[SourceDocument]]:
    """The replacements of documents by identity, and the added documents, for the roots of all unions."""
    groups: dict[tuple[str, SourceUnion], list[UnionMember]] = {}
    for root, files, completion in members:
        assert root.union is not None
        groups.setdefault((root.format, root.union), []).append(UnionMember(root, files, completion))
    instead: dict[int, tuple[SourceDocument, ...]] = {}
    added: list[SourceDocument] = []
    for (_, union), group in groups.items():
        replaced, more = unite(union, group)
        instead |= replaced
        added += more
    return instead, added


def unite(
    union: SourceUnion, members: Sequence[UnionMember]
) -> tuple[dict[int, tuple[SourceDocument, ...]], list[SourceDocument]]:
    """The replacements of documents by identity, and the added documents, for all roots of a union.

    With `union.part`, all documents of the other sources are left out.
    """
    sources = list(_list_sources(members))
    # Before a part is selected: a source must have the same id whether it is read alone or with the others.
    _make_names_unique(sources)
    instead: dict[int, tuple[SourceDocument, ...]] = {}
    if union.part:
        others = [each for each in sources if each.id != union.part]
        instead |= {number: () for each in others for number, _ in each.documents if number}
        sources = [each for each in sources if each.id == union.part]
    with_roles = [each for each in sources if each.organization is not None]
    if len(with_roles) > 1:
        _rename_repeated_ids(sources)
    added: list[SourceDocument] = []
    declared_tools: dict[str, Tool] = {}
    declared_skills: set[str] = set()
    for source in sources:
        # A single source with roles is the organization itself, and needs no department.
        department = source.id if len(with_roles) > 1 and source.organization is not None else None
        for number, document in source.documents:
            made = _adapt(document, source, department)
            kept = _drop_repeated(made, declared_tools, declared_skills)
            if number:
                instead[number] = () if kept is None else (kept,)
            elif kept is not None:
                added.append(kept)
    if with_roles:
        name = _get_shown_name(union, members[0].root)
        added.append(_merge_organizations(union, name, with_roles))
    return instead, added


def _list_sources(members: Sequence[UnionMember]) -> Iterator[_Source]:
    """The sources of all roots. One root can contain several, such as the crews of a flow."""
    for root, files, completion in members:
        organizations = [each for each in completion.documents if each.kind == "organization"]
        if len(organizations) == 1:
            sources = [_Source(root.called or organizations[0].record.name, organizations[0])]  # type: ignore[attr-defined]
        elif organizations:
            sources = [_Source(each.record.name, each) for each in organizations]  # type: ignore[attr-defined]
        else:
            sources = [_Source(root.called or os.path.basename(root.path), None)]
        folders = {
            os.path.dirname(source.organization.path): source for source in sources if source.organization
        }
        for file in files:
            for document in file.read.documents:
                if id(document) in completion.removed:
                    continue
                made = completion.instead.get(id(document), document)
                _find_source(document, folders, sources[0]).documents.append((id(document), made))
        for document in completion.documents:
            if document.kind != "organization":
                _find_source(document, folders, sources[0]).documents.append((0, document))
        yield from sources


def _find_source(document: SourceDocument, folders: Mapping[str, _Source], default: _Source) -> _Source:
    """The source with the innermost folder that contains a document."""
    folder = os.path.dirname(document.path)
    while folder not in folders:
        parent = os.path.dirname(folder)
        if parent == folder:
            return default
        folder = parent
    return folders[folder]


def _make_names_unique(sources: Sequence[_Source]) -> None:
    """Number the sources that share a name."""
    taken: Counter[str] = Counter()
    for each in sources:
        taken[each.id] += 1
        if taken[each.id] > 1:
            each.id = f"{each.id}_{taken[each.id]}"


# -- ids ---------------------------------------------------------------------------------------------------------------


def _list_declared_ids(document: SourceDocument) -> Iterator[tuple[str, str, object]]:
    """The ids that a document declares: kind, id and declaration."""
    record = document.record
    if isinstance(record, RoleProfile):
        yield "role", record.role_id, document
    elif isinstance(record, CognitiveSkill):
        yield "skill", record.name, (record.description, record.body)
    elif isinstance(record, SkillCatalog):
        for skill_id in record.skills:
            yield "ability", skill_id, document
    elif isinstance(record, ProcedureCatalog):
        for procedure_id in record.procedures:
            yield "procedure", procedure_id, document
    elif isinstance(record, ToolCatalog):
        for tool_id, tool in record.tools.items():
            yield "tool", tool_id, tool


def _rename_repeated_ids(sources: Sequence[_Source]) -> None:
    """Prefix ids with the names of their sources if several sources declare them differently.

    Roles and procedures are renamed even if they are equal, because each source has its own.
    """
    declarations: dict[tuple[str, str], list[tuple[_Source, object]]] = {}
    for source in sources:
        for _, document in source.documents:
            for kind, name, declaration in _list_declared_ids(document):
                declarations.setdefault((kind, name), []).append((source, declaration))
    taken = {(kind, name) for kind, name in declarations}
    for (kind, name), those in declarations.items():
        if len({id(source) for source, _ in those}) < 2:
            continue
        if kind in ("skill", "tool") and all(declaration == those[0][1] for _, declaration in those):
            continue
        for source, _ in those:
            new = f"{source.id}{SEPARATOR}{name}"
            # A member can already contain an id that looks like one with a prefix.
            while (kind, new) in taken and new not in source.renamed.get(kind, {}).values():
                new += "_"
            taken.add((kind, new))
            source.renamed.setdefault(kind, {})[name] = new


def _adapt(document: SourceDocument, source: _Source, department: str | None) -> SourceDocument:
    """A document with the ids and the department that it has in the union."""
    record = document.record
    if isinstance(record, RoleProfile):
        return _adapt_role(document, record, source, department)
    if isinstance(record, StandingOrder):
        if record.audience == "role" and (new := source.get_new_id("role", record.target)) != record.target:
            return replace_document(document, replace(record, target=new), document.marks)
        # What a member says to its whole organization must reach only its own department of the union.
        if record.audience == "organization" and department is not None:
            return replace_document(
                document, replace(record, audience="department", target=department), document.marks
            )
    elif isinstance(record, CognitiveSkill) and record.name in source.renamed.get("skill", {}):
        new_name = source.get_new_id("skill", record.name)
        shown = f"{source.name}{SHOWN_SEPARATOR}{record.name}"
        raw = {**get_list_words(document), NAMES_BEFORE: [record.name, shown]}
        return replace_document(document, replace(record, name=new_name), document.marks, raw)
    elif isinstance(record, SkillCatalog) and "ability" in source.renamed:
        return _rename_keys(document, record, "skills", source.renamed["ability"])
    elif isinstance(record, ProcedureCatalog) and "procedure" in source.renamed:
        return _rename_keys(document, record, "procedures", source.renamed["procedure"])
    elif isinstance(record, ToolCatalog) and "tool" in source.renamed:
        return _rename_keys(document, record, "tools", source.renamed["tool"])
    elif isinstance(record, AccessPolicies) and department is not None:
        return _limit_policies(document, record, source)
    return document


def _adapt_role(
    document: SourceDocument, record: RoleProfile, source: _Source, department: str | None
) -> SourceDocument:
    if department is None and not source.renamed:
        return document
    role_id = source.get_new_id("role", record.role_id)
    chain, can = record.chain_of_command, record.capabilities
    superior = chain.reports_to
    changed = replace(
        record,
        role_id=role_id,
        role_name=record.role_name
        if role_id == record.role_id
        else f"{source.name}{SHOWN_SEPARATOR}{record.role_name or record.role_id}",
        department=record.department or department,
        chain_of_command=replace(
            chain, reports_to=superior if superior is None else source.get_new_id("role", superior)
        ),
        capabilities=replace(
            can,
            tools_primary=tuple(source.get_new_id("tool", each) for each in can.tools_primary),
            tools_secondary=tuple(source.get_new_id("tool", each) for each in can.tools_secondary),
            skills=tuple(_rename_ability(each, source) for each in can.skills),
            procedures=tuple(source.get_new_id("procedure", each) for each in can.procedures),
        ),
        handoff=replace(
            record.handoff, may_to=tuple(source.get_new_id("role", each) for each in record.handoff.may_to)
        ),
    )
    raw = None
    if role_id != record.role_id:
        raw = {**get_list_words(document), NAMES_BEFORE: [record.role_id, record.role_name or record.role_id]}
    return replace_document(document, changed, document.marks, raw)


def _rename_ability(entry: SkillId | SkillUse, source: _Source) -> SkillId | SkillUse:
    """A declared skill that a role requires, with its id in the union."""
    if isinstance(entry, SkillUse):
        return replace(entry, skill=source.get_new_id("ability", entry.skill))
    return source.get_new_id("ability", entry)


def _rename_keys(
    document: SourceDocument, record: Any, field: str, new_ids: Mapping[str, str]
) -> SourceDocument:
    """A catalog with the new ids of its entries, and their marks."""
    entries = {new_ids.get(name, name): each for name, each in getattr(record, field).items()}
    mark, below = document.marks
    if field in below and isinstance(below[field][1], (tuple, list)):
        below = {**below, field: _rename_marks(below[field], lambda name: new_ids.get(name, name))}
    return replace_document(document, replace(record, **{field: entries}), (mark, below))


def _rename_marks(marks: tuple[int, Marks], get_name: Callable[[str], str]) -> tuple[int, Marks]:
    """The marks of a mapping with other keys."""
    key, (start, below) = marks
    return (key, (start, {get_name(name): each for name, each in below.items()}))


def _limit_policies(document: SourceDocument, record: AccessPolicies, source: _Source) -> SourceDocument:
    """Policies of a source's settings, limited to its own roles, because other sources have other settings.

    A policy can match only one role, so there is one for each role. A policy that already matches a role keeps it.
    """
    assert source.organization is not None
    roles = [source.get_new_id("role", each) for each in _get_hierarchy(source.organization)]
    mark, below = document.marks
    key, (start, marks) = below["policies"]
    policies, new_marks = {}, {}
    for policy_id, policy in record.policies.items():
        own = policy.match.principal.role if policy.match.principal is not None else None
        limited = [source.get_new_id("role", own)] if isinstance(own, str) else roles
        for number, role_id in enumerate(limited):
            new_id = f"{source.id[:40]}{SEPARATOR}{policy_id}_{number}"
            policies[new_id] = replace(
                policy,
                match=replace(policy.match, principal=Principal(role=role_id)),
                permissions=_rename_tools(policy.permissions, source),
            )
            new_marks[new_id] = marks[policy_id]
    changed = replace(record, policies=policies)
    return replace_document(document, changed, (mark, {**below, "policies": (key, (start, new_marks))}))


def _rename_tools(permissions: Permissions, source: _Source) -> Permissions:
    """The permissions of a policy with the ids that the tools of its source have in the union."""
    tools = permissions.tools
    if tools is None or isinstance(tools, str) or "tool" not in source.renamed:
        return permissions
    if isinstance(tools, ToolRules):
        allow, deny = (
            tuple(source.get_new_id("tool", each) for each in rules) for rules in (tools.allow, tools.deny)
        )
        return replace(permissions, tools=replace(tools, allow=allow, deny=deny))
    return replace(permissions, tools=tuple(source.get_new_id("tool", each) for each in tools))


def _get_hierarchy(organization: SourceDocument) -> Mapping[str, HierarchyEntry]:
    assert isinstance(organization.record, Organization)
    return organization.record.hierarchy


def _drop_repeated(
    document: SourceDocument, declared_tools: dict[str, Tool], declared_skills: set[str]
) -> SourceDocument | None:
    """The document without tools and skills that another source declares identically."""
    if isinstance(document.record, CognitiveSkill):
        if document.record.name in declared_skills:
            return None
        declared_skills.add(document.record.name)
    return drop_declared_tools(document, declared_tools)


# -- the organization --------------------------------------------------------------------------------------------------


def _get_shown_name(union: SourceUnion, root: Root) -> str:
    """The shown name of the folder of a union, from that of a root in it."""
    name, inside = root.name, os.path.relpath(root.path, union.folder)
    while inside not in ("", os.curdir):
        name, inside = os.path.dirname(name), os.path.dirname(inside)
    return name or os.curdir


def _merge_organizations(union: SourceUnion, shown: str, sources: Sequence[_Source]) -> SourceDocument:
    """The organization of the union. Each value has its place in the file of its source."""
    first = sources[0].organization
    assert first is not None
    record = first.record
    assert isinstance(record, Organization)
    path = locate_organization(union.folder)
    if len(sources) == 1:
        return complete_with(first, "organization", record, first.marks, name=first.name, path=path)
    hierarchy: dict[str, HierarchyEntry] = {}
    departments: dict[str, Department] = {}
    channels: dict[str, Any] = {}
    external: dict[str, None] = {}
    given: dict[str, Any] = {}
    parts: list[SourceDocument] = []
    for source in sources:
        organization = source.organization
        assert organization is not None
        own = organization.record
        assert isinstance(own, Organization)
        entries = {
            source.get_new_id("role", role_id): replace(
                entry, subordinates=tuple(source.get_new_id("role", each) for each in entry.subordinates)
            )
            for role_id, entry in own.hierarchy.items()
        }
        hierarchy |= entries
        departments |= {
            source.id: Department(name=source.name, description=own.description),
            **own.departments,
        }
        external |= dict.fromkeys(own.external)
        for field in ("alerts", "watches"):
            if organization.has(field):
                given.setdefault(field, getattr(own, field))
        channels |= {
            source.add_prefix(name): replace(
                each,
                allowed_pairs=tuple(
                    (source.get_new_id("role", first), source.get_new_id("role", second))
                    for first, second in each.allowed_pairs
                ),
            )
            for name, each in own.communication_channels.items()
        }
        marks = _build_marks(organization, source)
        parts.append(complete_with(organization, "organization", own, marks))
    name = convert_to_id(union.name)[:MAX_NAME_LENGTH] or "agents"
    merged = Organization(
        org_id=name,
        org_name=union.name,
        hierarchy=hierarchy,
        departments=departments,
        communication_channels=channels,
        external=tuple(external),
        **given,
    )
    like = complete_with(first, "organization", merged, (_FIRST, {}), name=shown, path=path)
    packed = PackedParts(msgspec.msgpack.encode(merged), like.packed.marks, like.packed.unknown)
    return MergedDocument(like, (like, *parts), packed).keep_unpacked(merged, like.marks)


def _build_marks(organization: SourceDocument, source: _Source) -> Marks:
    """The marks of a source's organization, with its new ids and its department."""
    mark, below = organization.marks
    own = below["departments"][1][1] if "departments" in below else {}
    made: dict[str, Any] = {"departments": (mark, (mark, {source.id: (mark, mark), **own}))}
    made |= {field: below[field] for field in ("external", "alerts", "watches") if field in below}
    if "hierarchy" in below:
        made["hierarchy"] = _rename_marks(below["hierarchy"], lambda name: source.get_new_id("role", name))
    if "communication_channels" in below:
        made["communication_channels"] = _rename_marks(below["communication_channels"], source.add_prefix)
    return (mark, made)
