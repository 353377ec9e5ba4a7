"""The edits between two versions of an organization: every declared value that differs, with its lines.

Answers depend on documents through `OrgRecords` alone. So if no value in the records differs, no answer can differ; and
every difference in answers has its cause among these edits. The walk goes over all fields of all records, so a new field
is compared without being named here. A value that is written out and is the default is not an edit, nor is a moved line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from orgkernel.decisions.reasons import Why, cite_place
from orgkernel.diagnostics import Place
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.diff.change_words import say_edit
from orgkernel.diff.sections import ORDER
from orgkernel.documents.records import Rank
from orgkernel.graph.records import AliasTarget, Definition, OrgRecords
from orgkernel.loading.formats.words import get_list_words
from orgkernel.loading.marks import RouteStep
from orgkernel.loading.sources import SourceDocument

EditRoute = tuple[RouteStep, ...]
ORGANIZATION, GOVERNANCE, ROLES = "organization", "governance", "posts"
NOUNS: Mapping[str, str] = {
    ROLES: "role",
    "tools": "tool",
    "policies": "policy",
    "limits": "limit of calls",
    "agents": "agent",
    "people": "person",
    "webhooks": "webhook",
    "system_origins": "system origin",
    "domains": "domain",
    "aliases": "alias",
    "plans": "plan",
    "procedures": "procedure",
    "skills": "skill",
    "cognitive_skills": "cognitive skill",
    "qualifications": "qualification",
    "ranks": "rank",
    "promotions": "promotion to rank",
    "matrices": "rank matrix",
    "programs": "program",
    "bills": "bill",
    "orders": "the standing orders for",
}
"""Sections of the records with many entries, and the noun for one entry."""
_SETTINGS = ("proficiency_scale", "skill_categories")
"""Values of the records that no document holds alone: the nearest catalog that sets them does."""
_WHOLE = frozenset({"aliases", "matrices", "bills", "orders", "settings", "sharing"})
"""Sections whose entries are compared whole."""


class DeclaredEdit(msgspec.Struct, frozen=True, kw_only=True):
    """One declared value that differs between two versions."""

    section: str
    """The part of the records, such as `tools`, `posts` or `organization`."""
    id: str
    """The entry in it. It is empty for the organization and its governance."""
    route: EditRoute
    """The way to the value inside the entry. It is empty if the whole entry was added or removed."""
    before: Any
    """The old value as plain data. It is null if there was none."""
    after: Any
    """The new value as plain data. It is null if there is none."""
    text: str = ""
    """The edit in words."""
    why_before: tuple[Why, ...] = ()
    why_after: tuple[Why, ...] = ()
    why_around: tuple[Why, ...] = ()
    """For a value that was removed: the line in the new version of what it was removed from."""

    @property
    def key(self) -> tuple[str, str, EditRoute]:
        """What tells it from the other edits between the same versions."""
        return self.section, self.id, self.route

    @property
    def field(self) -> str:
        """The first step inside the entry; empty for an entry that was added or removed."""
        return str(self.route[0]) if self.route else ""


class _Entry(NamedTuple):
    """One entry of a section on one side."""

    value: Any
    """Plain data."""
    place: Any
    """From a route to its place."""
    items: Any
    """From a route to the places of the items of the list there."""


class Renames(NamedTuple):
    """Roles whose id differs between the versions."""

    new_ids: Mapping[str, str]
    """Old id to new id."""

    def translate(self, value: Any) -> Any:
        """Plain data of the old version with the new ids: keys and whole strings that equal an old id."""
        if not self.new_ids:
            return value
        if isinstance(value, str):
            return self.new_ids.get(value, value)
        if isinstance(value, dict):
            return {self.new_ids.get(key, key): self.translate(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [self.translate(each) for each in value]
        return value


NO_RENAMES = Renames({})


def find_edits(old: OrgRecords, new: OrgRecords, renames: Renames = NO_RENAMES) -> tuple[DeclaredEdit, ...]:
    """Every declared value that differs, in the order of the sections."""
    edits: list[DeclaredEdit] = []
    for old_id, new_id in renames.new_ids.items():
        edits.append(_describe_rename(old, new, old_id, new_id))
    for section in (ORGANIZATION, GOVERNANCE, *NOUNS, "settings", "sharing"):
        before, after = _read_section(old, section), _read_section(new, section)
        if section == ROLES:
            before = {renames.new_ids.get(each, each): entry for each, entry in before.items()}
        for entry_id in dict.fromkeys((*before, *after)):
            edits += _compare_entries(section, entry_id, before.get(entry_id), after.get(entry_id), renames)
        if section == ROLES and _is_reordered([*before], [*after]):
            edits.append(_describe_reordered_roles(old, new, [*before], [*after]))
    explained = {each.id for each in edits if each.section == ROLES}
    edits += _find_unexplained_profiles(old, new, renames, explained, edits)
    return tuple(edits)


_HOST_FIELDS = ("permissionMode", "mcpServers")
"""Fields of agents in another format that no record has, and that decide what the host lets them do."""


def _read_host_words(document: SourceDocument) -> dict[str, Any]:
    words = get_list_words(document)
    return {
        name: words[name][0] if name == "permissionMode" else list(words[name])
        for name in _HOST_FIELDS
        if name in words
    }


def _convert_plain(record: Any) -> Any:
    """A record as JSON has it, without what is the default."""
    return msgspec.json.decode(msgspec.json.encode(record))


# -- reading one side --------------------------------------------------------------------------------------------------


def _read_section(records: OrgRecords, section: str) -> Mapping[str, _Entry | _Lazy | _LazyDefinition]:
    if section == ORGANIZATION:
        return {"": _read_document(records.document)}
    if section == GOVERNANCE:
        return {} if records.governance is None else {"": _read_document(records.governance)}
    if section == ROLES:
        return {role_id: _Lazy(post.document) for role_id, post in records.posts.items()}
    if section == "bills":
        return {slug: _Lazy(document) for slug, document in records.bills.items()}
    if section == "ranks":
        return {
            rank.id: _read_rank(number, rank, records.ladder) for number, rank in enumerate(records.ranks)
        }
    if section == "aliases":
        return {name: _read_alias(alias) for name, alias in records.aliases.items()}
    if section == "orders":
        return {
            " ".join(filter(None, key)): _read_orders(definitions)
            for key, definitions in records.orders.items()
        }
    if section == "settings":
        return {name: _read_value(_sort(getattr(records, name))) for name in _SETTINGS}
    if section == "sharing":
        return {role_id: _read_value(sorted(records.elsewhere[role_id])) for role_id in records.elsewhere}
    definitions: Mapping[str, Definition[Any]] = getattr(records, section)
    return {entry_id: _LazyDefinition(each) for entry_id, each in definitions.items()}


class _Lazy:
    """An entry that is a whole document. Documents that both versions share are told by identity and never unpacked."""

    __slots__ = ("document",)

    def __init__(self, document: SourceDocument) -> None:
        self.document = document

    def is_same(self, other: object) -> bool:
        """Whether the other entry certainly has the same content."""
        if not isinstance(other, _Lazy):
            return False
        one, another = self.document, other.document
        is_single = len(one.parts) == len(another.parts) == 1
        is_equal = one.packed.record == another.packed.record and one.packed.unknown == another.packed.unknown
        return one is another or (is_single and is_equal)

    def read(self) -> _Entry:
        """The entry."""
        return _read_document(self.document)


class _LazyDefinition:
    """An entry of a catalog."""

    __slots__ = ("definition",)

    def __init__(self, definition: Definition[Any]) -> None:
        self.definition = definition

    def is_same(self, other: object) -> bool:
        """Whether the other entry certainly has the same content."""
        if not isinstance(other, _LazyDefinition):
            return False
        one, another = self.definition, other.definition
        # Identity first: versions that share documents share most records, and comparing values takes far longer.
        return one.own == another.own and (one.record is another.record or one.record == another.record)

    def read(self) -> _Entry:
        """The entry."""
        definition = self.definition
        value = _convert_plain(definition.record)
        if isinstance(value, dict) and not definition.own:
            value = {**value, "(shared)": True}
        return _Entry(value, definition.place, definition.locate_items)


def _read_document(document: SourceDocument) -> _Entry:
    value = _convert_plain(document.record)
    for field in ("suppressions", "_schema", "_version"):
        value.pop(field, None)
    if document.format:
        value |= _read_host_words(document)
    return _Entry(
        value,
        lambda *route, **key: document.part(route).place(*route, **key),
        lambda *route: document.part(route).locate_items(*route),
    )


def _read_rank(number: int, rank: Rank, ladder: SourceDocument | None) -> _Entry:
    value = _convert_plain(rank)
    if ladder is None:
        return _Entry(value, None, None)
    return _Entry(value, lambda *route, **key: ladder.place("ranks", number, *route, **key), None)


def _read_value(value: Any) -> _Entry:
    return _Entry(value, None, None)


def _read_alias(alias: AliasTarget) -> _Entry:
    return _Entry(alias.target, lambda *route, **key: alias.place, None)


def _read_orders(definitions: Sequence[Definition[Any]]) -> _Entry:
    texts = [_convert_plain(each.record) for each in definitions]
    return _Entry(texts, lambda *route, **key: definitions[-1].place(), None)


def _sort(value: Any) -> list[Any]:
    return sorted(value) if isinstance(value, frozenset) else list(value)


_EMPTY = _Entry({}, None, None)


# -- comparing ---------------------------------------------------------------------------------------------------------


def _compare_entries(
    section: str, entry_id: str, old: Any, new: Any, renames: Renames
) -> Iterator[DeclaredEdit]:
    if old is not None and new is not None and not renames.new_ids and _is_same(old, new):
        return
    one, other = _unpack(old), _unpack(new)
    if section == GOVERNANCE:
        # Without the document nothing is governed: what it sets comes and goes field by field.
        one, other = one or _EMPTY, other or _EMPTY
    before = None if one is None else renames.translate(one.value)
    after = None if other is None else other.value
    if one is None or other is None:
        if before in (None, [], {}) and after in (None, [], {}):
            return
        yield _describe(section, entry_id, (), before, after, one, other)
        return
    if before == after:
        return
    if section in _WHOLE or not (isinstance(before, dict) and isinstance(after, dict)):
        yield _describe(section, entry_id, ("",), before, after, one, other)
        return
    for route, was, now in _walk((), before, after):
        yield _describe(section, entry_id, route, was, now, one, other)


def _is_same(old: Any, new: Any) -> bool:
    return isinstance(old, _Lazy | _LazyDefinition) and old.is_same(new)


def _unpack(entry: Any) -> _Entry | None:
    return entry.read() if isinstance(entry, _Lazy | _LazyDefinition) else entry


def _walk(route: EditRoute, before: Any, after: Any) -> Iterator[tuple[EditRoute, Any, Any]]:
    """The lowest mappings' fields that differ. A list is one value."""
    for name in dict.fromkeys((*before, *after)):
        one, other = before.get(name), after.get(name)
        if one == other:
            continue
        if isinstance(one, dict) and isinstance(other, dict):
            yield from _walk((*route, name), one, other)
        else:
            yield (*route, name), one, other
    shared = [name for name in before if name in after]
    if route and shared != [name for name in after if name in before] and before.keys() == after.keys():
        yield (*route, ORDER), [*before], [*after]


