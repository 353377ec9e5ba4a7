"""Combines orgkernel organizations with the files in other formats that they name as sources.

If an overlay adds to a role of a source, the role becomes one document of two files: the file of the source, and the
overlay.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import FieldInfo, fields, replace

from orgkernel.documents.records import Channel, HierarchyEntry, Organization, Record, RoleProfile
from orgkernel.loading.files import Root, SourceUse
from orgkernel.loading.formats.building import complete_with, replace_document
from orgkernel.loading.formats.roles import ROLE_TYPES, measure_height
from orgkernel.loading.marks import find_mark, pack_mark
from orgkernel.loading.sources import Completion, LoadedFile, MergedDocument, PackedParts, SourceDocument

FieldRoute = tuple[str, ...]
# Fields that identify the document, or describe the document itself.
_OWN = frozenset({"_schema", "_version", "role_id", "overlay", "suppressions"})
_LISTS = ("tools_primary", "tools_secondary", "tools")
_CHANNELS = "communication_channels"
# Fields that set one value together: a source with one of them sets the value.
_TOOLS: tuple[FieldRoute, ...] = (*(("capabilities", each) for each in _LISTS), ("does_not_have",))


class BoundSource(NamedTuple):
    """A source of the organizations of one folder."""

    uses: tuple[SourceUse, ...]
    organizations: tuple[SourceDocument, ...]
    """The documents of the source's own organizations. There can be several, such as crews."""


def apply_overlays(
    files: Sequence[LoadedFile], home: str, sources: Iterable[tuple[Root, Sequence[LoadedFile], Completion]]
) -> Completion:
    """Combine the sources with the organizations of the folder that names them. Each source comes with the completion
    of its format.
    """
    instead: dict[int, SourceDocument] = {}
    added: list[SourceDocument] = []
    bound: list[BoundSource] = []
    for root, those, completion in sources:
        for document in (document for file in those for document in file.read.documents):
            if id(document) in completion.removed:
                continue
            made = completion.instead.get(id(document))
            instead[id(document)] = document.bind_to_home(home) if made is None else made
        added += (each for each in completion.documents if each.kind != "organization")
        source_organizations = (each for each in completion.documents if each.kind == "organization")
        bound.append(BoundSource(root.uses, tuple(source_organizations)))
    own = _list_own_documents(files, home)
    merged = [_add_sources(each, bound) for each in own if each.kind == "organization"]
    organizations = {id(made.parts[0]): made for made in merged if made is not None}
    laid = _lay_over_roles([*instead.values(), *added], own, organizations.values())
    instead = {number: laid.get(id(document), document) for number, document in instead.items()}
    added = [laid.get(id(document), document) for document in added]
    for document in (*instead.values(), *added):
        document.home = home
    return Completion({**instead, **organizations}, tuple(added))


def _list_own_documents(files: Sequence[LoadedFile], home: str) -> list[SourceDocument]:
    """Orgkernel documents in a folder of organizations or below it, except for those of organizations in folders below it."""
    folders = {
        os.path.dirname(file.located.path)
        for file in files
        if any(each.kind == "organization" for each in file.read.documents)
        or any(each.kind == "organization" for each in file.read.broken)
    }
    inside = os.path.join(home, "")
    return [
        document
        for file in files
        if not file.located.root.areas and file.located.path.startswith(inside)
        for document in file.read.documents
        if _find_home(os.path.dirname(document.path), folders) == home
    ]


def _find_home(folder: str, folders: set[str]) -> str | None:
    while folder not in folders:
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder


# -- roles -------------------------------------------------------------------------------------------------------------


