"""Build one version of an organization with some edits taken from the other version: without an edit, or with one edit alone.

Only records are built again. The lines of a value that is taken from the other version are those of its entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from orgkernel.diff.edits import GOVERNANCE, ORGANIZATION, ROLES, DeclaredEdit, EditRoute
from orgkernel.diff.sections import ORDER
from orgkernel.documents.records import Organization
from orgkernel.graph.assemble import build_posts
from orgkernel.graph.columns import EdgeColumns
from orgkernel.graph.extract import extract_edges
from orgkernel.graph.governance import apply_governance
from orgkernel.graph.org_index import OrgIndex
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import Definition, OrgRecords
from orgkernel.loading.marks import Marks, start_of
from orgkernel.loading.sources import SourceDocument
from orgkernel.prepared_types import prepared

T = TypeVar("T")
_FIXED = ("renames", "settings", "sharing")
"""Sections whose edits are not taken back: names, and what several catalogs set together."""


def can_take(edit: DeclaredEdit) -> bool:
    """Whether a version can be built in which this edit has the value of the other version."""
    return edit.section not in _FIXED and ORDER not in edit.route and "(shared)" not in edit.route


def build_with(
    base: OrgRecords, other: OrgRecords, edits: Iterable[DeclaredEdit], *, forward: bool
) -> OrgView:
    """The version `base` with some edits as `other` has them: the new values if `forward`, else the old ones."""
    values: dict[str, Any] = {}
    document, governance = base.document, base.governance
    profiles = {role_id: post.document for role_id, post in base.posts.items()}
    for edit in edits:
        value = edit.after if forward else edit.before
        if edit.section == ORGANIZATION:
            document = _change_document(document, edit.route, value)
        elif edit.section == GOVERNANCE:
            governance = _change_governance(governance, other, edit, value)
        elif edit.section == ROLES:
            _change_profile(profiles, other, edit, value)
        else:
            section = values.setdefault(edit.section, _copy_section(base, edit.section))
            _change_entry(section, other, edit, value)
    organization = document.record
    assert isinstance(organization, Organization)
    shared = {
        role_id for each in (base, other) for role_id, post in each.posts.items() if post.shared_profile
    }
    # By identity: a profile that an edit replaced is a new object with the same role id, and both versions supply some.
    role_of = {id(profile): role_id for role_id, profile in profiles.items()}
    for role_id, post in other.posts.items():
        profiles.setdefault(role_id, post.document)
        role_of.setdefault(id(post.document), role_id)
    posts, without_profile = build_posts(
        document, organization, governance, profiles.get, lambda profile: role_of.get(id(profile)) in shared
    )
    if "ranks" in values:
        values["ranks"] = tuple(values["ranks"].values())
    if "orders" in values:
        values["orders"] = {_split_audience(key): each for key, each in values["orders"].items()}
    records = msgspec.structs.replace(
        base,
        document=document,
        organization=apply_governance(organization, governance),
        governance=governance,
        posts=posts,
        without_profile=without_profile,
        **values,
    )
    return OrgIndex(records, EdgeColumns(extract_edges(records)))


# -- documents ---------------------------------------------------------------------------------------------------------


def _change_document(document: SourceDocument, route: EditRoute, value: Any) -> SourceDocument:
    """A document with another value at a route; None removes it."""
    plain = msgspec.json.decode(msgspec.json.encode(document.record))
    record = msgspec.convert(_set_value(plain, route, value), prepared(type(document.record)), strict=False)
    marks = _set_marks(document.marks, route, value)
    return SourceDocument(
        document.name, document.path, document.kind, document.packed, document.digest, document.shared,
        document.context, document.format, document.home,
    ).keep_unpacked(record, marks)  # fmt: skip


def _change_governance(
    governance: SourceDocument | None, other: OrgRecords, edit: DeclaredEdit, value: Any
) -> SourceDocument | None:
    # A document that one version lacks comes or goes whole.
    if governance is None or other.governance is None:
        return other.governance
    return _change_document(governance, edit.route, value)


def _change_profile(
    profiles: dict[str, SourceDocument], other: OrgRecords, edit: DeclaredEdit, value: Any
) -> None:
    document = profiles.get(edit.id)
    # The marks of a profile of several parts belong to several files, so it changes as a whole.
    if not edit.route or document is None or len(document.parts) > 1:
        post = other.posts.get(edit.id)
        if post is None:
            profiles.pop(edit.id, None)
        else:
            profiles[edit.id] = post.document
    else:
        profiles[edit.id] = _change_document(document, edit.route, value)


def _set_value(plain: Any, route: EditRoute, value: Any) -> Any:
    """Plain data with another value at a route. Mappings on the way are copied, or made."""
    if not route:
        return value
    changed = dict(plain) if isinstance(plain, Mapping) else {}
    step, rest = route[0], route[1:]
    if not rest and value is None:
        changed.pop(step, None)
    else:
        changed[step] = _set_value(changed.get(step), rest, value)
    return changed


def _set_marks(marks: Marks, route: EditRoute, value: Any) -> Marks:
    """Marks with those of another value at a route, all at the place of what is nearest."""
    start = start_of(marks)
    if not route:
        return _mark_value(start, value)
    children = {} if isinstance(marks, int) or not isinstance(marks[1], dict) else dict(marks[1])
    step, rest = route[0], route[1:]
    if not rest and value is None:
        children.pop(step, None)
    else:
        key_mark, inner = children.get(step, (start, start))
        children[step] = (key_mark, _set_marks(inner, rest, value))
    return (start, children)


def _mark_value(mark: int, value: Any) -> Marks:
    if isinstance(value, Mapping):
        return (mark, {key: (mark, _mark_value(mark, each)) for key, each in value.items()})
    if isinstance(value, list | tuple):
        return (mark, [_mark_value(mark, each) for each in value])
    return mark


# -- entries of catalogs -----------------------------------------------------------------------------------------------


def _copy_section(records: OrgRecords, section: str) -> dict[Any, Any]:
    if section == "ranks":
        return {rank.id: rank for rank in records.ranks}
    if section == "orders":
        return {" ".join(filter(None, key)): each for key, each in records.orders.items()}
    return dict(getattr(records, section))


def _split_audience(key: str) -> tuple[str, str]:
    audience, _, target = key.partition(" ")
    return audience, target


def _change_entry(section: dict[Any, Any], other: OrgRecords, edit: DeclaredEdit, value: Any) -> None:
    entry = section.get(edit.id)
    if edit.route and isinstance(entry, Definition) and edit.route != ("",):
        section[edit.id] = _change_definition(entry, edit.route, value)
        return
    # Without a route, the entry itself comes or goes: it is taken over with its lines.
    theirs = _copy_section(other, edit.section)
    if edit.id in theirs:
        section[edit.id] = theirs[edit.id]
    else:
        section.pop(edit.id, None)


def _change_definition(definition: Definition[Any], route: EditRoute, value: Any) -> Definition[Any]:
    plain = msgspec.json.decode(msgspec.json.encode(definition.record))
    record = msgspec.convert(_set_value(plain, route, value), prepared(type(definition.record)), strict=False)
    document = definition.document
    within = (definition.section, definition.id) if definition.section else ()
    marked = SourceDocument(
        document.name, document.path, document.kind, document.packed, document.digest, document.shared,
        document.context, document.format, document.home,
    ).keep_unpacked(document.record, _set_marks(document.marks, (*within, *route), value))  # fmt: skip
    return msgspec.structs.replace(definition, record=record, document=marked)