def _is_reordered(before: list[str], after: list[str]) -> bool:
    gone, come = set(before) - set(after), set(after) - set(before)
    return [each for each in before if each not in gone] != [each for each in after if each not in come]


def _find_unexplained_profiles(
    old: OrgRecords, new: OrgRecords, renames: Renames, explained: set[str], edits: Sequence[DeclaredEdit]
) -> Iterator[DeclaredEdit]:
    """Profiles that differ although no document that was compared says so, such as by a default that an override writes."""
    touched = {
        str(each.route[1])
        for each in edits
        if each.section == ORGANIZATION and each.route[:1] == ("overrides",) and len(each.route) > 1
    }
    whole = any(
        each.section in (ORGANIZATION, GOVERNANCE) and each.route[:1] != ("overrides",) for each in edits
    )
    overridden = {*old.organization.overrides, *new.organization.overrides}
    for old_id, post in old.posts.items():
        role_id = renames.new_ids.get(old_id, old_id)
        if (
            role_id in explained
            or role_id in touched
            or role_id not in new.posts
            or role_id not in overridden
        ):
            continue
        before, after = _convert_plain(post.profile), _convert_plain(new.posts[role_id].profile)
        if not whole and renames.translate(before) != after:
            yield DeclaredEdit(
                section=ORGANIZATION, id="", route=("overrides", role_id), before=before, after=after,
                text=f"the overrides of role {quote(role_id)} differ",
                why_before=(cite_place(f"role {role_id}", post.place()),),
                why_after=(cite_place(f"role {role_id}", new.posts[role_id].place()),),
            )  # fmt: skip


