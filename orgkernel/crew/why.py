"""Items that are not edges: settings and texts, with the line that writes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import asdict

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
    return Fact(id=name, value=value, why=(why_setting(source, ".".join(route), route),))


def why_setting(source: Source, text: str, route: tuple[str, ...]) -> Why:
    """The line that writes a setting, or the statement that it is the default."""
    place, written = source.locate(*route)
    return why_place(f"{text} is written", place) if written else why_default(f"{text} is not written", place)


def settings(source: Source, record: Record, section: str) -> Iterator[Fact]:
    """Every field of a part of a document."""
    for field, value in asdict(record).items():
        yield fact(source, field, _plain(value), (section, field))


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