def _lay_over_roles(
    documents: Iterable[SourceDocument],
    own: Sequence[SourceDocument],
    organizations: Iterable[SourceDocument],
) -> dict[int, SourceDocument]:
    """The replacements of role documents, keyed by identity."""
    subordinates: dict[str, tuple[str, ...]] = {}
    for merged in organizations:
        for superior, entry in _get_hierarchy(merged).items():
            subordinates[superior] = (*subordinates.get(superior, ()), *entry.subordinates)
    commanded = {subordinate for below in subordinates.values() for subordinate in below}
    overlays = {
        each.record.role_id: each
        for each in reversed(own)
        if isinstance(each.record, RoleProfile) and each.record.overlay
    }
    made: dict[int, SourceDocument] = {}
    for document in documents:
        if isinstance(document.record, RoleProfile):
            role_id = document.record.role_id
            overlay, has_superior = overlays.get(role_id), role_id in commanded
            height = measure_height(role_id, subordinates)
            if overlay is not None or has_superior or height:
                made[id(document)] = _lay_over(document, overlay, has_superior, height)
    return made


def _get_hierarchy(document: SourceDocument) -> Mapping[str, HierarchyEntry]:
    assert isinstance(document.record, Organization)
    return document.record.hierarchy


def _lay_over(
    role: SourceDocument, overlay: SourceDocument | None, has_superior: bool, height: int
) -> SourceDocument:
    """A role of a source combined with its overlay. If the hierarchy sets its superior, the role does not.

    A role with subordinates is not a specialist, unless one of the files states it.
    """
    role = _drop_foreign_marks(role)
    record = role.record
    assert isinstance(record, RoleProfile)
    parts: tuple[SourceDocument, ...] = (role,)
    if overlay is not None:
        record = _merge(record, overlay.record, (), role, overlay)
        parts = (role, overlay)
    made = MergedDocument(role, parts, role.packed)
    if has_superior and not made.has("chain_of_command", "reports_to"):
        # `user` means that no superior is named, and would contradict the hierarchy.
        record = replace(record, chain_of_command=replace(record.chain_of_command, reports_to=None))
    if height and record.role_type == ROLE_TYPES[0] and not made.has("role_type"):
        record = replace(record, role_type=ROLE_TYPES[height])
    made.packed = PackedParts(msgspec.msgpack.encode(record), role.packed.marks, role.packed.unknown)
    return made.keep_unpacked(record, role.marks)


def _drop_foreign_marks(role: SourceDocument) -> SourceDocument:
    """The role without the marks of fields that share a name with an orgkernel field but have another meaning."""
    if len(role.parts) > 1:  # its format has mapped all fields
        return role
    mark, below = role.marks
    strange = {
        field.encode_name
        for field in fields(RoleProfile)
        if field.encode_name in below
        and not isinstance(value := getattr(role.record, field.name), Record)
        and value == _get_default(field)
    }
    if not strange:
        return role
    marks = (mark, {key: each for key, each in below.items() if key not in strange})
    return replace_document(role, role.record, marks)


def _get_default(field: FieldInfo) -> Any:
    return field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()


def _merge(base: Any, added: Any, route: FieldRoute, role: SourceDocument, overlay: SourceDocument) -> Any:
    """A part of a role, with the values that the overlay sets and the source does not."""
    changes: dict[str, Any] = {}
    for field, full in _iterate_written_fields(base, route, overlay):
        old, new = getattr(base, field.name), getattr(added, field.name)
        if isinstance(old, Record) and isinstance(new, Record):
            changes[field.name] = _merge(old, new, full, role, overlay)
        elif _find_first_value(role, full) is None:
            changes[field.name] = new
    return replace(base, **changes)


def find_repeated_values(
    role: SourceDocument, overlay: SourceDocument
) -> Iterator[tuple[FieldRoute, FieldRoute]]:
    """Values that both files set: the route in the overlay, and the route in the file of the source."""
    yield from _find_repeated_values(role.record, overlay.record, (), role, overlay)