# -- words and lines ---------------------------------------------------------------------------------------------------


def _describe(
    section: str,
    entry_id: str,
    route: EditRoute,
    before: Any,
    after: Any,
    old: _Entry | None,
    new: _Entry | None,
) -> DeclaredEdit:
    text = _write_text(section, entry_id, route, before, after)
    return DeclaredEdit(
        section=section,
        id=entry_id,
        route=()
        if route == ("",) and before is not None and after is not None and section not in _WHOLE
        else route,
        before=before,
        after=after,
        text=text,
        why_before=_locate(old, route, before, after, text) if before is not None or not route else (),
        why_after=_locate(new, route, after, before, text) if after is not None or not route else (),
        why_around=_locate(new, route, after, before, text) if after is None and route else (),
    )


def _write_text(section: str, entry_id: str, route: EditRoute, before: Any, after: Any) -> str:
    noun = NOUNS.get(section, "")
    if section == "settings":
        return say_edit(entry_id.replace("_", " "), before, after)
    if section == "sharing":
        return f"role {quote(entry_id)} is shared with other organizations than before"
    subject = f"{noun} {quote(entry_id)}" if noun else ""
    if not route:
        verb = "are" if section == "orders" else "is"
        return f"{subject} {verb} {'removed' if after is None else 'added'}"
    if section == "aliases":
        return say_edit(subject, before, after)
    if section == "orders":
        return f"{subject} are different"
    if route == ("",):
        fields = (
            [name for name in dict.fromkeys((*before, *after)) if before.get(name) != after.get(name)]
            if isinstance(before, dict) and isinstance(after, dict)
            else []
        )
        return (
            f"{subject}: {listing(fields)} {'is' if len(fields) == 1 else 'are'} different"
            if fields
            else f"{subject} is different"
        )
    if route[-1] == ORDER:
        field = ".".join(map(str, route[:-1]))
        difference = f"the order of {quote(field)} is different"
    else:
        difference = say_edit(quote(".".join(map(str, route))), before, after)
    return f"{subject}: {difference}" if subject else difference


