"""Items that are not edges: settings and texts, with the line that writes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import asdict, replace

from orgkernel.crew.v1 import Fact, Item
from orgkernel.decisions.reasons import Why, why_place
from orgkernel.diagnostics import Place
from orgkernel.graph.records import RolePost
from orgkernel.loading.sources import SourceDocument
from orgkernel.records.record import Record

Source = RolePost | SourceDocument
"""What says where a value is written: a profile at its post, or an organisation's document."""


def why_item(item_id: str, text: str, place: Place) -> Item:
    """An item said by one line."""
    return Item(id=item_id, why=(why_place(text, place),))


def why_default(text: str, place: Place) -> Why:
    """A value nobody wrote, at the nearest line above where it would stand."""
    return why_place(f"{text}, the default holds", place)


def fact(source: Source, name: str, value: Any, route: tuple[str, ...]) -> Fact:
    """A setting, with its line or the statement that it is the default."""
    (found,) = facts(source, route[:-1], {route[-1]: value})
    return found if name == route[-1] else replace(found, id=name)


def facts(source: Source, route: tuple[str, ...], values: Mapping[str, Any]) -> Iterator[Fact]:
    """The settings of the mapping at a route."""
    before = "".join(f"{step}." for step in route)
    for (place, written), (name, value) in zip(source.locate(route, [*values]), values.items(), strict=True):
        if written:
            why = why_place(f"{before}{name} is written", place)
        else:
            why = why_default(f"{before}{name} is not written", place)
        yield Fact(id=name, value=value, why=(why,))


def settings(source: Source, record: Record, section: str) -> Iterator[Fact]:
    """Every field of a part of a document."""
    return facts(source, (section,), {field: _plain(value) for field, value in asdict(record).items()})


def _plain(value: Any) -> Any:
    """A part of a document with all its fields, those nobody wrote included."""
    if not isinstance(value, Record):
        return value
    return {field: _plain(each) for field, each in asdict(value).items()}


def listed(source: Source, field: str, texts: Sequence[str]) -> tuple[Item, ...]:
    """A list of texts as items; a text is its own id."""
    return tuple(
        why_item(text, f"{field}[{number}]", source.place(field, number)) for number, text in enumerate(texts)
    )