def _find_repeated_values(
    base: Any, added: Any, route: FieldRoute, role: SourceDocument, overlay: SourceDocument
) -> Iterator[tuple[FieldRoute, FieldRoute]]:
    for field, full in _iterate_written_fields(added, route, overlay):
        old, new = getattr(base, field.name), getattr(added, field.name)
        if isinstance(old, Record) and isinstance(new, Record):
            yield from _find_repeated_values(old, new, full, role, overlay)
        elif (first := _find_first_value(role, full)) is not None:
            yield full, first


def _iterate_written_fields(
    record: Any, route: FieldRoute, overlay: SourceDocument
) -> Iterator[tuple[FieldInfo, FieldRoute]]:
    """The fields of a part of a role that an overlay sets, except for fields about the overlay itself."""
    for field in fields(type(record)):
        full = (*route, field.encode_name)
        if overlay.has(*full) and (route or field.encode_name not in _OWN):
            yield field, full


def _find_first_value(role: SourceDocument, route: FieldRoute) -> FieldRoute | None:
    """The place where a source sets the value that an overlay sets at a route. None if it does not."""
    return next((each for each in (_TOOLS if route in _TOOLS else (route,)) if role.has(*each)), None)


# -- organizations -----------------------------------------------------------------------------------------------------


def _add_sources(document: SourceDocument, bound: Sequence[BoundSource]) -> SourceDocument | None:
    """An organization that includes the roles of its sources. None if none of its sources exists."""
    record = document.record
    assert isinstance(record, Organization)
    hierarchy = dict(record.hierarchy)
    channels = dict(record.communication_channels)
    departments, external = dict(record.departments), dict.fromkeys(record.external)
    given: dict[str, Any] = {}
    parts = [document]
    for number in range(len(record.sources)):
        mark = find_mark(document.marks, ("sources", number))
        source = next((each for each in bound if any(_is(use, document, mark) for use in each.uses)), None)
        named = {}
        for organization in source.organizations if source is not None else ():
            for role_id, entry in _get_hierarchy(organization).items():
                if role_id not in hierarchy or not hierarchy[role_id].subordinates:
                    hierarchy[role_id] = entry
                if not organization.has("hierarchy", role_id):
                    named[role_id] = (mark, mark)
            own = organization.record
            assert isinstance(own, Organization)
            departments = {**own.departments, **departments}
            external |= dict.fromkeys(own.external)
            for field in ("alerts", "watches"):
                if organization.has(field) and not document.has(field):
                    given.setdefault(field, getattr(own, field))
            parts.append(_add_channels(organization, channels))
        below = (pack_mark(1, 1), {"hierarchy": (mark, (mark, named))})
        parts.append(complete_with(document, "organization", record, below))
    if len(parts) == 1:
        return None
    made = replace(
        record,
        hierarchy=hierarchy,
        communication_channels=channels,
        departments=departments,
        external=tuple(external),
        **given,
    )
    packed = PackedParts(msgspec.msgpack.encode(made), document.packed.marks, document.packed.unknown)
    return MergedDocument(document, tuple(parts), packed).keep_unpacked(made, document.marks)


def _add_channels(organization: SourceDocument, channels: dict[str, Channel]) -> SourceDocument:
    """Add the channels of a source to the existing ones, and rename a channel whose name is taken."""
    assert isinstance(organization.record, Organization)
    names: dict[str, str] = {}
    for name, channel in organization.record.communication_channels.items():
        free = (f"{name}_{number}" for number in range(2, len(channels) + 3))
        names[name] = name if name not in channels else next(each for each in free if each not in channels)
        channels[names[name]] = channel
    if all(name == other for name, other in names.items()) or not organization.has(_CHANNELS):
        return organization
    mark, below = organization.marks
    key, (start, marks) = below[_CHANNELS]
    renamed = {names.get(name, name): each for name, each in marks.items()}
    return complete_with(
        organization,
        "organization",
        organization.record,
        (mark, {**below, _CHANNELS: (key, (start, renamed))}),
    )


def _is(use: SourceUse, document: SourceDocument, mark: int) -> bool:
    return use.file == document.path and use.mark == mark
