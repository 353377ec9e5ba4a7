"""Find the lines that declare the values of a manifest, and build items of settings and texts with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import asdict

from orgkernel.decisions.reasons import Why, cite_place
from orgkernel.diagnostics import Place
from orgkernel.documents.records import Record
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import Definition, RolePost
from orgkernel.loading.sources import SourceDocument
from orgkernel.manifest.v1 import Fact, Item

Source = RolePost | SourceDocument
"""The document of a value: a profile at its post, or an organization's document."""
LocatedSetting = tuple[str, int, bool]
"""The file and line of a setting, and whether it is written there."""
Places = Callable[[str, str, str], tuple[Why, ...]]
"""A function from kind (`role`, `organization`, `tool`, `plan`, …), id and field to its lines. Empty if no line sets it."""


def build_cited_item(item_id: str, text: str, place: Place) -> Item:
    """An item declared by one line."""
    return Item(id=item_id, why=(cite_place(text, place),))


def locate_setting(text: str, place: LocatedSetting, when_set: str = " is set") -> Why:
    """The line of a setting. If it is not set: the nearest line above, with the statement that the default applies."""
    file, line, written = place
    return Why(text + (when_set if written else " is not set; the default applies"), file, line)


def build_fact(source: Source, name: str, value: Any, route: tuple[str, ...]) -> Fact:
    """A setting with its line, or with the statement that it is the default."""
    (place,) = source.locate(route[:-1], route[-1:])
    return Fact(id=name, value=value, why=(locate_setting(".".join(route), place),))


def build_facts(source: Source, route: tuple[str, ...], values: Mapping[str, Any]) -> list[Fact]:
    """The settings of the mapping at a route."""
    before = "".join(f"{step}." for step in route)
    places = source.locate(route, [*values])
    return [
        Fact(id=name, value=value, why=(locate_setting(before + name, place),))
        for (name, value), place in zip(values.items(), places, strict=True)
    ]


def list_settings(source: Source, record: Record, section: str) -> list[Fact]:
    """Every field of a part of a document."""
    return build_facts(
        source, (section,), {field: _convert_plain(value) for field, value in asdict(record).items()}
    )


def _convert_plain(value: Any) -> Any:
    """A part of a document with all its fields, including defaults."""
    if not isinstance(value, Record):
        return value
    return {field: _convert_plain(each) for field, each in asdict(value).items()}


def listed(source: Source, route: Sequence[str], texts: Sequence[str]) -> tuple[Item, ...]:
    """A list of texts as items. The text is also the id."""
    field = ".".join(route)
    return tuple(
        build_cited_item(text, f"{field}[{number}]", source.place(*route, number))
        for number, text in enumerate(texts)
    )


def locate_nothing(_kind: str, _id: str, _field: str) -> tuple[Why, ...]:
    """The function for manifests without their documents. It finds no lines."""
    return ()


def get_places(view: OrgView) -> Places:
    """The places in an organization's documents."""
    records = view.records
    catalogs: Mapping[str, Mapping[str, Definition[Any]]] = {
        "domain": records.domains,
        "plan": records.plans,
        "tool": records.tools,
        "skill": records.skills,
    }

    def find(kind: str, id: str, field: str) -> tuple[Why, ...]:
        if kind == "organization":
            document = records.document
            return _cite(f"{field} of {id}", document.place(field, key=True)) if document.has(field) else ()
        if kind == "role":
            post = records.posts.get(id)
            written = post is not None and post.has(field)
            return _cite(f"{field} of {id}", post.place(field, key=True)) if post and written else ()
        definition = catalogs[kind].get(id)
        if definition is None:
            return ()
        return _cite(f"{field} of {kind} {id}", definition.place(field, key=True))

    return find


def _cite(text: str, place: Any) -> tuple[Why, ...]:
    return (cite_place(text, place),)