def _locate(entry: _Entry | None, route: EditRoute, here: Any, there: Any, text: str) -> tuple[Why, ...]:
    """The line of the value on one side; of a list, the line of the first item that the other side lacks."""
    if entry is None or entry.place is None:
        return ()
    steps = tuple(step for step in route if step not in ("", ORDER, "(shared)"))
    place: Place | None = None
    if isinstance(here, list) and steps and entry.items is not None:
        items = entry.items(*steps)
        others = there if isinstance(there, list) else ()
        only_here = (number for number, item in enumerate(here) if item not in others)
        number = next(only_here, None)
        if number is not None and number < len(items):
            place = items[number]
    if place is None:
        place = entry.place(*steps, key=True)
    return (cite_place(text, place),) if place.file else ()


def _describe_rename(old: OrgRecords, new: OrgRecords, old_id: str, new_id: str) -> DeclaredEdit:
    text = f"role {quote(old_id)} is renamed {quote(new_id)}"
    return DeclaredEdit(
        section="renames", id=new_id, route=(), before=old_id, after=new_id, text=text,
        why_before=(cite_place(text, old.posts[old_id].place("role_id")),),
        why_after=(cite_place(text, new.posts[new_id].place("role_id")),),
    )  # fmt: skip


def _describe_reordered_roles(
    old: OrgRecords, new: OrgRecords, before: list[str], after: list[str]
) -> DeclaredEdit:
    text = "the order of `hierarchy` is different"
    return DeclaredEdit(
        section=ORGANIZATION, id="", route=("hierarchy", ORDER), before=before, after=after, text=text,
        why_before=(cite_place(text, old.document.place("hierarchy", key=True)),),
        why_after=(cite_place(text, new.document.place("hierarchy", key=True)),),
    )  # fmt: skip
